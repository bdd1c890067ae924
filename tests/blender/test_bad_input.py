"""What is wrong is said in one line that names it, and the scene stays as it was; what can be
weighted in spite of it is."""

import math

import bpy
import numpy as np
import pytest
from mathutils import Matrix
from scenes import (
    add_armature,
    add_mesh,
    add_object,
    add_tube,
    addon,
    assert_good,
    auto_weight,
    select,
    snapshot,
    tube_and_rig,
    tube_arrays,
)


def refuses(message, *objects, **options):
    """The operator fails with this message and changes nothing."""
    select(*objects)
    before = snapshot()
    with pytest.raises(RuntimeError, match=message):
        auto_weight(**options)
    assert snapshot() == before


def test_no_bones():
    rig = add_object("Rig", bpy.data.armatures.new("Rig"))
    refuses("Armature 'Rig' has no bones", add_tube(), rig)


def test_no_deform_bones():
    rig = add_armature()
    for bone in rig.data.bones:
        bone.use_deform = False
    refuses("Armature 'Rig' has no deform bones", add_tube(), rig)


def test_empty_mesh():
    rig = add_armature()
    refuses("'Empty' has no vertices", add_mesh("Empty", [], []), rig)


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
    coordinates = np.empty(3 * len(tube.data.vertices), np.float32)
    tube.data.vertices.foreach_get("co", coordinates)
    coordinates[3 * 7 + 1] = value
    tube.data.vertices.foreach_set("co", coordinates)
    select(tube, rig)
    with pytest.raises(
        RuntimeError, match=r"'Tube' has coordinates .*not finite \(first: vertex 7"
    ):
        auto_weight()
    assert not tube.vertex_groups and not tube.modifiers


def test_flat_scale():
    rig = add_armature()
    tube = add_tube(matrix=Matrix.Diagonal((1, 0, 1, 1)))
    refuses("'Tube' has a scale of zero", tube, rig)
    tube.matrix_world = Matrix()
    rig.scale = (0, 0, 0)
    refuses("'Rig' has a scale of zero", tube, rig)


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
    """Edit mode removes them, but files and scripts can hold them."""
    read = addon("blender.read.read_armature").read_armature
    core = addon("core.character.problem")
    rig = add_armature()
    skeleton = read(rig, True)
    skeleton.tails[1] = skeleton.heads[1]
    vertices, faces = tube_arrays(rings=19)
    triangles = np.array([(f[0], f[i], f[i + 1]) for f in faces for i in range(1, len(f) - 1)])
    mesh = core.Mesh("Tube", vertices, triangles, np.zeros((0, 2), int), np.eye(4))
    problem = core.Problem([mesh], skeleton)
    solution = addon("core.solvers.solve").solve(problem, addon("core.character.options").Options())
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


def linked(tmp_path):
    """A mesh and an armature linked from a library file."""
    tube, rig = tube_and_rig()
    path = tmp_path / "library.blend"
    bpy.data.libraries.write(str(path), {tube, rig})
    for ob in (tube, rig):
        bpy.data.objects.remove(ob)
    bpy.data.orphans_purge(do_recursive=True)
    with bpy.data.libraries.load(str(path), link=True) as (_from, to):
        to.objects = ["Tube", "Rig"]
    for ob in to.objects:
        bpy.context.scene.collection.objects.link(ob)
    return to.objects


def test_linked_objects(tmp_path):
    tube, rig = linked(tmp_path)
    refuses("'Tube' is linked from another file", tube, rig)


def test_linked_mesh_of_a_local_object(tmp_path):
    tube, _rig = linked(tmp_path)
    local = add_object("Local", tube.data)
    refuses("'Local' is linked from another file", local, add_armature("Mine"))


def test_library_override(tmp_path):
    tube, _rig = linked(tmp_path)
    override = tube.override_create()
    if override not in list(bpy.context.scene.collection.objects):
        bpy.context.scene.collection.objects.link(override)
    refuses("'Tube' is a", override, add_armature("Mine"))


def test_linked_armature(tmp_path):
    """Weights for a rig from a library are what productions do all the time."""
    _tube, rig = linked(tmp_path)
    tube = add_tube("Local")
    auto_weight(tube, rig)
    assert_good(tube, rig)
    assert tube.parent == rig


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

    task = addon("tasks.weighting")

    def fail(*_args):
        raise araplbs.SolverError("the matrix is not definite")

    monkeypatch.setattr(task, "solve", fail)
    tube, rig = tube_and_rig()
    refuses("the matrix is not definite", tube, rig)


def test_wrong_weights_are_not_written(monkeypatch):
    """Should the engine break its promise, the check before writing says so."""
    solve = addon("core.solvers.solve")
    rows = addon("core.character.sparse_weights")
    tube, rig = tube_and_rig()
    task = addon("tasks.weighting")
    real = task.solve

    def half(problem, options, threads, progress):
        solution = real(problem, options, threads, progress)
        bad = rows.SparseWeights(*solution.rows[:2], solution.rows.weights * 0.5)
        solve.check(problem, bad, options.max_influences)

    monkeypatch.setattr(task, "solve", half)
    refuses("the weights of vertex 0 of 'Tube' do not sum to 1", tube, rig)


def test_cancelled_by_the_callback():
    """Half-way through a solve; the engine is left in one piece and can go again."""
    import araplbs

    tube, rig = tube_and_rig()
    select(tube, rig)
    before = snapshot()
    targets = addon("blender.read.targets").find_targets(bpy.context)
    task = addon("tasks.weighting").WeightingTask(addon("core.character.options").Options())
    task.read(targets, bpy.context.view_layer)
    seen = []

    def progress(stage, fraction, energy):
        seen.append((stage, fraction, energy))
        return len(seen) < 6

    with pytest.raises(araplbs.Cancelled):
        task.solve(progress)
    assert snapshot() == before
    seen.clear()
    task.solve(lambda *now: seen.append(now))
    fractions = [fraction for _stage, fraction, _energy in seen]
    assert fractions == sorted(fractions) and fractions[0] >= 0 and fractions[-1] <= 1
    assert seen[0][2] is None and seen[-1][2] > 0
    task.apply()
    assert_good(tube, rig)


def test_changed_meanwhile():
    tube, rig = tube_and_rig()
    select(tube, rig)
    find, make = addon("blender.read.targets").find_targets, addon("tasks.weighting").WeightingTask
    options = addon("core.character.options").Options()
    refused = addon("core.base.refusal").Refused
    for change, message in (
        (lambda: tube.data.vertices.add(1), "'Tube' was changed meanwhile"),
        (lambda: setattr(rig.data.bones["upper"], "name", "new"), "'Rig' was changed meanwhile"),
        (lambda: bpy.data.objects.remove(tube), "'Tube' was deleted meanwhile"),
    ):
        task = make(options)
        task.read(find(bpy.context), bpy.context.view_layer)
        task.solve()
        change()
        with pytest.raises(refused, match=message):
            task.apply()
    assert not bpy.data.meshes["Tube"].vertices[0].groups


@pytest.mark.parametrize(
    ("option", "value"), [("max_influences", -1), ("kept_sum", 1.5), ("start_from", "MAYBE")]
)
def test_options_out_of_range(option, value):
    with pytest.raises(ValueError, match=option):
        addon("core.character.options").Options(**{option: value})
