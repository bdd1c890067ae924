"""Repair: the regions of findings are solved again, and nothing else changes."""

import json

import bpy
import numpy as np
import pytest
from command import opened, run, save
from flaws import (
    FLAWS,
    check,
    choose,
    flawed,
    found,
    kinds_found,
    near,
    remove,
    repair,
    shown,
    weighted,
)
from scenes import (
    BONES,
    add_armature,
    add_tube,
    addon,
    assert_good,
    bind,
    deform_names,
    entries,
    in_library,
    select,
    snapshot,
    weights,
)

TWO = {"max_influences": 2}


def changed(before, ob):
    return [i for i, (a, b) in enumerate(zip(before, entries(ob), strict=True)) if a != b]


def ring_distance(ob, vertices):
    """(n,) edges between each vertex and these."""
    distance = np.full(len(ob.data.vertices), 99)
    distance[vertices] = 0
    ends = np.array([edge.vertices[:] for edge in ob.data.edges])
    for _ in range(10):
        for a, b in (ends.T, ends.T[::-1]):
            np.minimum.at(distance, a, distance[b] + 1)
    return distance


@pytest.mark.parametrize("kind", FLAWS)
def test_repaired(kind):
    """The finding is gone or less than half as bad, and only its region has changed."""
    options = TWO if kind == "INFLUENCES" else {}
    tube, rig, _places = flawed(kind, **options)
    before = entries(tube)
    check(**options)
    index = choose(kind)
    finding = found().findings[index]
    assert repair(which="ACTIVE", **options) == {"FINISHED"}
    left = [f.severity for f in found().findings if f.kind == kind]
    assert max(left, default=0) < finding.severity / 2
    which = changed(before, tube)
    assert which and ring_distance(tube, finding.vertices)[which].max() <= 2
    assert_good(tube, rig, 2 if kind == "INFLUENCES" else 4)


def test_list_is_that_of_a_new_check():
    tube, rig, _places = flawed("UNWEIGHTED", "SPECKLE", "UNNORMALIZED")
    check()
    choose("UNWEIGHTED")
    repair(which="ACTIVE")
    told = [(f.kind, f.words) for f in found().findings]
    assert "UNWEIGHTED" not in kinds_found() and "SPECKLE" in kinds_found()
    assert len(shown().findings) == len(told) + len(found().repaired)
    assert shown().active == -1
    found().look()
    assert found().out_of_date == []
    select(tube, rig)
    check()
    assert [(f.kind, f.words) for f in found().findings] == told


def test_all_by_script():
    """If there is no list of findings, the selection is checked first."""
    tube, rig, _places = flawed("UNWEIGHTED", "SPECKLE", "UNNORMALIZED")
    assert repair() == {"FINISHED"}
    assert not {"UNWEIGHTED", "SPECKLE", "UNNORMALIZED"} & set(kinds_found())
    assert_good(tube, rig)


def test_kinds():
    tube, _rig, places = flawed("UNWEIGHTED", "UNNORMALIZED")
    before = entries(tube)
    repair(kinds={"UNNORMALIZED"})
    assert set(changed(before, tube)) == set(places["UNNORMALIZED"])
    assert "UNWEIGHTED" in kinds_found() and "UNNORMALIZED" not in kinds_found()


def test_marked():
    tube, _rig, places = flawed("UNWEIGHTED", "UNNORMALIZED")
    check()
    for k, kind in enumerate(kinds_found()):
        shown().findings[k].repair = kind == "UNNORMALIZED"
    before = entries(tube)
    repair(which="MARKED")
    assert set(changed(before, tube)) == set(places["UNNORMALIZED"])
    for item in shown().findings:
        item.repair = False
    with pytest.raises(RuntimeError, match="No finding has a mark"):
        repair(which="MARKED")


def test_normalized_weights_keep_their_shares():
    tube, rig = weighted()
    dense = weights(tube, deform_names(rig))
    at = FLAWS["UNNORMALIZED"](tube, rig)
    select(tube, rig)
    repair(kinds={"UNNORMALIZED"})
    np.testing.assert_allclose(weights(tube, deform_names(rig))[at], dense[at], atol=1e-6)


