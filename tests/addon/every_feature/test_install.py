"""The extension was installed from the zip, is enabled, and has loaded its own native module."""

import sys
import tomllib
from pathlib import Path

import araplbs
import bpy

MODULE = "bl_ext.user_default.araplbs"


def test_enabled():
    assert MODULE in bpy.context.preferences.addons


def test_module_comes_from_the_wheel():
    resources = Path(bpy.utils.resource_path("USER")).resolve()
    assert Path(araplbs.__file__).resolve().is_relative_to(resources)


def test_version_is_the_manifests():
    folder = Path(sys.modules[MODULE].__file__).parent
    manifest = tomllib.loads((folder / "blender_manifest.toml").read_text())
    assert araplbs.__version__ == manifest["version"]


def test_the_manual_travels_along():
    """The zip contains the first page of the manual and its pictures;
    tests/package/house/test_manual.py checks the links."""
    folder = Path(sys.modules[MODULE].__file__).parent / "manual"
    assert "<h1" in (folder / "README.html").read_text(encoding="utf-8")
    assert len(list(folder.glob("*.html"))) > 15 and list(folder.glob("*.png"))


def test_licenses_travel_along():
    folder = Path(sys.modules[MODULE].__file__).parent
    names = {f.name for f in (folder / "licenses").iterdir()}
    assert (folder / "LICENSE").exists() and (folder / "THIRD_PARTY.md").exists()
    assert {"SuiteSparse-CHOLMOD.txt", "OpenBLAS-LICENSE.txt", "VERSIONS.txt"} <= names
