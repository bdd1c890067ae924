"""Reads and writes glTF 2.0 files as JSON and buffers: .glb and .vrm (binary) and .gltf (text).

The content is not interpreted. Except for replaced or added data, a written file has the same JSON
values and the same bytes in its buffers as the file that was read. The text of the JSON is written
anew, so its spaces and the spelling of its numbers change. A file is read again, and compared with
the document, before it replaces another file.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import os
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from ...base.refusal import Refused
from ...disk.files import refuse_input
from ...disk.inputs import read_input
from ...disk.outputs import Kind, refuse_used, replaced
from .shape import refuse_shape

MAGIC, VERSION = b"glTF", 2
JSON_CHUNK, BINARY_CHUNK = 0x4E4F534A, 0x004E4942
MOST_BYTES = 1 << 32  # a .glb stores its length in 32 bits
SUFFIXES = (".glb", ".gltf", ".vrm")
GLTF = Kind("glTF file", "", re.compile(rb"glTF|(\xef\xbb\xbf)?\s*\{"))
IMAGES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".webp": "image/webp",
    ".ktx2": "image/ktx2",
}
DATA_URI = "data:application/octet-stream;base64,"

NO_PATH = Path("<bytes>")  # of a document that is not a file, so it cannot use other files


@dataclass
class Document:
    """A file that was read. buffers: the bytes of each buffer, which can be replaced or extended.
    The buffers in `outside` are separate files next to a .gltf and are never changed."""

    path: Path
    json: dict[str, Any]
    binary: bool
    buffers: list[bytearray]
    outside: set[int] = field(default_factory=set)
    more_chunks: bytes = b""  # after the second chunk of a .glb
    decompressed: bool = False  # its meshes were compressed in the file

    def items(self, kind: str) -> list[dict[str, Any]]:
        """The list with this name ("nodes"), empty if the file does not have it."""
        return self.json.get(kind, [])

    def item(self, kind: str, number: object) -> dict[str, Any]:
        """One item of a list. Raises Refused for an index out of range."""
        found = self.items(kind)
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < len(found):
            raise Refused(f"the file refers to {kind}[{number!r}], but has only {len(found)}")
        return found[number]

    def files(self) -> dict[str, Path]:
        """The separate files that the document uses, {URI: path}: of buffers and images, and the
        existing ones that extensions name. Only `uri` and names such as `schemaUri` refer to
        files."""
        found = {}
        for trail, uri in _entries(self.json):
            if isinstance(uri, str) and str(trail[1]).endswith(("uri", "Uri")):
                path = _file_of(self, uri)
                if path is not None and os.path.isfile(path):
                    found[uri] = path
        return found

    def save(self, path: str | Path) -> None:
        """See save_document()."""
        save_document(self, path)


def is_gltf(path: str | Path) -> bool:
    return Path(path).suffix.lower() in SUFFIXES


def read_document(path: str | Path) -> Document:
    """Reads a glTF 2.0 file. Raises Refused for files in other formats and for incomplete files."""
    return document_of(Path(path), read_input(path, MOST_BYTES))


def read_head(path: str | Path) -> Document:
    """Reads a glTF 2.0 file without its buffers. Raises OSError, and Refused for the reasons of
    read_document()."""
    try:
        refuse_input(path)
        with open(path, "rb") as file:
            start = file.read(20)
            if start[:4] == MAGIC:
                text = file.read(int.from_bytes(start[12:16], "little"))
                return Document(Path(path), _parsed(text), True, [])
            return Document(Path(path), _parsed(start + file.read()), False, [])
    except Refused:
        return read_document(path)


def document_of(path: Path, content: bytes) -> Document:
    if content[:4] == MAGIC:
        return _read_binary(path, content)
    if path.suffix.lower() in (".glb", ".vrm"):
        raise Refused(f"not a binary glTF file: it does not begin with '{MAGIC.decode()}'")
    document = Document(path, _parsed(content), False, [])
    _check_version(document)
    _read_buffers(document, None)
    return document


def _read_binary(path: Path, content: bytes) -> Document:
    if len(content) < 20:
        raise Refused(f"ends after {len(content)} bytes, within its header")
    version, length = struct.unpack_from("<II", content, 4)
    if version != VERSION:
        raise Refused(f"uses glTF version {version}: only version {VERSION} is supported")
    if length > len(content):
        raise Refused(f"ends after {len(content)} of {length} bytes")
    chunks: list[tuple[int, bytes]] = []
    place = 12
    while place + 8 <= length and len(chunks) < 2:
        size, kind = struct.unpack_from("<II", content, place)
        if place + 8 + size > length:
            raise Refused(f"has a chunk of {size} bytes that extends beyond its end")
        if len(chunks) == 1 and kind != BINARY_CHUNK:
            break
        chunks.append((kind, content[place + 8 : place + 8 + size]))
        place += 8 + size
    if not chunks or chunks[0][0] != JSON_CHUNK:
        raise Refused("has no JSON in its first chunk")
    document = Document(path, _parsed(chunks[0][1]), True, [], more_chunks=content[place:length])
    _check_version(document)
    _read_buffers(document, chunks[1][1] if len(chunks) > 1 else None)
    return document


def _parsed(text: bytes) -> dict[str, Any]:
    odd: list[str] = []  # numbers that JSON cannot express, or that Python reads as infinite

    def number(word: str) -> float:
        value = float(word)
        if not math.isfinite(value):
            odd.append(word)
        return value

    try:
        found = json.loads(text.decode("utf-8-sig"), parse_float=number, parse_constant=number)
    except (ValueError, RecursionError) as error:
        raise Refused(f"its JSON cannot be read: {error}") from None
    for trail, value in _entries(found) if odd else ():
        if isinstance(value, float) and not math.isfinite(value):
            raise Refused(f"its JSON has {_place(trail)} {odd[0]}: must be a finite number")
    refuse_shape(found)
    return found


def _entries(value: Any, trail: Any = None) -> Iterator[tuple[Any, Any]]:
    """Yields (trail, value) for each entry of the JSON at any depth. trail: (trail of the list or
    object, key)."""
    stack = [(trail, value)]
    while stack:
        trail, value = stack.pop()
        yield trail, value
        if isinstance(value, dict):
            stack += [((trail, key), each) for key, each in value.items()]
        elif isinstance(value, list):
            stack += [((trail, k), each) for k, each in enumerate(value)]


def _place(trail: Any) -> str:
    """The name of an entry, such as nodes[3].extras.a."""
    parts = []
    while trail:
        trail, key = trail
        parts.append(f".{key}" if isinstance(key, str) else f"[{key}]")
    return "".join(parts[::-1]).removeprefix(".")


def _check_version(document: Document) -> None:
    asset = document.json.get("asset")
    version = asset.get("version") if isinstance(asset, dict) else None
    if not isinstance(version, str) or version.split(".")[0] != str(VERSION):
        raise Refused(f"uses glTF version {version!r}: only version {VERSION} is supported")


def _read_buffers(document: Document, binary: bytes | None) -> None:
    for number, buffer in enumerate(document.items("buffers")):
        size = buffer.get("byteLength")
        if size is None:
            raise Refused(f"buffer {number} has no length")
        uri = buffer.get("uri")
        if uri is None:
            # A decoder of compressed files would fill an empty one. Any attempt to read from it is
            # refused.
            content = binary if number == 0 and binary is not None else b""
        elif str(uri).startswith("data:"):
            content = _data_of(number, str(uri))
        else:
            content = read_input(place_of(document, str(uri)), MOST_BYTES)
            document.outside.add(number)
        if uri is not None and len(content) < size:
            raise Refused(f"buffer {number} has only {len(content)} of {size} bytes")
        document.buffers.append(bytearray(content[:size]))


def _data_of(number: int, uri: str) -> bytes:
    head, _comma, data = uri.partition(",")
    try:
        if not head.endswith(";base64"):
            raise ValueError("not base64")
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise Refused(f"buffer {number} has a data URI that cannot be read: {error}") from None


def _file_of(document: Document, uri: str) -> Path | None:
    """The file to which a URI refers from the folder of the document. None for data in the URI
    itself, for other addresses and for malformed URIs."""
    if document.path == NO_PATH:
        return None
    try:
        split = urlsplit(uri)
        name = unquote(split.path)
        os.fsencode(name)
    except ValueError:
        return None
    if split.scheme or split.netloc or "\0" in name or "\\" in name:
        return None
    return document.path.resolve().parent / name


def place_of(document: Document, uri: str) -> Path:
    """The file next to a .gltf that a URI names. Raises Refused for a file elsewhere, because an
    untrusted file must not cause other files to be read."""
    named = _file_of(document, uri)
    if named is None:
        raise Refused(f"refers to '{uri}', which is not a file in its folder")
    found = named.resolve()
    if not found.is_relative_to(document.path.resolve().parent):
        raise Refused(f"refers to '{uri}', which is outside its folder")
    return found


def as_bytes(document: Document, binary: bool) -> bytes:
    """The content of the file: binary, or text that embeds all buffers without a file of their
    own."""
    if binary:
        return _as_binary(document)
    head = dict(document.json)
    head["buffers"] = [dict(buffer) for buffer in document.items("buffers")]
    for number, buffer in enumerate(head["buffers"]):
        content = document.buffers[number]
        if number in document.outside:
            continue
        buffer["byteLength"] = len(content)
        if content or "uri" in buffer:
            buffer["uri"] = DATA_URI + base64.b64encode(bytes(content)).decode("ascii")
    if not head["buffers"]:
        del head["buffers"]
    return _text_of(head, indent="\t") + b"\n"


def _text_of(head: dict[str, Any], **form: Any) -> bytes:
    """The JSON as text. A surrogate without its partner has no UTF-8 form, so it stays an escape,
    as in the file that was read."""
    text = json.dumps(head, ensure_ascii=False, allow_nan=False, **form)
    return text.encode("utf-8", "backslashreplace")


def _as_binary(document: Document) -> bytes:
    """The content of a binary file. All buffers except the first keep their locations, in the JSON
    or in separate files."""
    head = dict(document.json)
    buffers = [dict(buffer) for buffer in document.items("buffers")]
    first = bytes(document.buffers[0]) if buffers and 0 not in document.outside else b""
    for number, buffer in enumerate(buffers):
        if number in document.outside or (number and not document.buffers[number]):
            continue
        buffer["byteLength"] = len(document.buffers[number])
        if number == 0:
            buffer.pop("uri", None)
        else:
            data = base64.b64encode(bytes(document.buffers[number])).decode("ascii")
            buffer["uri"] = DATA_URI + data
    if buffers:
        head["buffers"] = buffers
    return _chunks(_text_of(head, separators=(",", ":")), first, document.more_chunks)


def _chunks(text: bytes, binary: bytes, more: bytes) -> bytes:
    text += b" " * (-len(text) % 4)
    binary += bytes(-len(binary) % 4)
    parts = [struct.pack("<II", len(text), JSON_CHUNK), text]
    if binary:
        parts += [struct.pack("<II", len(binary), BINARY_CHUNK), binary]
    body = b"".join(parts) + more
    if 12 + len(body) >= MOST_BYTES:
        raise Refused("is larger than the 4 GB limit of a .glb file")
    return struct.pack("<4sII", MAGIC, VERSION, 12 + len(body)) + body


def refuse_loss(document: Document, path: str | Path) -> None:
    """Raises Refused if writing the document to this path would lose separate files or replace one
    of them. Called before the work rather than after it."""
    path = Path(path)
    used = document.files()
    refuse_used(used.values(), [path])
    packs, away = _packs(document, path), _is_away(document, path)
    images = {str(image["uri"]) for image in document.items("images") if is_beside(image)}
    buffers = {str(document.items("buffers")[k]["uri"]) for k in document.outside}
    for uri in sorted(images) if packs else ():
        place = place_of(document, uri)
        if place.suffix.lower() not in IMAGES:
            raise Refused(f"has an image of an unknown kind: {place.name}")
        if uri not in used:
            raise Refused(f"refers to '{uri}', which does not exist")
    left = {*buffers, *images, *used} - ({*buffers, *images} if packs else set())
    if away and left:
        advice = "" if packs else ", or as .glb"
        first = min(left & buffers or left)
        raise Refused(f"has data in other files ({first}): write it to the same folder{advice}")


def _is_away(document: Document, path: Path) -> bool:
    return path.resolve().parent != document.path.resolve().parent


def _packs(document: Document, path: Path) -> bool:
    """Whether buffers and images in separate files become part of the written file."""
    if path.suffix.lower() == ".gltf" or (document.binary and not _is_away(document, path)):
        return False
    return bool(document.outside) or any(map(is_beside, document.items("images")))


def save_document(document: Document, path: str | Path) -> None:
    """Writes the file completely or not at all: as text if the name ends with .gltf, otherwise as
    binary, which embeds the separate buffers and images of a .gltf. Raises Refused if this would
    replace a file of a different type or lose separate files, and if the written file cannot be
    read again."""
    path = Path(path)
    refuse_loss(document, path)
    if _packs(document, path):
        document = packed(document)
    with replaced(path, GLTF) as temporary:
        temporary.write_bytes(as_bytes(document, path.suffix.lower() != ".gltf"))
        _refuse_difference(document, temporary)


def _refuse_difference(document: Document, path: Path) -> None:
    """Reads a written file. Raises Refused if it differs from the document."""
    try:
        again = document_of(document.path.with_suffix(path.suffix), path.read_bytes())
    except Refused as error:
        raise Refused(f"was not written, because it could not be read again: {error}") from None
    if _apart_from_places(again) != _apart_from_places(document):
        raise Refused("was not written, because the written JSON differs")
    for number, content in enumerate(document.buffers):
        if again.buffers[number] != content:
            raise Refused(f"was not written, because the written buffer {number} differs")


def _apart_from_places(document: Document) -> dict[str, Any]:
    """The JSON without the location and the length of the buffers."""
    buffers = [
        {key: value for key, value in buffer.items() if key not in ("uri", "byteLength")}
        for buffer in document.items("buffers")
    ]
    return document.json | {"buffers": buffers}


def is_beside(image: dict[str, Any]) -> bool:
    """Whether an image is in a separate file."""
    return "uri" in image and not str(image["uri"]).startswith("data:")


def packed(document: Document) -> Document:
    """Returns a copy with the contents of its separate buffers and images in its first buffer.
    Raises Refused for a view that cannot be moved."""
    head = dict(document.json)
    for name in ("bufferViews", "images"):
        if name in head:
            head[name] = [dict(each) for each in head[name]]
    content, begins = bytearray(), []
    for own in document.buffers:
        content.extend(bytes(-len(content) % 4))
        begins.append(len(content))
        content.extend(own)
    views = head.setdefault("bufferViews", [])
    for view in views:
        number = view.get("buffer")
        if not isinstance(number, int) or not 0 <= number < len(begins) or "extensions" in view:
            raise Refused("has a buffer view that cannot be moved into one file")
        view["byteOffset"] = view.get("byteOffset", 0) + begins[number]
        view["buffer"] = 0
    for image in head.get("images", []):
        if not is_beside(image):
            continue
        place = place_of(document, str(image.pop("uri")))
        data = read_input(place, MOST_BYTES)
        content.extend(bytes(-len(content) % 4))
        views.append({"buffer": 0, "byteOffset": len(content), "byteLength": len(data)})
        content.extend(data)
        image |= {"bufferView": len(views) - 1, "mimeType": IMAGES[place.suffix.lower()]}
    head["buffers"] = [{"byteLength": len(content)}]
    return Document(document.path, head, True, [content])