def test_nothing_to_repair(capfd):
    tube, rig = weighted()
    select(tube, rig)
    before = snapshot()
    assert repair(kinds={"UNWEIGHTED"}) == {"FINISHED"}
    assert snapshot() == before and "No findings to repair" in capfd.readouterr().out


def test_undo():
    tube, _rig, _places = flawed("UNWEIGHTED", "SPECKLE")
    before = entries(tube)
    check()
    choose("SPECKLE")
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.ed.undo()
    lists = [found().list]
    repair(which="ACTIVE")
    lists.append(found().list)
    after = entries(bpy.data.objects["Tube"])
    bpy.ops.ed.undo_push(message="repaired")
    assert after != before
    bpy.ops.ed.undo()
    assert entries(bpy.data.objects["Tube"]) == before
    found().look()
    assert found().list is lists[0] and kinds_found()[shown().active] == "SPECKLE"
    bpy.ops.ed.redo()
    assert entries(bpy.data.objects["Tube"]) == after
    found().look()
    assert found().list is lists[1] and found().out_of_date == []
    bpy.ops.ed.undo()
    assert repair(which="ACTIVE") == {"FINISHED"}, "as Adjust Last Operation does"
    assert entries(bpy.data.objects["Tube"]) == after


def paint(tube, vertices):
    """Weight Paint mode with a mask."""
    addon("blender.write.select_region").select_vertices(tube.data, vertices)
    select(tube)
    bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
    tube.data.use_paint_mask_vertex = True


def test_mask_outside_of_the_region(capfd):
    tube, _rig, _places = flawed("UNWEIGHTED")
    check()
    before = entries(tube)
    choose("UNWEIGHTED")
    paint(tube, near(tube, 2.5))
    assert repair(which="ACTIVE") == {"FINISHED"}
    assert entries(tube) == before
    assert "outside the paint mask" in capfd.readouterr().out


def test_mask_that_a_click_has_made():
    """The mask shows the finding; the repair extends beyond it, as in Object mode."""
    found_in = []
    for mode in ("OBJECT", "WEIGHT_PAINT"):
        tube, rig, _places = flawed("STRETCH")
        check()
        select(tube)
        bpy.ops.object.mode_set(mode=mode)
        choose("STRETCH")
        repair(which="ACTIVE")
        bpy.ops.object.mode_set(mode="OBJECT")
        found_in.append(entries(tube))
        bpy.data.objects.remove(tube)
        bpy.data.objects.remove(rig)
    assert found_in[0] == found_in[1]


def test_edit_mode():
    found_in = []
    for mode in ("OBJECT", "EDIT"):
        tube, rig, _places = flawed("UNWEIGHTED", "UNNORMALIZED")
        select(tube)
        bpy.ops.object.mode_set(mode=mode)
        if mode == "EDIT":
            bpy.ops.mesh.select_all(action="DESELECT")
        else:
            select(tube, rig)
        assert repair() == {"FINISHED"} and tube.mode == mode
        bpy.ops.object.mode_set(mode="OBJECT")
        found_in.append(entries(tube))
        bpy.data.objects.remove(tube)
        bpy.data.objects.remove(rig)
    assert found_in[0] == found_in[1]


def test_edited_since():
    tube, _rig, _places = flawed("UNWEIGHTED")
    check()
    choose("UNWEIGHTED")
    tube.vertex_groups["upper"].add([3], 0.2, "REPLACE")
    before = snapshot()
    words = "'Tube' has changed since the check: check the weights again"
    with pytest.raises(RuntimeError, match=words):
        repair(which="ACTIVE")
    assert snapshot() == before


def test_no_list():
    _tube, _rig, _places = flawed("UNWEIGHTED")
    with pytest.raises(RuntimeError, match="There are no findings: Check Weights first"):
        repair(which="ACTIVE")
    check()
    with pytest.raises(RuntimeError, match="Choose a finding in the list"):
        repair(which="ACTIVE")


