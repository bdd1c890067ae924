"""No operator, command or preset ends in a traceback. Each prints one sentence and leaves the scene
unchanged."""

import contextlib
import threading

import bpy
import numpy as np
import pytest
from command import run, save
from deep import deep_snapshot, difference, refused
from flaws import flawed, remove
from scenes import (
    MODULE,
    add_armature,
    add_mesh,
    add_tube,
    addon,
    auto_weight,
    bind,
    entries,
    keyed,
    package,
    select,
    tube_and_rig,
)

FAULT = (
    "failed because of a bug in the program .ZeroDivisionError: division by zero.. Please report"
)


def operators():
    """All operator classes of the add-on, registered or not."""
    found, left = [], [bpy.types.Operator]
    while left:
        for cls in left.pop().__subclasses__():
            left.append(cls)
            if cls.__module__.startswith(MODULE):
                found.append(cls)
    return found


def test_every_operator_is_guarded():
    classes = operators()
    assert len(classes) > 25
    for cls in classes:
        assert cls.is_registered, cls
        doors = [n for n in ("poll", "invoke", "execute", "modal") if hasattr(cls, n)]
        assert doors
        for name in doors:
            assert hasattr(getattr(cls, name), "guarded"), f"{cls.__name__}.{name}"


def weighted_pair():
    """Two weighted tubes, so that the second can fail after the first is written."""
    tube, rig = tube_and_rig()
    other = add_tube("Other", shift=(1, 0, 0))
    bind(other, rig)
    auto_weight(tube, other, rig)
    for ob in (tube, other):
        ob.vertex_groups["middle"].add(range(40, 90), 0.9, "REPLACE")
    select(tube, other, rig)
    return tube, other, rig


def mesh_is_active():
    tube, _other, _rig = weighted_pair()
    bpy.context.view_layer.objects.active = tube


def edited_pair():
    tube, other, _rig = weighted_pair()
    select(other, tube)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")


def fresh_pair():
    """A bound mesh, and an unbound one with a group of its own."""
    tube, rig = tube_and_rig()
    other = add_tube("Other", shift=(1, 0, 0))
    other.vertex_groups.new(name="Own").add([3, 1, 2], 0.5, "REPLACE")
    select(tube, other, rig)


def new_pair():
    for ob in weighted_pair()[:2]:
        remove(ob, range(60, 80))


def clothed():
    tube, _other, _rig = weighted_pair()
    sleeves = [add_tube(name, radius=0.32, caps=False) for name in ("Inner", "Outer")]
    select(*sleeves, tube)


def shaped():
    """A body with two shape keys, and two sleeves, one of which has the first key."""
    clothed()
    for owner, names in (("Tube", ("Basis", "Up", "Along")), ("Outer", ("Basis", "Up"))):
        ob = bpy.data.objects[owner]
        for name in names:
            block = ob.shape_key_add(name=name, from_mix=False)
            for point in block.data:
                point.co.z += {"Up": 0.2, "Along": 0.1 * point.co.x}.get(name, 0)


def moved():
    """Meshes with modifiers that can be baked, on an armature with an action."""
    tube, other, rig = weighted_pair()
    for ob in (tube, other):
        ob.modifiers.new("Smooth", "CORRECTIVE_SMOOTH")
    keyed(rig, "upper", {1: 0.1, 10: 1.0})
    bpy.context.scene.frame_set(1)


def kept_pair():
    """Meshes whose kept weights differ from their current ones."""
    tube, other, _rig = weighted_pair()
    bpy.ops.object.araplbs_keep_weights("EXEC_DEFAULT")
    for ob in (tube, other):
        ob.vertex_groups.remove(ob.vertex_groups[0])


def posable_pair():
    if not hasattr(bpy.types, "GeometryNodeBoneInfo"):
        pytest.skip("Geometry Nodes cannot read bones before Blender 5.2")
    return weighted_pair()


def flawed_tube():
    flawed("SPECKLE", "INFLUENCES")


