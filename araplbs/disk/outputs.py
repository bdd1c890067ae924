"""Rules for written files: the kinds of our files, the mark that identifies each kind, and the
files that a run must not replace.

A file is replaced only by one of the same kind, such as a report by a report or a page by a page.
The existing file must begin with the mark of that kind. The file's name does not matter. An empty
file may always be replaced. `Outputs` compares all files that a run will write with its inputs and
with each other before any work begins. `replaced` checks again just before a file is moved into
place. No other code writes files.
"""

import errno
import json
import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..base.refusal import Refused
from .files import identity, placed, refuse_output, resolved, whole_file

START = 1000  # bytes of a file that are examined


@dataclass(frozen=True)
class Kind:
    """generator: the program named in files of this kind. mark: the pattern of their first
    bytes."""

    name: str
    generator: str
    mark: re.Pattern[bytes]


def _json(name: str, generator: str) -> Kind:
    mark = rb'\s*\{\s*"generator":\s*"%b"' % re.escape(generator).encode()
    return Kind(name, generator, re.compile(mark))


def _page(name: str, generator: str) -> Kind:
    mark = rb"<!DOCTYPE html>.{0,200}?%b" % re.escape(_tag(generator)).encode()
    return Kind(name, generator, re.compile(mark, re.DOTALL))


def _picture(name: str, generator: str) -> Kind:
    """The kind of a PNG file. Its mark is a text chunk after the first chunk."""
    text = b"Software\0" + generator.encode()
    chunk = re.escape(len(text).to_bytes(4, "big") + b"tEXt" + text)
    mark = rb"\x89PNG\r\n\x1a\n.{25}%b" % chunk
    return Kind(name, generator, re.compile(mark, re.DOTALL))


def _tag(generator: str) -> str:
    return f'<meta name="generator" content="{generator}">'


BLEND = Kind(".blend file", "", re.compile(rb"BLENDER|\x1f\x8b|\x28\xb5\x2f\xfd"))  # gzip, zstd
REPORT = _json("report of a file", "araplbs report")
RESULTS = _json("report of a run", "araplbs results")
TABLE = _json("table of reports", "araplbs table")
CHOICES = _json("list of loose parts", "araplbs parts")
REPORT_PAGE = _page("page of reports", "araplbs reports")
PICTURE = _picture("picture of a report", "araplbs report")
COMPARISON = _json("comparison", "araplbs compare")
COMPARISON_PAGE = _page("comparison", "araplbs compare")
PROBLEM_TEXT = Kind("report of a problem", "", re.compile(rb"Auto-weight \(ARAP\): report of a pr"))
PROBLEM = Kind("problem file", "", re.compile(rb"PK\x03\x04.{26}problem\.npy", re.DOTALL))


