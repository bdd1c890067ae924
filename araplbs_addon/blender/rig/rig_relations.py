"""Reads the Relations of a rig: the bones that follow others through parents, constraints and
drivers, and the controls that an animator moves.

Nothing is evaluated. A bone counts as a follower of another bone if Blender might read the other
bone to place the first one. Constraints that are muted or have no influence count if a driver
switches them.
"""

import math
import re

import bpy
import numpy as np
from araplbs.skeleton.rig_relations import Chain, Relations, Switch
from araplbs.skeleton.sides import other_names

from ..data.bones import BONE, LEAVE_FREE, bone_in, visible_bones
from ..data.object_targets import constraint_targets, constraints_of, object_targets

CONSTRAINT = re.compile(r'\.constraints\["((?:[^"\\]|\\.)+)"\]\.(\w+)$')
MOVES = re.compile(r"\]\.(location|rotation_\w+|scale)$")
PROPERTY = re.compile(r'^(.*)\["((?:[^"\\]|\\.)+)"\]$')

TURNING = {"COPY_ROTATION", "COPY_TRANSFORMS", "CHILD_OF", "ARMATURE"}
CHAINS = ("IK", "SPLINE_IK")
SMALL = 1e-6  # radians


def is_plain(armature):
    """Whether no constraint and no driver moves any part of the rig."""
    return not drivers(armature) and not any(constraints_of(posed) for posed in armature.pose.bones)


def read_relations(armature):
    return _Reader(armature).relations


def controls(armature, relations, deform):
    """Returns (m,) bool: the bones to pose. Only visible, selectable bones among the free bones
    that deform bones (m,) follow are posed, or all of these free bones if none of them can be
    selected."""
    moved = set(np.flatnonzero(deform).tolist())
    free = relations.free.copy()
    for bone in np.flatnonzero(free):
        free[bone] = not moved.isdisjoint(relations.reached(int(bone)))
    selectable = np.array([not bone.hide_select for bone in armature.data.bones])
    shown = free & visible_bones(armature) & selectable
    return shown if shown.any() else free


class _Reader:
    def __init__(self, armature):
        bones = armature.data.bones
        self.armature, self.place = armature, {bone.name: i for i, bone in enumerate(bones)}
        self.lengths = [bone.length for bone in bones]
        self.parents = [self.place[b.parent.name] if b.parent else -1 for b in bones]
        m = len(bones)
        sets = ([set() for _ in range(m)] for _ in range(3))
        self.relations = Relations(*sets, np.zeros(m, bool), np.ones(m, bool))
        for i, up in enumerate(self.parents):
            if up >= 0:
                self.relations.followers[up].add(i)
                self.relations.carriers[i].add(up)
                if bones[i].use_inherit_rotation:
                    self.relations.turned[up].add(i)
        self.switched = {}  # (bone, constraint): [(driven property, FCurve)]
        self._read_drivers()
        self.of_objects = {}
        for posed in armature.pose.bones:
            for constraint in constraints_of(posed):
                self._read_constraint(self.place[posed.name], posed, constraint)
        self._find_switches()

    def _follow(self, sources, bone):
        for source in sources:
            if source != bone:
                self.relations.followers[source].add(bone)

    def _read_drivers(self):
        for curve in drivers(self.armature):
            bone = self.place.get(bone_in(curve.data_path), -1)
            if curve.data_path.endswith(".hide"):
                continue
            if bone < 0:
                self.relations.asked |= self._read_sources(curve)
                continue
            of_constraint = CONSTRAINT.search(curve.data_path)
            if of_constraint:
                key = bone, bpy.utils.unescape_identifier(of_constraint[1])
                self.switched.setdefault(key, []).append((of_constraint[2], curve))
            elif MOVES.search(curve.data_path):
                self.relations.free[bone] = False
            self.relations.driven[bone] = True
            self._follow(self._read_sources(curve), bone)

    def _read_sources(self, curve):
        """Bones that a driver reads."""
        sources = set()
        for variable in curve.driver.variables:
            for target in variable.targets:
                if target.id in (self.armature, self.armature.data):
                    name = bone_in(target.data_path) or target.bone_target
                    sources.add(self.place.get(name, -1))
        return sources - {-1}

    def _read_constraint(self, bone, posed, constraint):
        driven = {name for name, _curve in self.switched.get((bone, constraint.name), [])}
        off = (constraint.mute and "mute" not in driven) or not constraint.enabled
        if off or (constraint.influence <= 0 and "influence" not in driven):
            return
        kind = constraint.type
        if kind == "LIMIT_ROTATION" and constraint.owner_space == "LOCAL":
            return
        relations, owned = self.relations, [bone]
        if kind in CHAINS:
            owned = self._chain(bone, constraint)
            foreign = kind == "IK" and constraint.target not in (None, self.armature)
            if foreign and not self._bones_of(constraint.target):
                relations.outside.append((posed.name, constraint.name))
                return
            self._add_chain(constraint, owned)
            relations.together.append({bone, *owned})
        relations.driven[[bone, *owned]] = True
        if kind not in LEAVE_FREE and not (kind == "IK" and "influence" in driven):
            relations.free[owned] = False
        for target, name in constraint_targets(constraint):
            if target == self.armature:
                sources = {self.place[name]} if name in self.place else set()
            else:
                sources = self._bones_of(target)
            for each in owned:
                self._follow(sources, each)
            if kind not in CHAINS and not kind.startswith("LIMIT"):
                relations.carriers[bone] |= sources - {bone}
                for source in sources if kind in TURNING else ():
                    relations.turned[source].add(bone)

    def _chain(self, bone, constraint):
        found = []
        if constraint.type == "IK" and not constraint.use_tail:
            bone = self.parents[bone]
        while bone >= 0 and (len(found) < constraint.chain_count or not constraint.chain_count):
            found.append(bone)
            bone = self.parents[bone]
        return found

    def _add_chain(self, constraint, bones):
        target = self.place.get(getattr(constraint, "subtarget", ""), -1)
        if constraint.type != "IK" or constraint.target != self.armature or target < 0 or not bones:
            return
        pole = -1
        if constraint.pole_target == self.armature:
            pole = self.place.get(constraint.pole_subtarget, -1)
        length = sum(self.lengths[i] for i in bones)
        self.relations.chains.append(Chain(bones, target, pole, length))

    def _bones_of(self, ob):
        """Bones of the armature that another object follows."""
        if ob in self.of_objects:
            return self.of_objects[ob]
        self.of_objects[ob] = set()  # ends cycles of objects
        bones = set()
        for target, name in object_targets(ob):
            if target == self.armature:
                bones |= {self.place[name]} if name in self.place else set(self.place.values())
            elif target != ob:
                bones |= self._bones_of(target)
        self.of_objects[ob] = bones
        return bones

    def _find_switches(self):
        """Finds the properties that drive the influence of IK constraints, or the influence of
        constraints on bones that follow an IK chain."""
        following = set()
        for chain in self.relations.chains:
            following |= self.relations.reached(chain.bones[-1])
            following.update(chain.bones)
        seen = set()
        for (bone, name), curves in self.switched.items():
            posed = self.armature.pose.bones[self.armature.data.bones[bone].name]
            constraint = posed.constraints.get(name)
            if constraint is None or bone not in following or constraint.type.startswith("LIMIT"):
                continue
            for what, curve in curves:
                if what == "influence":
                    self._add_switches(curve, seen)

    def _add_switches(self, curve, seen):
        for variable in curve.driver.variables:
            target = variable.targets[0]
            found = PROPERTY.match(target.data_path)
            if variable.type != "SINGLE_PROP" or target.id != self.armature or not found:
                continue
            owner, name = found[1], bpy.utils.unescape_identifier(found[2])
            if (owner, name) in seen or not _is_switch(self.armature, owner, name):
                continue
            seen.add((owner, name))
            bone = BONE.search(owner)
            sides = owner
            if bone:
                bones = self.armature.data.bones
                others = [name for name in other_names(bone[1]) if name in bones]
                pair = sorted((bone[1], *others[:1]))
                sides = owner.replace(bone[1], pair[0])
            self.relations.switches.append(Switch(owner, name, f"{sides} {name}"))


