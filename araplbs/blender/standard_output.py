"""The standard output of the command, for --json - and --quiet: everything that Blender and we
print goes to the standard error or nowhere. (Blender prints lines of its own.)"""

from __future__ import annotations

import argparse
import ctypes
import os
import sys
from contextlib import ExitStack, redirect_stdout, suppress
from typing import Any


class StandardOutput:
    """write(text) in the block writes to what was the standard output before it."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.apart = arguments.json == "-"
        self.silent = arguments.quiet and not arguments.plan
        self._former: int | None = None
        self._stack = ExitStack()

    def __enter__(self) -> StandardOutput:
        if self.apart or self.silent:
            _flush()
            with suppress(OSError):  # where it is closed, nobody reads it
                self._former = os.dup(1)
            null = os.open(os.devnull, os.O_WRONLY)
            nothing = self._stack.enter_context(os.fdopen(null, "w"))
            to: Any = nothing if self.silent else sys.stderr
            os.dup2(nothing.fileno() if self.silent else 2, 1)
            self._stack.enter_context(redirect_stdout(to))
        return self

    def write(self, text: str) -> None:
        """Raises OSError."""
        if self._former is not None:
            with suppress(BrokenPipeError), os.fdopen(os.dup(self._former), "wb") as file:
                file.write(text.encode("utf-8", "backslashreplace"))

    def __exit__(self, *_error: object) -> None:
        if self.apart or self.silent:
            _flush()
            self._stack.close()
        if self._former is not None:
            os.dup2(self._former, 1)
            os.close(self._former)


def _flush() -> None:
    """Flushes the output of Python and C, which belongs to the place it was printed to."""
    with suppress(OSError, ValueError):
        sys.stdout.flush()
    with suppress(OSError, AttributeError):
        library = ctypes.cdll.ucrtbase if os.name == "nt" else ctypes.CDLL(None)
        library.fflush(None)
