"""Exceptions that end a command, with their exit codes."""

from ..base.refusal import Refused

DONE, FAILED, WRONG, FINDINGS = 0, 1, 2, 3


class WrongArguments(Refused):
    """No work was begun because the arguments cannot be satisfied; the message gives the reason."""
