"""Playing the range of motion without an action."""

import bpy
import numpy as np
import pytest
from rigs import driven_rig
from scenes import add_armature, addon, package, select
from test_motion import biped_bones


def player_of(rig, bone=""):
    """The Player of an armature, as the operator makes it."""
    play, task = (addon(f"features.range_of_motion.{name}") for name in ("play", "task"))
    options = package("features.range_of_motion").MotionOptions(combinations=0)
    made = task.MotionTask(options, 1)
    targets = addon("blender.read.targets").Targets(rig, [])
    made.read(targets, bpy.context.view_layer)
    read = made.reading
    in_turn = package("features.range_of_motion").in_turn
    poses = in_turn(read.motion, read.skeleton, addon("blender.data.bones").upward(rig), bone)
    reference = addon("blender.data.references").Reference.to(rig)
    return play.Player(reference, poses, read.motion.rest), poses


def state(rig):
    bpy.context.view_layer.update()
    values = [list(p.matrix_basis.col[k]) for p in rig.pose.bones for k in range(4)]
    props = {key: rig[key] for key in rig.keys() if isinstance(rig[key], int | float)}  # noqa: SIM118
    return values, props, rig.data.pose_position, bpy.context.scene.frame_current


@pytest.mark.parametrize("driven", [False, True])
def test_play(driven):
    if driven:
        rig = driven_rig()
        rig = rig[-1] if isinstance(rig, tuple) else rig
    else:
        rig = add_armature(bones=biped_bones())
    select(rig)
    rig.pose.bones[1].rotation_mode = "XYZ"
    rig.pose.bones[1].rotation_euler.x = 0.3
    rig.data.pose_position = "REST"
    before, actions = state(rig), set(bpy.data.actions)
    player, poses = player_of(rig)
    period = addon("features.range_of_motion.play").POSE
    seen = []
    for k in range(2 * len(poses) + 1):
        player.show((k + 1) * period - 1e-6)
        bpy.context.view_layer.update()
        seen.append(np.array([p.matrix for p in rig.pose.bones]))
    assert max(np.abs(each - seen[0]).max() for each in seen) > 0.1
    player.put_back()
    after = state(rig)
    np.testing.assert_allclose(after[0], before[0], atol=1e-6)
    assert after[1:] == before[1:] and set(bpy.data.actions) == actions


def test_parts_in_turn():
    rig = add_armature(bones=biped_bones())
    player, poses = player_of(rig)
    period = addon("features.range_of_motion.play").POSE
    parts = list(dict.fromkeys(part for part, *_rest in poses))
    assert parts[:3] == ["Arms", "Legs", "Spine"]
    at, texts = 0.5 * period, []
    for _ in parts:
        player.show(at)
        texts.append(player.text)
        at += player.skip(1)
    assert [text.partition(":")[0] for text in texts] == parts, "one key from part to part"
    player.show(at)
    assert player.text == texts[0], "and again"
    player.put_back()
    assert {part for part, *_rest in player_of(rig, "shin.L")[1]} == {"Legs"}
