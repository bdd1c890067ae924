"""The module that was built is the one that is tested, and it knows its version."""

import sys
import tomllib
from pathlib import Path

import araplbs
import pytest
from paths import ROOT


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="built on Linux, by tools/cross.py"
)
def test_module_comes_from_this_tree():
    assert Path(araplbs.__file__).is_relative_to(ROOT / "build")


def test_version_is_the_manifests():
    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text())
    assert araplbs.__version__ == manifest["version"]
