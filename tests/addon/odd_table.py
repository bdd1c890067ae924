"""The table of odd scenes, and helpers that create its rows.

A row is a function that adds an oddity to a tube and its rig: see odd_places.py and
odd_scenes.py."""

from dataclasses import dataclass, field

import bpy
import numpy as np
from mathutils import Matrix
from scenes import add_object, tube_and_rig

ROUNDED = 2e-4  # of weights for coordinates that single precision rounds differently
BOUND = (".parent", ".parent_type", ".parent_bone", ".matrix_parent_inverse", ".modifiers")
PLACED = (".matrix_local", ".matrix_world")  # of the weights of an object bound at another position


@dataclass
class Odd:
    tube: bpy.types.Object
    rig: bpy.types.Object
    may_change: tuple = ()  # ends of paths of the tube
    atol: float = 0.0
    said: tuple = ()  # in the reports
    refused: str | None = None
    selected: tuple = ()  # beside tube and rig
    alone: bool = False  # without the rig
    by_rig: bool = False  # the rig alone
    renamed: dict = field(default_factory=dict)  # plain bone: its name here


SCENES = {}


def row(function):
    SCENES[function.__name__] = function
    return function


def odd(**what):
    """Declares a row whose function changes the tube and its rig; what: see Odd."""

    def add(change):
        def make():
            tube, rig = tube_and_rig()
            change(tube, rig)
            return Odd(tube, rig, **what)

        SCENES[change.__name__] = make
        return make

    return add


def turn(rig, bone="middle", angle=1.2):
    posed = rig.pose.bones[bone]
    posed.rotation_mode = "XYZ"
    posed.rotation_euler.x = angle
    bpy.context.view_layer.update()


def on_bone(ob, rig, bone="middle"):
    """Parents an object to a bone at its present position, while the rig is at rest."""
    place = ob.matrix_world.copy()
    ob.parent, ob.parent_type, ob.parent_bone = rig, "BONE", bone
    end = rig.matrix_world @ rig.data.bones[bone].matrix_local
    end = end @ Matrix.Translation((0, rig.data.bones[bone].length, 0))
    ob.matrix_parent_inverse = end.inverted() @ place @ ob.matrix_basis.inverted()
    bpy.context.view_layer.update()
    np.testing.assert_allclose(ob.matrix_world, place, atol=1e-5)


def child_of(ob, rig, bone="middle"):
    constraint = ob.constraints.new("CHILD_OF")
    constraint.target, constraint.subtarget = rig, bone
    constraint.inverse_matrix = (rig.matrix_world @ rig.data.bones[bone].matrix_local).inverted()
    bpy.context.view_layer.update()
    np.testing.assert_allclose(ob.matrix_world, np.eye(4), atol=1e-5)
    return constraint


def drive(owner, path, index, rig, bone, channel="LOC_Y", expression="var", space="LOCAL_SPACE"):
    driver = owner.driver_add(path, *index).driver
    variable = driver.variables.new()
    variable.type = "TRANSFORMS"
    target = variable.targets[0]
    target.id, target.bone_target, target.transform_type = rig, bone, channel
    target.transform_space = space
    driver.expression = expression
    bpy.context.view_layer.update()
    return driver


def add_empty(name="Empty", matrix=None):
    return add_object(name, None, matrix)


def key(owner, path, values):
    for frame, value in values:
        setattr(owner, path, value)
        owner.keyframe_insert(path, frame=frame)


UNKNOWN = b"Of another version"
TYPE, AT = 17, -80  # a type that ended with 2.8, and its place before the name


def with_unknown_constraints(path, *owners):
    """Adds a constraint to each object or pose bone, and opens the saved file again, in which these
    constraints have a type that Blender does not know."""
    for owner in owners:
        owner.constraints.new("LIMIT_ROTATION").name = UNKNOWN.decode()
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=False)
    parts = bytearray(path.read_bytes()).split(UNKNOWN)
    assert len(parts) > len(owners)
    for part in parts[:-1]:
        if part[AT : AT + 2] == (5).to_bytes(2, "little"):  # not a name in the undo history
            part[AT : AT + 2] = TYPE.to_bytes(2, "little")
    path.write_bytes(UNKNOWN.join(parts))
    bpy.ops.wm.open_mainfile(filepath=str(path))
    found = [c for ob in bpy.data.objects for c in ob.constraints]
    found += [c for ob in bpy.data.objects if ob.pose for b in ob.pose.bones for c in b.constraints]
    assert sum(not isinstance(c, bpy.types.Constraint) for c in found) == len(owners)
