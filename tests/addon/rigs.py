"""Rigs that move themselves: constraints, drivers, locks, and what the Rigify add-on makes."""

import subprocess
import sys

import bpy
import pytest
from patience import HANGS
from scenes import add_armature, add_object

ARM = [
    ("upper", (0, 0, 0), (0, 0.05, 1), None),
    ("fore", (0, 0.05, 1), (0, 0, 2), "upper"),
    ("hand", (0, 0, 2), (0, 0, 2.95), "fore"),
]


def arm(*more, controls=()):
    """An arm up the tube of the scenes, whose bones `controls` do not deform."""
    rig = add_armature(bones=[*ARM, *more])
    for name in controls:
        rig.data.bones[name].use_deform = False
    return rig


def constrain(rig, bone, kind, target=None, **settings):
    constraint = rig.pose.bones[bone].constraints.new(kind)
    if target:
        constraint.target, constraint.subtarget = rig, target
    for name, value in settings.items():
        setattr(constraint, name, value)
    return constraint


def twist_rig(*more):
    """A game rig: the forearm's second half turns half as far about itself as the hand."""
    rig = arm(("twist", (0, 0.025, 1.5), (0, 0, 2), "fore"), *more)
    local = {"owner_space": "LOCAL", "target_space": "LOCAL"}
    constrain(
        *(rig, "twist", "COPY_ROTATION", "hand"), influence=0.5, use_x=False, use_z=False, **local
    )
    return rig


def driver(rig, path, index, expression, bone="fore", kind="ROT_X"):
    """A driver by a local channel of a bone, the variable `turn`."""
    curve = rig.driver_add(path, index)
    curve.driver.expression = expression
    variable = curve.driver.variables.new()
    variable.name, variable.type = "turn", "TRANSFORMS"
    target = variable.targets[0]
    target.id, target.bone_target, target.transform_type = rig, bone, kind
    target.transform_space = "LOCAL_SPACE"
    return curve


def driven_rig(expression="-0.5 * turn"):
    """A corrective bone at the elbow, driven by how far it bends."""
    rig = arm(("corrective", (0, 0.05, 1), (0, 0.4, 1), "upper"))
    rig.pose.bones["fore"].rotation_mode = "XYZ"
    rig.pose.bones["corrective"].rotation_mode = "XYZ"
    driver(rig, 'pose.bones["corrective"].rotation_euler', 0, expression)
    return rig


def child_of_rig():
    """A strap that is a child of the hand by a constraint."""
    rig = arm(("strap", (0, 0, 2.2), (0.3, 0, 2.2), None))
    inverse = rig.data.bones["hand"].matrix_local.inverted()
    constrain(rig, "strap", "CHILD_OF", "hand", inverse_matrix=inverse)
    rig.pose.bones["strap"].lock_rotation = (True, True, True)
    return rig


def ik_rig():
    """An arm that reaches for a control, with a pole; hung on a shoulder."""
    rig = add_armature(
        bones=[
            ("shoulder", (0, 0, -0.5), (0, 0, 0), None),
            ("upper", (0, 0, 0), (0, 0.05, 1), "shoulder"),
            ("fore", (0, 0.05, 1), (0, 0, 2), "upper"),
            ("reach", (0, 0, 2), (0, 0, 2.5), None),
            ("pole", (0, 1, 1), (0, 1.3, 1), None),
        ]
    )
    for name in ("reach", "pole"):
        rig.data.bones[name].use_deform = False
    constrain(*(rig, "fore", "IK", "reach"), pole_target=rig, pole_subtarget="pole", chain_count=2)
    return rig


def stacked_rig(controls):
    """A joint that so many controls turn, one on the other."""
    names = [f"control{i}" for i in range(controls)]
    rig = arm(
        *(
            (name, (0, 0, 2), (0, 0, 2.5), up)
            for name, up in zip(names, ["fore", *names], strict=False)
        ),
        controls=names,
    )
    local = {"owner_space": "LOCAL", "target_space": "LOCAL"}
    for name in names:
        constrain(rig, "hand", "COPY_ROTATION", name, mix_mode="AFTER", **local)
    return rig


def stretch_rig():
    """A muscle between upper arm and forearm."""
    rig = arm(
        ("muscle", (0, 0.2, 0.5), (0, 0.2, 1.5), "upper"),
        ("tip", (0, 0.2, 1.5), (0, 0.3, 1.5), "fore"),
        controls=["tip"],
    )
    constrain(rig, "muscle", "STRETCH_TO", "tip", rest_length=1.0, volume="NO_VOLUME")
    return rig


def hide(rig, *bones):
    """In a collection of bones that is not shown."""
    collection = rig.data.collections.new("Hidden")
    for name in bones:
        collection.assign(rig.data.bones[name])
    collection.is_visible = False


