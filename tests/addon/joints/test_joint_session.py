"""Optimize Joints as a live session: frames, end, cancellation, edits during the session."""

import bpy
import numpy as np
import pytest
from joint_scenes import bent_tube, place, skeleton_of, start_session
from scenes import (
    addon,
    assert_good,
    select,
    snapshot,
)
from sessions import accept, cancel, frame_by_frame, tick_until


def test_session_shows_frames_and_writes_once():
    tube, rig = bent_tube()
    select(tube, rig)
    before, bones = snapshot(), skeleton_of(rig)
    session, frames = start_session(), []
    with frame_by_frame() as go_on:

        def look():
            if session.frame and session.frame not in frames:
                frames.append(session.frame)
                assert snapshot() == before and skeleton_of(rig) == bones, "nothing is written"
                go_on()
            return session.settled

        tick_until(session, look)
    assert [frame.number for frame in frames] == list(range(len(frames))) and len(frames) >= 2
    energies = session.frame.energies
    assert energies[-1] < energies[0]
    expected = session.frame.skeleton
    accept(session)
    assert not session.message and session.report["moved_bones"]
    np.testing.assert_allclose(place(rig, "upper"), expected.heads[2], atol=1e-6)
    assert_good(tube, rig)


@pytest.mark.parametrize("when", ["reading", "running", "keeping", "at once"])
def test_cancel_changes_nothing(when):
    tube, rig = bent_tube()
    select(tube, rig)
    before, bones = snapshot(), skeleton_of(rig)
    session = start_session()
    if when != "reading":
        tick_until(session, lambda: session.frame)
    if when == "keeping":
        session.keep()
    if when == "at once":
        session.restore_now()
    else:
        cancel(session)
    assert session.restored and session.report is None and session.message is None
    assert snapshot() == before and skeleton_of(rig) == bones
    assert addon("operators.session").current_session() is None


def test_one_session_at_a_time():
    tube, rig = bent_tube()
    select(tube, rig)
    session = start_session()
    assert not bpy.ops.object.araplbs_joints.poll()
    assert not bpy.ops.object.araplbs_auto_weight.poll()
    assert not bpy.ops.object.araplbs_refine_weights.poll()
    session.restore_now()
    assert bpy.ops.object.araplbs_joints.poll()


def test_edited_meanwhile():
    tube, rig = bent_tube()
    select(tube, rig)
    session = start_session()
    tick_until(session, lambda: session.settled)
    select(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones["upper"].head = (0.3, 0, 2)
    bpy.ops.object.mode_set(mode="OBJECT")
    before, bones = snapshot(), skeleton_of(rig)
    accept(session)
    assert "was edited after it was read" in session.message and session.report is None
    assert snapshot() == before and skeleton_of(rig) == bones
