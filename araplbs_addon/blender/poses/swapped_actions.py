"""Lets an armature itself temporarily play other actions, in order to read the meshes that it
deforms and to insert keys. If only poses are needed, a copy plays the actions. See
read_poses.py."""

from contextlib import contextmanager
from functools import partial
from numbers import Real

import bpy
from araplbs.base.refusal import Refused

from .pose_sources import action_curves, play_action


@contextmanager
def swapped_actions(armature, view_layer):
    """Yields play(action, slot), which makes the armature play only this action. Everything is
    restored afterwards."""
    if armature.library:
        raise Refused(
            f"'{armature.name}' is linked from another file and can play only its own action"
        )
    made = armature.animation_data is None
    data = armature.animation_data or armature.animation_data_create()
    if data.use_tweak_mode:
        raise Refused(f"'{armature.name}' is in NLA tweak mode: exit tweak mode to use all actions")
    has_slots = hasattr(data, "action_slot")
    before = data.action, data.action_slot if has_slots else None, data.use_nla
    identifier = data.last_slot_identifier if has_slots else None
    values = _animated_values(armature)
    try:
        data.use_nla = False
        yield partial(play_action, data)
    finally:
        play_action(data, *before[:2])
        data.use_nla = before[2]
        if has_slots and data.last_slot_identifier != identifier:
            data.last_slot_identifier = identifier
        if made:
            armature.animation_data_clear()
        # The next update would play the action again and overwrite hand-posed values that have no
        # key.
        view_layer.update()
        for each in values:
            _set(*each)


def _animated_values(armature):
    """Returns [(owner, whether it is a custom property, name, value)] for all values that the
    armature's animation changes."""
    data = armature.animation_data
    actions = {data.action} | {s.action for track in data.nla_tracks for s in track.strips}
    paths = {curve.data_path for a in actions if a for _slot, curve in action_curves(a)}
    values = []
    for path in sorted(paths):
        # Quotes in a key are escaped, so the last unescaped one begins a custom property.
        custom = path.endswith('"]')
        above, name = (path[: path.rindex('["')], path) if custom else path.rpartition(".")[::2]
        try:
            owner = armature.path_resolve(above) if above else armature
            value = _numbers(armature.path_resolve(path))
        except ValueError:  # a curve of a bone that no longer exists
            continue
        if value is None:
            continue
        if custom:
            name = bpy.utils.unescape_identifier(path[len(above) + 2 : -2])
        values.append((owner, custom, name, value))
    return values


def _numbers(value):
    """A number, or a copy of an array of numbers. None for any other value, which a curve can name
    but cannot change."""
    if isinstance(value, Real):
        return value
    values = value[:] if hasattr(value, "__len__") and not hasattr(value, "keys") else None
    return values if values and all(isinstance(each, Real) for each in values) else None


def _set(owner, custom, name, value):
    if custom:
        owner[name] = value
    else:
        setattr(owner, name, value)
