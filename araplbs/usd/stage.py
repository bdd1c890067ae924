"""Opens and writes USD files with the package usd-core, which is loaded on first use.

Only the root layer of a stage is edited and written. The layers that it references stay files of
their own. Paths in the root layer are relative to its folder, so they are rewritten if the output
is in another folder. A .usdz file is unpacked for editing, and its other files are packed again
byte for byte.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from ..base.refusal import Refused
from ..disk.files import own_folder, refuse_input
from ..disk.outputs import Kind, replaced

SUFFIXES = (".usd", ".usda", ".usdc", ".usdz")
USD = Kind("USD file", "", re.compile(rb"#usda|PXR-USDC|PK\x03\x04"))
PACKAGED = ".usdz"
OPENED = itertools.count()
FORMATS = {".usda": "usda", ".usdc": "usdc"}  # the format of a .usd file is that of its content


def is_usd(path: str | Path) -> bool:
    return Path(path).suffix.lower() in SUFFIXES


def _modules() -> Any:
    try:
        from pxr import Sdf, Tf, Usd, UsdUtils
    except ImportError:
        raise Refused("needs the package usd-core: run pip install 'araplbs[usd]'") from None
    return Sdf, Tf, Usd, UsdUtils


class UsdDocument:
    """An open USD file. stage: its Usd.Stage, whose edits go to the root layer in memory."""

    decompressed = False  # see the Document of a glTF file

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        refuse_input(self.path)
        sdf, tf, usd, _utils = _modules()
        self._unpacked: tempfile.TemporaryDirectory[str] | None = None
        self._members: list[str] = []
        root = self.path
        if self.packaged:
            self._unpacked = own_folder()
            self._members = _unpack(self.path, Path(self._unpacked.name))
            root = Path(self._unpacked.name, self._members[0])
        try:
            # The argument keeps usd-core from sharing the layer and its edits with a document of
            # the same file that is still open.
            opened = {"araplbs": str(next(OPENED))}
            self.stage = usd.Stage.Open(sdf.Layer.FindOrOpen(str(root.resolve()), opened))
        except tf.ErrorException as error:
            raise Refused(f"is not a USD file that can be read: {reason(error)}") from None
        self.stage.SetEditTarget(self.stage.GetRootLayer())

    @property
    def packaged(self) -> bool:
        return self.path.suffix.lower() == PACKAGED

    def files(self) -> dict[str, Path]:
        """The other layers of the stage that are files, {path relative to the folder: path}."""
        folder = self.path.resolve().parent
        own = self.path.resolve()
        layers = [Path(layer.realPath) for layer in self.stage.GetUsedLayers() if layer.realPath]
        inside = Path(self._unpacked.name).resolve() if self._unpacked else own
        return {
            os.path.relpath(path, folder): path
            for path in layers
            if path != own and not path.is_relative_to(inside)
        }

    def save(self, path: str | Path) -> None:
        """Writes the file completely or not at all. Raises Refused if the file at `path` is of a
        different type, or if a .usdz file would become another type or the reverse."""
        path = Path(path)
        if self.packaged != (path.suffix.lower() == PACKAGED):
            raise Refused(f"cannot be saved as {path.name}: .usdz stays .usdz, and only .usdz does")
        with replaced(path, USD) as temporary, own_folder() as folder:
            made = Path(folder, path.name)
            if self.packaged:
                self._pack(made)
            else:
                self._export(made, path.parent)
            again = UsdDocument(made)  # what cannot be read again must not replace anything
            if again.stage.GetRootLayer().empty != self.stage.GetRootLayer().empty:
                raise Refused("was not written, because the written file is empty")
            del again
            shutil.copyfile(made, temporary)

    def _export(self, made: Path, folder: Path) -> None:
        sdf, _tf, _usd, utils = _modules()
        layer = self.stage.GetRootLayer()
        here, there = Path(layer.realPath).parent, folder.resolve()
        if here != there:
            moved = sdf.Layer.CreateAnonymous(".usda")
            moved.TransferContent(layer)
            utils.ModifyAssetPaths(moved, lambda asset: _seen_from(asset, here, there))
            layer = moved
        own = self.stage.GetRootLayer().GetFileFormat().formatId
        kind = self.stage.GetRootLayer().GetFileFormatArguments().get("format") or (
            FORMATS.get(self.path.suffix.lower()) or _format_of(self.path) or own
        )
        arguments = {} if made.suffix.lower() in FORMATS else {"format": kind}
        if not layer.Export(str(made), args=arguments):
            raise Refused(f"could not be written as {made.suffix}")

    def _pack(self, made: Path) -> None:
        sdf, _tf, usd, _utils = _modules()
        writers = sdf if hasattr(sdf, "ZipFileWriter") else usd  # in older versions
        assert self._unpacked is not None
        folder, first = Path(self._unpacked.name), self._members[0]
        edited = made.with_name("edited" + Path(first).suffix)  # in no member's place
        kind = {"format": _format_of(folder / first)} if edited.suffix == ".usd" else {}
        if not self.stage.GetRootLayer().Export(str(edited), args=kind):
            raise Refused("could not be written as .usdz")
        with writers.ZipFileWriter.CreateNew(str(made)) as writer:
            for name in self._members:
                writer.AddFile(str(edited if name == first else folder / name), name)


def _format_of(path: Path) -> str:
    with path.open("rb") as file:
        return "usdc" if file.read(8) == b"PXR-USDC" else "usda"


def _unpack(path: Path, folder: Path) -> list[str]:
    """Unpacks a .usdz file. Returns its members in their order, the root layer first."""
    try:
        with zipfile.ZipFile(path) as archive:
            sizes = sum(each.file_size for each in archive.infolist())
            if sizes > path.stat().st_size or any(e.compress_type for e in archive.infolist()):
                raise Refused("is not a .usdz file: its files are compressed")
            names = [each.filename for each in archive.infolist() if not each.is_dir()]
            for name in names:
                if not Path(folder, name).resolve().is_relative_to(folder.resolve()):
                    raise Refused(f"contains the file '{name}' outside of the package")
            archive.extractall(folder)
    except zipfile.BadZipFile:
        raise Refused("is not a .usdz file: it is not a zip archive") from None
    if not names or Path(names[0]).suffix.lower() not in SUFFIXES[:-1]:
        raise Refused("is not a .usdz file: it does not begin with a layer")
    return names


def _seen_from(asset: str, here: Path, there: Path) -> str:
    """The path of an asset relative to another folder, unless it is not relative to this one."""
    if not asset or os.path.isabs(asset) or "://" in asset:
        return asset
    plain = asset.split("[", 1)[0]  # a file in a package
    found = here / plain
    if not asset.startswith(".") and "<UDIM>" not in asset and not found.exists():
        return asset  # it is found on a search path
    moved = Path(os.path.relpath(found, there)).as_posix() + asset[len(plain) :]
    return moved if moved.startswith(".") else f"./{moved}"


def reason(error: Exception) -> str:
    """The last line of an error of usd-core."""
    try:
        text = str(error)
    except UnicodeDecodeError:  # it quotes the file
        return "its text is not UTF-8"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return (lines[-1] if lines else "unknown error")[:200]
