"""What may go wrong and is told to the user as it is."""


class Refused(Exception):
    """The work cannot be done, or not on this object; the message says on which and why."""
