"""A session that starts from the result of a weighting, and settings that change during it."""

import bpy
import numpy as np
import pytest
from scenes import (
    add_tube,
    addon,
    auto_weight,
    deform_names,
    entries,
    package,
    select,
    snapshot,
    tube_and_rig,
    weights,
)
from sessions import accept, cancel, settle, settled, start, tick_until


def now(tube):
    return weights(tube, deform_names(tube.find_armature()))


def test_nothing_moves_where_a_weighting_has_ended():
    """Nothing changes until an edit is made; Accept leaves every weight unchanged."""
    tube, rig = tube_and_rig()
    auto_weight(tube, rig)
    before = now(tube)
    session = settled(tube, rig)
    assert session.frame.iterations == 0 and session.frame.done
    first, last = session.frame.strains
    assert first == last
    np.testing.assert_allclose(now(tube), before, atol=1e-6)
    brush = addon("features.edits.operator")
    brush.paint_edit(tube.data, "WEIGHT", "lower", np.arange(20, 60), np.full(40, 1.9))
    tick_until(session, lambda: session.settled)
    assert session.frame.iterations > 0
    assert np.abs(now(tube) - before).max() > 0.05
    cancel(session)
    np.testing.assert_array_equal(now(tube), before)


def test_one_of_several_is_at_rest_by_itself():
    """In Weight Paint mode, a single mesh may be refined that was weighted together with others."""
    tube, rig = tube_and_rig()
    other = add_tube("Other", radius=0.4)
    auto_weight(tube, other, rig)
    for meshes in ((tube,), (other,), (tube, other)):
        session = settled(*meshes, rig)
        assert session.frame.iterations == 0, meshes
        cancel(session)


def test_an_accepted_session_is_an_end():
    tube, rig = tube_and_rig()
    auto_weight(tube, rig, max_influences=2)
    session = start(tube, rig)  # of 4: there is something to do
    settle(session)
    assert session.frame.iterations > 0
    accept(session)
    kept = entries(tube)
    session = settled(tube, rig)
    assert session.frame.iterations == 0
    accept(session)
    assert entries(tube) == kept


@pytest.mark.parametrize("change", ["paint", "pose", "option", "bone", "undo"])
def test_what_is_not_that_end(change):
    tube, rig = tube_and_rig()
    auto_weight(tube, rig)
    options = {}
    if change == "paint":
        tube.vertex_groups["lower"].add(range(40, 80), 0.8, "REPLACE")
    elif change == "pose":
        rig.pose.bones["upper"].use_ik_limit_x = True
        rig.pose.bones["upper"].ik_max_x = 0.2
    elif change == "option":
        options = {"bone_spring_stiffness": 30.0}
    elif change == "bone":
        select(rig)
        bpy.ops.object.mode_set(mode="EDIT")
        rig.data.edit_bones["upper"].tail.z += 0.5
        bpy.ops.object.mode_set(mode="OBJECT")
    else:
        for group in list(tube.vertex_groups):
            tube.vertex_groups.remove(group)
    session = settled(tube, rig, **options)
    assert session.frame.iterations > 0


def test_settings_act_in_a_session():
    """The session continues from its last weights, with the corrections made since then."""
    tube, rig = tube_and_rig()
    auto_weight(tube, rig)
    before, whole = now(tube), snapshot()
    session = settled(tube, rig)
    pinned = np.arange(20, 60)
    brush = addon("features.edits.operator")
    brush.paint_edit(tube.data, "WEIGHT", "lower", pinned, np.full(40, 1.9))
    settle(session)
    session.set_options(max_influences=1, bone_spring_stiffness=0.0)
    settle(session)
    counts = (now(tube) > 1e-6).sum(axis=1)
    assert session.task.options.max_influences == 1
    assert counts.max() == 1
    held = now(tube)[pinned, deform_names(rig).index("lower")]
    assert np.median(held) > 0.5, "the pin is still there"
    session.set_options(
        max_influences=4,
        bone_spring_stiffness=package("model.options").Options().bone_spring_stiffness,
    )
    settle(session)
    cancel(session)
    np.testing.assert_array_equal(now(tube), before)
    assert snapshot() == whole
