"""Reads arrays from untrusted .npz files."""

from os import PathLike
from typing import Any, BinaryIO

import numpy as np

FREE: int
RATIO: int
MOST: int
MEMBERS: int
HEADER: int
KINDS: str

class NotArrays(ValueError): ...

def open_regular(path: str | PathLike[str]) -> BinaryIO: ...
def read_arrays(file: BinaryIO, most: int = ...) -> dict[str, np.ndarray[Any, Any]]: ...
