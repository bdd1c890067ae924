"""Optimize Joints on armatures as importers leave them: bones that point aside still do so
afterwards."""

import bpy
import numpy as np
import pytest
from joint_scenes import OFF, TRUE, off_axis, optimize, place, skeleton_of, start_session
from scenes import add_armature, add_tube, bind, new_scene, select
from sessions import accept, tick_until

ASIDE = (0, 0.4, 0)
HEADS = {**TRUE, **OFF}
NAMES = list(HEADS)


def imported(aside=True):
    """A tube, and a rig whose joints are off its axis, with the tails that an importer leaves."""
    ends = [*list(HEADS.values())[1:], (0, 0, 2.95)]
    tails = [np.add(head, ASIDE) for head in HEADS.values()] if aside else ends
    rig = add_armature(
        bones=[
            (name, HEADS[name], tuple(tail), parent)
            for name, tail, parent in zip(NAMES, tails, [None, *NAMES[:-1]], strict=True)
        ]
    )
    tube = add_tube(rings=31, sides=12)
    bind(tube, rig)
    return tube, rig


def report():
    return bpy.context.scene.araplbs.last_report


def found(aside):
    tube, rig = imported(aside)
    assert optimize(tube, rig) == {"FINISHED"}
    return np.array([place(rig, name) for name in NAMES]), report()["weights"]


def test_bones_that_point_aside():
    drawn, of_drawn = found(aside=False)
    new_scene()
    heads, weights = found(aside=True)
    assert of_drawn["bone_directions"] == "TAILS" and weights["bone_directions"] == "JOINTS"
    np.testing.assert_allclose(heads, drawn, atol=0.03)
    assert weights["energy_after"] < 1.03 * of_drawn["energy_after"]
    rig = bpy.data.objects["Rig"]
    for name in NAMES:
        along = place(rig, name, "tail") - place(rig, name)
        np.testing.assert_allclose(along, ASIDE, atol=1e-5)


def test_a_session_shows_bones_from_joint_to_joint():
    tube, rig = imported()
    select(tube, rig)
    before = skeleton_of(rig)
    session = start_session()
    tick_until(session, lambda: session.settled)
    assert skeleton_of(rig) == before
    shown = session.frame.skeleton
    np.testing.assert_allclose(shown.tails[:2], shown.heads[1:], atol=1e-6)
    accept(session)
    assert not session.message and set(session.report["moved_bones"]) >= {"middle", "upper"}
    assert off_axis(rig, "middle") < 0.6 * np.linalg.norm(OFF["middle"][:2])


@pytest.mark.parametrize("choice", ["TAILS", "JOINTS"])
def test_the_choice_is_followed(choice):
    tube, rig = imported()
    assert optimize(tube, rig, bone_directions=choice) == {"FINISHED"}
    assert report()["weights"]["bone_directions"] == choice