def owner_of(armature, path):
    """The data to which a path leads from an armature object, or the object itself if the path is
    empty."""
    return armature.path_resolve(path) if path else armature


def _is_switch(armature, path, name):
    """Whether this is a custom property with the range from 0 to 1."""
    try:
        owner = owner_of(armature, path)
        value = owner[name]
        limits = owner.id_properties_ui(name).as_dict()
    except (ValueError, KeyError, TypeError, AttributeError):
        return False
    return isinstance(value, bool) or (
        isinstance(value, (int, float)) and (limits.get("min"), limits.get("max")) == (0, 1)
    )


def drivers(armature):
    """F-curves of all drivers of an armature object and its data."""
    curves = []
    for data in (armature, armature.data):
        if data.animation_data:
            curves += data.animation_data.drivers
    return curves


def is_rotation(path):
    """Whether a data path leads to the rotation of a bone."""
    return '"].rotation_' in path and '"].constraints[' not in path


def read_turners(armature):
    """The bones that turn a bone about its own axis, by constraints and drivers: {bone: {source:
    factor, NaN if unknown}} by index. A factor is relative to the twist of the source, and added to
    the bone's own."""
    place = {bone.name: index for index, bone in enumerate(armature.data.bones)}
    turners = {}
    for posed in armature.pose.bones:
        for constraint in constraints_of(posed):
            source = place.get(getattr(constraint, "subtarget", ""), -1)
            follows_rig = getattr(constraint, "target", None) == armature and source >= 0
            if follows_rig and not constraint.mute and constraint.influence > 0:
                factor = _factor(constraint)
                if factor is not None:
                    turners.setdefault(place[posed.name], {})[source] = factor
    for curve in drivers(armature):
        bone = place.get(bone_in(curve.data_path), -1)
        if bone < 0 or not is_rotation(curve.data_path):
            continue
        for variable in curve.driver.variables:
            for target in variable.targets:
                if target.id == armature and target.bone_target in place:
                    turners.setdefault(bone, {})[place[target.bone_target]] = math.nan
    return turners


def _factor(constraint):
    """The factor of a constraint; None if it does not turn only about the bone's axis."""
    if constraint.type == "DAMPED_TRACK":
        return math.nan
    if constraint.type == "TRANSFORM":
        return _factor_of_transformation(constraint)
    only_twist = constraint.type == "COPY_ROTATION" and constraint.use_y
    if not only_twist or constraint.use_x or constraint.use_z:
        return None
    return -constraint.influence if constraint.invert_y else constraint.influence


def _factor_of_transformation(constraint):
    given = constraint.from_max_y_rot - constraint.from_min_y_rot
    only_twist = constraint.map_from == constraint.map_to == "ROTATION"
    if not only_twist or constraint.map_to_y_from != "Y" or abs(given) < SMALL:
        return math.nan
    taken = constraint.to_max_y_rot - constraint.to_min_y_rot
    return constraint.influence * taken / given
