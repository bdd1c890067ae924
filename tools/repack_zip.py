"""repack_zip.py ZIP...: sorts the files of a zip by name and gives all of them the same timestamp,
so equal files give an equal zip. Blender's own tool keeps the order and the times of the file
system."""

import sys
import zipfile
from pathlib import Path

TIME = (2026, 1, 1, 0, 0, 0)


def repack(path):
    with zipfile.ZipFile(path) as archive:
        files = {info.filename: (archive.read(info), info) for info in archive.infolist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, (data, info) in sorted(files.items()):
            entry = zipfile.ZipInfo(name, TIME)
            entry.compress_type = info.compress_type
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data, compresslevel=9)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        repack(Path(name))
