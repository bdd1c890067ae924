"""Copy Weights: the other glove, a mirrored character, copies by index, empty groups, refusals, and
the command line."""

import bpy
import numpy as np
import pytest
from command import opened, run, save
from mathutils import Matrix
from scenes import add_armature, add_mesh, add_tube, select, tube_arrays, two_sided_bones


def copy(source, *targets, **options):
    select(*targets, source)
    return bpy.ops.object.araplbs_copy_weights("EXEC_DEFAULT", **options)


def rows(ob):
    names = [group.name for group in ob.vertex_groups]
    return [{names[g.group]: g.weight for g in v.groups} for v in ob.data.vertices]


def glove(name, side=1, shuffled=False, sides=10):
    """A tube around the arm and hand of one side."""
    vertices, faces = tube_arrays(length=1.2, rings=13, sides=sides, radius=0.1)
    vertices = vertices[:, [2, 0, 1]] * [side, 1, 1] + [0.05 * side, 0, 0.9]
    if side < 0:
        faces = [face[::-1] for face in faces]
    if shuffled:
        order = np.random.default_rng(0).permutation(len(vertices))
        place = np.argsort(order)
        vertices, faces = vertices[order], [tuple(int(place[v]) for v in f) for f in faces]
    return add_mesh(name, vertices, faces)


def weighted_glove(rig):
    """The glove, bound, with the groups of the left side, one of which is empty."""
    ob = glove("Left")
    modifier = ob.modifiers.new("Armature", "ARMATURE")
    modifier.object = rig
    arm, hand = (ob.vertex_groups.new(name=name) for name in ("arm.L", "hand.L"))
    ob.vertex_groups.new(name="spine")
    for v in ob.data.vertices:
        share = float(np.clip(v.co.x / 1.2, 0, 1))
        if share < 1:
            arm.add([v.index], 1 - share, "REPLACE")
        if share > 0:
            hand.add([v.index], share, "REPLACE")
    return ob


def flipped(row):
    return {name.replace(".L", ".R"): weight for name, weight in row.items()}


@pytest.mark.parametrize("shuffled", [False, True])
def test_the_other_glove(shuffled):
    rig = add_armature(bones=two_sided_bones())
    left, right = weighted_glove(rig), glove("Right", -1, shuffled)
    assert copy(left, right) == {"FINISHED"}
    assert {g.name for g in right.vertex_groups} == {"arm.R", "hand.R", "spine"}
    own, found = rows(left), rows(right)
    places = np.array([v.co for v in left.data.vertices]) * [-1, 1, 1]
    for v, row in zip(right.data.vertices, found, strict=True):
        wanted = flipped(own[np.linalg.norm(places - np.array(v.co), axis=1).argmin()])
        assert set(row) == set(wanted)
        assert max(abs(row[name] - wanted[name]) for name in row) < (1e-4 if shuffled else 1e-9)
    assert right.find_armature() == rig


def test_a_glove_of_other_vertices_takes_what_is_nearest():
    rig = add_armature(bones=two_sided_bones())
    left, right = weighted_glove(rig), glove("Right", -1, sides=14)
    copy(left, right, distance=0.1)
    sums = [sum(row.values()) for row in rows(right)]
    assert max(abs(s - 1) for s in sums) < 1e-5
    assert all(set(row) <= {"arm.R", "hand.R"} for row in rows(right))


def test_copies_by_index_wherever_they_are():
    rig = add_armature(bones=two_sided_bones())
    left = weighted_glove(rig)
    other = add_mesh(
        "Copy",
        np.array([v.co for v in left.data.vertices]) * 1.5,
        [tuple(p.vertices) for p in left.data.polygons],
        matrix=Matrix.Translation((5, 5, 5)),
    )
    second = add_armature("Rig2", bones=two_sided_bones())
    other.modifiers.new("Armature", "ARMATURE").object = second
    copy(left, other, side="SAME")
    assert rows(other) == rows(left)
    assert {g.name for g in other.vertex_groups} == {"arm.L", "hand.L", "spine"}


def test_other_groups_of_the_target_stay():
    rig = add_armature(bones=two_sided_bones())
    left, right = weighted_glove(rig), glove("Right", -1)
    right.vertex_groups.new(name="mask").add([3], 0.5, "REPLACE")
    right.vertex_groups.new(name="spine").add([3], 0.5, "REPLACE")
    copy(left, right)
    row = rows(right)[3]
    assert row["mask"] == 0.5 and "spine" not in row


def state(ob):
    return [g.name for g in ob.vertex_groups], rows(ob), [m.name for m in ob.modifiers]


@pytest.mark.parametrize(
    ("change", "options", "words"),
    [
        (None, {"side": "SAME"}, "different vertices or edges"),
        ("far", {}, "farther from the image"),
        ("locked", {}, "locked vertex groups"),
        ("bones", {}, "has no deform bones 'arm.R'"),
        ("bare", {}, "has no weights"),
    ],
)
def test_refusals_change_nothing(change, options, words):
    rig = add_armature(bones=two_sided_bones())
    left, right = weighted_glove(rig), glove("Right", -1, sides=14)
    if change == "far":
        right.location.z = 1
    elif change == "locked":
        right.vertex_groups.new(name="arm.R").lock_weight = True
    elif change == "bones":
        rig.data.bones["arm.R"].use_deform = False
        options = {"distance": 0.1}
    elif change == "bare":
        left.vertex_groups.clear()
    bpy.context.view_layer.update()
    before = state(right)
    with pytest.raises(RuntimeError, match=words):
        copy(left, right, **options)
    assert state(right) == before


def test_needs_two_meshes():
    tube = add_tube()
    select(tube)
    assert not bpy.ops.object.araplbs_copy_weights.poll()


def test_command_line(tmp_path, capsys):
    rig = add_armature(bones=two_sided_bones())
    weighted_glove(rig)
    glove("Right", -1)
    source, out = save(tmp_path / "in.blend"), tmp_path / "out.blend"
    assert run("copies", source, "--source", "Left", "--target", "Right", "--output", out) == 0
    assert "'Right'" in capsys.readouterr().out
    right = opened(out)["Right"]
    assert {g.name for g in right.vertex_groups} == {"arm.R", "hand.R", "spine"}
