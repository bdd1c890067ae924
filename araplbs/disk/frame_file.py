"""Stores frames of a mesh in a temporary file, so memory does not grow with their number. This
module does not use bpy."""

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ..base.arrays import Array, Floats
from ..base.refusal import Refused
from ..base.steps import T


class FrameFile:
    """A sequence of arrays (n, 3), float32, filled by append(). The file disappears when this
    object is closed or no longer referenced, even if the program crashes."""

    def __init__(self, folder: str | Path) -> None:
        self._folder, self._count = folder, 0
        self._shape: tuple[int, ...] | None = None
        self._file = self._tried(lambda: tempfile.TemporaryFile(dir=folder))  # noqa: SIM115

    def append(self, points: Array) -> None:
        points = np.ascontiguousarray(points, np.float32)
        if self._shape is None:
            self._shape = points.shape
        if points.shape != self._shape:
            raise ValueError(f"a frame has shape {points.shape}: must be {self._shape}")
        self._tried(lambda: self._file.seek(self._count * points.nbytes))
        self._tried(lambda: self._file.write(points.data))
        self._count += 1

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> Floats:
        if not 0 <= index < self._count:
            raise IndexError(index)
        points = np.empty(self._shape, np.float32)
        self._file.seek(index * points.nbytes)
        if self._file.readinto(points.data.cast("B")) != points.nbytes:
            raise OSError(f"frame {index} in the folder {self._folder} is truncated")
        return points

    def close(self) -> None:
        self._file.close()

    def _tried(self, work: Callable[[], T]) -> T:
        try:
            return work()
        except OSError as error:
            raise Refused(
                f"The temporary folder {self._folder} cannot store the frames: {error.strerror}"
            ) from None
