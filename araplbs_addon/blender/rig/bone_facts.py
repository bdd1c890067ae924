"""Reads the BoneFacts of an armature: references to its bones, bone settings, and actions that use
the bones."""

import re

import bpy
import numpy as np
from araplbs.base.refusal import Refused
from araplbs.skeleton.bone_evidence import Motion
from araplbs.skeleton.bone_facts import BoneFacts
from araplbs.skeleton.bone_names import is_socket_name, words_of

from ..data.bones import bone_in, bone_path, visible_bones
from ..data.mesh_shape import values_of
from ..data.object_targets import constraint_targets, constraints_of, object_targets
from ..poses.pose_sources import action_curves, clips
from ..poses.read_poses import read_poses
from .rig_relations import drivers

# The evidence that a constraint of each type gives about its target bone.
OF_TARGET = {
    "IK": "ik_target",
    "COPY_LOCATION": "followed",
    **dict.fromkeys(("STRETCH_TO", "TRACK_TO", "DAMPED_TRACK", "LOCKED_TRACK"), "aimed_at"),
}
PULLS = {"IK", "SPLINE_IK", "STRETCH_TO", "TRACK_TO", "DAMPED_TRACK", "LOCKED_TRACK"}
WHOLE_COPIES = ("COPY_TRANSFORMS", "COPY_ROTATION")
OWN_PROPERTY = re.compile(r'\bbones\["(?:[^"\\]|\\.)+"\]\["')

CONTROL_COLLECTIONS = {
    *("ctrl", "ctrls", "control", "controls", "ik", "fk", "mch", "mech", "org", "mechanism"),
    *("tweak",),
    *("target", "targets", "pole", "poles", "helper", "helpers", "reference", "root"),
}
DEFORM_COLLECTIONS = {"def", "deform", "deforming", "deformation", "skin", "bind", "export"}
MOST = 0.5  # share of the deform bones in a collection that contains no other bones
MOST_FRAMES = 8
# Types of objects that may also be attached to bones that move skin.
HELD = {"MESH", "ARMATURE", "LIGHT", "CAMERA", "SPEAKER", "LIGHT_PROBE"}
STILL = 0.01  # radians, or fraction of a bone length: smaller differences do not count


def read_facts(armature, skeleton):
    """The BoneFacts, except facts that need animations or weights."""
    reader = _Reader(armature, skeleton)
    for posed in armature.pose.bones:
        for constraint in constraints_of(posed):
            reader.read_constraint(posed, constraint)
        if len(constraints_of(posed)) > 1:
            reader.read_choices(posed)
        reader.read_setup(posed)
    reader.read_collections()
    reader.read_drivers()
    reader.read_objects()
    reader.facts.visible = visible_bones(armature)
    return reader.facts


def motion_of(armature, skeleton, view_layer):
    """The Motion of the bones in the actions."""

    def read_few_poses():
        try:
            poses = read_poses(armature, skeleton, "ALL", MOST_FRAMES, view_layer)
        except Refused:
            return np.zeros((0, len(skeleton.names), 3, 4))
        return poses.transforms

    return Motion(lambda asked: _own_motion(armature, skeleton, asked), read_few_poses)


