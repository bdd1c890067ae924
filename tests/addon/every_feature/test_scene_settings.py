"""The settings of the sidebar panel belong to the scene: which scenes get them, and which do
not."""

from dataclasses import fields

import bpy
import pytest
from scenes import addon, auto_weight, package, select, tube_and_rig


def settings():
    return bpy.context.scene.araplbs


OPERATORS = {
    "auto_weight": "features.auto_weight.operator",
    "refine_weights": "features.auto_weight.refine",
    "joints": "features.joints.operator",
}


def operator_class(name):
    return getattr(addon(OPERATORS[name]), f"OBJECT_OT_araplbs_{name}")


@pytest.fixture
def seen(monkeypatch):
    """Records the options with which operators begin, in the order of the calls, and stops them
    there."""
    found = []

    def refuse(options):
        found.append(options)
        raise package("base.refusal").Refused("seen")

    def take(_targets, options, *_arguments):
        refuse(options)

    steps = addon("operators.work").WorkOperator
    monkeypatch.setattr(steps, "start", lambda self, _context: refuse(self.read_options()))
    for name in ("refine_weights", "joints"):
        monkeypatch.setattr(operator_class(name), "session_kind", staticmethod(take))
    tube, rig = tube_and_rig()
    select(tube, rig)
    return found


def call(name, **options):
    with pytest.raises(RuntimeError, match="seen"):
        getattr(bpy.ops.object, f"araplbs_{name}")(**options)


@pytest.fixture
def windows(seen, monkeypatch):
    """Operators are invoked as with windows; without windows, Blender executes them directly."""
    for name in OPERATORS:
        monkeypatch.setattr(
            operator_class(name), "execute", lambda self, context: self.invoke(context, None)
        )
    return seen


def test_there_is_one_for_each_option():
    options, joints = (
        package("model.options").Options(),
        package("features.joints.options").JointOptions(),
    )
    for option in fields(joints):
        place = settings() if hasattr(options, option.name) else settings().joints
        default = getattr(joints, option.name)
        found = getattr(place, option.name)
        assert found == (pytest.approx(default) if isinstance(default, float) else default)


@pytest.mark.parametrize("name", OPERATORS)
def test_buttons_and_menus_begin_with_them(windows, name):
    settings().bone_spring_stiffness, settings().seed, settings().joints.max_shift = 3, 5, 0.25
    settings().start_from, settings().volume = "PRESENT", "INSIDE"
    call(name)
    assert (windows[0].bone_spring_stiffness, windows[0].seed, windows[0].max_influences) == (
        3,
        5,
        4,
    )
    assert windows[0].volume == ("INSIDE" if name == "auto_weight" else "NONE")
    assert windows[0].start_from == "PRESENT"
    if name == "joints":
        assert windows[0].max_shift == 0.25 and windows[0].anchor == pytest.approx(0.3)


def test_refining_has_its_own_start(windows):
    """Refining starts from the result of the button, regardless of the panel's settings."""
    settings().start_from = "FRESH"
    call("refine_weights")
    call("refine_weights", start_from="FRESH")
    assert [options.start_from for options in windows] == ["PRESENT", "FRESH"]


@pytest.mark.parametrize("name", OPERATORS)
def test_what_a_caller_says_counts_more(windows, name):
    """Explicit arguments take precedence, even if they equal the defaults. Nothing of the previous
    call remains."""
    settings().bone_spring_stiffness, settings().seed = 3, 5
    call(name, bone_spring_stiffness=16, max_influences=7)
    call(name)
    assert [(o.bone_spring_stiffness, o.seed, o.max_influences) for o in windows] == [
        (16, 5, 7),
        (3, 5, 4),
    ]


def test_scripts_get_the_defaults_of_the_operator(seen):
    settings().bone_spring_stiffness, settings().seed = 3, 5
    call("auto_weight", seed=2)
    assert (seen[0].bone_spring_stiffness, seen[0].seed) == (16, 2)


def test_operators_change_none():
    tube, rig = tube_and_rig()
    assert auto_weight(tube, rig, bone_spring_stiffness=3, pose_count=5) == {"FINISHED"}
    assert settings().bone_spring_stiffness == 16 and settings().pose_count == 100


def test_views_go_by_them():
    settings().pose_count, settings().swing = 7, 0.5
    options = addon("operators.settings").present_options(bpy.context)
    assert options.pose_count == 7 and options.swing == 0.5
    assert options.bone_spring_stiffness == package("model.options").Options().bone_spring_stiffness


def test_they_are_saved_with_the_file(tmp_path):
    settings().bone_spring_stiffness, settings().initial, settings().joints.anchor = 3, "BBW", 2
    path = str(tmp_path / "saved.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    assert settings().bone_spring_stiffness == 16 and settings().joints.anchor == pytest.approx(0.3)
    bpy.ops.wm.open_mainfile(filepath=path)
    found = settings()
    assert (found.bone_spring_stiffness, found.initial, found.joints.anchor) == (3, "BBW", 2)
