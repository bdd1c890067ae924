"""The command `check`: findings, JSON and exit codes. The command writes nothing except a requested
report."""

import json

import bpy
import pytest
from command import folder_of, run, save
from scenes import (
    add_armature,
    add_mesh,
    add_tube,
    addon,
    auto_weight,
    bind,
    select,
    tube_and_rig,
    tube_arrays,
    two_sided_bones,
)


def sound():
    tube, rig = tube_and_rig()
    assert auto_weight(tube, rig) == {"FINISHED"}
    return tube, rig


def broken():
    """A tube whose top has no weights."""
    tube, _rig = sound()
    top = [v.index for v in tube.data.vertices if v.co.z > 2.5]
    for group in tube.vertex_groups:
        group.remove(top)
    return top


def test_sound(tmp_path, capfd):
    sound()
    path = save(tmp_path / "in.blend")
    before = path.read_bytes()
    assert run("check", path, "--fail-on", "medium") == 0
    assert "findings: 0 high, 0 medium" in capfd.readouterr().out
    assert path.read_bytes() == before and folder_of(tmp_path) == ["in.blend"]


def test_findings(tmp_path, capfd):
    top = broken()
    path, report = save(tmp_path / "in.blend"), tmp_path / "report.json"
    before = path.read_bytes()
    assert run("check", path, "--json", report) == 3
    printed = capfd.readouterr().out
    assert f"high: Unweighted: {len(top)} vertices of 'Tube' have no weights" in printed
    assert path.read_bytes() == before
    assert folder_of(tmp_path) == ["in.blend", "report.json"]
    (entry,) = json.loads(report.read_text())["files"]
    assert entry["input"] == str(path) and "output" not in entry
    (armature,) = entry["armatures"]
    assert armature["armature"] == "Rig" and armature["objects"] == ["Tube"]
    assert armature["vertices"] == 192 and armature["health"]["high"] >= 1
    assert sum(armature["health"].values()) == len(armature["findings"])
    (found,) = [f for f in armature["findings"] if f["kind"] == "UNWEIGHTED"]
    assert found["vertices"] == top and found["mesh"] == "Tube" and found["level"] == "high"
    severities = [f["severity"] for f in armature["findings"]]
    assert severities == sorted(severities, reverse=True)


@pytest.mark.parametrize(("level", "code"), [("never", 0), ("high", 3), ("low", 3)])
def test_fail_on(level, code, tmp_path):
    broken()
    assert run("check", save(tmp_path / "in.blend"), "--fail-on", level) == code


def test_several_files_and_one_that_fails(tmp_path, capfd):
    sound()
    good = save(tmp_path / "good.blend")
    broken()
    bad = save(tmp_path / "bad.blend")
    nothing, report = save(tmp_path / "nothing.blend"), tmp_path / "report.json"
    assert run("check", good, nothing, bad, "--json", report) == 1
    assert "no armature in the active scene" in capfd.readouterr().err
    entries = json.loads(report.read_text())["files"]
    assert ["error" in entry for entry in entries] == [False, True, False]
    assert run("check", good, bad) == 3 and run("check", good) == 0


def test_names(tmp_path, capfd):
    broken()
    rig = add_armature("Other")
    tube = add_tube("Fine")
    bind(tube, rig)
    assert auto_weight(tube, rig) == {"FINISHED"}
    path = save(tmp_path / "in.blend")
    assert run("check", path, "--armature", "Other") == 0
    assert run("check", path, "--mesh", "Tube") == 3
    assert run("check", path, "--mesh", "None") == 1
    assert "no mesh 'None' in the scene" in capfd.readouterr().err


def test_without_weights(tmp_path):
    tube_and_rig()
    assert run("check", save(tmp_path / "in.blend")) == 3


def test_what_no_weights_move(tmp_path, capfd):
    """A mesh that is parented to a bone as an object needs no weights."""
    _tube, rig = sound()
    hat = add_tube("Hat", radius=0.1)
    hat.parent, hat.parent_type, hat.parent_bone = rig, "BONE", "upper"
    path = save(tmp_path / "in.blend")
    assert run("check", path, "--fail-on", "medium") == 0
    assert run("check", path, "--mesh", "Hat") == 1
    assert "'Hat' has neither an Armature modifier nor bone weights" in capfd.readouterr().err


def test_report_over_the_input(tmp_path, capfd):
    sound()
    path = save(tmp_path / "in.blend")
    before = path.read_bytes()
    assert run("check", path, "--json", path) == 2
    assert "would replace the input" in capfd.readouterr().err
    assert path.read_bytes() == before


def test_wrong_arguments(tmp_path):
    assert run("check") == 2
    assert run("check", tmp_path / "in.blend", "--output", tmp_path / "out.blend") == 2
    assert run("check", tmp_path / "in.blend", "--fail-on", "bad") == 2


LOOSE = {
    "vertices": ([(0.9, 0, 1), (-0.9, 0, 1)], []),
    "hairs": ([(0.3, 0, 1), (0.9, 0, 1), (-0.3, 0, 1), (-0.9, 0, 1)], [(0, 1), (2, 3)]),
}


@pytest.mark.parametrize("which", LOOSE)
def test_loose_ends_that_mirror_each_other(which):
    rig = add_armature(bones=two_sided_bones())
    vertices, faces = tube_arrays(length=2, radius=0.5, sides=12)
    extra, edges = LOOSE[which]
    edges = [(a + len(vertices), b + len(vertices)) for a, b in edges]
    body = add_mesh("Body", [*map(tuple, vertices), *extra], faces, edges=edges)
    bind(body, rig)
    auto_weight(body, rig)
    for operator in ("check", "repair"):
        select(body, rig)
        getattr(bpy.ops.object, f"araplbs_{operator}")("EXEC_DEFAULT")


def test_faces_at_one_point():
    """There is no nearest face, so there is no finding about bones outside the skin."""
    rig = add_armature()
    body = add_mesh("Body", [(0, 0, 0)] * 6, [(0, 1, 2), (3, 4, 5)])
    bind(body, rig)
    for weight in (False, True):
        if weight:
            body.vertex_groups.new(name="upper").add(range(6), 1.0, "REPLACE")
        for operator in ("repair", "check"):
            select(body, rig)
            getattr(bpy.ops.object, f"araplbs_{operator}")("EXEC_DEFAULT")
        kinds = {each.kind for each in addon("features.check.findings_list").found.findings}
        assert not kinds & {"BONE_OUTSIDE", "ASYMMETRY"}
