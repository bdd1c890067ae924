"""Errors whose message is shown to the user unchanged."""


class Refused(Exception):
    """The work cannot be done, or not on this object; the message is one sentence that says on
    which and why, for people.

    Raised by load_gltf(), by GltfCharacter.weigh() and by everything that reads files and options.
    """

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)


class BadOption(Refused, ValueError):
    """An option has a value outside of its limits."""


class NothingNew(Refused):
    """There is nothing to do: all of it was done before. For a program that is no failure."""


class Changed(Refused):
    """The data of the work has changed since it was read."""

    def __init__(self, name: str, how: str) -> None:
        super().__init__(f"'{name}' {how}: nothing was written")
