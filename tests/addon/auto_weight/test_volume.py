"""Weights are computed on a volume: on tets from a file that the tests write and, if TetGen is
installed, inside a closed mesh."""

import importlib.util
import itertools
import sys
from pathlib import Path

import araplbs
import bpy
import numpy as np
import pytest
from deep import refused
from mathutils import Matrix
from scenes import (
    add_armature,
    add_cube,
    add_mesh,
    addon,
    assert_good,
    auto_weight,
    package,
    tube_and_rig,
    tube_arrays,
    weighting,
    weights,
)

HAS_MESHIO = importlib.util.find_spec("meshio") is not None
HAS_TETGEN = importlib.util.find_spec("tetgen") is not None
with_meshio = pytest.mark.skipif(not HAS_MESHIO, reason="meshio is not installed")
with_tetgen = pytest.mark.skipif(not HAS_TETGEN, reason="TetGen is not installed")


def bar(cells=(2, 2, 12), size=(0.8, 0.8, 3.2), low=(-0.4, -0.4, -0.1)):
    """Returns (vertices, tets) around the tube of the scenes."""
    counts = np.array(cells) + 1
    grid = np.stack(np.meshgrid(*map(np.arange, counts), indexing="ij"), -1).reshape(-1, 3)
    strides = np.array([counts[1] * counts[2], counts[2], 1])
    first = grid[(grid < cells).all(1)] @ strides
    tets = [
        first[:, None] + np.cumsum([0, *strides[list(order)]])
        for order in itertools.permutations(range(3))
    ]
    return grid / cells * size + low, np.concatenate(tets)


@pytest.fixture
def tet_file(tmp_path):
    """A text file that meshio reads in Medit's format."""
    return write_medit(tmp_path / "tets.mesh", *bar())


def write_medit(path, vertices, tets, kind="Tetrahedra"):
    lines = ["MeshVersionFormatted 2", "Dimension 3", "Vertices", str(len(vertices))]
    lines += [f"{x!r} {y!r} {z!r} 0" for x, y, z in vertices.tolist()]
    lines += [kind, str(len(tets))]
    lines += [" ".join(str(i + 1) for i in t) + " 0" for t in tets.tolist()]
    path.write_text("\n".join([*lines, "End", ""]))
    return path


def dense(ob, rig):
    return weights(ob, [bone.name for bone in rig.data.bones])


def without_packages(monkeypatch, *names):
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name in names else find_spec(name)
    )


@with_meshio
@pytest.mark.parametrize("initial", ["HEAT", "BBW"])
def test_file(tet_file, initial):
    tube, rig = tube_and_rig()
    done = auto_weight(tube, rig, volume="FILE", tet_file=str(tet_file), initial=initial)
    assert done == {"FINISHED"}
    found = assert_good(tube, rig, 4)
    z = np.array([v.co.z for v in tube.data.vertices])
    assert (found[z < 0.4, 0] > 0.9).all()
    assert (found[z > 2.6, 2] > 0.9).all()


@with_meshio
def test_spaces(tet_file, tmp_path):
    """For an object in another place, the object's own space and the armature's space give the same
    result."""
    move = Matrix.Translation((0, 0, 1)) @ Matrix.Scale(2, 4)
    tube, rig = tube_and_rig()
    tube.data.transform(move.inverted())
    tube.matrix_world = move
    vertices, tets = bar()
    own = write_medit(tmp_path / "own.mesh", (vertices - (0, 0, 1)) / 2, tets)
    auto_weight(tube, rig, volume="FILE", tet_file=str(tet_file), tet_space="ARMATURE")
    expected = dense(tube, rig)
    auto_weight(tube, rig, volume="FILE", tet_file=str(own), tet_space="OBJECT")
    np.testing.assert_allclose(dense(tube, rig), expected, atol=1e-2)


@with_meshio
def test_loose_parts_take_the_weights_of_where_they_are(tet_file):
    tube, rig = tube_and_rig()
    button = add_cube("Button", (0.3, 0, 2.6))
    options = {"volume": "FILE", "tet_file": str(tet_file), "tet_space": "ARMATURE"}
    auto_weight(tube, button, rig, **options)
    assert (assert_good(button, rig, 4)[:, 2] > 0.8).all()


