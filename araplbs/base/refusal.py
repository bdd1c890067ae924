"""Errors whose message is shown to the user unchanged."""


class Refused(Exception):
    """The work cannot be done on this object; the message is one sentence for people that names
    the object and the reason.

    Raised by load_gltf(), by GltfCharacter.weigh() and by everything that reads files and options.
    """

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)


class BadOption(Refused, ValueError):
    """An option has a value outside its limits."""


class NothingNew(Refused):
    """There is nothing to do: all of it was done before. For a program that is not a failure."""


class Changed(Refused):
    """The data of the work has changed since it was read."""

    def __init__(self, name: str, how: str) -> None:
        super().__init__(f"'{name}' {how}: nothing was written")
