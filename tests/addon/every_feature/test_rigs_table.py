"""Runs every operator and every command on every rig of $ARAPLBS_DATA/rigs. Each does its work
or refuses with a sentence, and the rest of the file stays unchanged."""

import faulthandler
import os

import bpy
import pytest
from command import run
from deep import deep_snapshot, difference, name_of, without_weights
from paths import RIGS, shared_file, shared_names
from scenes import select

# Small files: a Rigify rig with bendy bones and Mirror, lattices and a cycle, several meshes.
ALWAYS = ("bicycle_human", "kaiopua_hero", "robot_expressive")
FILM = {"blenrig_biped", "cloudrig_test_poses"}  # what samples many poses takes minutes there
EVERYTHING = os.environ.get("ARAPLBS_TEST_RIGS")
NAMES = shared_names(RIGS, "*.blend")

POSES = {"pose_count": 8}
# {operator: its options}, in this order, because later operators need the weights of the first one.
WEIGHTS_ONLY = {
    "auto_weight": POSES,
    "check": {},
    "repair": POSES,
    "refine_weights": POSES,
    "new_vertices": POSES,
    "transfer": {},
    "quantize": {},
    "compare": {"methods": "heat"},
}
MORE = {
    "select_worst": {},
    "mark_rigid": {},
    "clear_rigid": {},
    "edit_vertices": {"kind": "SMOOTH"},
    "add_link": {},
    "select_edit": {},
    "remove_edit": {},
    "bake": {"frames": 8},
    "take_in": {},
    "deform_off": {},
    "joints": POSES,
    "bendy": {},
}
SAMPLED = [name for name, options in {**WEIGHTS_ONLY, **MORE}.items() if options is POSES]
SAMPLED.append("compare")
COMMANDS = ("weight", "check", "repair", "quantize", "joints", "bake")
# Marks on bones, and the modifiers that bind the meshes.
NOTES = ("['araplbs", ".araplbs")
BOUND = (".parent", ".matrix_parent_inverse", ".modifiers", ".matrix_local")
PLACED = (".matrix_local", ".matrix_world", ".bound_box", ".dimensions")  # on bones that have moved
FOLDERS = (".filepath", ".filepath_raw", ".directory")  # relative to another file


def path_of(name, always=ALWAYS):
    """Skips if the rig is missing, or is only for runs that name it."""
    path = shared_file(RIGS, f"{name}.blend")
    if name not in always and not EVERYTHING:
        pytest.skip("ARAPLBS_TEST_RIGS=1 takes all files and commands")
    return path


def opened(path):
    """(rig, [meshes]) of the rig with the most vertices, visible, in Object mode."""
    bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False)
    layer = bpy.context.view_layer
    show(layer.layer_collection)
    for ob in layer.objects:
        if ob.mode != "OBJECT":
            layer.objects.active = ob
            bpy.ops.object.mode_set(mode="OBJECT")
    rigs = {}
    for ob in layer.objects:
        for modifier in ob.modifiers:
            if ob.type == "MESH" and modifier.type == "ARMATURE" and modifier.object:
                rigs.setdefault(modifier.object, set()).add(ob)
    rig = max(rigs, key=lambda each: sum(len(ob.data.vertices) for ob in rigs[each]))
    meshes = sorted(rigs[rig], key=lambda ob: -len(ob.data.vertices))
    for ob in (rig, *meshes):
        ob.hide_viewport = ob.hide_select = False
        ob.hide_set(False)
    return rig, meshes


def show(collection):
    collection.exclude = collection.hide_viewport = False
    collection.collection.hide_viewport = False
    for child in collection.children:
        show(child)