WEIGHTING = "weighting"
# operator: (scene, options, [(module, what fails there, in which of its calls)])
TABLE = {
    "auto_weight": (
        fresh_pair,
        {},
        [
            (WEIGHTING, "read_armature", 1),
            (WEIGHTING, "solve", 1),
            (WEIGHTING, "write_weights", 2),
            (WEIGHTING, "bind", 2),
            (WEIGHTING, "mark_control_bones", 1),
            (WEIGHTING, "make_report", 1),
        ],
    ),
    "refine_weights": (weighted_pair, {}, [(WEIGHTING, "write_weights", 2)]),
    "joints": (
        weighted_pair,
        {"pose_count": 40},
        [("features.joints.task", "write_weights", 2)],
    ),
    "new_vertices": (
        new_pair,
        {},
        [("features.new_vertices.task", "write_weights", 2), (WEIGHTING, "make_report", 1)],
    ),
    "new_vertices in Edit mode": (
        edited_pair,
        {},
        [("features.new_vertices.task", "write_in_edit_mode", 2), (WEIGHTING, "make_report", 1)],
    ),
    "quantize": (weighted_pair, {}, [("features.quantize.task", "write_weights", 2)]),
    "transfer": (
        clothed,
        {},
        [
            ("features.transfer.task", "write_weights", 2),
            ("features.transfer.task", "transfer_report", 1),
        ],
    ),
    "transfer_shapes": (
        shaped,
        {"sliders": "FOLLOW"},
        [
            ("features.transfer_shapes.task", "write_shapes", 2),
            ("features.transfer_shapes.task", "shapes_report", 1),
        ],
    ),
    "restore_weights": (
        kept_pair,
        {},
        [
            ("features.restore.task", "write_weights", 2),
            ("features.restore.task", "restore_report", 1),
        ],
    ),
    "reduce_bones": (
        weighted_pair,
        {"count": 2},
        [
            ("features.reduce_bones.task", "write_weights", 2),
            ("features.reduce_bones.task", "reduce_bones_report", 1),
        ],
    ),
    "deform_with": (posable_pair, {}, [("features.deform_with.task", "build", 2)]),
    "keep_weights": (weighted_pair, {}, [("features.restore.task", "keep_report", 1)]),
    "repair": (flawed_tube, {}, [("features.repair.task", "repair_report", 1)]),
    "bake": (
        moved,
        {"poses": "SCENE", "new_bones": 2},
        [
            ("features.bake.task", "key_new_bones", 1),
            ("features.bake.task", "write_weights", 2),
            ("features.bake.task", "bake_report", 1),
        ],
    ),
    "select_worst": (mesh_is_active, {}, [("features.edits.select_worst", "worst", 1)]),
    "mark_rigid": (
        mesh_is_active,
        {"source": "GROUP"},
        [("features.edits.rigid", "_of_group", 1)],
    ),
}
CASES = [
    pytest.param(name, *fault, id=f"{name}-{fault[1]}")
    for name, (_scene, _options, faults) in TABLE.items()
    for fault in faults
]


def call(operator, options):
    name = operator.partition(" ")[0]
    return getattr(bpy.ops.object, f"araplbs_{name}")("EXEC_DEFAULT", **options)


def break_call(monkeypatch, module, name, number):
    """The call with this number divides by zero at its end."""
    owner = addon(module)
    *inside, name = name.split(".")
    for each in inside:
        owner = getattr(owner, each)
    real, calls = getattr(owner, name), []

    def call(*arguments, **named):
        calls.append(1)
        result = real(*arguments, **named)
        return 1 / 0 if len(calls) == number else result

    monkeypatch.setattr(owner, name, call)
    return calls


@pytest.mark.outside
@pytest.mark.parametrize("operator, module, name, number", CASES)
def test_fault(operator, module, name, number, monkeypatch, capfd):
    """At any point of the work, a fault gives the message and a traceback in the console, and all
    data is as before."""
    scene, options, _faults = TABLE[operator]
    scene()
    bpy.context.view_layer.update()
    addon("operators.work")._note_undo()  # an undo before the work, not during it
    before = deep_snapshot()
    calls = break_call(monkeypatch, module, name, number)
    with pytest.raises(RuntimeError, match=FAULT) as error:
        call(operator, options)
    assert len(calls) == number
    assert "Traceback" not in str(error.value)
    assert "ZeroDivisionError" in capfd.readouterr().err
    bpy.context.view_layer.update()
    assert difference(before, deep_snapshot()) == {}


def test_places_without_end():
    """The mesh, the armature, or one of two meshes is at infinity."""
    tube, rig = tube_and_rig()
    tube.parent, rig.location.x = None, 1e9
    assert "too far" in refused("auto_weight", tube, rig)
    rig.location.x = float("inf")
    said = refused("auto_weight", tube, rig)
    assert "bone 0, at 0 to 0, is too far from the mesh" in said
    rig.location.x, other = 0, add_tube("Other")
    other.location.x = 1e9
    assert "too far apart" in refused("auto_weight", tube, other, rig)