@with_meshio
def test_edits_are_followed(tet_file):
    tube, rig = tube_and_rig()
    auto_weight(tube, rig, volume="FILE", tet_file=str(tet_file))
    names = [bone.name for bone in rig.data.bones]
    middle = next(v.index for v in tube.data.vertices if abs(v.co.z - 1) < 0.1)
    assert dense(tube, rig)[middle].min() >= 0
    for v in tube.data.vertices:
        v.select = v.index == middle
    bpy.context.view_layer.objects.active = tube
    bpy.ops.object.araplbs_edit_vertices(kind="INFLUENCE", bone="lower", remove_influence=True)
    auto_weight(tube, rig, volume="FILE", tet_file=str(tet_file))
    assert dense(tube, rig)[middle, names.index("lower")] == 0


# The energy of the surface falls with it, unlike with bone springs.
PAPERS_ENERGY = {"bone_spring_stiffness": 0, "edge_power": 0, "min_gain": 3e-5}


@with_meshio
def test_report(tet_file):
    tube, rig = tube_and_rig()
    options = {"volume": "FILE", "tet_file": str(tet_file), "pose_count": 20, **PAPERS_ENERGY}
    task = weighting(rig, tube, **options)
    task.solve()
    report = task.apply()
    assert report["volume"]["tets"] == len(bar()[1])
    assert report["volume"]["farthest"] < 1e-9
    assert report["energy_after"] < report["energy_before"]
    assert report["vertices"] == len(tube.data.vertices)
    assert "through 288 tets" in package("reports.report").summary(report)
    # The energies refer to the surface.
    rows = task.solution.rows
    poses = package("character.pose_sets").pose_set(task.problem, task.options)
    expected = package("measures.energy").energy(task.problem, rows, poses)
    assert report["energy_after"] == pytest.approx(expected)
    seen = package("measures.deformation").measure(task.problem, rows, poses)
    assert report["deformation"]["after"]["surface_strain"] == pytest.approx(seen["area"])


@with_meshio
def test_report_of_preserve_volume(tet_file):
    """The report contains the energy of the surface's weights."""
    tube, rig = tube_and_rig()
    tube.modifiers["Armature"].use_deform_preserve_volume = True
    options = {"volume": "FILE", "tet_file": str(tet_file), "pose_count": 5, **PAPERS_ENERGY}
    task, stages = weighting(rig, tube, **options), []
    task.solve(lambda stage, fraction, energy: stages.append(stage))
    report = task.apply()
    found = report["deformers"]
    assert found["preserve_volume"] == ["Tube"]
    poses = package("character.pose_sets").pose_set(task.problem, task.options)
    judged = package("measures.armature_modifier").judged
    deformed = judged(task.problem, task.solution.rows, poses)[1]
    assert found["energy_after"] == pytest.approx(deformed)
    assert 0 < deformed < found["energy_before"]
    assert stages[-1] == "surface strain as Blender deforms"
    assert "Preserve Volume (Tube)" in package("reports.report").warnings(report)[0]


def pinned_task(tet_file, pinned):
    """Returns (task, report, dense weights) after pinning the weights {(vertex, bone): weight}."""
    tube, rig = tube_and_rig()
    for (vertex, bone), weight in pinned.items():
        for v in tube.data.vertices:
            v.select = v.index == vertex
        bpy.context.view_layer.objects.active = tube
        bpy.ops.object.araplbs_edit_vertices(kind="WEIGHT", bone=bone, weight=weight)
    task = weighting(rig, tube, volume="FILE", tet_file=str(tet_file), pose_count=5)
    task.solve()
    return task, task.apply(), dense(tube, rig)


