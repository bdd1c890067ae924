"""Short names for the types of NumPy's arrays; what the shape is, docstrings say."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.floating[Any]]
Integers: TypeAlias = NDArray[np.integer[Any]]
Bools: TypeAlias = NDArray[np.bool_]
Array: TypeAlias = NDArray[Any]  # of several of these
Index: TypeAlias = int | np.integer[Any]
