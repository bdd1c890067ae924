"""The placement and construction of the mesh do not matter: transforms, modifiers, shape keys."""

from itertools import pairwise

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector
from mathutils.interpolate import poly_3d_calc
from scenes import (
    BONES,
    add_armature,
    add_mesh,
    add_object,
    add_tube,
    addon,
    assert_good,
    auto_weight,
    bind,
    deform_names,
    package,
    rotation,
    select,
    tube_and_rig,
    tube_arrays,
    two_sided_bones,
    weights,
)

NAMES = ["lower", "middle", "upper"]


def reference_weights():
    tube, rig = tube_and_rig()
    auto_weight(tube, rig)
    result = assert_good(tube, rig)
    for ob in (tube, rig):
        bpy.data.objects.remove(ob)
    return result


def transform(*scale, angle=30, at=(4, -2, 1)):
    return (
        Matrix.Translation(at)
        @ rotation(angle, "X")
        @ rotation(2 * angle, "Z")
        @ Matrix.Diagonal((*scale, 1))
    )


TRANSFORMS = {
    "moved and turned": transform(1, 1, 1),
    "non-uniform scale": transform(2, 0.5, 1.5),
    "negative scale": transform(-1, 1, 1),
    "tiny": transform(0.001, 0.001, 0.001, at=(0.004, -0.002, 0.001)),
    "huge, three times negative": transform(-1000, -1000, -1000),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_unapplied_transform_of_the_mesh(name):
    """A mesh with unapplied transforms gets the same weights as the same shape in the world without
    them."""
    expected = reference_weights()
    matrix = TRANSFORMS[name]
    vertices, faces = tube_arrays()
    local = [matrix.inverted() @ Vector(v) for v in vertices]
    if matrix.determinant() < 0:
        faces = [(face[0], *face[:0:-1]) for face in faces]  # same diagonals
    rig = add_armature()
    tube = add_mesh("Tube", local, faces, matrix=matrix)
    auto_weight(tube, rig)
    assert np.abs(assert_good(tube, rig) - expected).max() < 1e-4


@pytest.mark.parametrize("name", TRANSFORMS)
def test_unapplied_transform_of_both(name):
    """A rig and its mesh are moved together."""
    expected = reference_weights()
    tube, rig = tube_and_rig(matrix=TRANSFORMS[name], rig_matrix=TRANSFORMS[name])
    auto_weight(tube, rig)
    assert np.abs(assert_good(tube, rig) - expected).max() < 1e-4


@pytest.mark.parametrize("size", [0.001, 1000])
def test_size_of_the_data(size):
    expected = reference_weights()
    vertices, faces = tube_arrays()
    tube = add_mesh("Tube", vertices * size, faces)
    rig = add_armature(bones=[(n, Vector(h) * size, Vector(t) * size, p) for n, h, t, p in BONES])
    auto_weight(tube, rig)
    assert np.abs(assert_good(tube, rig) - expected).max() < 1e-4


def test_parent_inverse():
    """The mesh was parented while the rig had another position and scale, which only the inverse
    contains."""
    expected = reference_weights()
    rig = add_armature(matrix=transform(3, 3, 3))
    tube = add_tube(matrix=rig.matrix_world)
    bind(tube, rig)
    rig.matrix_world = transform(0.5, 0.5, 0.5, angle=70, at=(0, 9, 0))
    bpy.context.view_layer.update()
    inverse = [tuple(row) for row in tube.matrix_parent_inverse]
    assert inverse != [tuple(row) for row in Matrix()]
    auto_weight(tube, rig)
    assert [tuple(row) for row in tube.matrix_parent_inverse] == inverse
    assert np.abs(assert_good(tube, rig) - expected).max() < 1e-4


def test_loose_edges_and_vertices():
    vertices, faces = tube_arrays()
    top = len(vertices)  # the last vertex is the middle of the upper cap
    hair = [(0, 0, 3.0 + 0.1 * i) for i in range(1, 6)]
    lone = [(0.6, 0, 0.2)]
    edges = [(top - 1, top)] + [(top + i, top + i + 1) for i in range(4)]
    rig = add_armature()
    tube = add_mesh("Tube", [*vertices, *hair, *lone], faces, edges)
    auto_weight(tube, rig)
    dense = assert_good(tube, rig)
    assert (dense[top : top + 5, 2] > 0.9).all(), "the wire follows the bone it grows from"
    assert dense[-1, 0] > 0.5


def legs_of_edges():
    """A body with two legs that consist of edges, and a rig for it."""
    lines = [((0, 0, 2), (0, 0, 3)), ((0, 0, 2), (-1, 0, 0)), ((0, 0, 2), (1, 0, 0))]
    vertices, edges = [(0, 0, 2)], []
    for start, end in lines:
        last = 0
        for t in np.linspace(0, 1, 13)[1:]:
            vertices.append(tuple((1 - t) * np.array(start) + t * np.array(end)))
            edges.append((last, len(vertices) - 1))
            last = len(vertices) - 1
    rig = add_armature(
        bones=[
            ("body", (0, 0, 2), (0, 0, 3), None),
            ("leg.L", (0, 0, 2), (-1, 0, 0), "body"),
            ("leg.R", (0, 0, 2), (1, 0, 0), "body"),
        ]
    )
    return add_mesh("Wire", vertices, [], edges), rig


def test_a_creature_of_edges():
    wire, rig = legs_of_edges()
    auto_weight(wire, rig, symmetric=False)
    dense = assert_good(wire, rig)
    for bone in range(3):
        end = 12 * (bone + 1)
        assert (dense[end - 5 : end + 1, bone] > 0.9).all()
    # posed, every edge keeps about its length
    rig.pose.bones["leg.R"].rotation_mode = "XYZ"
    rig.pose.bones["leg.R"].rotation_euler.x = 0.8
    bpy.context.view_layer.update()
    depsgraph = bpy.context.evaluated_depsgraph_get()
    posed = wire.evaluated_get(depsgraph).data.vertices
    for edge in wire.data.edges:
        a, b = edge.vertices
        rest = (wire.data.vertices[a].co - wire.data.vertices[b].co).length
        assert 0.7 < (posed[a].co - posed[b].co).length / rest < 1.4


def hair(count, root, out):
    """Strands of 6 vertices: (vertices, edges)."""
    rng = np.random.default_rng(8)
    vertices, edges = [], []
    for _ in range(count):
        angle, height = rng.uniform(0, 2 * np.pi), rng.uniform(0.3, 2.7)
        way = np.array([np.cos(angle), np.sin(angle), 0])
        for k in range(6):
            if k:
                edges.append((len(vertices) - 1, len(vertices)))
            vertices.append((root + k * out) * way + [0, 0, height])
    return vertices, edges


def test_many_strands():
    """There are no faces, so each strand is a part of its own."""
    rig = add_armature()
    vertices, edges = hair(50, 0.1, 0.1)
    strands = add_mesh("Hair", vertices, [], edges)
    auto_weight(strands, rig)
    dense = assert_good(strands, rig)
    bone = np.clip(np.array(vertices)[:, 2].astype(int), 0, 2)
    inner = np.abs(np.array(vertices)[:, 2] % 1 - 0.5) < 0.35
    assert (dense.argmax(axis=1) == bone)[inner].all()


def weights_at(body, place, dense):
    """The weights of the body's vertices (n, m), interpolated at the surface point nearest to a
    position."""
    _found, point, _normal, face = body.closest_point_on_mesh(place)
    corners = list(body.data.polygons[face].vertices)
    shares = poly_3d_calc([body.data.vertices[v].co for v in corners], point)
    return np.array(shares) @ dense[corners]


def test_strands_of_a_body():
    """In one mesh with the body or in a mesh of their own, strands follow the body at their
    roots."""
    rig = add_armature()
    vertices, faces = tube_arrays()
    strands, edges = hair(30, 0.3, 0.1)
    n = len(vertices)
    whole = add_mesh("Whole", [*vertices, *strands], faces, [(a + n, b + n) for a, b in edges])
    auto_weight(whole, rig)
    one = assert_good(whole, rig)
    roots = n + 6 * np.arange(30)
    body, apart = add_mesh("Body", vertices, faces), add_mesh("Apart", strands, [], edges)
    grown_on = np.array([weights_at(body, place, one) for place in strands[::6]])
    assert np.abs(one[roots] - grown_on).max() < 0.25
    assert np.abs(one[roots] - one[roots + 5]).max() < 0.1
    auto_weight(apart, body, rig)
    assert np.abs(assert_good(apart, rig) - one[n:]).max() < 1e-6
    assert np.abs(assert_good(body, rig) - one[:n]).max() < 1e-6


def test_a_drawn_link_joins_strands():
    """The link affects heat and energy: the far end follows the vertex to which it is linked."""
    rig = add_armature(
        bones=[("left", (0, 0, -1), (0, 0, 0), None), ("right", (2, 0, -1), (2, 0, 0), None)]
    )
    one = [(x, 0, 0.1 * k) for x in (0, 2) for k in range(11)]
    edges = [(11 * s + k, 11 * s + k + 1) for s in range(2) for k in range(10)]
    wire = add_mesh("Wire", one, [], edges)
    auto_weight(wire, rig)
    assert assert_good(wire, rig)[10, 0] > 0.99
    select(wire)
    bpy.ops.object.araplbs_add_link(first=10, second=21)
    auto_weight(wire, rig)
    dense = assert_good(wire, rig)
    assert np.abs(dense[10] - dense[21]).max() < 0.3 and dense[0, 0] > 0.7


def test_seams_get_equal_weights():
    """Every face has its own vertices, as importers leave them."""
    vertices, faces = tube_arrays()
    corners = [vertices[i] for face in faces for i in face]
    split, at = [], 0
    for face in faces:
        split.append(tuple(range(at, at + len(face))))
        at += len(face)
    rig = add_armature()
    tube = add_mesh("Tube", corners, split)
    auto_weight(tube, rig)
    dense = assert_good(tube, rig)
    keys = {}
    for place, weight in zip(corners, dense, strict=True):
        keys.setdefault(tuple(np.round(place, 6)), []).append(weight)
    assert max(np.ptp(np.array(w), axis=0).max() for w in keys.values()) <= 1e-7


def cross_arrays():
    """A T of two tubes, a trunk along Z and arms along X, symmetric in X."""
    vertices, faces = tube_arrays(length=1.0, rings=9, sides=8, radius=0.15, caps=False)
    arm, arm_faces = tube_arrays(length=2.6, rings=27, sides=8, radius=0.1)
    turn = np.array([[0, 0, 1], [0, 1, 0], [-1, 0, 0]], float)
    arm = arm @ turn.T + np.array([-1.3, 0, 0.9])
    faces = faces + [tuple(i + len(vertices) for i in face) for face in arm_faces]
    return np.concatenate([vertices, arm]), faces


def half_cross():
    """The half with x >= 0, in triangles, so that no quad is split in different ways."""
    vertices, faces = cross_arrays()
    vertices[np.abs(vertices[:, 0]) < 1e-9, 0] = 0
    keep = vertices[:, 0] >= 0
    index = np.cumsum(keep) - 1
    half = [[int(index[i]) for i in face] for face in faces if keep[list(face)].all()]
    triangles = [(f[0], *pair) for f in half for pair in pairwise(f[1:])]
    return vertices[keep], triangles


@pytest.mark.parametrize("unbound", [False, True])
def test_mirror_modifier(unbound):
    """Half a mesh with a Mirror modifier gets the weights of the whole mesh, and groups for the
    other side."""
    rig = add_armature(bones=two_sided_bones())
    names = deform_names(rig)
    half = add_mesh("Half", *half_cross())
    half.modifiers.new("Mirror", "MIRROR").merge_threshold = 0.001
    bpy.context.view_layer.update()
    evaluated = half.evaluated_get(bpy.context.evaluated_depsgraph_get())
    whole = add_object("Whole", bpy.data.meshes.new_from_object(evaluated))
    auto_weight(whole, rig)
    expected = {
        tuple(v.co): w for v, w in zip(whole.data.vertices, weights(whole, names), strict=True)
    }
    bpy.data.objects.remove(whole)

    if not unbound:
        bind(half, rig)
    auto_weight(half, rig)
    dense = assert_good(half, rig)
    assert {g.name for g in half.vertex_groups} == set(names)
    for vertex, weight in zip(half.data.vertices, dense, strict=True):
        # Equal influences on the left and right are chosen by the order of the vertices.
        assert np.abs(expected[tuple(vertex.co)] - weight).max() < 0.02
    assert [m.type for m in half.modifiers] == ["MIRROR", "ARMATURE"]

    rig.pose.bones["arm.R"].rotation_mode = "XYZ"
    rig.pose.bones["arm.R"].rotation_euler = (0, 0, 1)
    bpy.context.view_layer.update()
    posed = half.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    tips = [v.co for v in posed.vertices if v.co.x < -0.2]
    moved = max((co - Vector((co.x, 0, 0.9))).length for co in tips)
    assert moved > 0.3, "the mirrored arm moves with its own bone"


def test_mirror_modifier_after_the_armature_or_off():
    rig = add_armature(bones=two_sided_bones())
    half = add_mesh("Half", *half_cross())
    bind(half, rig)
    read = addon("blender.read.read_mesh")
    skeleton = addon("blender.read.read_armature").read_armature(rig, True)

    def reflections():
        return len(
            read.read_mesh(
                half, rig, skeleton, bpy.context.view_layer, False, np.zeros(5, bool)
            ).reflections
        )

    mirror = half.modifiers.new("Mirror", "MIRROR")
    assert reflections() == 0
    half.modifiers.move(1, 0)
    assert reflections() == 1
    mirror.use_axis = (True, True, False)
    assert reflections() == 2
    mirror.use_bisect_axis[1] = True
    assert reflections() == 1
    mirror.show_viewport = mirror.show_render = False
    assert reflections() == 0


def test_mirror_geometry_is_blenders():
    """The reflected arrays equal the result of the evaluated modifier: axes, mirror object,
    merging."""
    rig = add_armature(bones=two_sided_bones())
    half = add_mesh("Half", *half_cross(), matrix=transform(1, 2, 1))
    plane = bpy.data.objects.new("Plane", None)
    bpy.context.scene.collection.objects.link(plane)
    plane.matrix_world = half.matrix_world @ rotation(10, "Z")
    mirror = half.modifiers.new("Mirror", "MIRROR")
    mirror.use_axis = (True, False, True)
    mirror.merge_threshold = 0.01
    skeleton = addon("blender.read.read_armature").read_armature(rig, True)
    for mirror_object in (None, plane):
        mirror.mirror_object = mirror_object
        bpy.context.view_layer.update()
        mesh = addon("blender.read.read_mesh").read_mesh(
            half, rig, skeleton, bpy.context.view_layer, False, np.zeros(5, bool)
        )
        whole = package("character.mirror_modifier").reflect(
            mesh.vertices, mesh.triangles, mesh.edges, mesh.reflections
        )
        evaluated = half.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        theirs = np.array([v.co for v in evaluated.vertices])
        evaluated.calc_loop_triangles()
        assert len(whole.vertices) == len(theirs)
        assert len(whole.triangles) == len(evaluated.loop_triangles)
        distances = np.linalg.norm(whole.vertices[:, None] - theirs[None], axis=2)
        assert distances.min(axis=1).max() < 0.01 and distances.min(axis=0).max() < 0.01
