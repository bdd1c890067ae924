"""Locks by the selected bones, how far a bone reaches, the mirror image of a painted side, and new
weights of one limb."""

import bpy
import numpy as np
import pytest
from flaws import weighted
from scenes import (
    add_armature,
    add_mesh,
    addon,
    auto_weight,
    bind,
    choose_bones,
    entries,
    select,
    tube_arrays,
    two_sided_bones,
    weights,
)
from test_outcome import at_hand, in_a_window  # noqa: F401


def posing(rig, *bones, active=None):
    """Pose mode with these bones selected."""
    select(rig)
    bpy.ops.object.mode_set(mode="POSE")
    choose_bones(rig, *bones)
    rig.data.bones.active = rig.data.bones.get(active or bones[0]) if bones else None


def locks(ob):
    return {group.name for group in ob.vertex_groups if group.lock_weight}


def lock(which):
    return bpy.ops.object.araplbs_lock_bones(which=which)


def test_locks():
    tube, rig = weighted()
    tube.vertex_groups.new(name="Cloth").lock_weight = True
    posing(rig, "middle")
    assert lock("SELECTED") == {"FINISHED"} and locks(tube) == {"middle", "Cloth"}
    posing(rig, "upper")
    lock("SELECTED")
    assert locks(tube) == {"middle", "upper", "Cloth"}, "the others stay"
    lock("OTHERS")
    assert locks(tube) == {"lower", "middle", "Cloth"}, "one click for all but one"
    lock("NONE")
    assert locks(tube) == {"Cloth"}, "not the group of a bone"
    posing(rig)
    with pytest.raises(RuntimeError, match="Select bones of 'Rig' in Pose mode"):
        lock("OTHERS")
    tube.vertex_groups.remove(tube.vertex_groups["upper"])
    posing(rig, "upper")
    with pytest.raises(RuntimeError, match="bones of 'Rig' have no vertex groups"):
        lock("OTHERS")
    assert locks(tube) == {"Cloth"}


def reach(value, **more):
    return bpy.ops.object.araplbs_reach(reach=value, **more)


def test_reach():
    tube, rig = weighted()
    posing(rig, "middle")
    before = weights(tube, ["lower", "middle", "upper"])
    for value in (0.3, -0.6):
        assert reach(value) == {"FINISHED"}
        now = weights(tube, ["lower", "middle", "upper"])
        grown = (now - before)[:, 1]
        assert np.sign(value) * grown.min() > -1e-6 or np.sign(value) * grown.max() < 1e-6
        assert np.abs(grown).max() > 0.1
        np.testing.assert_allclose(now.sum(1), before.sum(1), atol=1e-6)
        alone = before[:, 1] == 0
        assert (now[alone] == before[alone]).all(), "where it has no weight, nothing changes"
        before = now


def test_reach_leaves_locked_and_hidden_vertices_alone():
    tube, _rig = weighted()
    tube.vertex_groups["lower"].lock_weight = True
    before = weights(tube, ["lower", "middle", "upper"])
    select(tube)
    bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
    tube.vertex_groups.active_index = tube.vertex_groups["middle"].index
    tube.data.use_paint_mask_vertex = True
    chosen = np.arange(len(before)) % 2 == 0
    addon("blender.write.select_region").select_vertices(tube.data, np.flatnonzero(chosen))
    reach(0.5)
    now = weights(tube, ["lower", "middle", "upper"])
    assert (now[:, 0] == before[:, 0]).all() and (now[~chosen] == before[~chosen]).all()
    assert (now[chosen, 1] - before[chosen, 1]).max() > 0.1
    tube.vertex_groups["middle"].lock_weight = True
    with pytest.raises(RuntimeError, match="No vertex shares 'middle' with another bone"):
        reach(0.5)
    with pytest.raises(RuntimeError, match="'Rig' has no bone 'tail'"):
        reach(0.5, bone="tail")


def test_esc_gives_back_every_entry():
    tube, rig = weighted()
    posing(rig, "middle")
    before = entries(tube)
    read = addon("blender.read.read_armature").read_armature(rig, False)
    part = addon("features.touch_up.reach")._Part(tube, read, {"middle"}, False)
    part.write(1.0)
    assert entries(tube) != before
    part.put_back()
    assert entries(tube) == before


