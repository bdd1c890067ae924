"""Child processes that end with their parent.

The parent holds the only pipe to a child's standard input. The system closes the pipe when the
parent closes it or ends for any reason, also without a chance to tell the child. The child reads
from the pipe in a thread, and ends its work as after SIGTERM, so it writes no more outputs. Work
that does not react within PATIENCE seconds is cut off.

python -m araplbs.base.child MODULE ARGUMENT...: runs MODULE in this way.
"""

from __future__ import annotations

import json
import os
import runpy
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import IO

from .refusal import Refused

PATIENCE = 5.0  # seconds for an orderly end
POLL = 0.1  # seconds between two calls of check()
NO_WINDOW = getattr(subprocess, "CREATE_NO_WINDOW", 0)  # hide the console on Windows


def run(
    words: Sequence[str],
    check: Callable[[], object],
    sent: Sequence[str] = (),
    folder: str | None = None,
    environment: Mapping[str, str] | None = None,
    on_line: Callable[[str], object] = lambda _line: None,
) -> tuple[int, str, str]:
    """Runs python -m WORDS SENT and returns (exit code, output, error messages). sent: arguments of
    any length, which are sent over the pipe. on_line: called in a thread with each new line of the
    error messages.

    check() is called repeatedly. If it raises an exception, the child has ended when the exception
    leaves this function. Raises Refused if the child cannot be started.
    """
    check()
    # -P, because the current directory may contain an unrelated folder named araplbs
    command = [sys.executable, "-P", "-m", __name__, *words]
    try:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, creationflags=NO_WINDOW, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            encoding="utf-8", errors="backslashreplace",
        )  # fmt: skip
    except OSError as error:
        size = sum(map(len, words))
        raise Refused(
            f"the command, whose arguments have {size:,} characters, cannot be started: "
            f"{error.strerror}"
        ) from None
    pipe, process.stdin = process.stdin, None  # communicate() would close it
    errors, process.stderr = process.stderr, None  # communicate() would read it at the end
    lines: list[str] = []

    def read() -> None:
        for line in errors:
            lines.append(line)
            on_line(line)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        with suppress(OSError):  # it has ended
            pipe.write(json.dumps(sent) + "\n")
            pipe.flush()
        while True:
            try:
                output, _nothing = process.communicate(timeout=POLL)
                reader.join()
                return process.returncode, output, "".join(lines)
            except subprocess.TimeoutExpired:
                check()
    finally:
        with suppress(OSError):
            pipe.close()
        _end(process)
        reader.join()
        errors.close()


def _end(process: subprocess.Popen[str]) -> None:
    """Ends a child, in order if possible, and waits until it has ended."""
    with process:  # closes its pipes
        if process.poll() is None:
            process.terminate()
        try:
            process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()


def own_input() -> IO[bytes]:
    """Reserves standard input for the caller. Other code finds nothing to read. (On Windows, a
    library could not even be loaded while a thread waits for its standard input.)"""
    reserved, nothing = os.dup(0), os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return os.fdopen(reserved, "rb")


def _end_with_parent() -> list[str]:
    """Lets this process end with its parent. Returns the arguments that the parent has sent."""
    if signal.getsignal(signal.SIGTERM) is signal.SIG_IGN:  # inherited
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    pipe = own_input()

    def end() -> None:
        pipe.read()
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(PATIENCE)
        os._exit(128 + signal.SIGTERM)

    sent = pipe.readline()
    if not sent.endswith(b"\n"):  # the parent has ended
        sys.exit(128 + signal.SIGTERM)
    threading.Thread(target=end, daemon=True).start()
    words: list[str] = json.loads(sent)
    return words


if __name__ == "__main__":
    sys.argv = [*sys.argv[1:], *_end_with_parent()]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
