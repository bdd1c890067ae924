"""Reserves standard output for the result of the command, for --json - and --quiet. All other
output of Blender and our code is sent to standard error or discarded. Otherwise, the messages that
Blender prints would mix with the result."""

from __future__ import annotations

import argparse
import ctypes
import os
import sys
from contextlib import ExitStack, redirect_stdout, suppress
from typing import Any


class StandardOutput:
    """A context in which write(text) writes to the original standard output."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.apart = arguments.json == "-"
        self.silent = arguments.quiet and not arguments.plan
        self._former: int | None = None
        self._stack = ExitStack()

    def __enter__(self) -> StandardOutput:
        if self.apart or self.silent:
            _flush()
            with suppress(OSError):  # a closed stream has no reader
                self._former = os.dup(1)
            null = os.open(os.devnull, os.O_WRONLY)
            nothing = self._stack.enter_context(os.fdopen(null, "w"))
            to: Any = nothing if self.silent else sys.stderr
            os.dup2(nothing.fileno() if self.silent else 2, 1)
            self._stack.enter_context(redirect_stdout(to))
        return self

    def write(self, text: str) -> None:
        """Write text to the original standard output. Raises OSError."""
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
    """Flush the output of Python and C to the destination for which it was printed."""
    with suppress(OSError, ValueError):
        sys.stdout.flush()
    with suppress(OSError, AttributeError):
        library = ctypes.cdll.ucrtbase if os.name == "nt" else ctypes.CDLL(None)
        library.fflush(None)
