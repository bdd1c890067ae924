"""Adds the bones of a bake to an armature, with the keys of their motion.

The bones have no parent. At rest, each bone is at the center of the vertices that it moves, without
rotation. A bone therefore adopts the rotation of a transform directly, and its location is relative
to its center.
"""

import itertools
from contextlib import contextmanager

import bpy
import numpy as np
from araplbs.base.refusal import Refused
from mathutils import Matrix

from ...blender.data.bones import bone_path
from ...blender.poses.pose_sources import action_bags, action_curves
from ...blender.poses.swapped_actions import swapped_actions
from ...blender.write.edit_bones import editing

NAME = "Bake"
LENGTH = 0.05  # share of the mesh size
CHANNELS = ("location", "rotation_quaternion")


def refuse_new_bones(armature, takes):
    """Raises Refused if the bones cannot be added or keyed."""
    if not takes:
        raise Refused(
            "New bones are moved by keys: bake scene frames or all actions, not random poses"
        )
    if armature.library or armature.data.library:
        raise Refused(f"'{armature.name}' is linked from another file: bones cannot be added to it")
    animation = armature.animation_data
    if animation and animation.use_tweak_mode:
        raise Refused(
            f"'{armature.name}' is in NLA tweak mode: exit tweak mode before adding bones"
        )
    for take in takes:
        action = take.find()[0] or (animation and animation.action)
        if action and action.library:
            raise Refused(
                f"Action '{action.name}' is linked from another file: new bones cannot be keyed"
            )


def free_names(armature, objects, count):
    """Names that neither a bone of the armature nor a vertex group of the objects uses."""
    taken = {bone.name for bone in armature.data.bones}
    taken.update(group.name for ob in objects for group in ob.vertex_groups)
    names, k = [], 0
    while len(names) < count:
        k += 1
        if (name := f"{NAME}.{k:03d}") not in taken:
            names.append(name)
    return names


def add_new_bones(armature, added):
    """Adds the bones of added: [(names, Baked)]. Raises Refused, without writing anything, if
    Blender does not allow the armature to be edited."""
    with editing(armature) as bones:
        for names, baked in added:
            for name, center in zip(names, baked.new_centers.tolist(), strict=True):
                bone = bones.new(name)
                bone.head, bone.tail = (0, 0, 0), (0, LENGTH * baked.size, 0)
                bone.matrix = Matrix.Translation(center)
    bpy.context.view_layer.update()  # creates the pose of the new bones


@contextmanager
def taken_back(armature, names):
    """If an exception leaves the block, removes the new bones with these names and their keys."""
    actions, animated = set(bpy.data.actions), bool(armature.animation_data)
    try:
        yield
    except BaseException:
        if not names:
            raise
        with editing(armature) as bones:
            for name in set(names) & set(bones.keys()):
                bones.remove(bones[name])
        _remove_keys(actions, names)
        for action in set(bpy.data.actions) - actions:
            bpy.data.actions.remove(action)
        if not animated:
            armature.animation_data_clear()
        raise


def _remove_keys(actions, names):
    paths = tuple(map(bone_path, names))
    for _slot, bag in (each for action in actions for each in action_bags(action)):
        for curve in [curve for curve in bag.fcurves if curve.data_path.startswith(paths)]:
            bag.fcurves.remove(curve)
        for group in [group for group in bag.groups if group.name in names]:
            bag.groups.remove(group)


def key_new_bones(armature, names, transforms, takes):
    """Inserts keys of the new bones for (p, new, 3, 4) transforms, in the frames of all Takes, one
    after the other. The keys go into the Takes' actions, or into the action that the armature
    plays, which is created if necessary."""
    first = 0
    for take in takes:
        part = transforms[first : first + len(take.frames)]
        first += len(take.frames)
        if take.action is None:
            _key(armature, names, part, take.frames)
            _pose(armature, names, bpy.context.scene.frame_current_final)
            continue
        action, slot = take.find()
        with swapped_actions(armature, bpy.context.view_layer) as play:
            play(action, slot)
            _key(armature, names, part, take.frames)


def _key(armature, names, transforms, frames):
    for at, name in enumerate(names):
        bone = armature.pose.bones[name]
        bone.rotation_mode = "QUATERNION"
        values = _channels(bone.bone.head_local, transforms[:, at])
        for channel in CHANNELS:
            bone.keyframe_insert(channel, frame=frames[0], group=name)
            path = bone.path_from_id(channel)
            for curve in _curves(armature.animation_data, path):
                _fill(curve, frames, values[channel][:, curve.array_index])


def _pose(armature, names, frame):
    """Sets the pose that the keys define, as the next frame change would."""
    for name in names:
        bone = armature.pose.bones[name]
        for channel in CHANNELS:
            value = list(getattr(bone, channel))
            for curve in _curves(armature.animation_data, bone.path_from_id(channel)):
                value[curve.array_index] = curve.evaluate(frame)
            setattr(bone, channel, value)


def _channels(center, transforms):
    """Returns {channel: (p, numbers of the channel)} for a bone at rest in `center` and transforms
    (p, 3, 4)."""
    center = np.array(center)
    moved = transforms[:, :, :3] @ center + transforms[:, :, 3] - center
    turns = [Matrix(turn).to_quaternion() for turn in transforms[:, :, :3].tolist()]
    for before, turn in itertools.pairwise(turns):
        turn.make_compatible(before)  # chooses the nearer of the two signs
    return {"location": moved, "rotation_quaternion": np.array(turns)}


def _curves(animation, path):
    slot = getattr(animation, "action_slot", None)
    return [
        curve
        for own, curve in action_curves(animation.action)
        if curve.data_path == path and own == slot
    ]


def _fill(curve, frames, values):
    keys = curve.keyframe_points
    keys.add(len(frames) - len(keys))
    keys.foreach_set("co", np.column_stack([frames, values]).astype(np.float32).ravel())
    linear = bpy.types.Keyframe.bl_rna.properties["interpolation"].enum_items["LINEAR"].value
    keys.foreach_set("interpolation", [linear] * len(frames))
    curve.update()