class _Reader:
    def __init__(self, armature, skeleton):
        self.armature = armature
        self.place = {name: i for i, name in enumerate(skeleton.names)}
        self.facts = BoneFacts(
            skeleton.names, skeleton.deform, skeleton.parents, skeleton.other_side
        )

    def _note(self, fact, name):
        """Records a fact about the bone of this name."""
        if name not in self.place:
            return
        if not len(getattr(self.facts, fact)):
            setattr(self.facts, fact, np.zeros(len(self.place), bool))
        getattr(self.facts, fact)[self.place[name]] = True

    def read_constraint(self, posed, constraint):
        """Reads the evidence of a constraint. A constraint that pulls bones counts only if it is
        enabled."""
        kind = constraint.type
        pole = getattr(constraint, "pole_subtarget", "")
        for target, name in constraint_targets(constraint):
            if target == self.armature:
                fact = "pole_target" if name and name == pole else OF_TARGET.get(kind)
                if fact:
                    self._note(fact, name)
        on = not constraint.mute and constraint.enabled and constraint.influence > 0
        if kind == "COPY_TRANSFORMS" and constraint.target == self.armature:
            self._note("copies", posed.name)
        elif kind in PULLS and on:
            for name in _pulled(posed, constraint):
                self._note("pulled", name)

    def read_choices(self, posed):
        for kind in WHOLE_COPIES:
            sources = {
                c.subtarget
                for c in constraints_of(posed)
                if c.type == kind and c.target == self.armature
            }
            for name in sources if len(sources) > 1 else ():
                self._note("choice", name)

    def read_setup(self, posed):
        bone, name = posed.bone, posed.name
        words = {word for c in bone.collections for word in words_of(c.name)}
        deforms = not words.isdisjoint(DEFORM_COLLECTIONS)
        locks = (posed.lock_location, posed.lock_rotation, posed.lock_scale)
        for fact, so in (
            ("shaped", posed.custom_shape is not None),
            ("colored", {bone.color.palette, posed.color.palette} != {"DEFAULT"}),
            ("deform_collection", deforms),
            ("control_collection", not deforms and not words.isdisjoint(CONTROL_COLLECTIONS)),
            ("locked", all(all(lock) for lock in locks)),
            ("bendy", bone.bbone_segments > 1),
        ):
            if so:
                self._note(fact, name)

        for end in ("start", "end") if bone.bbone_segments > 1 else ():
            handle = getattr(bone, f"bbone_custom_handle_{end}")
            if handle:
                self._note("handle", handle.name)

    def read_collections(self):
        """Records the deform bones outside the collection that contains the other deform bones."""
        deform = {n for n, so in zip(self.facts.names, self.facts.deform, strict=True) if so}
        members = {}
        for bone in self.armature.data.bones:
            for collection in bone.collections:
                members.setdefault(collection.name, set()).add(bone.name)
        for together in members.values():
            if together <= deform and len(together) > MOST * len(deform):
                for name in deform - together:
                    self._note("apart", name)

    def read_drivers(self):
        for curve in drivers(self.armature):
            for variable in curve.driver.variables:
                for target in variable.targets:
                    if OWN_PROPERTY.search(target.data_path):
                        self._note("drives", bone_in(target.data_path))

    def read_objects(self):
        """Reads lattices, curves and similar objects, and Empties that serve as sockets or hooks.
        Other objects give no evidence, because props, lights and cameras are attached to bones that
        move skin, and importers create Empties for nodes at the end of a chain."""
        hooks = {m.object for ob in bpy.data.objects for m in ob.modifiers if m.type == "HOOK"}
        for ob in bpy.data.objects:
            plain = ob.type == "EMPTY" and ob not in hooks and not is_socket_name(ob.name)
            if plain or ob.type in HELD:
                continue
            for target, name in object_targets(ob):
                if target == self.armature:
                    self._note("carries", name)


def _pulled(posed, constraint):
    """The names of the bones that a constraint pulls; for an IK chain up to the root, only the
    first bone."""
    names = [posed.name]
    if constraint.type in ("IK", "SPLINE_IK"):
        up = posed.parent
        while up and len(names) < constraint.chain_count:
            names.append(up.name)
            up = up.parent
    return names


def _own_motion(armature, skeleton, asked):
    """The bones' own motion (see Motion). A channel with a constant value does not count as
    motion."""
    turned, away = np.zeros(len(skeleton.names), bool), np.zeros(len(skeleton.names))
    place = {bone_path(skeleton.names[bone]): bone for bone in np.flatnonzero(asked)}
    lengths = np.linalg.norm(skeleton.tails - skeleton.heads, axis=1)
    for action, slot in clips(armature) if place else ():
        for own, curve in action_curves(action):
            path, _dot, channel = curve.data_path.rpartition(".")
            bone = place.get(path)
            if bone is None or own != slot:
                continue
            if turned[bone] and channel != "location":
                continue  # no value of this channel changes the result
            values, unit = values_of(curve.keyframe_points, "co", np.float32, 2)[1::2], 1.0
            if not len(values):
                continue
            if channel == "rotation_quaternion":  # q and -q are the same rotation
                values = np.abs(values)
            low, high = values.min(), values.max()
            if channel == "location":
                unit = lengths[bone]
                away[bone] = max(away[bone], max(high, -low))
            turned[bone] |= high - low > STILL * unit
    return turned, away