@with_meshio
def test_pinned_weights_that_meet_at_a_node(tet_file):
    """The node gets the mean of the pinned weights, and the report states the deviation."""
    pinned = {(40, "middle"): 0.25, (41, "middle"): 0.75}
    task, report, found = pinned_task(tet_file, pinned)
    volume = package("solvers.volume")
    constraints = task.problem.arguments["constraints"]
    assert sorted(zip(*constraints, strict=True)) == [(40, 1, 0.25), (41, 1, 0.75)]
    nodes = np.full(len(found), 9)
    nodes[40:42] = 7
    edits = volume.edits_of_nodes(task.problem, nodes)
    assert [list(each) for each in edits["constraints"]] == [[7], [1], [0.5]]
    assert [list(each) for each in edits["influences"]] == [[7], [1], [True]]
    nodes[41] = 9
    edits = volume.edits_of_nodes(task.problem, nodes)
    assert [list(each) for each in edits["constraints"]] == [[7, 9], [1, 1], [0.25, 0.75]]
    off = max(abs(found[vertex, 1] - weight) for (vertex, _bone), weight in pinned.items())
    assert report["volume"]["pinned_error"] == pytest.approx(off, abs=1e-6)
    assert off > 0.01
    told = [line for line in package("reports.report").warnings(report) if "pinned weights" in line]
    assert told == [
        f"pinned weights are off by up to {off:.2f}: with tets, they apply only at the corners, as "
        "a mean of the vertices at each corner"
    ]


@with_meshio
def test_influences_that_meet_at_a_node(tet_file):
    """An allowed influence opens the node; a forbidden influence stays forbidden on the surface."""
    task, _report, found = pinned_task(tet_file, {})
    volume = package("solvers.volume")
    arguments = task.problem.arguments
    arguments["influences"] = [3, 4, 5], [0, 0, 2], [False, True, False]
    arguments["released"] = [3, 4, 4], [0, 0, 1]
    edits = volume.edits_of_nodes(task.problem, np.full(len(found), 6))
    assert [list(each) for each in edits["influences"]] == [[6, 6], [0, 2], [True, False]]
    assert [list(each) for each in edits["released"]] == [[6, 6], [0, 1]]
    assert not len(edits["smoothed"][0])
    arguments["smoothed"] = [3, 4], [0.5, 1.0]
    edits = volume.edits_of_nodes(task.problem, np.arange(len(found)) + 2)
    assert [list(each) for each in edits["smoothed"]] == [[5, 6], [0.5, 1.0]]
    assert volume.pinned_error(task.problem, task.solution.rows) is None


def test_files_beside_a_file_that_is_not_saved(tmp_path):
    options = {"volume": "FILE", "tet_file": "//tets.mesh"}
    refusal = refused("auto_weight", *tube_and_rig(), **options)
    if HAS_MESHIO:
        assert "'//tets.mesh' is relative to a .blend file that has not been saved" in refusal
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
        assert "There is no file" in refused("auto_weight", **options)
        write_medit(tmp_path / "tets.mesh", *bar())
        assert auto_weight(**options) == {"FINISHED"}


@with_meshio
def test_bad_files(tmp_path):
    tube, rig = tube_and_rig()
    vertices, tets = bar()
    for name in ("odd.msh", "odd.xyz123"):
        (tmp_path / name).write_text("this is no mesh")
    write_medit(tmp_path / "faces.mesh", vertices, tets[:, :3], "Triangles")
    write_medit(tmp_path / "away.mesh", vertices + 100, tets)
    nan = np.where(np.arange(len(vertices))[:, None] == 3, np.nan, vertices)
    write_medit(tmp_path / "nan.mesh", nan, tets)
    write_medit(tmp_path / "missing.mesh", vertices, np.vstack([tets, [[0, 1, 2, 9999]]]))
    for name, words in (
        ("none.msh", "There is no file"),
        ("odd.msh", "could not be read"),
        ("odd.xyz123", "could not be read"),
        ("faces.mesh", "contains no tetrahedra (it contains: triangle)"),
        ("away.mesh", "far outside the tetrahedra"),
        ("nan.mesh", "non-finite coordinates"),
        ("missing.mesh", "missing vertices"),
        ("", "no file is specified"),
    ):
        path = name and str(tmp_path / name)
        assert words in refused("auto_weight", tube, rig, volume="FILE", tet_file=path)