def test_more_new_bones_than_vertices():
    moved()
    _tube, _other, rig = (bpy.data.objects[name] for name in ("Tube", "Other", "Rig"))
    small = add_tube("Small", rings=2, sides=3, caps=False)
    bind(small, rig)
    auto_weight(small, rig)
    small.modifiers.new("Smooth", "CORRECTIVE_SMOOTH")
    assert "program" not in refused("bake", poses="SCENE", new_bones=40)


@pytest.mark.parametrize("count", [1, 3])
def test_joints_of_a_mesh_at_one_point(count):
    rig = add_armature()
    point = add_mesh("Point", np.tile([0, 0, 1], (count, 1)), [])
    bind(point, rig)
    assert "at the same point" in refused("joints", point, rig)


def test_no_memory(monkeypatch):
    """Errors without a text also have a message."""
    tube, rig = tube_and_rig()

    def fail(*_arguments):
        raise MemoryError

    monkeypatch.setattr(addon("weighting"), "solve", fail)
    assert "Not enough memory" in refused("auto_weight", tube, rig)


def test_poll(monkeypatch):
    """The button is disabled, and the reason is stated."""
    monkeypatch.setattr(addon("operators.work"), "poll_targets", lambda *_rest: 1 / 0)
    with pytest.raises(RuntimeError, match=FAULT):
        bpy.ops.object.araplbs_auto_weight("EXEC_DEFAULT")
    assert not bpy.ops.object.araplbs_auto_weight.poll()


