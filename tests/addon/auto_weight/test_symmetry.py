"""The option Symmetric: bit-identical weights on both sides of a symmetric character."""

import json

import bpy
import numpy as np
import pytest
from mathutils import Matrix
from scenes import (
    add_armature,
    add_cube,
    add_mesh,
    addon,
    assert_good,
    auto_weight,
    deform_names,
    package,
    rotation,
    tube_arrays,
    two_sided_bones,
    weighting,
)

SIDES = {
    "dots": ("{}.L", "{}.R"),
    "underscores": ("{}_l", "{}_r"),
    "words": ("Left{}", "Right{}"),
    "prefixed words": ("mixamorig:Left{}", "mixamorig:Right{}"),  # Blender cannot flip these
    "names that say nothing": ("{} one", "{} two"),
}


def body():
    """Vertices and faces of a trunk from which two arms are extruded."""
    vertices, faces = tube_arrays(length=1.2, rings=25, sides=16, radius=0.15)
    at_arms = np.exp(-(((vertices[:, 2] - 0.9) / 0.08) ** 2))
    vertices[:, 0] *= 1 + 6 * at_arms * (np.abs(vertices[:, 0]) / 0.15) ** 4
    return vertices, faces


def character(bones=None, matrix=None, rig_matrix=None):
    rig = add_armature(bones=bones or two_sided_bones(0.5), matrix=rig_matrix)
    return add_mesh("Body", *body(), matrix=matrix), rig


def renamed(left, right):
    """Renames the two-sided bones."""

    def new(name):
        for end, pattern in ((".L", left), (".R", right)):
            if name and name.endswith(end):
                return pattern.format(name.removesuffix(end))
        return name

    return [(new(name), *ends, new(parent)) for name, *ends, parent in two_sided_bones(0.5)]


def other_side(vertices):
    """The vertex nearest to the image of each vertex, computed by the test itself."""
    images = vertices * [-1, 1, 1]
    return np.linalg.norm(images[:, None] - vertices[None], axis=2).argmin(1)


def asymmetry(ob, rig, bones=(0, 3, 4, 1, 2)):
    dense = assert_good(ob, rig)
    vertices = np.array([v.co for v in ob.data.vertices])
    return np.abs(dense - dense[other_side(vertices)][:, list(bones)]).max()


@pytest.mark.parametrize("names", SIDES)
def test_names_of_sides(names):
    mesh, rig = character(renamed(*SIDES[names]))
    auto_weight(mesh, rig)
    assert len(deform_names(rig)) == 5
    assert asymmetry(mesh, rig) == 0


def test_off():
    mesh, rig = character()
    auto_weight(mesh, rig, symmetric=False)
    assert asymmetry(mesh, rig) > 1e-6


def test_transforms_that_are_not_applied():
    matrix = Matrix.Translation((3, -2, 1)) @ rotation(40, "Y") @ rotation(70, "Z")
    mesh, rig = character(matrix=matrix, rig_matrix=matrix)
    auto_weight(mesh, rig)
    assert asymmetry(mesh, rig) == 0


def test_several_meshes_and_something_on_one_side():
    mesh, rig = character()
    pair = [add_cube("Left", (0.05, -0.15, 0.5)), add_cube("Right", (-0.05, -0.15, 0.5))]
    badge = add_cube("Badge", (0.04, 0.16, 0.4))
    auto_weight(mesh, *pair, badge, rig)
    assert asymmetry(mesh, rig) == 0
    left, right = (assert_good(ob, rig) for ob in pair)
    at_left, at_right = (np.array([v.co for v in ob.data.vertices]) for ob in pair)
    image = np.linalg.norm((at_left * [-1, 1, 1])[:, None] - at_right[None], axis=2).argmin(1)
    np.testing.assert_array_equal(left, right[image][:, [0, 3, 4, 1, 2]])
    assert_good(badge, rig)


def entries_of(bones, **options):
    mesh, rig = character(bones)
    auto_weight(mesh, rig, **options)
    result = assert_good(mesh, rig)
    for ob in (mesh, rig):
        bpy.data.objects.remove(ob)
    return result


def test_a_rig_that_is_not_symmetric_is_weighted_as_before():
    bones = [
        (name, *((x + 0.03 * i, y + 0.02 * i * i, z) for x, y, z in ends), parent)
        for i, (name, *ends, parent) in enumerate(two_sided_bones(0.5))
    ]
    np.testing.assert_array_equal(entries_of(bones), entries_of(bones, symmetric=False))
    assert np.abs(entries_of(None) - entries_of(None, symmetric=False)).max() > 0


