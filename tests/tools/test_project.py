"""The version is stated only in blender_manifest.toml, and setup.py does nothing unless it is
called."""

import os
import re
import subprocess
import sys
import tomllib

import pytest
from paths import ROOT


def read(name):
    return tomllib.loads((ROOT / name).read_text())


@pytest.fixture
def nothing(tmp_path):
    """An environment with neither sources nor a compiler."""
    return {
        **os.environ,
        "ARAPLBS_CACHE": str(tmp_path / "cache"),
        "ARAPLBS_SUITESPARSE_DIR": "",
        "CC": "/nonexistent/compiler",
        "PATH": str(tmp_path),
    }


def test_the_version_needs_no_sources(nothing):
    done = subprocess.run(
        [sys.executable, "setup.py", "--version"],
        cwd=ROOT, env=nothing, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split() == [read("blender_manifest.toml")["version"]]


IMPORT = """
import importlib.util, os, sys
import setuptools

def hook(event, arguments):
    writes = event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR)
    if writes or event in ("os.mkdir", "os.remove", "os.rename", "subprocess.Popen"):
        print(event, arguments)

sys.dont_write_bytecode = True
setuptools.setup = lambda **_: print("setup() was called")
sys.addaudithook(hook)
spec = importlib.util.spec_from_file_location("own_setup", "setup.py")
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
"""


def test_importing_setup_does_nothing():
    """Nothing is written, started, or built."""
    done = subprocess.run(
        [sys.executable, "-c", IMPORT], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == ""


def test_the_version_is_said_once():
    version = read("blender_manifest.toml")["version"]
    for name in ("pyproject.toml", "setup.py", "CITATION.cff", "tools/cross.py", "csrc/arap.h"):
        lines = (ROOT / name).read_text().splitlines()
        found = [line for line in lines if re.search(rf"\b{re.escape(version)}\b", line)]
        assert not found, name


def test_the_module_is_described_as_the_extension_is():
    project, manifest = read("pyproject.toml")["project"], read("blender_manifest.toml")
    assert project["name"] == manifest["id"]
    assert project["description"] == manifest["tagline"]
    assert [a["name"] for a in project["authors"]] == [manifest["maintainer"]]
    assert [f"SPDX:{project['license']}"] == manifest["license"]