def held_rig():
    """A twist rig with a nail on the hand that no bone of the rig turns in it."""
    rig = twist_rig(("nail", (0, 0, 2.95), (0, 0, 3.1), "hand"))
    constrain(
        *(rig, "nail", "COPY_ROTATION", "nail"), owner_space="LOCAL", target_space="LOCAL"
    ).target = still = bpy.data.objects.new("Still", None)
    bpy.context.scene.collection.objects.link(still)
    return rig


def piston_rig():
    """A piston at the elbow: rod and sleeve point at each other, which goes in a circle."""
    rig = arm(
        ("rod", (0, 0.3, 0.5), (0, 0.3, 1), "upper"),
        ("sleeve", (0, 0.3, 1.5), (0, 0.3, 1), "fore"),
    )
    for bone, target in (("rod", "sleeve"), ("sleeve", "rod")):
        constrain(rig, bone, "IK", target, chain_count=1)
    return rig


def spline_rig():
    """A tail along a curve whose points hang on two controls."""
    bones = [
        (f"tail{i}", (0, 0, i / 2), (0, 0, (i + 1) / 2), f"tail{i - 1}" if i else None)
        for i in range(6)
    ]
    ends = [("low", (0, 0, 0), (0, 0.5, 0), None), ("high", (0, 0, 3), (0, 0.5, 3), None)]
    rig = add_armature(bones=bones + ends)
    curve = bpy.data.curves.new("Spline", "CURVE")
    curve.dimensions = "3D"
    spline = curve.splines.new("BEZIER")
    spline.bezier_points.add(1)
    for point, z in zip(spline.bezier_points, (0, 3), strict=True):
        point.co = (0, 0, z)
        point.handle_left, point.handle_right = (0, 0, z - 1), (0, 0, z + 1)
    ob = add_object("Spline", curve)
    bpy.context.view_layer.update()
    for i, name in enumerate(("low", "high")):
        rig.data.bones[name].use_deform = False
        hook = ob.modifiers.new(name, "HOOK")
        hook.object, hook.subtarget = rig, name
        hook.matrix_inverse = rig.data.bones[name].matrix_local.inverted()
        hook.vertex_indices_set(range(3 * i, 3 * i + 3))
    chain = constrain(rig, "tail5", "SPLINE_IK", chain_count=6)
    chain.target = ob
    return rig


def locked_human():
    """As importers name and lock them: knees and elbows are hinges, by each kind of rotation."""
    bones = [("Hips", (0, 0, 1), (0, 0, 1.4), None)]
    for side, x in (("Left", 0.2), ("Right", -0.2)):
        bones += [
            (f"mixamorig:{side}UpLeg", (x, 0, 1), (x, -0.02, 0.5), "Hips"),
            (f"mixamorig:{side}Leg", (x, -0.02, 0.5), (x, 0, 0.05), f"mixamorig:{side}UpLeg"),
        ]
    rig = add_armature(bones=bones)
    left, right = (rig.pose.bones[f"mixamorig:{side}Leg"] for side in ("Left", "Right"))
    left.rotation_mode = "XYZ"
    left.lock_rotation = right.lock_rotation = (False, True, True)
    return rig


MOVED = {
    "twist": twist_rig,
    "driver": driven_rig,
    "child of": child_of_rig,
    "ik": ik_rig,
    "stretch": stretch_rig,
    "spline": spline_rig,
}


RIGIFY = """
import os, sys
import bpy
import addon_utils
code = 3
if addon_utils.enable("rigify", default_set=True) is not None:
    bpy.ops.object.armature_basic_human_metarig_add()
    metarig = bpy.context.object
    bpy.ops.pose.rigify_generate()
    bpy.data.objects.remove(metarig)
    bpy.ops.wm.save_as_mainfile(filepath=sys.argv[-1])
    code = 0
sys.stdout.flush()
os._exit(code)
"""


def rigify_human(folder):
    """What Rigify makes of its smallest human; skips where Blender comes without the add-on.

    A Blender of its own makes it: in the one in which Rigify has worked, exports to glTF and the
    files that are opened after them fail or crash (4.3 and 4.5, without this extension as well)."""
    script, path = folder / "make_human.py", folder / "human.blend"
    script.write_text(RIGIFY)
    start = [bpy.app.binary_path, "-b", "--factory-startup", "-P", script, "--"]
    start = start if bpy.app.binary_path else [sys.executable, script]
    done = subprocess.run([*start, path], capture_output=True, text=True, timeout=HANGS)
    if done.returncode == 3:
        pytest.skip("Blender has no add-on Rigify here")
    assert path.exists(), (done.stdout, done.stderr)
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