def test_idle_bone():
    """The middle bone has lost all its weights to its neighbors."""
    tube, rig = weighted()
    tube.vertex_groups.remove(tube.vertex_groups["middle"])
    remove(tube, range(len(tube.data.vertices)))
    for name, upper in (("lower", False), ("upper", True)):
        half = [v.index for v in tube.data.vertices if (v.co.z > 1.5) == upper]
        tube.vertex_groups[name].add(half, 1.0, "REPLACE")
    select(tube, rig)
    check()
    choose("IDLE_BONE")
    repair(which="ACTIVE")
    assert "IDLE_BONE" not in kinds_found()
    dense = weights(tube, deform_names(rig))
    z = np.array([v.co.z for v in tube.data.vertices])
    middle = dense[:, deform_names(rig).index("middle")]
    assert middle[(z > 1.3) & (z < 1.7)].min() > 0.5 and not middle[(z < 0.4) | (z > 2.6)].any()


def test_idle_bone_that_no_skin_is_near_to(capfd):
    bones = [*BONES, ("prop", (4, 0, 1), (4, 0, 2), "middle")]
    tube, rig = add_tube(), add_armature(bones=bones)
    bind(tube, rig)
    select(tube, rig)
    bpy.ops.object.araplbs_auto_weight("EXEC_DEFAULT", control_bones="INCLUDE")
    check()
    names = [found().bone(f) for f in found().findings if f.kind == "IDLE_BONE"]
    if "prop" not in names:
        pytest.skip("no idle bone here")
    before = entries(tube)
    repair(kinds={"IDLE_BONE"}, control_bones="INCLUDE")
    assert entries(tube) == before
    assert "Other bones are nearer to all of the skin than 'prop'" in capfd.readouterr().out


def test_linked_mesh_stays(tmp_path, capfd):
    """The linked mesh is checked, and another one next to it is repaired."""
    tube, rig = in_library(tmp_path, *flawed("UNWEIGHTED")[:2])
    select(tube, rig)
    before = entries(tube)
    assert repair() == {"FINISHED"} and entries(tube) == before
    assert "'Tube' is linked from another file: make it local first" in capfd.readouterr().out


def test_command(tmp_path):
    _tube, _rig, places = flawed("UNWEIGHTED", "UNNORMALIZED")
    tube = bpy.data.objects["Tube"]
    before = entries(tube)
    path, out = save(tmp_path / "in.blend"), tmp_path / "out.blend"
    report = tmp_path / "report.json"
    assert run("repair", path, "--output", out, "--json", report) == 0
    tube, rig = opened(out)["Tube"], bpy.data.objects["Rig"]
    which = set(changed(before, tube))
    assert which >= {*places["UNWEIGHTED"], *places["UNNORMALIZED"]}
    assert_good(tube, rig)
    (entry,) = json.loads(report.read_text())["files"]
    repairs = entry["armatures"][0]["repairs"]
    assert {each["result"] for each in repairs if each["kind"] in FLAWS} == {"REPAIRED"}
    assert opened(path) and entries(bpy.data.objects["Tube"]) == before


def test_command_with_kinds(tmp_path, capfd):
    _tube, _rig, places = flawed("UNWEIGHTED", "UNNORMALIZED")
    before = entries(bpy.data.objects["Tube"])
    path, out = save(tmp_path / "in.blend"), tmp_path / "out.blend"
    assert run("repair", path, "--output", out, "--kind", "unnormalized") == 0
    assert "1 finding: 1 repaired" in capfd.readouterr().out
    assert set(changed(before, opened(out)["Tube"])) == set(places["UNNORMALIZED"])
    assert run("repair", path, "--output", out, "--kind", "ugly") == 2
    assert "invalid choice: 'ugly'" in capfd.readouterr().err


def test_plan_has_the_kinds(tmp_path, capsys):
    flawed("UNWEIGHTED")
    path = save(tmp_path / "in.blend")
    arguments = ("--kind", "unweighted", "--kind", "speckle", "--plan")
    assert run("repair", path, "--output", tmp_path / "out.blend", *arguments) == 0
    (task,) = [json.loads(line) for line in capsys.readouterr().out.splitlines() if line[:1] == "{"]
    assert {"--kind=unweighted", "--kind=speckle"} <= set(task["arguments"])
