"""Keep Weights and Restore Weights: the restored weights after remeshing, joining, splitting and
repeated imports, with renamed or removed bones; files, refusals, and the command line."""

import io
import os

import bpy
import deep
import numpy as np
import pytest
from command import opened, run, save
from mathutils.bvhtree import BVHTree
from scenes import add_armature, add_mesh, add_tube, addon, bind, package, select, weights

NAMES = ["lower", "middle", "upper"]
CLOSE = 0.05  # L1 of all weights of a vertex, mean


def painted(name="Tube", **shape):
    """A tube bound to a rig, with smooth weights, a group of no bone, and corrections."""
    rig = add_armature()
    tube = add_tube(name, **shape)
    bind(tube, rig)
    paint(tube)
    return tube, rig


def paint(ob):
    z = points_of(ob)[:, 2]
    dense = np.stack([np.exp(-((z - at) ** 2) / 0.3) for at in (0.5, 1.5, 2.5)], 1)
    dense /= dense.sum(1, keepdims=True)
    for bone, name in enumerate(NAMES):
        group = ob.vertex_groups.new(name=name)
        for vertex in range(len(z)):
            group.add([vertex], dense[vertex, bone], "REPLACE")
    mask = ob.vertex_groups.new(name="Mask")
    for vertex in np.flatnonzero(z > 1.5).tolist():
        mask.add([vertex], 0.75, "REPLACE")


def points_of(ob):
    found = np.empty(3 * len(ob.data.vertices), np.float32)
    ob.data.vertices.foreach_get("co", found)
    return found.reshape(-1, 3).astype(float)


def keep(*objects, **options):
    select(*objects)
    return bpy.ops.object.araplbs_keep_weights("EXEC_DEFAULT", **options)


def restore(*objects, **options):
    select(*objects)
    return bpy.ops.object.araplbs_restore_weights("EXEC_DEFAULT", **options)


def task_of(rig, *meshes, **options):
    """The report of a task after everything is written."""
    targets = addon("blender.read.targets").Targets(rig, list(meshes))
    settings = package("features.restore.restore").RestoreOptions(**options)
    task = addon("features.restore.task").RestoreTask(settings)
    task.read(targets, bpy.context.view_layer)
    task.solve()
    report = task.apply()
    return report | {"warnings": task.warnings}


def off(before, ob):
    """The mean L1 distance between the earlier weights, (points, dense), and the weights at the
    nearest points of the current mesh."""
    points, dense = before
    mesh = ob.data
    mesh.calc_loop_triangles()
    triangles = np.array([t.vertices[:] for t in mesh.loop_triangles])
    now, co = weights(ob, NAMES), points_of(ob)
    tree = BVHTree.FromPolygons(co.tolist(), triangles.tolist())
    total = 0.0
    for point, own in zip(points, dense, strict=True):
        place, _normal, index, _distance = tree.find_nearest(point)
        a, b, c = co[triangles[index]]
        share = np.linalg.lstsq(
            np.vstack([np.array([a, b, c]).T, np.ones(3)]), np.append(place, 1), rcond=None
        )[0]
        total += np.abs(share @ now[triangles[index]] - own).sum()
    return total / len(points)


def cleared(ob):
    ob.vertex_groups.clear()


def voxel(ob):
    ob.data.remesh_voxel_size = 0.12
    bpy.ops.object.voxel_remesh()


def applied(kind, **settings):
    def apply(ob):
        modifier = ob.modifiers.new("Change", kind)
        for name, value in settings.items():
            setattr(modifier, name, value)
        bpy.ops.object.modifier_move_to_index(modifier=modifier.name, index=0)
        bpy.ops.object.modifier_apply(modifier=modifier.name)

    return apply


