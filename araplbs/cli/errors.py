"""What ends a command, and with which exit code."""

from ..base.refusal import Refused

DONE, FAILED, WRONG, FINDINGS = 0, 1, 2, 3


class WrongArguments(Refused):
    """Nothing was begun, since the arguments ask for what cannot be; the message says what."""
