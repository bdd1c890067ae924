"""Arrays in files by other authors: the result equals NumPy's, and nothing is unpacked before its
size is known."""

import io
import tracemalloc
import zipfile

import numpy as np
import pytest
from araplbs import arrays


def npz(**given):
    out = io.BytesIO()
    np.savez_compressed(out, **given)
    return out


def zipped(*members, compression=zipfile.ZIP_DEFLATED):
    """members: (name, content)"""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return out


def npy(shape, kind="<f8", content=b"", version=(1, 0)):
    text = f"{{'descr': {kind!r}, 'fortran_order': False, 'shape': {shape}, }}"
    text = text.ljust(117) + "\n"
    return b"\x93NUMPY" + bytes(version) + len(text).to_bytes(2, "little") + text.encode() + content


GIVEN = {
    "a": np.arange(6.0).reshape(2, 3),
    "b": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "c": np.array([True, False]),
    "d": np.array(3),
    "e": np.zeros((0, 4), np.int32),
    "f": np.array(["x", "yz"]),
    "g": np.arange(3, dtype=">i8"),
}


def test_as_numpy_reads():
    found = arrays.read_arrays(npz(**GIVEN))
    assert found.keys() == GIVEN.keys()
    for name, value in GIVEN.items():
        np.testing.assert_array_equal(found[name], value)
        assert found[name].dtype == value.dtype and found[name].flags.aligned
        assert found[name].flags.writeable


@pytest.mark.parametrize(
    "file, pattern",
    [
        (zipped(("a.npy", npy((10**12,)))), "0 bytes for the shape"),
        (zipped(("a.npy", npy((2**62, 2**62)))), "0 bytes for the shape"),
        (zipped(("a.npy", npy((-1,)))), "array of shape"),
        (zipped(("a.npy", npy((1,), content=bytes(4)))), "4 bytes for the shape"),
        (zipped(("a.npy", npy((1,), content=bytes(12)))), "12 bytes for the shape"),
        (zipped(("a.npy", npy((1,), "|O", bytes(8)))), "it contains no numbers"),
        (zipped(("a.npy", npy((), version=(9, 0)))), "array of version"),
        (zipped(("a.npy", b"")), "it is damaged"),
        (zipped(("a.npy", b"\x93NUMPY\1\0\x76\0" + b"[" * 118)), "it is damaged"),
        (zipped(("a.npy", bytes(1 << 27))), "would unpack to 134217728"),
        (io.BytesIO(b"PK"), "it is damaged"),
    ],
    ids=range(11),
)
def test_refused(file, pattern):
    with pytest.raises(arrays.NotArrays, match=pattern):
        arrays.read_arrays(file)


def test_more_members_than_anybody_wants():
    members = ((f"{k}.npy", b"") for k in range(100_001))
    with pytest.raises(arrays.NotArrays, match="100001 members"):
        arrays.read_arrays(zipped(*members, compression=zipfile.ZIP_STORED))


def test_a_bomb_takes_no_memory():
    bomb = zipped(*((f"{k}.npy", npy((1 << 24,), "|u1", bytes(1 << 24))) for k in range(8)))
    tracemalloc.start()
    with pytest.raises(arrays.NotArrays, match="more than its arrays can have"):
        arrays.read_arrays(bomb)
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()
    few = zipped(("a.npy", npy((1 << 20,), "|u1", bytes(1 << 20))))
    with pytest.raises(arrays.NotArrays, match="would unpack"):
        arrays.read_arrays(few, most=1 << 19)
    assert arrays.read_arrays(few)["a"].shape == (1 << 20,)


def test_a_member_that_is_longer_than_it_says():
    """The size in the zip's table decides, not the size of the unpacked data."""
    content = npy((1 << 20,), "|u1", bytes(1 << 20))
    lying = bytearray(zipped(("a.npy", content)).getvalue())
    size = len(content).to_bytes(4, "little")
    while (at := lying.find(size)) >= 0:
        lying[at : at + 4] = (len(npy((64,), "|u1")) + 64).to_bytes(4, "little")
    with pytest.raises(arrays.NotArrays):
        arrays.read_arrays(io.BytesIO(bytes(lying)))
