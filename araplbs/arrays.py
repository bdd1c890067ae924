"""Reads arrays from untrusted .npz files. The reader never uses pickle, never blocks on a file, and
unpacks nothing before its size is known.

A zip file states the size of its members, and no member is read beyond that size. Together, the
members may have at most `most` bytes and, above FREE, at most RATIO times as many bytes as the
file. Compression reduces weights and coordinates to a tenth of their size at best, and a zip bomb
to a thousandth. The file is read once, and each array is allocated once.
"""

import io
import math
import os
import stat
import zipfile

import numpy as np

FREE, RATIO = 1 << 26, 300
MOST = 1 << 33  # bytes of all arrays together
MEMBERS = 100_000
HEADER = 10_000  # bytes of the text that describes an array
KINDS = "biufcSU"


class NotArrays(ValueError):
    """The content is not an .npz file or cannot be read. The message gives the reason."""


def open_regular(path):
    """Opens a file on a disk for reading bytes. Raises OSError for anything else, such as a FIFO,
    which could block, or a device, which may never end."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(f"{path} is not a regular file")
    return os.fdopen(descriptor, "rb")


def read_arrays(file, most=MOST):
    """Reads {name: array} from an open .npz file. Raises NotArrays."""
    try:
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            _refuse_sizes(members, most)
            return {_name(member): _array(archive, member) for member in members}
    except NotArrays:
        raise
    except MemoryError:
        raise NotArrays("there is not enough memory for it") from None
    except Exception as error:  # zipfile, zlib and NumPy have no common exception
        raise NotArrays(f"it is damaged: {error}") from None


def _refuse_sizes(members, most):
    if len(members) > MEMBERS:
        raise NotArrays(f"it has {len(members)} members, more than the {MEMBERS} allowed")
    total = sum(member.file_size for member in members)
    packed = sum(member.compress_size for member in members)
    if total > min(most, max(FREE, RATIO * packed)):
        raise NotArrays(
            f"its {packed} bytes would unpack to {total}, more than its arrays can have"
        )


def _name(member):
    return member.filename.removesuffix(".npy")


def _array(archive, member):
    content = bytearray(member.file_size)
    with archive.open(member) as packed:
        if packed.readinto(content) != len(content) or packed.read(1):
            raise NotArrays(f"its array '{_name(member)}' is truncated")
    shape, columns_first, dtype, begin = _header(content[: HEADER + 16])
    if dtype.kind not in KINDS:
        raise NotArrays(f"its array '{_name(member)}' is of type {dtype}: it contains no numbers")
    if math.prod(shape) * dtype.itemsize != len(content) - begin:
        raise NotArrays(
            f"its array '{_name(member)}' has {len(content) - begin} bytes for the shape {shape}"
        )
    values = np.frombuffer(content, dtype, math.prod(shape), begin)
    return np.require(values.reshape(shape, order="F" if columns_first else "C"), None, "A")


def _header(start):
    """Returns (shape, whether columns come first, dtype, start of the values)."""
    text = io.BytesIO(start)
    version = np.lib.format.read_magic(text)
    if version not in ((1, 0), (2, 0)):
        raise NotArrays(f"it has an array of version {version}")
    read = (
        np.lib.format.read_array_header_1_0
        if version == (1, 0)
        else np.lib.format.read_array_header_2_0
    )
    shape, columns_first, dtype = read(text, max_header_size=HEADER)
    if any(each < 0 for each in shape):
        raise NotArrays(f"it has an array of shape {shape}")
    return shape, columns_first, dtype, text.tell()