def page_head(kind: Kind) -> str:
    """The beginning of a page of this kind, up to its title."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        + _tag(kind.generator)
        + "\n"
    )


def carries(path: str | Path, kind: Kind) -> bool:
    """Whether a file is of this kind. Raises OSError if it cannot be read."""
    with open(path, "rb") as file:
        return bool(kind.mark.match(file.read(START)))


def is_stream(path: str | Path) -> bool:
    """Whether the path accepts data but does not store it, like a pipe or a terminal. The target of
    a link such as /dev/fd/3, which leads to a pipe, may not exist, but the link can still be
    opened."""
    for name in (os.path.realpath(path), path):
        try:
            mode = os.stat(name).st_mode
        except OSError:
            continue
        return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
    return False


def refuse_foreign(path: str | Path, kind: Kind) -> None:
    """Raises Refused if a file of this kind could not be written to this path, or would replace a
    file of a different type."""
    refuse_output(path)
    real = resolved(path)
    try:
        foreign = real.exists() and real.stat().st_size and not carries(real, kind)
    except OSError as error:
        raise Refused(f"'{path}' cannot be read: {error.strerror}") from None
    if foreign:
        raise Refused(f"'{path}' already exists and is not a {kind.name}: choose another path")


def refuse_used(used: Iterable[str | Path], outputs: Iterable[str | Path]) -> None:
    """Raises Refused if an output would replace a file that an input uses."""
    found = {identity(path): path for path in used}
    for path in outputs:
        if identity(path) in found:
            used_path = found[identity(path)]
            raise Refused(f"{path} would replace {used_path}, which the file uses")


class Outputs:
    """The files that a run reads and will write. add() raises Refused for a file that would replace
    one of them, under any of its names, or a foreign file."""

    def __init__(self, inputs: Iterable[str | Path], named: Iterable[tuple[str, str]] = ()) -> None:
        self._inputs: dict[str | tuple[int, int], list[str | Path]] = {}  # paths by identity()
        self._taken: dict[str | tuple[int, int], str] = {}  # the existing ones by identity()
        self._kinds: dict[str | Path, Kind] = {}  # by path
        for path in inputs:
            self._inputs.setdefault(identity(path), []).append(path)
        for name, path in named:  # input files named by options
            self._taken[identity(path)] = f"the {name} {path}"
        for stream in (1, 2):  # the file that receives printed output
            with suppress(OSError):
                found = os.fstat(stream)
                if stat.S_ISREG(found.st_mode):
                    key = found.st_dev, found.st_ino
                    self._taken[key] = "the file that this command prints to"

    def add(
        self, path: str | Path, kind: Kind, what: str, source: str | Path | None = None
    ) -> None:
        """what: the name of the file in a message. source: the input from which the file is made.
        The file may replace this input under the input's own name."""
        key = identity(path)
        if key in self._taken:
            raise Refused(f"the {what} {path} would replace {self._taken[key]}")
        others = self._inputs.get(key, [])
        if source is not None and same_name(source, path):
            others = [other for other in others if not same_name(other, path)]
        if others:
            raise Refused(f"the {what} {path} would replace the input {others[0]}")
        self._taken[key] = f"the {what} {path}"
        self._kinds[path] = kind
        if kind is not RESULTS or not is_stream(path):
            refuse_foreign(path, kind)

    def add_all(self, files: Iterable[tuple[str | Path, Kind]]) -> None:
        """Adds the items of [(path, kind)] that do not exist yet."""
        for path, kind in files:
            if self._kinds.get(path) is not kind:
                self.add(path, kind, kind.name)

    def refuse_used(self, used: Iterable[str | Path], target: str | Path) -> None:
        """Raises Refused if an output would replace a file that an opened .blend file uses
        (libraries, pictures...). The outputs are the target of the opened file and the files
        written in addition to .blend files."""
        kinds = self._kinds.items()
        refuse_used(used, [path for path, kind in kinds if path == target or kind is not BLEND])

    def folders(self) -> set[Path]:
        """The folders of all outputs, both as named by the user and as resolved from links."""
        paths = list(self._kinds)
        return {placed(path).parent for path in paths} | {
            Path(os.path.realpath(path)).parent for path in paths
        }


def same_name(one: str | Path, other: str | Path) -> bool:
    return os.path.normcase(placed(one)) == os.path.normcase(placed(other))


@contextmanager
def replaced(path: str | Path, kind: Kind) -> Iterator[Path]:
    """A whole_file() for a file of this kind, which replaces only files of the same kind. The
    existing file is checked before and after the block. Raises Refused."""
    refuse_foreign(path, kind)
    with whole_file(path) as temporary:
        yield temporary
        refuse_foreign(path, kind)


def json_text(kind: Kind, content: dict[str, Any]) -> str:
    """The content of a JSON file of this kind. JSON has no infinite numbers and no NaN, so they
    become null."""
    text = json.dumps({"generator": kind.generator} | content)
    strict = json.loads(text, parse_constant=lambda _word: None)
    return json.dumps(strict, indent=2, allow_nan=False) + "\n"


def write_json(path: str | Path, kind: Kind, content: dict[str, Any]) -> None:
    """Writes a JSON file completely or not at all. A path that is not a regular file, such as
    /dev/stdout or a pipe, is written directly."""
    text = json_text(kind, content)
    if is_stream(path):
        Path(path).write_text(text, encoding="utf-8")
        return
    _write_compared(path, kind, text.encode())


def write_content(path: str | Path, kind: Kind, content: bytes | str) -> None:
    """Writes a file that begins with the mark of its kind, completely or not at all. In text, names
    that are not UTF-8 are shown as bytes."""
    if isinstance(content, str):
        content = content.encode("utf-8", "backslashreplace")
    if not kind.mark.match(content):
        raise ValueError(f"the file {path} does not have the signature of its kind")
    _write_compared(path, kind, content)


def _write_compared(path: str | Path, kind: Kind, content: bytes) -> None:
    """Writes a file, and reads it again before it replaces another file."""
    with replaced(path, kind) as temporary:
        temporary.write_bytes(content)
        if temporary.read_bytes() != content:
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))
