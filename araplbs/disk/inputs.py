"""Reads untrusted files. Only regular files are read, because a FIFO could block and a device may
never end. At most as many bytes are read as a file of the expected kind can have."""

import os
import stat
from pathlib import Path

from ..base.refusal import Refused


def read_input(path: str | Path, most: int) -> bytes:
    """All bytes of a file. Raises Refused, with the name of the file, if the file cannot be read or
    has more than `most` bytes."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        raise Refused(f"'{path}' cannot be read: {error.strerror}") from None
    content = bytearray()
    try:
        found = os.fstat(descriptor)
        if stat.S_ISDIR(found.st_mode):
            raise Refused(f"'{path}' is a folder")
        if not stat.S_ISREG(found.st_mode):
            raise Refused(f"'{path}' is not a regular file")
        if found.st_size <= most:  # files in /proc have more bytes than reported
            while len(content) <= most and (part := os.read(descriptor, 1 << 20)):
                content += part
    except OSError as error:
        raise Refused(f"'{path}' cannot be read: {error.strerror}") from None
    finally:
        os.close(descriptor)
    if max(found.st_size, len(content)) > most:
        raise Refused(f"'{path}' is too large: it has more than {most} bytes")
    return bytes(content)


def read_input_text(path: str | Path, most: int) -> str:
    """The content of a file as text. Raises Refused if it is not UTF-8."""
    try:
        return read_input(path, most).decode("utf-8")
    except UnicodeDecodeError as error:
        raise Refused(f"'{path}' is not UTF-8 text: {error.reason}") from None
