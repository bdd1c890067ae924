"""Finds the poses that a file contains for an armature: actions, pose assets, marked frames.

Pose assets in the user's asset libraries are not searched, because the library files would have to
be loaded. Users can link or append them first.
"""

import time
from numbers import Real

import bpy
from araplbs.base.refusal import Refused
from araplbs.reports.pose_sources import PoseSources

from ..data.bones import bone_path

WEIGHT = "araplbs_weight"  # custom property of an action: the weight of its poses
LEAST_WEIGHT, MOST_WEIGHT = 1e-3, 1e3


def action_bags(action):
    """Returns [(slot or None, the owner of the slot's fcurves and groups)]. Actions have slots
    since 4.4."""
    if not hasattr(action, "layers"):
        return [(None, action)]
    return [
        (bag.slot, bag)
        for layer in action.layers
        for strip in layer.strips
        for bag in strip.channelbags
    ]


def action_curves(action):
    """All curves of an action, as [(slot or None, F-curve)]."""
    return [(slot, curve) for slot, bag in action_bags(action) for curve in bag.fcurves]


def play_action(data, action, slot):
    """Makes the owner of animation data play an action."""
    data.action = action
    if action and hasattr(data, "action_slot"):
        data.action_slot = slot


def clips(armature, actions=None):
    """Yields (action, slot) for all actions that move bones of this armature. actions: the actions
    to search, by default all in the file."""
    paths = tuple(bone_path(bone.name) for bone in armature.data.bones)
    pairs = []
    for action in bpy.data.actions if actions is None else actions:
        slots = []
        for slot, curve in action_curves(action):
            of_object = slot is None or slot.target_id_type in ("OBJECT", "UNSPECIFIED")
            if of_object and slot not in slots and curve.data_path.startswith(paths):
                slots.append(slot)
        pairs += [(action, slot) for slot in slots]
    return pairs


def pose_assets(armature):
    """Yields (action, slot, frame) for the actions that are assets and have keys in only one
    frame."""
    assets = []
    for action, slot in clips(armature, [a for a in bpy.data.actions if a.asset_data]):
        ranges = [curve.range() for own, curve in action_curves(action) if own == slot]
        first, last = min(r[0] for r in ranges), max(r[1] for r in ranges)
        if first == last:
            assets.append((action, slot, first))
    return assets


def marked_frames(armature, scene):
    """The marked frames of the scene's timeline and of the action that the armature plays, in
    ascending order."""
    data = armature.animation_data
    own = data.action.pose_markers if data and data.action else ()
    return sorted({marker.frame for marker in (*scene.timeline_markers, *own)})


def weight_of(action):
    """The weight of an action's poses in the result. Raises Refused."""
    value = action.get(WEIGHT, 1.0)
    if isinstance(value, Real) and (value == 0 or LEAST_WEIGHT <= value <= MOST_WEIGHT):
        return float(value)
    raise Refused(
        f"Action '{action.name}' has {WEIGHT} {value!r}: it must be 0, or a number from "
        f"{LEAST_WEIGHT:g} to {MOST_WEIGHT:g}"
    )


def find_sources(armature, scene):
    """The PoseSources of an armature. This examines every action: see SourceCounts."""
    data = armature.animation_data
    plays = bool(data and (data.action or (data.use_nla and any(data.nla_tracks))))
    actions = len({action for action, _slot in clips(armature)})
    assets, markers = len(pose_assets(armature)), len(marked_frames(armature, scene))
    return PoseSources(assets, actions, markers, plays)


class SourceCounts:
    """Caches the PoseSources of the armature drawn last, which a panel requests at every redraw.

    Counts are recomputed when they are old, or when the number of data-blocks in the file has
    changed. Each count is kept long enough that the search takes at most a hundredth of the time,
    even with many actions.
    """

    def __init__(self):
        self._key, self._found, self._until = None, None, 0.0

    def of(self, armature, scene):
        data = armature.animation_data
        key = (
            armature.session_uid,
            scene.session_uid,
            len(armature.data.bones),
            len(bpy.data.actions),
            sum(action.asset_data is not None for action in bpy.data.actions),
            len(scene.timeline_markers),
            data and data.action and data.action.session_uid,
        )
        now = time.perf_counter()
        if key != self._key or now > self._until:
            self._key, self._found = key, find_sources(armature, scene)
            end = time.perf_counter()
            self._until = end + max(1.0, 100 * (end - now))
        return self._found
