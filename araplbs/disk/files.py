"""Writes files completely or not at all, and determines whether two paths refer to the same file.

A file is written under a temporary name next to its destination and then moved there in one step.
If a killed process leaves such a file, the next process that writes into the folder removes it.
"""

import hashlib
import os
import platform
import re
import secrets
import shutil
import stat
import sys
import tempfile
import time
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ..base.refusal import Refused

MARK = ".araplbs"
TEMPORARY = re.compile(re.escape(MARK) + r"-(\w+)-(\d+)-[0-9a-f]{8}(\..*)?")
FORGOTTEN = 24 * 3600  # seconds until a temporary file of another process counts as abandoned


def _process_space() -> str:
    """A name for the process space, in which process IDs are unique. On Linux, it is this
    container, otherwise this machine."""
    words = [platform.node()]
    with suppress(OSError):  # if there is a /proc
        words.append(Path("/proc/sys/kernel/random/boot_id").read_text())
        words.append(str(os.stat("/proc/self/ns/pid").st_ino))
    return hashlib.sha256("\n".join(words).encode(errors="replace")).hexdigest()[:16]


SPACE = _process_space()


def identity(path: str | Path) -> str | tuple[int, int]:
    """A key that is equal for all paths to one file, including symbolic links, hard links and, on
    case-insensitive file systems, spellings in another case. Two nonexistent paths that differ only
    in case have equal keys."""
    real = os.path.realpath(path)  # resolves `..` after a nonexistent folder, like placed()
    try:
        found = os.stat(real)
    except OSError:
        return unicodedata.normalize("NFC", real).casefold()
    return found.st_dev, found.st_ino


def refuse_input(path: str | Path) -> None:
    """Raises Refused for anything except a file on a disk, because opening a FIFO would wait
    forever."""
    mode = os.stat(path).st_mode
    if stat.S_ISDIR(mode):
        raise Refused("a folder, not a .blend file")
    if not stat.S_ISREG(mode):
        raise Refused("not a regular file")


def refuse_output(path: str | Path) -> None:
    """Raises Refused if no file could be written to this path. Called before the work rather than
    after it."""
    real = resolved(path)
    if real.is_dir():
        raise Refused(f"'{path}' is a folder")
    if real.exists():
        if not real.is_file():
            raise Refused(f"'{path}' is not a regular file")
        if not (os.stat(real).st_mode & 0o222 and os.access(real, os.W_OK)):
            raise Refused(f"'{path}' is write-protected")
    for folder in Path(path).parents:
        if folder.is_symlink() and not folder.exists():  # for example, a disk that does not exist
            raise Refused(f"'{folder}' is a broken link")
    for folder in {real.parent, placed(path).parent}:
        while not os.path.lexists(folder):
            folder = folder.parent
        if not folder.is_dir():
            raise Refused(f"'{folder}' is not a folder")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise Refused(f"the folder '{folder}' is not writable")


def placed(path: str | Path) -> Path:
    """The absolute path of a file name in its real folder. The file itself may be a link. Resolves
    `..` after a link, which Blender would read literally."""
    return Path(os.path.realpath(Path(path).parent), Path(path).name)


def resolved(path: str | Path) -> Path:
    """The final target of a path, whether it exists or not."""
    real = Path(os.path.realpath(path))
    if real.is_symlink() or (Path(path).is_symlink() and not real.parent.is_dir()):
        raise Refused(f"'{path}' is a broken link")
    return real


def content_mark(path: str | Path) -> dict[str, Any]:
    """A key that identifies content independently of its times. Raises Refused for anything except
    a file."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise Refused(f"'{path}' is not a regular file")
    with open(path, "rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
        return {"bytes": file.tell(), "sha256": found}


def has_content(path: str | Path, mark: Mapping[str, Any]) -> bool:
    """Whether a file has the content identified by a mark. Raises OSError if it cannot be read."""
    return os.path.getsize(path) == mark["bytes"] and content_mark(path) == mark


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """Provides a path for writing, and moves the result to `path` when the block ends successfully.

    The temporary file is in the folder of `path`, so Blender writes correct relative paths. An
    existing file keeps its owner and mode. If the path is a link, the link is kept and its target
    is replaced.
    """
    path, real = placed(path), resolved(path)
    for folder in {path.parent, real.parent}:
        folder.mkdir(parents=True, exist_ok=True)
    made = [_temporary(path)]
    old = os.stat(real) if real.exists() else None
    mask = os.umask(0o077) if old else None  # so nobody else can read the incomplete file
    try:
        yield made[0]
        if real.parent != path.parent:  # the target may be on another disk
            made.append(_temporary(real))
            shutil.copyfile(made[0], made[1])
        if old:
            _keep_permissions(made[-1], old)
        _sync(made[-1])
        os.replace(made[-1], real)
    finally:
        if old:
            os.umask(mask)
        for left in made:
            left.unlink(missing_ok=True)
            Path(f"{left}@").unlink(missing_ok=True)  # Blender's own file during saving


def _temporary(path: Path) -> Path:
    return path.with_name(f"{MARK}-{SPACE}-{os.getpid()}-{secrets.token_hex(4)}{path.suffix}")


def _keep_permissions(path: Path, old: os.stat_result) -> None:
    if hasattr(os, "chown"):
        with suppress(PermissionError):  # only root can change the owner
            os.chown(path, old.st_uid, old.st_gid)
    os.chmod(path, stat.S_IMODE(old.st_mode))


def _sync(path: Path) -> None:
    """Forces a file to the disk before its name is valid, in case the machine fails."""
    with open(path, "rb+") as file:
        os.fsync(file.fileno())


def remove_leftovers(folder: str | Path) -> None:
    """Removes files left in a folder by killed processes."""
    try:
        names = [entry.name for entry in os.scandir(folder)]
    except OSError:
        return
    for name in names:
        parts = TEMPORARY.fullmatch(name)
        if parts and _is_forgotten(Path(folder, name), parts[1], int(parts[2])):
            with suppress(OSError):  # belongs to another user
                Path(folder, name).unlink()


def own_folder() -> tempfile.TemporaryDirectory[str]:
    """A temporary folder for files of this process, which is removed at its end. Also removes the
    folders that killed processes have left."""
    prefix = f"araplbs-{SPACE}-"
    for folder in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        number = folder.name.removeprefix(prefix).partition("-")[0]
        if number.isdecimal() and not _lives(int(number)):
            shutil.rmtree(folder, ignore_errors=True)
    return tempfile.TemporaryDirectory(prefix=f"{prefix}{os.getpid()}-")


def _is_forgotten(path: Path, space: str, process: int) -> bool:
    """Whether the process belongs to this space and has ended, or the file is older than any file
    still being written."""
    if space == SPACE and (process == os.getpid() or not _lives(process)):
        return True
    try:
        return time.time() - path.stat().st_mtime > FORGOTTEN
    except OSError:
        return False


def _lives(process: int) -> bool:
    """Whether a process with this number exists."""
    if sys.platform == "win32":  # os.kill would end it here
        import ctypes

        synchronize, access_denied, timeout = 0x100000, 5, 258
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        handle = kernel.OpenProcess(synchronize, False, process)
        if not handle:
            return ctypes.get_last_error() == access_denied  # it belongs to another user
        # An ended process can be opened as long as another one holds a handle to it.
        lives = kernel.WaitForSingleObject(handle, 0) == timeout
        kernel.CloseHandle(handle)
        return lives
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # it belongs to another user
    return True
