"""Report a Problem writes a text and, on request, the problem itself without names. Solving the
problem again gives the same weights."""

import bpy
import numpy as np
import pytest
from scenes import (
    add_tube,
    addon,
    auto_weight,
    bind,
    deform_names,
    package,
    select,
    tube_and_rig,
    weights,
)


def report(path, **more):
    return bpy.ops.wm.araplbs_report_problem(filepath=str(path), **more)


def replay():
    return package("replay")


def named():
    tube, rig = tube_and_rig()
    tube.name, tube.data.name, rig.name, rig.data.name = "Berta", "Berta's skin", "Carla", "Dora"
    for bone in rig.data.bones:
        bone.name = f"Emil_{bone.name}"
    select(tube, rig)
    return tube, rig


def test_the_text_alone(tmp_path):
    named()
    assert report(tmp_path / "a.txt") == {"FINISHED"}
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]
    text = (tmp_path / "a.txt").read_text("utf-8")
    assert bpy.app.version_string in text and "none was requested" in text
    assert "Mesh: " in text and "Armature: 3 bones" in text
    assert not any(name in text for name in ("Berta", "Carla", "Dora", "Emil"))


def test_the_problem_gives_the_same_weights(tmp_path):
    tube, rig = named()
    assert report(tmp_path / "a.txt", with_problem=True) == {"FINISHED"}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.npz", "a.txt"]
    assert "python -m araplbs.replay a.npz" in (tmp_path / "a.txt").read_text("utf-8")
    data = (tmp_path / "a.npz").read_bytes()
    arguments, about = replay().load(tmp_path / "a.npz")
    for name in (b"Berta", b"Carla", b"Dora", b"Emil", b"upper"):
        assert name not in data
    assert about["volume"] == "NONE"
    solver, _seconds = replay().solve(arguments)
    assert not tube.vertex_groups  # nothing was written to the scene
    auto_weight(tube, rig)
    np.testing.assert_allclose(weights(tube, deform_names(rig)), solver.weights, atol=1e-6)


def test_what_cannot_be_read_is_said(tmp_path):
    _tube, rig = named()
    select(rig)
    bpy.data.objects.remove(bpy.data.objects["Berta"])
    assert report(tmp_path / "a.txt", with_problem=True) == {"FINISHED"}
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]
    text = (tmp_path / "a.txt").read_text("utf-8")
    assert "Problem file\n  none: " in text


def test_it_replaces_its_like_alone(tmp_path):
    named()
    for _ in range(2):
        assert report(tmp_path / "a.txt", with_problem=True) == {"FINISHED"}
    for name in ("a.txt", "a.npz"):
        kept = (tmp_path / name).read_bytes()
        (tmp_path / name).write_text("mine", encoding="utf-8")
        with pytest.raises(RuntimeError, match=r"a\.(txt|npz)"):
            report(tmp_path / "a.txt", with_problem=True)
        assert (tmp_path / name).read_text("utf-8") == "mine"
        (tmp_path / name).write_bytes(kept)


def test_without_a_file(tmp_path):
    named()
    with pytest.raises(RuntimeError, match="Choose the file"):
        bpy.ops.wm.araplbs_report_problem()


CANARIES = (
    "Kanari",
    "Kanari's best",
    'the "Kanari"',
    "a\nKanari\nb",
    "'Kanari' and 'Kanari'",
    "Kanari \\ x/y",
    "ä Kanari ë",
    "Kanari\x1b[31m",
)


class Canaries:
    """Generates different names, each of which contains a canary, in every form in turn."""

    def __init__(self, first):
        self.first, self.count = first, 0

    def __call__(self):
        form = CANARIES[(self.first + self.count) % len(CANARIES)]
        self.count += 1
        return form.replace("Kanari", f"Kanari{self.count}")


def all_named(first, folder):
    """Returns (mesh, armature) in a file in which every name is a canary. The file is saved under
    such a name."""
    name = Canaries(first)
    tube, rig = tube_and_rig()
    other = add_tube("Other")
    auto_weight(tube, rig)
    bind(other, rig)
    rig.animation_data_create().action = action = bpy.data.actions.new("x")
    action.pose_markers.new(name()).frame = 3
    rig.animation_data.nla_tracks.new().name = name()
    rig.pose.bones[0].constraints.new("IK").name = name()
    for bone in rig.data.bones:
        bone.name = name()
    rig.data.collections.new(name())
    for ob in (tube, other):
        ob.vertex_groups.new(name=name()).add([0], 1, "REPLACE")
        ob.shape_key_add(name=name())
        ob.shape_key_add(name=name())
        ob.modifiers.new(name(), "SUBSURF")
        ob.data.attributes.new(name(), "FLOAT", "POINT")
        ob.data.uv_layers.new(name=name())
        ob.data.materials.append(bpy.data.materials.new("x"))
    addon("blender.data.edits").add_rigid_part(tube.data, [1, 2, 3], name())
    item = addon("blender.data.edits").ensure_edit(tube.data, "INFLUENCE", name())
    addon("blender.data.edits").write_values(tube.data, item, np.eye(1, len(tube.data.vertices))[0])
    bpy.data.images.new("x", 4, 4).filepath = f"//{name()}/{name()}.png"
    bpy.data.texts.new("x")
    bpy.data.collections.new("x")
    bpy.context.scene.timeline_markers.new(name())
    bpy.context.view_layer.name = name()
    rig[name()] = name()
    select(tube, rig)
    bpy.ops.object.araplbs_keep_weights("EXEC_DEFAULT")
    for kind in ("objects", "meshes", "armatures", "actions", "materials", "scenes", "collections"):
        for data in getattr(bpy.data, kind):
            data.name = name()
    for data in (*bpy.data.images, *bpy.data.texts, *bpy.data.worlds, *bpy.data.shape_keys):
        data.name = name()
    words = name().translate({ord(c): "_" for c in '\n"\\/\x1b'})
    path = folder / f"{words}.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return tube, rig