CHANGES = {
    "voxel": voxel,
    "remesh smooth": applied("REMESH", mode="SMOOTH", octree_depth=5),
    "decimate": applied("DECIMATE", ratio=0.4),
    "subdivide": applied("SUBSURF", subdivision_type="SIMPLE", levels=2),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_round_trip(change):
    tube, rig = painted(rings=40, sides=20)
    before = points_of(tube), weights(tube, NAMES)
    keep(tube, rig)
    select(tube)
    change(tube)
    cleared(tube)
    assert restore(tube, rig) == {"FINISHED"}
    assert off(before, tube) < CLOSE
    assert len(tube.data.vertices) != len(before[0])
    now = weights(tube, NAMES)
    np.testing.assert_allclose(now.sum(1), 1, atol=1e-5)
    mask = weights(tube, ["Mask"])[:, 0]
    z = points_of(tube)[:, 2]
    np.testing.assert_allclose(mask[z > 1.8], 0.75, atol=0.02)
    np.testing.assert_allclose(mask[z < 1.2], 0, atol=0.02)


def test_the_same_mesh_gets_the_same_weights():
    tube, rig = painted()
    names = [*NAMES, "Mask"]
    before = weights(tube, names)
    keep(tube, rig)
    cleared(tube)
    restore(tube, rig)
    assert [group.name for group in tube.vertex_groups] == names
    np.testing.assert_allclose(weights(tube, names), before, atol=1e-6)


def test_joined_and_split():
    """Two meshes become one, which is then split in other places."""
    tube, rig = painted(rings=40, sides=20)
    other = add_tube("Other", shift=(1.5, 0, 0), rings=30)
    bind(other, rig)
    paint(other)
    other.vertex_groups["upper"].name = "swapped"
    other.vertex_groups["lower"].name = "upper"
    other.vertex_groups["swapped"].name = "lower"
    before = [(points_of(ob), weights(ob, NAMES)) for ob in (tube, other)]
    keep(tube, other, rig)
    assert [item.name for item in rig.data.araplbs_kept] == ["Tube", "Other"]
    select(other, tube)
    bpy.ops.object.join()
    cleared(tube)
    report = task_of(rig, tube)
    assert report["objects"][0]["kept"] == ["Tube", "Other"]
    assert off((np.concatenate([p for p, _ in before]), np.concatenate([w for _, w in before])),
               tube) < 1e-4  # fmt: skip
    mesh = tube.data
    upper = [p.vertices[:] for p in mesh.polygons if p.center.x < 0.7 and p.center.z > 1.4]
    used, faces = np.unique(np.concatenate([np.array(f) for f in upper])), upper
    place = {v: k for k, v in enumerate(used.tolist())}
    part = add_mesh("Tube.001", points_of(tube)[used], [[place[v] for v in f] for f in faces])
    report = task_of(rig, part)
    assert report["objects"][0]["kept"] == ["Tube"] and report["objects"][0]["bound"]
    np.testing.assert_allclose(weights(part, NAMES), weights(tube, NAMES)[used], atol=1e-5)


def test_bones_that_were_renamed_or_removed():
    tube, rig = painted(rings=40, sides=20)
    before = weights(tube, NAMES)
    keep(tube, rig)
    cleared(tube)
    rig.data.bones["upper"].name = "top"
    select(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones.remove(rig.data.edit_bones["middle"])
    bpy.ops.object.mode_set(mode="OBJECT")
    report = task_of(rig, tube)
    [facts] = report["objects"]
    assert facts["renamed"] == {"upper": "top"} and list(facts["gone"]) == ["middle"]
    share = before[:, 1].sum() / before.sum()
    assert facts["gone"]["middle"] == pytest.approx(share, abs=1e-4)
    assert any("'upper' is now 'top'" in line for line in report["warnings"])
    assert any("'middle'" in line and "no longer exist" in line for line in report["warnings"])
    names = [group.name for group in tube.vertex_groups]
    assert "middle" not in names and "upper" not in names
    now = weights(tube, ["lower", "top"])
    np.testing.assert_allclose(now.sum(1), 1, atol=1e-5)
    good = before[:, 1] < 0.9
    expected = before[:, [0, 2]] / (1 - before[:, 1:2])
    np.testing.assert_allclose(now[good], expected[good], atol=1e-4)


def test_corrections_and_rigid_parts():
    tube, rig = painted(rings=40, sides=20)
    edits = addon("blender.data.edits")
    z = points_of(tube)[:, 2]
    item = edits.ensure_edit(tube.data, "WEIGHT", "upper")
    edits.write_values(tube.data, item, np.where(z > 2.5, 1.25, 0))
    edits.add_rigid_part(tube.data, np.flatnonzero(z < 0.4), "Foot")
    item = edits.ensure_edit(tube.data, "INFLUENCE", "middle")
    edits.write_values(tube.data, item, np.where(z > 2, -1, np.where(z < 1, 1, 0)))
    edits.add_link(tube.data, 3, 500)
    ends = points_of(tube)[[3, 500]]
    keep(tube, rig)
    select(tube)
    voxel(tube)
    cleared(tube)
    while tube.data.araplbs.edits:
        edits.remove_edit(tube.data, 0)
    assert task_of(rig, tube)["objects"][0]["edits"] == 4
    found = {e.kind: (e, edits.read_values(tube.data, e)) for e in tube.data.araplbs.edits}
    z = points_of(tube)[:, 2]
    pinned, values = found["WEIGHT"]
    assert pinned.bone == "upper"
    np.testing.assert_allclose(values[z > 2.6], 1.25, atol=1e-3)
    assert not values[z < 2.3].any()
    assert found["RIGID"][0].name == "Rigid Part Foot"
    assert (found["RIGID"][1][z < 0.3] == 1).all() and not found["RIGID"][1][z > 0.6].any()
    assert (found["INFLUENCE"][1][z > 2.2] == -1).all() and (
        found["INFLUENCE"][1][z < 0.8] == 1
    ).all()
    where = points_of(tube)[found["LINK"][1] > 0]
    gaps = np.linalg.norm(where[:, None] - ends[None], axis=2)
    assert len(where) == 2 and gaps.min(1).max() < 0.15


def test_moved_origin_and_scale_and_no_modifier():
    """As after another import, the object's origin has moved, nothing is bound, and there are no
    groups."""
    tube, rig = painted()
    before = weights(tube, NAMES)
    keep(tube, rig)
    points, faces = points_of(tube), [p.vertices[:] for p in tube.data.polygons]
    bpy.data.objects.remove(tube)
    again = add_mesh("Imported", points * 100, faces)
    again.scale = (0.01, 0.01, 0.01)
    bpy.context.view_layer.update()
    assert restore(again, rig) == {"FINISHED"}
    np.testing.assert_allclose(weights(again, NAMES), before, atol=1e-4)
    assert again.modifiers[0].object == rig


def test_mirror_modifier_applied_meanwhile():
    """Half of a mesh was kept with its Mirror modifier. The whole mesh gets both sides."""
    rig = add_armature(
        bones=[
            ("spine", (0, 0, 0), (0, 0, 1), None),
            ("arm.L", (0.2, 0, 0.5), (1.5, 0, 0.5), "spine"),
            ("arm.R", (-0.2, 0, 0.5), (-1.5, 0, 0.5), "spine"),
        ]
    )
    grid = [(x, y, 0.5) for x in np.linspace(0, 1.5, 7) for y in np.linspace(-0.2, 0.2, 3)]
    faces = [
        (3 * i + j, 3 * i + j + 3, 3 * i + j + 4, 3 * i + j + 1) for i in range(6) for j in (0, 1)
    ]
    half = add_mesh("Half", grid, faces)
    mirror = half.modifiers.new("Mirror", "MIRROR")
    bind(half, rig)
    for name in ("spine", "arm.L", "arm.R"):
        half.vertex_groups.new(name=name)
    for vertex in half.data.vertices:
        share = min(vertex.co.x, 1)
        half.vertex_groups["arm.L"].add([vertex.index], share, "REPLACE")
        half.vertex_groups["spine"].add([vertex.index], 1 - share, "REPLACE")
    keep(half, rig)
    select(half)
    bpy.ops.object.modifier_apply(modifier=mirror.name)
    cleared(half)
    restore(half, rig)
    x = points_of(half)[:, 0]
    expected = np.stack([1 - np.clip(abs(x), 0, 1), np.clip(x, 0, 1), np.clip(-x, 0, 1)], 1)
    np.testing.assert_allclose(weights(half, ["spine", "arm.L", "arm.R"]), expected, atol=1e-5)


def test_locked_groups_stay():
    tube, rig = painted()
    before = weights(tube, NAMES)
    keep(tube, rig)
    every = list(range(len(tube.data.vertices)))
    for group in tube.vertex_groups:
        group.remove(every)
    tube.vertex_groups["middle"].add(every, 0.5, "REPLACE")
    tube.vertex_groups["middle"].lock_weight = True
    report = task_of(rig, tube)
    assert report["objects"][0]["locked"] == ["middle"]
    now = weights(tube, NAMES)
    np.testing.assert_array_equal(now[:, 1], 0.5)
    np.testing.assert_allclose(now.sum(1), 1, atol=1e-6)
    share = before[:, 0] / (before[:, 0] + before[:, 2])
    np.testing.assert_allclose(now[:, 0], 0.5 * share, atol=1e-5)


def test_no_more_influences_than_before():
    tube, rig = painted(rings=40, sides=20)
    for vertex in tube.data.vertices:
        least = min(vertex.groups, key=lambda g: g.weight if g.group < 3 else 2)
        tube.vertex_groups[least.group].remove([vertex.index])
    keep(tube, rig)
    select(tube)
    voxel(tube)
    cleared(tube)
    restore(tube, rig)
    assert (weights(tube, NAMES) > 0).sum(1).max() == 2


def test_a_file_and_another_armature(tmp_path):
    """The file of kept weights is next to the .blend file, and the armature was also imported
    again."""
    tube, rig = painted()
    before = weights(tube, NAMES)
    file = tmp_path / "tube.kept"
    keep(tube, rig, file=str(file))
    assert not rig.data.araplbs_kept and file.stat().st_size < 20_000
    bpy.data.objects.remove(rig)
    rig = add_armature("Again")
    tube.modifiers[0].object = rig
    cleared(tube)
    assert restore(tube, rig, file=str(file)) == {"FINISHED"}
    np.testing.assert_allclose(weights(tube, NAMES), before, atol=1e-6)


def refused(operator, *objects, **options):
    return deep.refused(f"{operator}_weights", *objects, **options)


def test_refusals(tmp_path):
    tube, rig = painted()
    assert "'Rig' has no kept weights" in refused("restore", tube, rig)
    bare = add_tube("Bare")
    assert "'Bare' has no weights for the bones of 'Rig'" in refused("keep", bare, rig)
    wire = add_mesh("Wire", np.eye(3), [], edges=[(0, 1), (1, 2)])
    assert "'Wire' has no faces" in refused("keep", wire, rig)
    foreign = tmp_path / "mine.txt"
    foreign.write_text("mine", encoding="utf-8")
    assert "already exists" in refused("keep", tube, rig, file=str(foreign))
    assert foreign.read_text(encoding="utf-8") == "mine"
    assert "contains no kept weights" in refused("restore", tube, rig, file=str(foreign))
    assert "cannot be read" in refused("restore", tube, rig, file=str(tmp_path / "none.kept"))
    assert "has not been saved" in refused("keep", tube, rig, file="//x.kept")
    keep(tube, rig)
    far = add_tube("Far", shift=(50, 0, 0))
    assert "'Far' cannot take weights from the kept 'Tube'" in refused("restore", far, rig)
    kept = package("features.restore.stored")
    head, content = kept.HEAD, rig.data.araplbs_kept[0].content
    for damaged in (content[:200], head, head + content[len(head) : -40] + bytes(40)):
        rig.data.araplbs_kept[0].content = damaged
        assert "is damaged" in refused("restore", tube, rig)


def test_a_fault_takes_corrections_back(monkeypatch):
    """Corrections are restored after a fault; test_guard.py tests the weights of all meshes."""
    tube, rig = painted()
    edits = addon("blender.data.edits")
    edits.add_rigid_part(tube.data, [1, 2, 3], "A")
    keep(tube, rig)
    edits.remove_edit(tube.data, 0)
    edits.add_rigid_part(tube.data, [7, 8], "B")
    monkeypatch.setattr(addon("features.restore.task"), "restore_report", lambda *_rest: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        task_of(rig, tube)
    [item] = tube.data.araplbs.edits
    assert item.name == "Rigid Part B"
    assert np.flatnonzero(edits.read_values(tube.data, item)).tolist() == [7, 8]


def test_command_line(tmp_path, capfd):
    tube, _rig = painted()
    before = weights(tube, NAMES)
    source, kept, bare = (tmp_path / f"{name}.blend" for name in ("in", "kept", "bare"))
    save(source)
    assert run("keep", source, "--output", kept) == 0
    assert "Weights of 'Tube' kept with the armature 'Rig'" in capfd.readouterr().out
    objects = opened(kept)
    cleared(objects["Tube"])
    save(bare)
    out = tmp_path / "out.blend"
    assert run("restore", bare, "--output", out, "--json", tmp_path / "report.json") == 0
    assert "Weights of 'Tube' restored: 192 of 192 vertices match" in capfd.readouterr().out
    np.testing.assert_allclose(weights(opened(out)["Tube"], NAMES), before, atol=1e-6)
    file, two = tmp_path / "a.kept", tmp_path / "two"
    assert run("keep", source, "--output", kept, "--file", file) == 0 and file.exists()
    assert run("restore", source, "--output", out) == 1
    assert "has no kept weights" in capfd.readouterr().err
    assert run("restore", source, "--output", out, "--file", file) == 0
    assert run("keep", source, bare, "--output", two, "--file", file) == 2
    assert "can store the weights of only one file" in capfd.readouterr().err


def test_command_line_with_two_armatures(tmp_path):
    """The two armatures are at one place. The file contains the weights of both, and each gets its
    own weights back."""
    before = {}
    for number, name in enumerate(("Anna", "Ben")):
        tube, rig = painted(f"{name}'s")
        rig.name = name
        tube.vertex_groups["middle"].add(range(90), 0.25 * number, "REPLACE")
        before[tube.name] = weights(tube, NAMES)
    source, out, file = tmp_path / "in.blend", tmp_path / "out.blend", tmp_path / "two.kept"
    save(source)
    words = ["keep", source, "--output", tmp_path / "kept.blend", "--file", file]
    assert run(*words, "--json", tmp_path / "keep.json") == 0
    kept = package("features.restore.stored").read_kept(file)
    assert [(each.armature, each.name) for each in kept] == [("Anna", "Anna's"), ("Ben", "Ben's")]
    objects = opened(source)
    for name in before:
        cleared(objects[name])
    save(bare := tmp_path / "bare.blend")
    assert run("restore", bare, "--output", out, "--file", file) == 0
    objects = opened(out)
    for name, right in before.items():
        np.testing.assert_allclose(weights(objects[name], NAMES), right, atol=1e-6)
    objects["Anna"].name = "Hero"  # its weights are those that no other armature has had
    cleared(objects["Anna's"])
    save(bare)
    assert run("restore", bare, "--output", out, "--file", file) == 0
    np.testing.assert_allclose(weights(opened(out)["Anna's"], NAMES), before["Anna's"], atol=1e-6)


def test_command_line_writes_all_armatures_or_none(tmp_path, monkeypatch):
    for name in ("Anna", "Ben"):
        painted(f"{name}'s")[1].name = name
    source, file = save(tmp_path / "in.blend"), tmp_path / "two.kept"
    keeping, report = addon("features.restore.task"), addon("features.restore.task").keep_report

    def fail_at_ben(armature, *rest):
        if armature == "Ben":
            raise OSError("full")
        return report(armature, *rest)

    monkeypatch.setattr(keeping, "keep_report", fail_at_ben)
    assert run("keep", source, "--output", tmp_path / "out.blend", "--file", file) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["in.blend"]


@pytest.mark.parametrize("beside", ["", "//"])
def test_file_of_keep_is_an_output(beside, tmp_path, capfd, monkeypatch):
    """The file replaces no input and no other output, and a conflict is reported before any
    work."""
    painted()
    source, out = save(tmp_path / "in.blend"), tmp_path / "out.blend"
    monkeypatch.chdir(tmp_path)
    content, opening = source.read_bytes(), addon("cli")._open
    monkeypatch.setattr(addon("cli"), "_open", lambda path: pytest.fail(f"{path} was opened"))
    for name, others in (("out.blend", ()), ("in.blend", ()), ("r.json", ("--json", "r.json"))):
        assert run("keep", source, "-o", out, "--file", f"{beside}{name}", *others) == 2
        assert "would replace the " in capfd.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["in.blend"]
    assert source.read_bytes() == content
    monkeypatch.setattr(addon("cli"), "_open", opening)
    assert run("keep", source, "-o", out, "--file", f"{beside}x.kept") == 0
    assert (tmp_path / "x.kept").exists() and out.exists()


def test_a_bomb_in_the_file_is_not_unpacked():
    """Many small bombs on one armature are not unpacked either."""
    tube, rig = painted()
    keep(tube, rig)
    kept, holds = package("features.restore.stored"), addon("features.restore.stored")
    out = io.BytesIO()
    np.savez_compressed(out, vertices0=np.zeros(1 << 27, np.uint8))
    good, bomb = rig.data.araplbs_kept[0].content, kept.HEAD + out.getvalue()
    rig.data.araplbs_kept[0].content = bomb
    assert "would unpack to 134217856, more than" in refused("restore", tube, rig)
    rig.data.araplbs_kept[0].content = good
    (size,) = (each.bytes for each in holds.kept_on(rig))
    for _ in range(3):
        rig.data.araplbs_kept.add().content = good
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(holds, "MOST", 3 * size)
        assert "is damaged" in refused("restore", tube, rig)
    assert len(holds.kept_on(rig)) == 4


def test_kinds_of_edits_are_those_that_files_hold():
    kinds = [kind for kind, *_rest in addon("blender.data.edits").KINDS]
    assert list(package("model.edits").EDIT_KINDS) == kinds


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
def test_files_that_wait_or_never_end(tmp_path, capfd):
    tube, rig = painted()
    os.mkfifo(tmp_path / "fifo")
    paths = (tmp_path / "fifo", "/dev/zero")
    for path in paths:
        assert "is not a regular file" in refused("restore", tube, rig, file=str(path))
    source = save(tmp_path / "in.blend")
    for path in paths:
        for more in ([], ["--report", tmp_path / "reports"]):
            assert run("restore", source, "-o", tmp_path / "o.blend", "--file", path, *more) == 1
            assert "is not a regular file" in capfd.readouterr().err
    words = ["weight", tmp_path / "fifo", "-o", tmp_path / "o.blend"]
    for more in (["--plan"], ["--jobs", 1]):
        assert run(*words, *more) == 1
        assert "fifo: not a regular file" in capfd.readouterr().err
    assert run("task", tmp_path / "fifo", 1) == 1
    assert "is not a regular file" in capfd.readouterr().err
