"""Operators, their properties and settings under their names in the previous version."""

import bpy
import pytest
from scenes import addon, package, select, tube_and_rig

OPTIONS = {
    "truss": 7.5,
    "least_worth": 0.02,
    "widenings": 1,
    "kept_sum": 0.75,
    "relative": 0.25,
}
OTHER = dict.fromkeys(OPTIONS, 0.5) | {"widenings": 3}


def settings():
    return bpy.context.scene.araplbs


def now(old):
    return package("base.old_names").OPTIONS[old]


def stored(group):
    """The stored values of a property group."""
    if hasattr(group, "bl_system_properties_get"):
        return group.bl_system_properties_get(do_create=True)
    return group


@pytest.mark.parametrize("old", OPTIONS)
def test_settings(old):
    setattr(settings(), old, OPTIONS[old])
    assert getattr(settings(), now(old)) == pytest.approx(OPTIONS[old])
    setattr(settings(), now(old), OTHER[old])
    assert getattr(settings(), old) == OTHER[old]


def test_settings_of_the_joints():
    settings().joints.least_length = 0.25
    assert settings().joints.min_length == 0.25


@pytest.mark.parametrize("old", OPTIONS)
def test_saved_settings(old, tmp_path):
    """A file of an earlier version contains them only under the old names."""
    stored(settings())[old] = OPTIONS[old]
    path = str(tmp_path / "old.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert getattr(settings(), now(old)) == pytest.approx(OPTIONS[old])
    assert settings().is_property_set(now(old)) and old not in stored(settings())
    setattr(settings(), now(old), OTHER[old])
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert getattr(settings(), now(old)) == OTHER[old]


def test_values_of_both_names_in_a_file(tmp_path):
    settings().bone_spring_stiffness = 3
    stored(settings())["truss"] = 8.0
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "both.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "both.blend"))
    assert settings().bone_spring_stiffness == 3


def test_properties_of_an_operator():
    tube, rig = tube_and_rig()
    select(tube, rig)
    found = []
    steps = addon("window.work").WorkOperator
    start = steps.start

    def note(self, _context):
        found.append(self.read_options())
        raise package("base.refusal").Refused("seen")

    steps.start = note
    try:
        with pytest.raises(RuntimeError, match="seen"):
            bpy.ops.object.araplbs_auto_weight(**OPTIONS)
    finally:
        steps.start = start
    assert found[0].max_influences == 4
    for old, value in OPTIONS.items():
        assert getattr(found[0], now(old)) == pytest.approx(value)


@pytest.mark.parametrize("new", ["new_vertices", "joints", "quantize", "transfer", "bendy"])
def test_operators(new):
    """Each old operator has the properties and the class of the new one."""
    names = addon("window.old_names").OPERATORS
    (old,) = [old for old, each in names.items() if each == f"object.araplbs_{new}"]
    one, other = (
        getattr(bpy.ops.object, idname.partition(".")[2]).get_rna_type()
        for idname in (old, names[old])
    )
    assert [p.identifier for p in one.properties] == [p.identifier for p in other.properties]
    assert one.name == other.name and one.description == other.description


def test_an_operator_works_and_says_its_name(capfd):
    tube, rig = tube_and_rig()
    select(tube, rig)
    bpy.ops.object.araplbs_auto_weight(pose_count=4, iterations=1)
    select(tube)
    assert bpy.ops.object.araplbs_quantize_weights(bits="8") == {"FINISHED"}
    said = "".join(capfd.readouterr())
    assert "bpy.ops.object.araplbs_quantize_weights -> bpy.ops.object.araplbs_quantize" in said


def test_every_feature_has_its_operator():
    """Each feature's operator has the name of the feature's folder. The table lists the exceptions,
    with a reason."""
    other = {
        "control_bones": "two operators, on one bone each",
        "edits": "tools, and operators on one correction each",
        "restore": "object.araplbs_restore was that of a session",
        "touch_up": "an operator for each click on a bone, a limb or a side",
    }
    features = addon("features")
    folders = {module.__name__.split(".")[-2] for module in features.modules()}
    there = {cls.bl_idname for cls in features.classes() if hasattr(cls, "bl_idname")}
    without = {
        name for name in folders if not there & {f"object.araplbs_{name}", f"wm.araplbs_{name}"}
    }
    assert without == {*other}
