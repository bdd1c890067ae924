"""The poses of a rig tell how far constraints and drivers turn its twist bones."""

import bpy
import numpy as np
import pytest
from rigs import constrain
from scenes import add_armature, add_mesh, auto_weight, bind, weighting, weights

ARM = [(0.2, 0, 1.4), (0.6, 0, 1.4), (1.0, 0, 1.4), (1.2, 0, 1.4)]
LEG = [(0.1, 0, 0.8), (0.1, 0, 0.4), (0.1, 0, 0.05), (0.1, -0.2, 0.0)]
LOCAL = {"owner_space": "LOCAL", "target_space": "LOCAL"}
SHARE = 0.4


def limb_skin(joints, radius=0.06, rings=25, around=8):
    """An open tube along the first two bones of a limb."""
    first, last = np.array(joints[0]), np.array(joints[2])
    axis = (last - first) / np.linalg.norm(last - first)
    across = [np.array([0, 1.0, 0]), np.cross(axis, [0, 1.0, 0])]
    angle = 2 * np.pi * np.arange(around) / around
    ring = radius * np.stack([np.cos(angle), np.sin(angle)], axis=1) @ across
    points = np.linspace(first, last, rings)[:, None] + ring
    return points.reshape(-1, 3), [
        (k * around + j, k * around + i, (k + 1) * around + i, (k + 1) * around + j)
        for k in range(rings - 1)
        for j, i in zip(range(around), [*range(1, around), 0], strict=True)
    ]


def human():
    """A body with arms and legs, and plain names for bones along its arms."""
    trunk, around = limb_skin([(0, 0, 0.75), (0, 0, 1.1), (0, 0, 1.5)], 0.15)
    bones, skin, faces = [], [trunk], list(around)
    bones += [("hips", (0, 0, 0.8), (0, 0, 1.1), None), ("chest", (0, 0, 1.1), (0, 0, 1.5), "hips")]
    for side, x in (("L", 1), ("R", -1)):
        for names, joints, root in (
            (("upper", "fore", "hand"), ARM, "chest"),
            (("thigh", "shin", "foot"), LEG, "hips"),
        ):
            ends = [tuple(np.multiply(joint, (x, 1, 1))) for joint in joints]
            above = root
            for k, name in enumerate(names):
                bones.append((f"{name}.{side}", ends[k], ends[k + 1], above))
                above = f"{name}.{side}"
            points, quads = limb_skin(ends)
            first = sum(map(len, skin))
            faces += [tuple(first + v for v in quad) for quad in quads]
            skin.append(points)
        for name, begin, end in (("first", 0.2, 0.4), ("second", 0.8, 0.95)):
            bone = "upper" if name == "first" else "fore"
            bones.append(
                (f"{name}.{side}", (x * begin, 0, 1.4), (x * end, 0, 1.4), f"{bone}.{side}")
            )
    rig, mesh = add_armature(bones=bones), add_mesh("Body", np.concatenate(skin), faces)
    bind(mesh, rig)
    return rig, mesh


def by_constraints(rig, side):
    only_y = {"use_x": False, "use_z": False, **LOCAL}
    back = {"influence": 1 - SHARE, "invert_y": True}
    constrain(rig, f"first.{side}", "COPY_ROTATION", f"upper.{side}", **back, **only_y)
    hand = {"influence": SHARE}
    constrain(rig, f"second.{side}", "COPY_ROTATION", f"hand.{side}", **hand, **only_y)


def by_drivers(rig, side):
    for bone, source, factor in (("first", "upper", SHARE - 1), ("second", "hand", SHARE)):
        rig.pose.bones[f"{bone}.{side}"].rotation_mode = "YXZ"
        curve = rig.driver_add(f'pose.bones["{bone}.{side}"].rotation_euler', 1)
        variable = curve.driver.variables.new()
        variable.name, variable.type = "turn", "TRANSFORMS"
        target = variable.targets[0]
        target.id, target.bone_target = rig, f"{source}.{side}"
        target.transform_type, target.rotation_mode = "ROT_Y", "SWING_TWIST_Y"
        target.transform_space = "LOCAL_SPACE"
        curve.driver.expression = f"{factor} * turn"


@pytest.mark.parametrize("moved", [by_constraints, by_drivers])
def test_constraints_and_drivers_tell_the_share(moved):
    rig, mesh = human()
    for side in "LR":
        moved(rig, side)
    problem = weighting(rig, mesh, pose_count=40).problem
    names = problem.skeleton.names
    found = {names[t.bone]: (names[t.source], t.share) for t in problem.twist_bones}
    assert {bone: source for bone, (source, _share) in found.items()} == {
        f"{bone}.{side}": f"{source}.{side}"
        for bone, source in (("first", "upper"), ("second", "hand"))
        for side in "LR"
    }
    for _source, share in found.values():
        assert share == pytest.approx(SHARE, abs=1e-3)
    assert auto_weight(mesh, rig) == {"FINISHED"}
    own = weights(mesh, list(found))
    assert (own.sum(axis=0) > 5).all(), dict(zip(found, own.sum(axis=0), strict=True))


def test_added_twist_bones_take_the_same_share_again():
    """Weighted again, the bones of Add Twist Bones have the part of their limbs' weights that they
    had when added. The weights of the limbs change, because the rig poses them now."""
    rig, mesh = human()
    for bone in rig.data.bones:
        if bone.name.startswith(("first", "second")):
            bone.use_deform = False
    assert auto_weight(mesh, rig) == {"FINISHED"}
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.araplbs_add_twist_bones(only_helpful=False)
    added = [bone.name for bone in rig.data.bones if "twist" in bone.name]
    limbs = [rig.data.bones[name].parent.name for name in added]

    def parts():
        own, rest = weights(mesh, added), weights(mesh, limbs)
        return own, own + rest

    (own, whole), _done = parts(), auto_weight(mesh, rig)
    again, whole_again = parts()
    some = np.minimum(whole, whole_again) > 0.1
    assert len(added) == 4 and (np.count_nonzero(some & (again > 0.1), axis=0) > 10).all()
    np.testing.assert_allclose(own[some] / whole[some], again[some] / whole_again[some], atol=1e-3)
