"""Frames of a mesh in a temporary file: memory does not grow with their number. No bpy."""

import tempfile

import numpy as np

from .refusal import Refused


class FrameFile:
    """A sequence of arrays (n, 3), float32, to be filled by append(). The file is gone when this is
    closed, or when nothing holds it any more, whatever happens to the program."""

    def __init__(self, folder):
        self._folder, self._count, self._shape = folder, 0, None
        self._file = self._tried(lambda: tempfile.TemporaryFile(dir=folder))  # noqa: SIM115

    def append(self, points):
        points = np.ascontiguousarray(points, np.float32)
        if self._shape is None:
            self._shape = points.shape
        if points.shape != self._shape:
            raise ValueError(f"a frame has the shape {points.shape}: must be {self._shape}")
        self._tried(lambda: self._file.seek(self._count * points.nbytes))
        self._tried(lambda: self._file.write(points.data))
        self._count += 1

    def __len__(self):
        return self._count

    def __getitem__(self, index):
        if not 0 <= index < self._count:
            raise IndexError(index)
        points = np.empty(self._shape, np.float32)
        self._file.seek(index * points.nbytes)
        if self._file.readinto(points.data.cast("B")) != points.nbytes:
            raise OSError(f"frame {index} in the folder {self._folder} is cut short")
        return points

    def close(self):
        self._file.close()

    def _tried(self, work):
        try:
            return work()
        except OSError as error:
            raise Refused(
                f"The temporary folder {self._folder} cannot hold the frames: {error.strerror}"
            ) from None