def everything_fails(tube, rig):
    """Calls operators that refuse, or fail because of a bug, with messages about objects in the
    file; their effect does not matter here."""
    other = next(ob for ob in bpy.data.objects if ob.type == "MESH" and ob != tube)
    empty = bpy.data.objects.new(tube.name[:30] + "Kanari", bpy.data.meshes.new("Kanari mesh"))
    bpy.context.scene.collection.objects.link(empty)
    bind(empty, rig)

    def locked():
        for group in tube.vertex_groups:
            group.lock_weight = True
        select(tube, rig)

    def hidden():
        tube.hide_set(True), other.hide_set(True), empty.hide_set(True)
        select(rig)

    def flat():
        other.scale.x = 0
        select(other, rig)

    def fault(error):
        def fail(*_arguments):
            raise error

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(addon("blender.read.targets"), "_chosen_armature", fail)
            yield

    scenes = [
        lambda: select(empty, rig),
        lambda: select(tube),
        flat,
        locked,
        hidden,
        lambda: (rig.hide_set(False), rig.name and select(rig)),
    ]
    operators = [name for name in dir(bpy.ops.object) if name.startswith("araplbs_")]
    skipped = {"araplbs_compare", "araplbs_compare_methods", "araplbs_open_comparison"}
    options = {
        "araplbs_restore_weights": [{}, {"file": f"//{tube.name}/{rig.name}.kept"}],
        "araplbs_auto_weight": [{}, {"volume": "FILE", "tet_file": f"/{rig.name}/x.msh"}],
    }
    for scene in scenes:
        scene()
        for operator in sorted(set(operators) - skipped):
            for each in options.get(operator, [{}]):
                try:
                    getattr(bpy.ops.object, operator)("EXEC_DEFAULT", **each)
                except (RuntimeError, TypeError):
                    yield operator
    for error in (
        KeyError(rig.name),
        ValueError(f"of {tube.name} and {rig.name!r}"),
        OSError(2, "x", rig.name),
    ):
        for _ in fault(error):
            with pytest.raises(RuntimeError):
                bpy.ops.object.araplbs_auto_weight("EXEC_DEFAULT")
            yield "a fault"
    bpy.data.objects.remove(other)
    yield "after a thing was deleted"


@pytest.mark.outside
@pytest.mark.parametrize("first", [0, 3])
def test_no_name_of_the_file(first, tmp_path):
    """This is tested after any failure, and with any quotes and line breaks in names.
    tests/package/auto_weight/test_replay.py tests each form separately."""
    faults, count = package("base.faults"), 0
    tube, rig = all_named(first, tmp_path)
    assert len(faults.names_of_file()) > 40
    bpy.context.scene.araplbs.tet_file = f"//{rig.name}.msh"
    seen = set()
    for what in everything_fails(tube, rig):
        last = faults.last_errors()
        if last and last[-1].text in seen:
            continue
        seen.update(fault.text for fault in last)
        for more in (True,) if count else (False, True):
            assert report(tmp_path / "a.txt", with_problem=more) == {"FINISHED"}
            count += 1
            text = (tmp_path / "a.txt").read_text("utf-8")
            lines = [line for line in text.splitlines() if "anari" in line or "\x1b" in line]
            assert not lines, what
    assert count > 20 and sum("Kanari" in text for text in seen) > 8
    if (tmp_path / "a.npz").exists():
        with np.load(tmp_path / "a.npz") as arrays:
            assert all(b"anari" not in arrays[name].tobytes() for name in arrays.files)


def test_what_names_are_known(tmp_path):
    """All names in Blender's data are known."""
    all_named(0, tmp_path)
    known = package("base.faults").names_of_file()
    rig = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
    tube = next(ob for ob in bpy.data.objects if ob.type == "MESH")
    wanted = {each.name for ob in (rig, tube) for each in (ob, ob.data)}
    wanted |= {each.name for each in (*rig.data.bones, *tube.vertex_groups, *tube.modifiers)}
    wanted |= {rig.animation_data.action.name, bpy.context.scene.name, bpy.context.view_layer.name}
    wanted |= {key.name for key in tube.data.shape_keys.key_blocks}
    assert wanted <= set(known) and sum("Kanari" in name for name in wanted) > 10