@with_meshio
def test_what_does_not_go_with_a_volume(tet_file):
    tube, rig = tube_and_rig()
    button = add_cube("Button", (0.3, 0, 2.6))
    options = {"volume": "FILE", "tet_file": str(tet_file)}
    said = refused("auto_weight", tube, button, rig, **options)
    assert "belongs to one mesh, not to 2" in said
    auto_weight(tube, rig)
    said = refused("auto_weight", tube, rig, start_from="PRESENT", **options)
    assert "cannot start from" in said
    tube.vertex_groups["lower"].lock_weight = True
    assert "'Tube' keeps some of its weights" in refused("auto_weight", tube, rig, **options)


def test_packages_that_are_missing(tet_file, monkeypatch):
    """The message explains how to install them."""
    tube, rig = tube_and_rig()
    without_packages(monkeypatch, "meshio", "tetgen")
    for needed, options in (
        ("meshio", {"volume": "FILE", "tet_file": str(tet_file)}),
        ("tetgen", {"volume": "INSIDE"}),
    ):
        message = refused("auto_weight", tube, rig, **options)
        assert f"needs the Python package '{needed}'" in message
        modules = bpy.utils.user_resource("SCRIPTS", path="modules")
        target = f'--target "{modules}" numpy=={np.__version__} '
        folder = target if bpy.app.binary_path else ""
        assert f'"{sys.executable}" -m pip install {folder}{needed}' in message
        need = package("solvers.tet_mesh").need
        with pytest.raises(package("base.refusal").Refused) as error:
            need(needed, "It", modules)
        assert str(error.value).endswith(f"-m pip install {target}{needed}")


def test_what_no_mesh_can_change_is_refused_before_they_are_read(tet_file, monkeypatch):
    tube, rig = tube_and_rig()
    without_packages(monkeypatch, "tetgen")
    options = package("model.options").Options
    for asked in (
        options(volume="INSIDE"),
        options(volume="FILE"),
        options(volume="FILE", tet_file="//x"),
        options(volume="FILE", tet_file=str(tet_file), start_from="PRESENT"),
    ):
        task = addon("weighting").WeightingTask(asked)
        targets = addon("blender.read.targets").Targets(rig, [tube])
        with pytest.raises(package("base.refusal").Refused):
            next(task.read_in_steps(targets, bpy.context.view_layer))


def test_live_sessions_work_on_the_surface():
    tube, rig = tube_and_rig()
    options = package("model.options").Options(volume="FILE", tet_file="x")
    targets = addon("blender.read.targets").Targets(rig, [tube])
    with pytest.raises(package("base.refusal").Refused, match="works on the surface"):
        addon("features.auto_weight.live").WeightSession(targets, options, bpy.context.view_layer)
    assert addon("operators.session").current_session() is None


@with_tetgen
def test_inside():
    tube, rig = tube_and_rig()
    assert auto_weight(tube, rig, volume="INSIDE") == {"FINISHED"}
    found = assert_good(tube, rig, 4)
    z = np.array([v.co.z for v in tube.data.vertices])
    assert (found[z < 0.4, 0] > 0.9).all()
    assert (found[z > 2.6, 2] > 0.9).all()


@with_tetgen
def test_inside_of_several_meshes():
    tube, rig = tube_and_rig()
    button = add_cube("Button", (0.33, 0, 2.6))
    auto_weight(tube, button, rig, volume="INSIDE")
    assert_good(tube, rig, 4)
    assert (assert_good(button, rig, 4)[:, 2] > 0.8).all()


@with_tetgen
def test_meshes_that_cannot_be_filled():
    rig = add_armature()
    tube = add_mesh("Open", *tube_arrays(caps=False))
    message = refused("auto_weight", tube, rig, volume="INSIDE")
    assert "'Open' is not closed (20 edges do not have exactly two faces)" in message
    vertices, faces = tube_arrays()
    crossing = add_mesh(
        "Crossing",
        np.concatenate([vertices, vertices * (1, 1, 0.5) + (0.15, 0, 1)]),
        [*faces, *[tuple(i + len(vertices) for i in f) for f in faces]],
    )
    message = refused("auto_weight", crossing, rig, volume="INSIDE")
    assert "'Crossing' could not be filled by TetGen" in message


