"""The dialog of Reduce Bones shows which bones would be removed for which platform, and changes
nothing before it is confirmed."""

import bpy
import pytest
from deep import deep_snapshot, difference
from rows_of import Rows
from scenes import addon, package, select
from test_reduce_bones import chain, deform


@pytest.fixture
def found():
    """(dialog operator class, tube, rig) after the bones were found."""
    tube, rig = chain()
    select(tube, rig)
    module = addon("features.reduce_bones.ask")
    module._order.clear()
    assert not module.OBJECT_OT_araplbs_reduce_bones_ask.poll(bpy.context)
    before = deep_snapshot()
    assert bpy.ops.object.araplbs_reduce_bones_find() == {"FINISHED"}
    assert difference(before, deep_snapshot()) == {}, "it only looks"
    return module, tube, rig


def drawn(module, **options):
    """The words of the dialog."""
    kind = module.OBJECT_OT_araplbs_reduce_bones_ask
    own = {name: getattr(kind, name) for name in ("draw", "_draw_names", "names")}
    table = package("features.reduce_bones.reduce_bones").ReduceBonesOptions
    stand_in = type("Dialog", (), {**own, **table(**options).as_dict(), "layout": Rows()})()
    stand_in.read_options = lambda: table(**options)
    stand_in.draw(bpy.context)
    return [word for word in stand_in.layout.words if word]


@pytest.mark.parametrize("count", [5, 4, 2])
def test_it_names_those_that_go(found, count):
    """The dialog announces exactly the changes that follow."""
    module, tube, rig = found
    words = drawn(module, count=count)
    told = [word for word in words if word in rig.data.bones]
    assert len(told) == 6 - count and f"6 -> {count} deform bones" in words
    select(tube, rig)
    bpy.ops.object.araplbs_reduce_bones(count=count)
    assert set(deform(rig)) == {f"b{k}" for k in range(6)} - set(told)


def test_platforms(found):
    module, _tube, _rig = found
    assert "No bone is removed" in drawn(module, platform="MOBILE")
    assert "No bone is removed" in drawn(module, which="SELECTED")


def test_the_entry_ends_in_dots_and_scripts_do_not_ask(found):
    module, _tube, rig = found
    assert module.OBJECT_OT_araplbs_reduce_bones_find.bl_label == "Reduce Bones..."
    entries = addon("operators.menu_entries").entries
    classes = addon("panels.menus").KINDS
    for place in ("VIEW3D_PT_araplbs_export", "VIEW3D_MT_pose"):
        names = [kind.bl_idname for kind in entries(classes, place)]
        assert "object.araplbs_reduce_bones_find" in names
        assert "object.araplbs_reduce_bones" not in names
    assert len(deform(rig)) == 6
    assert bpy.ops.object.araplbs_reduce_bones_ask(count=5) == {"FINISHED"}
    assert len(deform(rig)) == 5
