"""Determines the size of the character in a .blend file, and whether the file is complete. Does not
open the file in Blender.

A .blend file is a sequence of blocks, each with a code and the number of its struct in the table
DNA1 near the end of the file. The number of vertices is read from the mesh blocks, and the number
of bones is the number of Bone structs. The file is read once. A compressed file is decompressed
while reading.

The end of a file shows whether it is complete. A compressed file ends with a table of its frame
sizes (the seekable format of zstd), and any other file ends with the block ENDB.
"""

import gzip
import os
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
FOOTER = struct.Struct("<IBI")  # end of the table: number of frames, checksums or not, SEEKABLE
SEEKABLE = 0x8F92EAB1
KEPT = 4096  # bytes to read of a mesh block, whose struct is smaller


@contextmanager
def _plain(path: str | Path) -> Iterator[Any]:
    """The file, decompressed while reading. Raises ValueError for unreadable content."""
    with open(path, "rb") as file:
        start = file.read(4)
        file.seek(0)
        if start.startswith(GZIP):
            with gzip.open(file) as plain:
                yield plain
        elif start == ZSTD:
            try:
                import zstandard
            except ImportError:
                raise ValueError("zstandard is not installed") from None
            yield zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
        else:
            yield file


def _skip(file: Any, size: int) -> None:
    while size > 0:
        size -= len(file.read(min(size, 1 << 20))) or size


def _blocks(file: Any) -> Iterator[tuple[bytes, int, int, int]]:
    """Yields (code, number of the struct, count, size) for each block, with the file positioned at
    the block's content."""
    header = file.read(12)
    if header[:9] == b"BLENDER17":  # Blender 5.0: five more bytes, larger blocks
        header += file.read(5)
        head = struct.Struct("<4sIQqq")
        little, order = header[12:13] == b"v", (0, 1, 4, 3)
    else:
        head = struct.Struct("<4sIQII")
        little, order = header[7:9] == b"-v", (0, 3, 4, 1)
    if not header.startswith(b"BLENDER") or not little:
        raise ValueError("not a 64-bit, little-endian .blend file")
    while len(found := file.read(head.size)) == head.size:
        values = head.unpack(found)
        code, number, count, size = (values[i] for i in order)
        if code == b"ENDB":
            return
        yield code, number, count, size
    raise ValueError("the file is truncated")


def count(path: str | Path) -> tuple[int, int]:
    """Returns (vertices of all meshes, bones of all armatures). Raises OSError, and ValueError for
    files that are not .blend files."""
    meshes, table = [], None
    structs: dict[int, int] = {}  # number of each, by struct number
    with _plain(path) as file:
        for code, number, many, size in _blocks(file):
            kept = size if code == b"DNA1" else min(size, KEPT) if code == b"ME\0\0" else 0
            content = file.read(kept)
            _skip(file, size - kept)
            if code == b"DNA1":
                table = content
            elif code == b"ME\0\0":
                meshes.append(content)
            elif code == b"DATA":
                structs[number] = structs.get(number, 0) + many
    if table is None:
        raise ValueError("the file has no table of structs")
    names, offset = _read_table(table)
    bones = sum(many for number, many in structs.items() if names[number] == "Bone")
    return sum(struct.unpack_from("<i", mesh, offset)[0] for mesh in meshes), bones


def is_whole(path: str | Path) -> bool:
    """Whether a file written by Blender is complete. Blender may report a file as saved although
    the disk was full."""
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        if file.read(4) == ZSTD:
            return _is_whole_zstd(file, size)
        file.seek(0)
        try:
            for _code, _number, _count, length in _blocks(file):
                if not 0 <= length <= size:
                    return False
                file.seek(length, os.SEEK_CUR)
        except ValueError:
            return False
        return file.tell() == size


def _is_whole_zstd(file: Any, size: int) -> bool:
    if size < FOOTER.size:
        return False
    file.seek(-FOOTER.size, os.SEEK_END)
    frames, checksums, magic = FOOTER.unpack(file.read())
    entry = 12 if checksums & 0x80 else 8
    table = 8 + frames * entry + FOOTER.size
    if magic != SEEKABLE or table > size:
        return False
    file.seek(size - table + 8)
    entries = file.read(frames * entry)
    return (
        table + sum(struct.unpack_from("<I", entries, i * entry)[0] for i in range(frames)) == size
    )


def _read_table(table: bytes) -> tuple[list[str], int]:
    """Returns the names of the structs by number, and the position of the vertex count in a
    Mesh."""
    place = 8  # behind SDNANAME

    def strings() -> list[str]:
        nonlocal place
        (many,) = struct.unpack_from("<I", table, place)
        place += 4
        found = []
        for _ in range(many):
            end = table.index(b"\0", place)
            found.append(table[place:end].decode())
            place = end + 1
        place = (place + 3) // 4 * 4 + 4  # behind the next code
        return found

    fields, types = strings(), strings()
    lengths = struct.unpack_from(f"<{len(types)}H", table, place)
    place = (place + 2 * len(types) + 3) // 4 * 4 + 4
    (many,) = struct.unpack_from("<I", table, place)
    place += 4
    names, offset = [], None
    for _ in range(many):
        kind, size = struct.unpack_from("<HH", table, place)
        names.append(types[kind])
        if names[-1] == "Mesh":
            offset = _offset(table, place + 4, size, fields, types, lengths)
        place += 4 + 4 * size
    if offset is None:
        raise ValueError("the file describes no meshes")
    return names, offset


def _offset(
    table: bytes, place: int, size: int, fields: list[str], types: list[str], lengths: Sequence[int]
) -> int | None:
    at = 0
    for kind, field in struct.iter_unpack("<HH", table[place : place + 4 * size]):
        name = fields[field]
        if name in ("totvert", "verts_num") and types[kind] == "int":
            return at
        one = 8 if name.startswith(("*", "(")) else lengths[kind]
        for part in name.split("[")[1:]:
            one *= int(part.rstrip("]"))
        at += one
    return None
