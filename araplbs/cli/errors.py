"""Exceptions that end a command, with their exit codes."""

from ..base.refusal import Refused

DONE, FAILED, WRONG, FINDINGS = 0, 1, 2, 3


class WrongArguments(Refused):
    """The arguments cannot be satisfied, so no work was begun. The message gives the reason."""
