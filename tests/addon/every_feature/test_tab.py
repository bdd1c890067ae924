"""The first screen of the tab: presets, rows for experts only, the manual, and the height of the
tab."""

from pathlib import Path
from types import SimpleNamespace

import bpy
import pytest
from rows_of import drawn
from scenes import (
    add_tube,
    addon,
    select,
    tube_and_rig,
)
from test_outcome import in_a_window  # noqa: F401


def settings():
    return bpy.context.scene.araplbs


def test_the_preset_in_use():
    presets = addon("features.auto_weight.presets")
    assert presets.preset_in_use(settings()) == "Game 4"
    names = list(presets.preset_files())
    assert names[:3] == ["Game 4", "Game 8", "Unity"] and names[-1].startswith("As published")
    for name in names:
        bpy.ops.object.araplbs_load_preset(filepath=str(presets.preset_files()[name]))
        assert presets.preset_in_use(settings()) == name
    assert set(presets.ABOUT) == set(names)
    load, files = presets.OBJECT_OT_araplbs_load_preset, presets.preset_files()
    for file, begins in ((files["Mobile"], "At most 2 bones"), (Path("Mine.py"), "None")):
        about = str(load.description(None, SimpleNamespace(filepath=str(file))))
        assert about.startswith(begins)
    bpy.ops.object.araplbs_load_preset(filepath=str(presets.preset_files()["VRChat"]))
    settings().max_influences = 3
    assert presets.preset_in_use(settings()) == "Custom"
    settings().max_influences = 8
    assert presets.preset_in_use(settings()) == "Game 8"


def test_add_and_remove_a_preset():
    presets = addon("features.auto_weight.presets")
    settings().bone_spring_stiffness, settings().seed = 7.5, 3
    assert bpy.ops.object.araplbs_add_preset(name="My Film 2") == {"FINISHED"}
    assert presets.preset_in_use(settings()) == "My Film 2"
    settings().bone_spring_stiffness = 1
    assert presets.preset_in_use(settings()) == "Custom"
    file = presets.preset_files()["My Film 2"]
    bpy.ops.object.araplbs_load_preset(filepath=str(file))
    assert settings().bone_spring_stiffness == 7.5 and settings().seed == 3
    assert bpy.ops.object.araplbs_remove_preset() == {"FINISHED"}
    assert not file.exists() and presets.preset_in_use(settings()) == "Custom"
    file.parent.rmdir()  # as other tests expect it
    bpy.ops.object.araplbs_load_preset(filepath=str(presets.preset_files()["Crisp"]))
    with pytest.raises(RuntimeError, match="Only your own presets can be removed"):
        bpy.ops.object.araplbs_remove_preset()


def test_experts_alone_see_how_it_is_computed():
    """Without the preference, the tab has twenty settings. The settings of the paper are in no
    panel."""
    panel = addon("panels.expert_panel").VIEW3D_PT_araplbs_expert
    tube, rig = tube_and_rig()
    select(tube, rig)
    preferences = bpy.context.preferences.addons["bl_ext.user_default.araplbs"].preferences
    assert not panel.poll(bpy.context)
    preferences.expert = True
    try:
        assert panel.poll(bpy.context)
    finally:
        preferences.expert = False


def test_manual():
    """F1 over any operator or setting of ours leads to a page of the manual in the zip."""
    from fnmatch import fnmatchcase
    from pathlib import Path
    from urllib.parse import unquote, urlparse
    from urllib.request import url2pathname

    manual = addon("operators.manual")
    if not manual.has_pages():
        pytest.skip("this zip was put together without the manual")
    prefix, topics = manual.manual_map()
    folder = Path(url2pathname(unquote(urlparse(prefix).path)))
    assert all((folder / page).is_file() for _pattern, page in topics)
    names = [f"bpy.ops.object.{name}" for name in dir(bpy.ops.object) if "araplbs" in name]
    names += [f"bpy.types.{name.lower()}.x" for name in dir(bpy.types) if "ARAPLBS_" in name]
    assert len(names) > 30
    for name in names:
        assert any(fnmatchcase(name, pattern) for pattern, _page in topics), name
    first = [next(p for g, p in topics if fnmatchcase(n, g)) for n in names]
    pages = {
        "auto_weight": "auto_weight", "repair": "check", "restore": "live",
        "restore_weights": "restore", "keep_weights": "restore", "copy_weights": "transfer",
        "reduce_bones": "reduce_bones", "range_of_motion": "poses", "mark_rigid": "parts",
        "take_in": "control_bones", "export_game": "export", "mend_mesh": "check",
        "transfer_shapes": "shape_keys", "transfer": "transfer", "new_vertices": "new_vertices",
        "keep_shown_weights": "auto_weight", "original_weights": "auto_weight",
    }  # fmt: skip
    for name, page in pages.items():
        assert first[names.index(f"bpy.ops.object.araplbs_{name}")] == f"{page}.html", name
    assert manual.manual_map in bpy.utils._manual_map


def test_first_sight_is_short():
    """The first screen has at most thirty words and thirteen rows, including six closed panels, and
    the whole tab has twenty settings."""
    tube, rig = tube_and_rig()
    sleeve = add_tube("Sleeve", radius=0.35)
    select(sleeve, tube, rig, active=tube)  # clothes, and what they take weights from
    panels = [
        kind
        for kind in addon("panels.classes").CLASSES
        if hasattr(kind, "draw") and getattr(kind, "bl_category", "") == "Auto-weight"
    ]
    shown = [kind for kind in panels[1:] if kind.poll(bpy.context)]
    assert len(shown) == 6 and all("DEFAULT_CLOSED" in kind.bl_options for kind in shown)
    words = [text for _what, _name, text in drawn(panels[0]).seen]
    words += [kind.bl_label for kind in shown]
    words.append(panels[0].bl_label)
    assert len(" ".join(words).split()) <= 30, words
    seen = [each for kind in (panels[0], *shown) for each in drawn(kind).seen]
    settings = {name for what, name, _text in seen if what == "prop"}
    assert len(settings) + 1 <= 20, settings  # and the preset
    assert not settings & {"edge_power", "prune_sum", "prune_ratio", "paper_constraints"}
    select(tube, rig)
    assert 1 + drawn(panels[0]).count + len(shown) <= 13


def test_only_selected_bones_in_pose_mode():
    """The choice is drawn in Pose mode, with the number of selected bones if it is on."""
    tube, rig = tube_and_rig()
    select(tube, rig)
    bpy.ops.object.mode_set(mode="POSE")
    panel, joints = addon("panels.main_panel").VIEW3D_PT_araplbs, addon("features.joints.panel")
    choice = ("prop", "only_selected_bones")
    [text] = [text for *found, text in drawn(panel).seen if tuple(found) == choice]
    assert text == "Only Selected Bones"
    settings().only_selected_bones = True
    [text] = [text for *found, text in drawn(panel).seen if tuple(found) == choice]
    assert text.startswith("Only Selected Bones: ") and text.endswith(" / 3")
    assert (*choice, "Only Selected Joints") in drawn(joints.VIEW3D_PT_araplbs_joints).seen