def test_interrupted(monkeypatch):
    """Ctrl-C is not a fault, but written data is restored nevertheless."""
    fresh_pair()
    before = deep_snapshot()

    def interrupt(*_arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(addon("weighting"), "make_report", interrupt)
    with pytest.raises((KeyboardInterrupt, RuntimeError)):
        bpy.ops.object.araplbs_auto_weight("EXEC_DEFAULT")
    bpy.context.view_layer.update()
    assert difference(before, deep_snapshot()) == {}


def press_all():
    """{operator: the result of calling it as a driver does}, of all operators."""
    told = {}
    for name in sorted(cls.bl_idname for cls in operators()):
        kind, _dot, rest = name.partition(".")
        try:
            told[name] = getattr(getattr(bpy.ops, kind), rest)("EXEC_DEFAULT")
        except RuntimeError as error:
            told[name] = str(error)
    return told


@pytest.mark.parametrize("operator", TABLE)
def test_no_operator_starts_in_the_midst_of_another(operator, monkeypatch):
    """Any operator that a driver calls while another operator is at work is refused, and the
    running one does its work."""
    scene, options, ((module, name, _number), *_faults) = TABLE[operator]
    scene()
    *inside, name = name.split(".")
    owner, told = addon(module), []
    for each in inside:
        owner = getattr(owner, each)
    real = getattr(owner, name)

    def press_and_go_on(*arguments, **named):
        if not told:
            told.append({})  # once, even where no guard keeps what is pressed from coming here
            told[0].update(press_all())
        return real(*arguments, **named)

    monkeypatch.setattr(owner, name, press_and_go_on)
    assert call(operator, options) == {"FINISHED"}
    assert len(told[0]) > 25
    assert not [each for each, came in told[0].items() if came == {"FINISHED"}]
    assert any("is running: try again" in str(came) for came in told[0].values())


def test_no_operator_starts_in_another_thread():
    """A driver, for example, may be evaluated in another thread."""
    weighted_pair()
    bpy.context.view_layer.update()
    before, told = deep_snapshot(), []
    thread = threading.Thread(target=lambda: told.append(press_all()))
    thread.start()
    thread.join()
    assert len(told[0]) > 25
    for name, came in told[0].items():
        assert came != {"FINISHED"}, name
    assert any("Blender is evaluating the scene" in str(came) for came in told[0].values())
    assert difference(before, deep_snapshot()) == {}


def test_operators_that_drivers_call():
    tube, rig = tube_and_rig()
    select(tube, rig)
    told = []

    def press():
        told.append("pressed")
        with contextlib.suppress(RuntimeError):
            if len(told) < 5:  # a guard that is not there would let it press forever
                told.append(bpy.ops.object.araplbs_auto_weight("EXEC_DEFAULT"))
        return 0.0

    bpy.app.driver_namespace["press"] = press
    try:
        driver = rig.pose.bones["upper"].driver_add("location", 0).driver
        driver.expression = "press()"
        assert bpy.ops.object.araplbs_auto_weight("EXEC_DEFAULT") == {"FINISHED"}
    finally:
        del bpy.app.driver_namespace["press"]
    assert set(told) == {"pressed"}
    assert any(entries(tube))


@pytest.mark.parametrize(
    "text, name",
    [
        ("op.max_influences = 2\nop.initial = 'MAGIC'", "initial 'MAGIC'"),
        (
            "op.max_influences = 2\nop.bone_spring_stiffness = 'stiff'",
            "bone_spring_stiffness 'stiff'",
        ),
        ("op.max_influences = 2\nop.seed = 10**99", "line 2 does not assign a literal value"),
        ("op.max_influences = 10000000000", "max_influences 10000000000"),
        ("op.max_influences = 2\nop.tet_file = 5", "tet_file 5"),
        ("op.swing = {[]: 1}", "line 1 does not assign a literal value"),
        ("op.swing = [1, 2]", "line 1 does not assign a literal value"),
        ("op.swing = " + "+".join(["1"] * 20_000), ""),
        ("op.swing = " + "(" * 5_000 + ")" * 5_000, ""),
        ("op.swing = " + "-" * 50_000 + "1", ""),
        ("op.swing = '\x00'", ""),
        ("#" * (1 << 20) + "#", "more than 1048576 bytes"),
    ],
)
def test_preset_of_another_version(text, name, tmp_path):
    """None of its values is loaded."""
    preset = tmp_path / "old_one.py"
    preset.write_text(text)
    assert "Preset 'old one'" in (found := refused("load_preset", filepath=str(preset)))
    assert name in found
    presets = addon("features.auto_weight.presets")  # as the menu reads it when it is drawn
    assert isinstance(presets._values(preset), dict)


def test_command(monkeypatch, tmp_path, capfd):
    """A fault in one file, and in the command itself."""
    tube_and_rig()
    source = save(tmp_path / "in.blend")
    out = tmp_path / "out.blend"
    with monkeypatch.context() as patch:
        patch.setattr(addon("weighting"), "make_report", lambda *_rest: 1 / 0)
        assert run("weight", source, "--output", out) == 1
    last = capfd.readouterr().err.strip().splitlines()[-1]
    assert last.startswith("araplbs: ") and "(ZeroDivisionError: division by zero)" in last
    monkeypatch.setattr(package("blender.files"), "inputs_of", lambda *_rest: 1 / 0)
    assert run("weight", source, "--output", out) == 1
    last = capfd.readouterr().err.strip().splitlines()[-1]
    assert last.startswith("araplbs: The command failed because of a bug in the program")
    assert not out.exists()


EDITABLE = {"new_vertices in Edit mode", "select_worst", "mark_rigid"}


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("operator", sorted(TABLE.keys() - EDITABLE))
def test_mesh_in_edit_mode_while_another_object_is_active(operator, shared):
    """This happens with scripts and in windows without Lock Object Modes. The operator names the
    object and refuses before the work, even if it is another object that has the same mesh in Edit
    mode."""
    scene, options, _faults = TABLE[operator]
    scene()
    layer = bpy.context.view_layer
    active, selected = layer.objects.active, bpy.context.selected_objects
    edited = next(ob for ob in selected if ob.type == "MESH" and ob != active)
    in_mode = edited
    if shared:
        in_mode = edited.copy()
        in_mode.parent = None
        in_mode.modifiers.clear()
        bpy.context.scene.collection.objects.link(in_mode)
    select(in_mode)
    bpy.ops.object.mode_set(mode="EDIT")
    for ob in layer.objects:
        ob.select_set(ob in selected)
    layer.objects.active = active
    assert bpy.context.mode == "OBJECT" and edited.data.is_editmode
    before = deep_snapshot()
    with pytest.raises(RuntimeError, match=f"'{edited.name}' is in Edit mode"):
        call(operator, options)
    assert difference(before, deep_snapshot()) == {}


def test_armature_in_edit_mode_while_a_mesh_is_active():
    tube, rig = tube_and_rig()
    select(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    select(tube, rig, active=tube)
    with pytest.raises(RuntimeError, match="'Rig' is in Edit mode"):
        bpy.ops.object.araplbs_auto_weight("EXEC_DEFAULT")
