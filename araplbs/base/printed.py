"""Prints text to a terminal. The text may quote names from untrusted files, and terminals interpret
control characters, so control characters are printed as numbers. Lines after the first are
indented, so no name can look like a line of the program."""

import sys

INDENT = "\n    "


def printable(text: str) -> str:
    """The text in printable form."""
    lines = text.splitlines() or [""]
    return INDENT.join(_escaped(line.strip() if k else line) for k, line in enumerate(lines))


def _escaped(line: str) -> str:
    if line.isprintable():
        return line
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in line)


def say(text: str) -> None:
    """Prints text immediately."""
    print(printable(text), flush=True)


def complain(text: str) -> None:
    """Prints text to standard error."""
    print(printable(text), file=sys.stderr, flush=True)