def test_locked_group_of_one_side_stays():
    mesh, rig = character()
    auto_weight(mesh, rig)
    group = mesh.vertex_groups["hand.L"]
    group.lock_weight = True
    hand = [v.index for v in mesh.data.vertices if v.co.x > 0.6]
    group.add(hand, 0.375, "REPLACE")
    before = {i: group.weight(i) for i in hand}
    auto_weight(mesh, rig)
    assert {i: group.weight(i) for i in hand} == before
    assert_good(mesh, rig)
    assert asymmetry(mesh, rig) > 0.1


@pytest.mark.parametrize("symmetric", [True, False])
def test_mirror_modifier(symmetric):
    """The images form the other side, and the half itself is symmetric where both sides meet."""
    vertices, faces = body()
    kept = vertices[:, 0] > -1e-9
    number = np.cumsum(kept) - 1
    half = [[int(number[i]) for i in face] for face in faces if all(kept[i] for i in face)]
    rig = add_armature(bones=two_sided_bones(0.5))
    mesh = add_mesh("Half", vertices[kept], half)
    mesh.modifiers.new("Mirror", "MIRROR")
    auto_weight(mesh, rig, symmetric=symmetric)
    dense = assert_good(mesh, rig)
    seam = dense[np.abs(vertices[kept][:, 0]) < 1e-6]
    assert len(seam) > 20
    assert (seam == seam[:, [0, 3, 4, 1, 2]]).all() == symmetric


def test_the_report_tells_the_share():
    mesh, rig = character()
    reports = {}
    for symmetric in (True, False):
        task = weighting(rig, mesh, symmetric=symmetric)
        task.solve()
        reports[symmetric] = task.apply()
        json.dumps(reports[symmetric])
    summary = package("reports.report").summary
    assert reports[True]["symmetric"] == 1 and reports[True]["symmetric_bones"] == 5
    assert summary(reports[True]).endswith(", symmetric: 100 %")
    assert reports[False]["symmetric"] == 0 and "symmetric" not in summary(reports[False])


def skeleton(bones, deform=None):
    rig = add_armature(bones=bones)
    for bone in rig.data.bones:
        bone.use_deform = deform is None or bone.name in deform
    return addon("blender.read.read_armature").read_armature(rig, False)


def partners(*arguments):
    return package("skeleton.symmetry").bone_partners(skeleton(*arguments))


def test_partners():
    assert partners(two_sided_bones()).tolist() == [0, 3, 4, 1, 2]
    shifted = [
        (name, *((x + 0.02 * name.startswith("hand"), y, z) for x, y, z in ends), parent)
        for name, *ends, parent in two_sided_bones()
    ]
    assert partners(shifted).tolist() == [0, 3, -1, 1, -1]
    assert partners([(n, *((x + 1, y, z) for x, y, z in e), p) for n, *e, p in shifted]) is None


def test_partners_deform_both():
    deforming = ("spine", "arm.L", "arm.R", "hand.L")
    assert partners(two_sided_bones(), deforming).tolist() == [0, 3, -1, 1, -1]


def test_partners_are_alike():
    given = skeleton(two_sided_bones())
    of = package("skeleton.symmetry").bone_partners
    given.segments[1] = 7  # of a rigid bone
    assert of(given).tolist() == [0, 3, 4, 1, 2]
    given.stretch[2] = True
    assert of(given).tolist() == [0, 3, -1, 1, -1]
    given.kinds[1] = given.kinds[3] = "bendy"
    assert of(given) is None  # except the spine
    given.segments[3] = 7
    assert of(given).tolist() == [0, 3, -1, 1, -1]


def test_bones_in_the_same_place_are_told_apart_by_name_or_not_at_all():
    twice = two_sided_bones() + [
        (f"twist {name}", head, tail, parent)
        for name, head, tail, parent in two_sided_bones()
        if name.startswith("arm")
    ]
    assert partners(twice).tolist() == [0, 3, 4, 1, 2, 6, 5]
    unnamed = [
        (name.replace(".L", " one").replace(".R", " two"), *place) for name, *place in twice[1:]
    ]
    places = [(name, head, tail, None) for name, head, tail, _parent in unnamed]
    places += [(f"spine {i}", (0, 0, i), (0, 0, i + 1), None) for i in range(4)]
    assert partners(places).tolist() == [-1, 3, -1, 1, -1, -1, 6, 7, 8, 9]
