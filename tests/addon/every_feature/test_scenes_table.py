"""Runs the operator in every odd scene of odd_scenes.py. The weights equal those of the plain
scene, and nothing else in the file changes."""

import bpy
import numpy as np
import pytest
from deep import deep_snapshot, difference, without_weights
from odd_scenes import SCENES, make
from odd_table import turn
from scenes import (
    add_armature,
    add_cube,
    add_mesh,
    add_tube,
    auto_weight,
    deform_names,
    entries,
    new_scene,
    tube_and_rig,
    weights,
)

# The guard itself.


def plain_weights(cache=[]):  # noqa: B006
    """The weights of the tube and its rig alone."""
    if not cache:
        tube, rig = tube_and_rig()
        auto_weight(tube, rig)
        cache.append(weights(tube, deform_names(rig)))
        new_scene()
    return cache[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENES)
def test_scene(name, tmp_path, capfd):
    expected = plain_weights()
    scene = make(name, tmp_path)
    tube = scene.tube
    own = not (tube.library or tube.data.library or scene.refused)
    if own:
        tube.vertex_groups.new(name="mine").add([3, 4], 0.25, "REPLACE")
        bpy.context.view_layer.update()
    before = deep_snapshot()
    assert difference(before, deep_snapshot()) == {}, "looking changes something"
    capfd.readouterr()
    if scene.refused:
        with pytest.raises(RuntimeError, match=scene.refused):
            auto_weight()
        assert difference(before, deep_snapshot()) == {}
        return
    assert auto_weight() == {"FINISHED"}
    out = capfd.readouterr().out
    for line in scene.said:
        assert line in out
    assert "follows bones" not in out or scene.said
    users = [ob for ob in bpy.data.objects if ob.data == tube.data]
    changes = without_weights(difference(before, deep_snapshot()), *users)
    bases = [f"Object {tube.name!r}{end}" for end in scene.may_change]
    changes = {k: v for k, v in changes.items() if not any(k.startswith(b) for b in bases)}
    assert not changes
    found = weights(tube, [scene.renamed.get(n, n) for n in ("lower", "middle", "upper")])
    np.testing.assert_allclose(found, expected, rtol=0, atol=scene.atol)
    mine = tube.vertex_groups["mine"].index
    assert [v.index for v in tube.data.vertices if mine in [g.group for g in v.groups]] == [3, 4]

    again = entries(tube)
    auto_weight()
    assert entries(tube) == again, "another result the second time"


@pytest.mark.parametrize("kind", ["bone", "Child Of", "below"])
@pytest.mark.parametrize("angle", [0.0, 1.2])
def test_bound_from_a_bone_is_posed_once(kind, angle):
    """The mesh is posed like one that was bound at rest."""
    name = {
        "bone": "unbound_on_a_posed_bone",
        "Child Of": "unbound_child_of_a_posed_bone",
        "below": "unbound_under_what_is_on_a_posed_bone",
    }[kind]
    scene = SCENES[name]()
    turn(scene.rig, angle=angle)
    auto_weight(scene.tube, scene.rig)
    rested = add_tube("Rested")
    auto_weight(rested, scene.rig)
    graph = bpy.context.evaluated_depsgraph_get()
    points = []
    for ob in (scene.tube, rested):
        posed = ob.evaluated_get(graph)
        points.append([posed.matrix_world @ v.co for v in posed.data.vertices])
    np.testing.assert_allclose(*points, atol=1e-3)


@pytest.mark.parametrize("name", ["posed", "shape_keys", "unbound_on_a_posed_bone"])
def test_the_scene_is_saved_as_it_was(name, tmp_path):
    """A scene that is written to disk and read again has bit-identical weights."""
    scene = make(name, tmp_path)
    auto_weight()
    before, tube = entries(scene.tube), scene.tube.name
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "saved.blend"))
    assert entries(bpy.data.objects[tube]) == before


@pytest.mark.parametrize("distance", [1e3, 1e5])
def test_selected_far_away(distance, capfd):
    """An object or a vertex that was probably selected by mistake is named."""
    tube, rig = tube_and_rig()
    rock = add_cube("Rock", (distance, 0, 0), size=1)
    auto_weight(rock, tube, rig)
    assert "far from all bones; selected by mistake? Rock" in capfd.readouterr().out
    new_scene()
    tube, rig = tube_and_rig()
    tube.data.vertices.add(1)
    tube.data.vertices[-1].co = distance, 0, 0
    auto_weight(tube, rig)
    out = capfd.readouterr().out
    assert "1 vertex lies far from all bones (first: vertex 192 of 'Tube')" in out


def test_nothing_is_far_in_a_large_mesh(capfd):
    """A building with one short bone in it."""
    rig = add_armature(bones=[("door", (0, 0, 0), (0, 0, 0.1), None)])
    building = add_tube(length=30, radius=20)
    auto_weight(building, rig)
    assert "far from" not in capfd.readouterr().out


def test_taken_as_one(capfd):
    """Tiny faces next to one large face."""
    _tube, rig = tube_and_rig()
    rng = np.random.default_rng(3)
    specks = 1e-9 * rng.random((300, 3)) + (0, 0, 1)
    vertices = np.vstack([specks, [(1, 0, 0), (1, 1, 0), (0, 1, 3)]])
    faces = [(i, i + 1, i + 2) for i in range(0, 300, 3)] + [(300, 301, 302)]
    mesh = add_mesh("Specks", vertices, faces)
    auto_weight(mesh, rig)
    said = capfd.readouterr().out
    assert "of the vertices are so close together" in said


def test_seams_are_not_told_of(capfd):
    """Every face has its own vertices, as exporters write flat shading."""
    tube, rig = tube_and_rig()
    points = [v.co for p in tube.data.polygons for v in (tube.data.vertices[i] for i in p.vertices)]
    faces, first = [], 0
    for p in tube.data.polygons:
        faces.append(tuple(range(first, first + len(p.vertices))))
        first += len(p.vertices)
    auto_weight(add_mesh("Split", points, faces), rig)
    assert "close together" not in capfd.readouterr().out