def call(name, options, rig, meshes, tmp_path):
    """The operator's refusal, or None."""
    if name == "compare":
        options = {**options, "directory": str(tmp_path / "page")}
    if name in ("select_worst", "edit_vertices", "add_link", "select_edit", "remove_edit"):
        select(rig, meshes[0])
    elif name == "transfer":
        select(*meshes[::-1])
    elif name == "new_vertices":
        for group in meshes[0].vertex_groups:
            group.remove([0, 1, 2])
        select(*meshes, rig)
    elif name in ("mark_rigid", "clear_rigid"):
        select(*meshes)
    else:
        select(rig)  # all that is bound to it
    operator = getattr(bpy.ops.object, f"araplbs_{name}")
    try:
        assert operator("EXEC_DEFAULT", **options) == {"FINISHED"}, name
    except RuntimeError as reason:
        return str(reason)
    return None


def assert_sentence(name, reason):
    """Checks that the refusal is None or a sentence that helps the user."""
    for unexpected in ("Traceback", "report"):
        assert not reason or unexpected not in reason, f"{name}: {reason}"


def saved_by_blender(path, tmp_path, found={}):  # noqa: B006
    """deep_snapshot() of a file that Blender has once opened and saved elsewhere."""
    if path not in found:
        found.clear()
        bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False)
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "plain.blend"))
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "plain.blend"), load_ui=False)
        found[path] = deep_snapshot()
    return found[path]


def others(changes, rigs, meshes, bones=False):
    """The changes without changes of these meshes' weights, their binding, and the selection. If
    bones may change, all changes of these objects are excluded."""
    ours = tuple(name_of(ob) for ob in meshes)
    data = tuple(name_of(ob.data) for ob in meshes)
    rigs = [name_of(each) for rig in rigs for each in (rig, rig.data)]
    own = (*rigs, *ours, *data, "Key ")
    return {
        path: change
        for path, change in without_weights(changes, *meshes).items()
        if not path.endswith(("selected", ".select", *FOLDERS))
        and not (bones and (path.startswith(own) or path.endswith(PLACED)))
        and not any(note in path for note in NOTES)
        and not (
            path.startswith(ours) and any(f"{ob}{end}" in path for ob in ours for end in BOUND)
        )
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_operators(name, tmp_path):
    path = path_of(name)
    if name in FILM:
        faulthandler.cancel_dump_traceback_later()  # the timeout of all tests
    rig, meshes = opened(path)
    select(rig)
    before = deep_snapshot()
    for operators in (WEIGHTS_ONLY, MORE):
        for each, options in operators.items():
            if (name in FILM and each in SAMPLED[1:]) or (each == "compare" and not EVERYTHING):
                continue
            assert_sentence(each, call(each, options, rig, meshes, tmp_path))
        after = deep_snapshot()
        changes = others(difference(before, after), [rig], meshes, operators is MORE)
        assert changes == {}, sorted(changes.items())[:20]
        before = after


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", NAMES)
def test_commands(name, command, tmp_path, capfd):
    path, output = path_of(name, ALWAYS[-1:]), tmp_path / "out.blend"
    if name in FILM:
        pytest.skip("minutes")
    content, arguments = path.read_bytes(), ["--output", output]
    if command == "check":
        arguments = ["--fail-on", "never"]
    arguments += {"weight": ["--pose-count", 8], "bake": ["--frames", 8]}.get(command, [])
    code = run(command, path, *arguments)
    told = capfd.readouterr().err
    assert path.read_bytes() == content
    assert "Traceback" not in told
    assert code == 0 or path.name in told, told
    assert output.exists() == (code == 0 and command != "check")
    if not output.exists():
        return
    before = saved_by_blender(path, tmp_path)
    bpy.ops.wm.open_mainfile(filepath=str(output), load_ui=False)
    changes = difference(before, deep_snapshot())
    rigs = [ob for ob in bpy.data.objects if ob.type == "ARMATURE"]
    meshes = [ob for ob in bpy.data.objects if ob.type == "MESH" and ob.find_armature()]
    changes = others(changes, rigs, meshes, command in ("joints", "bake"))
    assert changes == {}, sorted(changes.items())[:20]