@with_tetgen
def test_filling_can_be_cancelled():
    tets = package("solvers.tet_mesh")
    vertices, faces = tube_arrays(rings=60, sides=40)
    triangles = np.array([t for f in faces for t in zip(f[:1] * 2, f[1:], f[2:], strict=False)])
    with pytest.raises(araplbs.Cancelled):
        tets.fill("Tube", vertices, triangles, np.zeros((1, 3)), np.ones((1, 3)), lambda: True)


@with_tetgen
def test_filling_ends_with_a_signal(monkeypatch):
    """The child process does not continue alone after any exception."""
    tets, children = package("solvers.tet_mesh"), []
    subprocess = package("base.child").subprocess
    popen = subprocess.Popen

    def start(*arguments, **options):
        children.append(popen(*arguments, **options))
        return children[0]

    def stop():
        if children:
            raise KeyboardInterrupt

    monkeypatch.setattr(subprocess, "Popen", start)
    vertices, triangles = np.array(tube_arrays()[0]), np.array([[0, 1, 2]])
    monkeypatch.setattr(tets, "open_edges", lambda _faces: 0)
    with pytest.raises(KeyboardInterrupt):
        tets.fill("Tube", vertices, triangles, np.zeros((1, 3)), np.ones((1, 3)), stop)
    assert children[0].returncode is not None


@with_meshio
def test_command_line(tet_file, tmp_path):
    tube_and_rig()
    source, target = tmp_path / "in.blend", tmp_path / "out.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(source))
    arguments = ["weight", source, "--output", target, "--volume", "file", "--tet-file", tet_file]
    assert addon("cli").run([*map(str, arguments), "--tet-space", "armature"]) == 0
    bpy.ops.wm.open_mainfile(filepath=str(target))
    assert_good(bpy.data.objects["Tube"], bpy.data.objects["Rig"])
    assert Path(target).exists()


def test_a_vertex_far_away_welds_nothing():
    module = package("solvers.tet_mesh")
    vertices, faces = tube_arrays()
    triangles = np.array([t for f in faces for t in zip([f[0]] * 2, f[1:], f[2:], strict=False)])
    expected = module.weld(vertices, triangles)
    points, kept = module.weld(np.vstack([vertices, [(1e7, 0, 0)]]), triangles)
    assert len(kept) == len(expected[1]) == len(triangles)
    assert len(points) == len(vertices) + 1


def test_points_on_bones_that_reach_far_out():
    """The result has the same points as the part of the bone inside the box. The reference is
    computed by brute force without the box."""
    module = package("solvers.tet_mesh")
    vertices, faces = tube_arrays()
    triangles = np.array([t for f in faces for t in zip([f[0]] * 2, f[1:], f[2:], strict=False)])
    step = np.linalg.norm(vertices[triangles[:, 1]] - vertices[triangles[:, 0]], axis=1).mean()
    rng = np.random.default_rng(1)
    for head, tail in [*rng.normal(size=(9, 2, 3)) * 2 + (0, 0, 1.5), [(0, 0, -9), (0, 0, 9)]]:
        head, tail = np.array(head), np.array(tail)
        count = max(1, round(np.linalg.norm(tail - head) / step))
        at = head + ((np.arange(count) + 0.5) / count)[:, None] * (tail - head)
        inside = np.abs(module.winding_numbers(vertices, triangles, at)) > 0.5
        found = module.points_on_bones(vertices, triangles, [head], [tail])
        expected = np.unique(at[inside].round(9), axis=0)
        np.testing.assert_allclose(found, expected, atol=1e-9)
    far = np.array([[0.0, 0, -1e9]]), np.array([[0.0, 0, 1e9]])
    found = module.points_on_bones(vertices, triangles, *far)
    assert 3 / step - 3 < len(found) < 3 / step + 3
    beside = np.array([[5.0, 0, -1e9]]), np.array([[5.0, 0, 1e9]])
    assert not len(module.points_on_bones(vertices, triangles, *beside))
