"""One line names each fault, and the scene stays unchanged. Meshes that can be weighted despite a
fault are weighted."""

import math

import bpy
import numpy as np
import pytest
from deep import refused
from odd_scenes import linked
from scenes import (
    add_armature,
    add_mesh,
    add_object,
    add_tube,
    addon,
    assert_good,
    auto_weight,
    package,
    select,
    tube_and_rig,
    tube_arrays,
    weighting,
)


def test_no_bones_and_no_vertices():
    bare, rig = add_object("Bare", bpy.data.armatures.new("Bare")), add_armature()
    tube, empty = add_tube(), add_mesh("Empty", [], [])
    assert "Armature 'Bare' has no bones" in refused("auto_weight", tube, bare)
    assert "'Empty' has no vertices" in refused("auto_weight", empty, rig)
    for bone in rig.data.bones:
        bone.use_deform = False
    assert "Armature 'Rig' has no deform bones" in refused("auto_weight", tube, rig)


def test_empty_mesh_beside_a_good_one(capfd):
    rig = add_armature()
    tube = add_tube()
    auto_weight(add_mesh("Empty", [], []), tube, rig)
    assert "Skipped: 'Empty' has no vertices" in capfd.readouterr().out
    assert_good(tube, rig)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_coordinates_not_finite(value):
    rig = add_armature()
    tube = add_tube()
    coordinates = np.array([v.co for v in tube.data.vertices], np.float32)
    coordinates[7, 1] = value
    tube.data.vertices.foreach_set("co", coordinates.ravel())
    select(tube, rig)
    with pytest.raises(RuntimeError, match=r"'Tube' has coordinates .*finite \(first: vertex 7"):
        auto_weight()
    assert not tube.vertex_groups and not tube.modifiers


def test_vertices_only():
    rig = add_armature()
    points, _faces = tube_arrays(rings=5, sides=4)
    cloud = add_mesh("Cloud", points, [])
    auto_weight(cloud, rig)
    assert_good(cloud, rig)


def test_one_vertex():
    rig = add_armature()
    point = add_mesh("Point", [(0.1, 0, 2.9)], [])
    auto_weight(point, rig)
    assert assert_good(point, rig)[0, 2] == 1


def test_zero_length_bones():
    """Edit mode removes such bones, but files and scripts can contain them."""
    read = addon("blender.read.read_armature").read_armature
    core = package("character.problem")
    rig = add_armature()
    skeleton = read(rig, True)
    skeleton.tails[1] = skeleton.heads[1]
    vertices, faces = tube_arrays(rings=19)
    triangles = np.array([(f[0], f[i], f[i + 1]) for f in faces for i in range(1, len(f) - 1)])
    mesh = core.Mesh("Tube", vertices, triangles, np.zeros((0, 2), int), np.eye(4))
    problem = core.Problem([mesh], skeleton)
    solution = package("solvers.solve").solve(problem, package("model.options").Options())
    assert np.abs(solution.rows.sums() - 1).max() < 1e-6


def broken_meshes():
    vertices, faces = tube_arrays(rings=9)
    n = len(vertices)
    moebius, strip = [], []
    for i in range(40):
        angle, half = 2 * math.pi * i / 40, math.pi * i / 40
        for side in (-0.2, 0.2):
            r = 1 + side * math.cos(half)
            moebius.append((r * math.cos(angle), r * math.sin(angle), 1 + side * math.sin(half)))
        nxt = [(2 * i + 2), (2 * i + 3)] if i < 39 else [1, 0]
        strip.append((2 * i, 2 * i + 1, nxt[1], nxt[0]))
    return {
        "zero-area faces": ([*vertices, vertices[0], vertices[0]], [*faces, (0, n, n + 1)]),
        "duplicate faces": (vertices, [*faces, *faces[:5]]),
        "non-manifold edges": (
            [*vertices, (1, 0, 1), (2, 0, 1)],
            [*faces, (30, 31, n), (30, 31, n + 1)],
        ),
        "Moebius strip": (moebius, strip),
        "flipped faces": (vertices, [f[::-1] if i % 2 else f for i, f in enumerate(faces)]),
        "all at one place": ([(0, 0, 1)] * 8, [(0, 1, 2), (3, 4, 5, 6)]),
        "a line": ([(0, 0, z / 10) for z in range(30)], [(i, i + 1, i + 2) for i in range(28)]),
        "far from all bones": (vertices + np.array([50, 0, 0]), faces),
    }


@pytest.mark.parametrize("name", broken_meshes())
def test_broken_mesh(name):
    rig = add_armature()
    vertices, faces = broken_meshes()[name]
    mesh = add_mesh("Broken", vertices, faces)
    auto_weight(mesh, rig)
    assert_good(mesh, rig)


def test_linked_mesh_of_a_local_object(tmp_path):
    local = add_object("Local", linked(tmp_path, ["Tube"])["Tube"].data)
    assert "'Local' is linked from another file" in refused(
        "auto_weight", local, add_armature("Mine")
    )


def test_bones_outside_the_mesh():
    tube = add_tube()
    rig = add_armature(
        bones=[
            ("beside", (0.5, 0, 0), (0.5, 0, 1.5), None),
            ("beside too", (0.5, 0, 1.5), (0.5, 0, 3), "beside"),
        ]
    )
    auto_weight(tube, rig)
    dense = assert_good(tube, rig)
    z = np.array([v.co.z for v in tube.data.vertices])
    assert dense[z < 0.3, 0].min() > dense[z > 2.7, 0].max()


def test_solver_error(monkeypatch):
    """An error of the engine is reported, not raised, and nothing is written."""
    import araplbs

    task = addon("weighting")

    def fail(*_args):
        raise araplbs.SolverError("the matrix is not definite")

    monkeypatch.setattr(task, "solve", fail)
    assert "the matrix is not definite" in refused("auto_weight", *tube_and_rig())


def test_wrong_weights_are_not_written(monkeypatch):
    """If the engine broke its guarantee, the check before writing would report it."""
    solve = package("solvers.solve")
    rows = package("model.sparse_weights")
    tube, rig = tube_and_rig()
    task = addon("weighting")
    real = task.solve

    def half(problem, options, *more):
        solution = real(problem, options, *more)
        bad = rows.SparseWeights(*solution.rows[:2], solution.rows.weights * 0.5)
        solve.check(problem, bad, options.max_influences)

    monkeypatch.setattr(task, "solve", half)
    said = refused("auto_weight", tube, rig)
    assert "the weights of vertex 0 of 'Tube' do not sum to 1" in said


def test_bones_that_are_renamed_meanwhile():
    tube, rig = tube_and_rig()
    task = weighting(rig, tube)
    task.solve()
    rig.data.bones["upper"].name = "new"
    with pytest.raises(
        package("base.refusal").Refused, match="'Rig' has changed since it was read"
    ):
        task.apply()
    assert not tube.vertex_groups


@pytest.mark.parametrize(
    ("option", "value"), [("max_influences", -1), ("prune_sum", 1.5), ("start_from", "MAYBE")]
)
def test_options_out_of_range(option, value):
    with pytest.raises(ValueError, match=option):
        package("model.options").Options(**{option: value})
