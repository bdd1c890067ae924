"""Errors whose message is shown to the user unchanged."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Refused(Exception):
    """The work cannot be done on this object. The message is one sentence for the user that names
    the object and the reason.

    Raised by load_gltf(), GltfCharacter.weigh() and all functions that read files and options.
    """


class BadOption(Refused, ValueError):
    """An option has a value outside its limits."""


class NothingNew(Refused):
    """There is nothing left to do because all work has already been done. Programs do not treat
    this as a failure."""


class Changed(Refused):
    """The data used by the work has changed since it was read."""

    def __init__(self, name: str, how: str) -> None:
        super().__init__(f"'{name}' {how}: nothing was written")


@contextmanager
def naming(path: str | Path, source: str | Path) -> Iterator[None]:
    """Adds the name of a file to what is refused in the block, unless it is there already, or the
    file is the source, under whose name every message is shown."""
    try:
        yield
    except Refused as error:
        if str(path) == str(source) or str(path) in str(error):
            raise
        raise Refused(f"{path}: {error}") from None
