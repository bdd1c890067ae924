"""The last message of Auto-weight is the result, on every character and rig of $ARAPLBS_DATA: one
short line with the number of vertices and the stretch, after any warnings.

With `ARAPLBS_TEST_RIGS=1`, the rigs are tested as well (tests/run.sh bpy45 with PYTEST_ARGS="-k
last_line")."""

import os
import re

import bpy
import pytest
from paths import DATA, RIGS, shared_file, shared_names
from scenes import addon, auto_weight, package

LINE = r"Weighted [\d,]+ vertices in [\d.]+ s: .*stretch .* %(\. \d+ notes?)?$"
MOST = 110  # letters, as tests/addon/auto_weight/test_outcome.py has it
FOLDERS = {name: each for each in (RIGS, DATA) for name in shared_names(each, "*.blend")}
# Vertices: larger ones have the same line, after longer work.
LARGE = 40_000 if os.environ.get("ARAPLBS_TEST_ALL") else 10_000

pytestmark = pytest.mark.slow


def character_of(path):
    """(meshes, rig) of the file with the most vertices."""
    bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False)
    try:
        targets = addon("blender.read.targets").find_in_file(bpy.context.view_layer)
    except package("base.refusal").Refused as reason:
        pytest.skip(str(reason))
    sizes = [sum(len(ob.data.vertices) for ob in each.meshes) for each in targets]
    largest = targets[sizes.index(max(sizes))]
    for ob in (largest.armature, *largest.meshes):
        ob.hide_set(False)
    return largest.meshes, largest.armature, max(sizes)


@pytest.mark.parametrize("name", FOLDERS)
def test_the_last_line_is_the_result(name, capfd, monkeypatch):
    path = shared_file(FOLDERS[name], f"{name}.blend")
    everything = os.environ.get("ARAPLBS_TEST_RIGS")
    if path.parent == RIGS and not everything:
        pytest.skip("rigs: with ARAPLBS_TEST_RIGS=1")
    monkeypatch.setattr(addon("features.auto_weight.operator"), "is_seen", lambda: True)
    meshes, rig, size = character_of(path)
    if size > LARGE and not everything:
        pytest.skip("large: with ARAPLBS_TEST_RIGS=1")
    capfd.readouterr()
    assert auto_weight(*meshes, rig) == {"FINISHED"}
    lines = capfd.readouterr().out.splitlines()  # some come from Blender itself
    last = [line for line in lines if line.startswith(("Info:", "Warning:", "Error:"))][-1]
    assert re.search(LINE, last), last
    assert len(last.removeprefix("Info: ")) <= MOST, last
