"""araplbs.blender without Blender: the package can be imported, and a message states what is
missing."""

import subprocess
import sys

import araplbs
import araplbs.blender
import pytest
from paths import ROOT


def test_it_needs_no_blender():
    assert "bpy" not in sys.modules
    with pytest.raises(araplbs.Refused, match="This Python has no Blender: run the script"):
        araplbs.blender.bind([], None)


def test_the_command_needs_one():
    done = subprocess.run(
        [sys.executable, "-m", "araplbs.blender", "weight", "in.blend"],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 1 and done.stdout == ""
    assert (
        done.stderr.startswith("araplbs: This Python has no Blender")
        and done.stderr.count("\n") == 1
    )