def two_arms():
    """A tube along X with an arm to each side, symmetric at X = 0."""
    vertices, faces = tube_arrays(length=2.4, rings=25)
    vertices = vertices[:, [2, 1, 0]] - (1.2, 0, -0.9)
    rig = add_armature(bones=two_sided_bones())
    body = add_mesh("Body", vertices, [face[::-1] for face in faces])
    bind(body, rig)
    auto_weight(body, rig)
    return body, rig


BONES = ["spine", "arm.L", "hand.L", "arm.R", "hand.R"]
FLIPPED = [0, 3, 4, 1, 2]


def images(body):
    points = np.array([v.co for v in body.data.vertices])
    away = np.linalg.norm(points[:, None] * (-1, 1, 1) - points[None], axis=2)
    assert away.min(1).max() < 1e-4
    return away.argmin(1)


def paint(body, vertex, bone, value):
    vertex = int(vertex)
    for group in body.vertex_groups:
        group.remove([vertex])
    body.vertex_groups[bone].add([vertex], value, "REPLACE")
    body.vertex_groups["spine"].add([vertex], 1 - value, "ADD")


def mirror(**more):
    return bpy.ops.object.araplbs_mirror_painted(**more)


def test_mirror_painted_side():
    """Each pair takes the painted one of its two vertices, without a question."""
    body, rig = two_arms()
    select(body, rig)
    other = images(body)
    with pytest.raises(RuntimeError, match="No painted weights differ"):
        mirror()
    left, right = (next(v.index for v in body.data.vertices if v.co.x * x > 0.8) for x in (1, -1))
    paint(body, left, "arm.L", 0.25)
    paint(body, right + 1, "arm.R", 0.75)
    painted = weights(body, BONES)
    outcome = at_hand()
    assert mirror() == {"FINISHED"}
    now = weights(body, BONES)
    assert (now[other[left]] == painted[left][FLIPPED]).all()
    assert (now[other[right + 1]] == painted[right + 1][FLIPPED]).all()
    rest = np.setdiff1d(np.arange(len(now)), other[[left, right + 1]])
    assert (now[rest] == painted[rest]).all(), "all others to the last bit"
    assert at_hand() is outcome, "the Result stays"


def test_mirror_asks_where_both_sides_were_painted():
    body, rig = two_arms()
    other = images(body)
    left = next(v.index for v in body.data.vertices if v.co.x > 0.8)
    paint(body, left, "arm.L", 0.25)
    paint(body, other[left], "arm.R", 0.75)
    select(body, rig)
    with pytest.raises(RuntimeError, match="Both sides may have been painted: choose a side"):
        mirror()
    body.vertex_groups["hand.L"].lock_weight = True
    before = weights(body, BONES)
    mirror(side="MINUS")
    now = weights(body, BONES)
    assert now[left][1] == np.float32(0.75) and (now[:, 2] == before[:, 2]).all()
    assert (now[other[left]] == before[other[left]]).all()


def test_one_limb():
    """Only the bones of the limb change, all others keep their weights to the last bit."""
    body, rig = two_arms()
    for v in body.data.vertices:
        if abs(v.co.x) > 0.3:
            side = "L" if v.co.x > 0 else "R"
            share = v.index % 3 / 10
            body.vertex_groups[f"hand.{side}"].add([v.index], share, "REPLACE")
            body.vertex_groups[f"arm.{side}"].add([v.index], 1 - share, "REPLACE")
            body.vertex_groups["spine"].remove([v.index])
    before = weights(body, BONES)
    select(body, rig)
    assert bpy.ops.object.araplbs_weight_limb(bone="hand.L") == {"FINISHED"}
    now = weights(body, BONES)
    assert (now[:, [0, 3, 4]] == before[:, [0, 3, 4]]).all()
    assert np.abs(now[:, [1, 2]] - before[:, [1, 2]]).max() > 0.1
    assert at_hand().chosen == (2, 5)
    with pytest.raises(RuntimeError, match="'Rig' has no bone 'tail'"):
        bpy.ops.object.araplbs_weight_limb(bone="tail")
    rig.data.bones["hand.L"].use_deform = False
    with pytest.raises(RuntimeError, match=r"'hand\.L' is not a deform bone"):
        bpy.ops.object.araplbs_weight_limb(bone="hand.L")
