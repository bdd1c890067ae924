"""Short names for the types of NumPy arrays. Docstrings give the shapes."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.floating[Any]]
Integers: TypeAlias = NDArray[np.integer[Any]]
Bools: TypeAlias = NDArray[np.bool_]
Array: TypeAlias = NDArray[Any]  # one of several types
Index: TypeAlias = int | np.integer[Any]
