"""Errors whose message is shown to the user unchanged."""


class Refused(Exception):
    """The work cannot be done, or not on this object; the message says on which and why."""


class BadOption(Refused, ValueError):
    """An option has a value outside of its limits."""


class Changed(Refused):
    """The data of the work has changed since it was read."""

    def __init__(self, name: str, how: str) -> None:
        super().__init__(f"'{name}' {how}: nothing was written")
