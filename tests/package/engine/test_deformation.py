"""Compares surface strain, limb drift and volume change with sums written out in NumPy and, if
available, with the yardstick of $ARAPLBS_DATA."""

import importlib.util

import araplbs
import numpy as np
import pytest
import reference
import shapes
from paths import DATA, SHARED, shared_file
from refusals import BONES, MESH, NAN, POSES, WEIGHTS, N, changed, refuse, row, table
from shared_data import load

NAMES = ("area", "face", "p99", "drift", "worst_drift", "volume")


def strain_of(rest, posed):
    """Strain of one triangle, (3, 3) corners, by the singular values of its map in its plane."""
    edges = np.stack([rest[1] - rest[0], rest[2] - rest[0]], 1)
    plane, triangular = np.linalg.qr(edges)
    assert plane.shape == (3, 2)
    moved = np.stack([posed[1] - posed[0], posed[2] - posed[0]], 1)
    values = np.linalg.svd(moved @ np.linalg.inv(triangular), compute_uv=False)
    return np.sqrt(np.sum((values - 1) ** 2))


def strains_of(vertices, triangles, posed):
    """(t,) root mean square over poses (p, n, 3)."""
    each = [[strain_of(vertices[t], points[t]) for t in triangles] for points in posed]
    return np.sqrt(np.mean(np.square(each), 0))


def area_of(vertices, triangles):
    a, b, c = vertices[triangles].transpose(1, 0, 2)
    return np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2


def volume_of(points, triangles):
    return sum(np.linalg.det(points[t]) for t in triangles) / 6


@pytest.fixture
def arm(rng):
    """A closed tube around three bones in a row, its weights and some poses."""
    vertices, triangles = shapes.tube(8, 25, radius=0.2, caps=True)
    bones = shapes.chain(3)
    weights = rng.random((len(vertices), 3)) ** 4
    return vertices, triangles, bones, weights, araplbs.sample_poses(*bones, 5)


def normalized(weights):
    return weights / weights.sum(1, keepdims=True)


def test_strain_against_singular_values(rng):
    vertices, triangles = shapes.tube(5, 4)
    posed = vertices + rng.normal(0, 0.2, (3, *vertices.shape))
    each = araplbs.surface_strain(vertices, triangles, posed)
    np.testing.assert_allclose(each, strains_of(vertices, triangles, posed), rtol=1e-9)
    one = araplbs.surface_strain(vertices, triangles, posed[1])
    np.testing.assert_allclose(one, strains_of(vertices, triangles, posed[1:2]), rtol=1e-9)


def test_strain_is_known_where_the_stretch_is():
    vertices, triangles = shapes.tube(6, 4)
    for stretch, expected in ((1.0, 0.0), (1.3, 0.3 * np.sqrt(2)), (0.5, 0.5 * np.sqrt(2))):
        each = araplbs.surface_strain(vertices, triangles, stretch * vertices)
        np.testing.assert_allclose(each, expected, atol=1e-7)
    flat = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    assert araplbs.surface_strain(flat, [[0, 1, 2]], flat * [1.2, 1, 1]) == pytest.approx(0.2)
    assert araplbs.surface_strain(flat, [[0, 1, 2]], flat * 0) == pytest.approx(np.sqrt(2))
    assert araplbs.surface_strain(flat, [[0, 1, 2]], -flat) == pytest.approx(0)


def test_triangles_that_say_nothing_are_left_out(rng):
    vertices = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.5, 0.9e-4, 0], [0.5, 1.1e-4, 0]])
    triangles = [[0, 1, 2], [0, 1, 3], [0, 1, 4], [0, 1, 1], [2, 2, 2]]
    posed = vertices + rng.normal(0, 0.1, vertices.shape)
    each = araplbs.surface_strain(vertices, triangles, posed)
    assert (each > 0).tolist() == [True, False, True, False, False]
    found = araplbs.deformation(vertices, triangles, np.ones((5, 1)), POSES[:, :1])
    assert found["area"] == pytest.approx(0, abs=1e-12)
    nothing = araplbs.deformation(vertices, [[0, 1, 1]], np.ones((5, 1)), POSES[:, :1])
    assert all(np.isnan(nothing[name]) for name in NAMES)
    assert not len(araplbs.surface_strain(vertices, None, posed))


def test_all_measures_against_numpy(arm):
    vertices, triangles, bones, weights, poses = arm
    found = araplbs.deformation(
        vertices, triangles, weights, poses, bones.heads, bones.tails,
        per_triangle=True, per_vertex=True,
    )  # fmt: skip
    posed = reference.posed(vertices, normalized(weights), poses)
    strain, area = strains_of(vertices, triangles, posed), area_of(vertices, triangles)
    np.testing.assert_allclose(found["triangle_strain"], strain, rtol=1e-8)
    assert found["area"] == pytest.approx(np.sqrt(strain**2 @ area / area.sum()))
    assert found["face"] == pytest.approx(np.sqrt(np.mean(strain**2)))
    assert found["p99"] == pytest.approx(np.percentile(strain, 99))
    at = [np.flatnonzero((triangles == i).any(1)) for i in range(len(vertices))]
    around = [np.sqrt(strain[t] ** 2 @ area[t] / area[t].sum()) for t in at]
    np.testing.assert_allclose(found["vertex_strain"], around, rtol=1e-8)
    rest = volume_of(vertices, triangles)
    volumes = [volume_of(points, triangles) / rest - 1 for points in posed]
    assert found["volume"] == pytest.approx(np.mean(volumes))
    assert (found["closed_parts"], found["limbs"], found["poses"]) == (1, 3, 5)

    drift = []
    for b, (head, tail) in enumerate(zip(bones.heads, bones.tails, strict=True)):
        length = np.linalg.norm(tail - head)
        along = (vertices - head) @ (tail - head) / length**2
        middle = (along > 0.3) & (along < 0.7)
        radius = np.linalg.norm(vertices[middle, :2], axis=1).mean()
        center = [*vertices[middle].mean(0), 1]
        apart = posed[:, middle].mean(1) - poses[:, b] @ center
        drift.append(np.sqrt(np.mean(np.sum(apart**2, 1))) / radius)
    np.testing.assert_allclose(found["bone_drift"], drift, rtol=1e-9)
    assert found["drift"] == pytest.approx(np.mean(drift))
    assert found["worst_drift"] == pytest.approx(np.max(drift))


def test_what_no_limb_encloses_has_no_drift(arm):
    vertices, triangles, bones, weights, poses = arm
    heads, tails = np.array(bones.heads), np.array(bones.tails)
    first = {"bone_deform": [True, False, True]}
    found = araplbs.deformation(vertices, triangles, weights, poses, heads, tails, **first)
    assert np.isnan(found["bone_drift"]).tolist() == [False, True, False]
    beside = [0.15, 0, 0]  # more than half of the radius off the middle
    found = araplbs.deformation(vertices, triangles, weights, poses, heads + beside, tails + beside)
    assert found["limbs"] == 0
    assert np.isnan([found["drift"], found["worst_drift"], *found["bone_drift"]]).all()
    found = araplbs.deformation(vertices, triangles, weights, poses)
    assert found["limbs"] == 0
    assert len(found["bone_drift"]) == 0
    assert np.isfinite([found["area"], found["volume"]]).all()


def test_volume_is_that_of_closed_parts():
    vertices, triangles = shapes.sphere()
    n = len(vertices)
    both = np.vstack([vertices, 0.5 * vertices + [5, 0, 0]])
    faces = np.vstack([triangles, triangles[:, ::-1] + n])  # the second one inside out
    weights = np.repeat(np.eye(2), n, 0)
    poses = np.tile(np.eye(3, 4), (1, 2, 1, 1))
    poses[0, 1, :, :3] *= 2
    rest = abs(volume_of(vertices, triangles))

    def change(triangles):
        found = araplbs.deformation(both, triangles, weights, poses)
        return found["closed_parts"], found["volume"]

    assert change(faces) == (2, pytest.approx(rest / 8 * 7 / (rest * 9 / 8)))
    assert change(faces[len(triangles) :]) == (1, pytest.approx(7))
    assert change(faces[1:]) == (1, pytest.approx(7))  # the first one has a hole
    assert change(np.vstack([faces, faces[:1]]))[0] == 1  # or a face twice
    turned = faces.copy()
    turned[0] = turned[0, ::-1]
    assert change(turned) == (1, pytest.approx(7))
    assert change(faces[1:-1])[0] == 0
    assert np.isnan(change(faces[1:-1])[1])


def test_unweighted_vertices_stay(arm):
    vertices, triangles, bones, weights, poses = arm
    poses = poses + np.array([0, 0, 0, 2.0])
    weights[:10] = 0
    posed = reference.posed(vertices, normalized(np.where(weights, weights, 1e-300)), poses)
    posed[:, :10] = vertices[:10]
    expected = np.percentile(strains_of(vertices, triangles, posed), 99)
    found = araplbs.deformation(vertices, triangles, weights, poses, bones.heads, bones.tails)
    assert found["p99"] == pytest.approx(expected)


def same(one, other, **tolerance):
    assert one.keys() == other.keys()
    for name in one:
        np.testing.assert_allclose(one[name], other[name], **tolerance)


def test_poses_may_come_one_by_one_and_posed_otherwise(arm):
    vertices, triangles, bones, weights, poses = arm
    whole = araplbs.deformation(
        vertices, triangles, weights, poses, bones.heads, bones.tails, per_triangle=True
    )
    mixed = araplbs.Deformation(vertices, triangles, bones.heads, bones.tails)
    mixed.skin(weights, poses[:2])
    mixed.skin(weights, poses[2:3])
    mixed.add(reference.posed(vertices, normalized(weights), poses[3:]), poses[3:])
    same(mixed.measures(per_triangle=True), whole, rtol=1e-9)
    mixed.clear()
    refuse(ValueError, "there are no poses", mixed.measures)
    mixed.skin(weights, poses)
    same(mixed.measures(per_triangle=True), whole, rtol=1e-12)
    alone = araplbs.Deformation(vertices, triangles)
    alone.add(reference.posed(vertices, normalized(weights), poses))
    assert alone.measures()["area"] == pytest.approx(whole["area"])


def test_scene_and_rows_change_nothing(arm):
    vertices, triangles, bones, weights, poses = arm
    weights = weights * (weights > 0.01)
    weights[:, 0] += weights.sum(1) == 0
    whole = araplbs.deformation(vertices, triangles, weights, poses, bones.heads, bones.tails)
    rows = (
        np.concatenate([[0], np.cumsum((weights > 0).sum(1))]),
        np.nonzero(weights)[1],
        7 * weights[weights > 0],
    )
    again = araplbs.deformation(vertices, triangles, rows, poses, bones.heads, bones.tails)
    same(again, whole, rtol=1e-9)
    scale, shift = 1e-3, np.array([3.0, -2, 1])
    moved = poses.copy()
    moved[..., 3] = scale * poses[..., 3] + shift - poses[..., :3] @ shift
    again = araplbs.deformation(
        scale * vertices + shift, triangles, weights, moved,
        scale * bones.heads + shift, scale * bones.tails + shift,
    )  # fmt: skip
    same(again, whole, rtol=1e-7)


class Bent:
    """The arm with a middle bone of 4 segments, or one that bends: the positions to which each bone
    moves points."""

    def __init__(self, kind, bones, poses, rng):
        self.kind, self.bones, self.poses = kind, bones, poses
        self.bends = np.tile([0.0, 0, 0, 1], (len(poses), 3, 1))
        self.bends[:, 1] = [0, 0, 0.9, 1.2] if kind == "stb" else [0.3, -0.2, 0.9, 1.2]
        self.joints = np.eye(3, 4) + rng.normal(0, 0.2, (len(poses), 5, 3, 4))
        self.more = {"bone_kinds": ["rigid", kind, "rigid"], "bone_segments": [1, 4, 1]}
        bendy = {"segment_poses": self.joints}
        self.given = bendy if kind == "bendy" else {"bends": self.bends}

    def moved(self, pose, bone, u, point):
        """(3,) `point` of parameter u, moved by one bone."""
        affine, at = self.poses[pose, bone], np.array(point)
        if bone == 1 and self.kind == "bendy":
            joint = min(int(4 * u), 3)
            share = 4 * u - joint
            affine = (1 - share) * self.joints[pose, joint] + share * self.joints[pose, joint + 1]
        elif bone == 1:
            ends = self.bones.heads[1], self.bones.tails[1]
            at = reference.spine_point(*ends, self.bends[pose, 1], u, at)
        return affine @ [*at, 1]

    def place(self, points):
        return reference.along_bone(self.bones.heads[1], self.bones.tails[1], points)


@pytest.mark.parametrize("kind", ["bendy", "spine", "stb"])
def test_bones_that_bend(arm, rng, kind):
    vertices, triangles, bones, weights, poses = arm
    poses = poses[:2]
    bent = Bent(kind, bones, poses, rng)
    parameters = np.full((len(vertices), 3), NAN)
    parameters[::3, 1] = 0.25
    u = np.where(np.isnan(parameters[:, 1]), bent.place(vertices), parameters[:, 1])
    posed = np.array(
        [
            [
                sum(w * bent.moved(p, b, u[i], v) for b, w in enumerate(row))
                for i, (v, row) in enumerate(zip(vertices, normalized(weights), strict=True))
            ]
            for p in range(2)
        ]
    )
    found = araplbs.deformation(
        vertices, triangles, weights, poses, bones.heads, bones.tails, **bent.more, **bent.given,
        parameters=parameters, per_triangle=True,
    )  # fmt: skip
    expected = strains_of(vertices, triangles, posed)
    np.testing.assert_allclose(found["triangle_strain"], expected, rtol=1e-7)
    middle = (bent.place(vertices) > 0.3) & (bent.place(vertices) < 0.7)
    center = vertices[middle].mean(0)
    apart = [
        points[middle].mean(0) - bent.moved(p, 1, bent.place(center), center)
        for p, points in enumerate(posed)
    ]
    drift = np.sqrt(np.mean(np.sum(np.square(apart), 1))) / 0.2
    assert found["bone_drift"][1] == pytest.approx(drift, rel=1e-6)
    points = araplbs.Deformation(vertices, triangles, bones.heads, bones.tails, **bent.more)
    points.add(posed, poses, **bent.given)
    same(points.measures(), {k: v for k, v in found.items() if k in points.measures()}, rtol=1e-7)


GOOD = {
    "vertices": MESH[0],
    "triangles": MESH[1],
    "weights": WEIGHTS,
    "poses": POSES,
    "bone_heads": BONES.heads,
    "bone_tails": BONES.tails,
}
KINDS = ["rigid", "bendy", "rigid"]


test_bad_arguments = table(
    araplbs.deformation,
    GOOD,
    row("there are no poses", poses=POSES[:0]),
    row("there are no poses", poses=[], bone_heads=None, bone_tails=None),
    row("there are no bones", bone_heads=[], bone_tails=[], poses=POSES[:, :0]),
    row(r"poses has shape \(2, 2, 3, 4\)", poses=POSES[:, :2]),
    row("weights has shape", weights=WEIGHTS[:, :2]),
    row(
        r"triangles\[3, 2\] is 30, but there are 30",
        triangles=changed(MESH[1], (3, 2), N),
    ),
    row("limb drift needs bone_heads and bone_tails", bone_tails=None, kind=TypeError),
    row("limb drift needs bone_heads and bone_tails", bone_heads=None, kind=TypeError),
    row(
        "bone_deform needs bone_heads and bone_tails",
        bone_heads=None,
        bone_tails=None,
        bone_deform=[1, 1, 1],
        kind=TypeError,
    ),
    row(
        "bone_kinds needs bone_heads and bone_tails",
        bone_heads=None,
        bone_tails=None,
        bone_kinds=KINDS,
        kind=TypeError,
    ),
    row("bone_deform has shape", bone_deform=[1, 1]),
    row("bone_tails has shape", bone_tails=BONES.tails[:2]),
    row(r"bone_kinds\[1\] is 'odd'", bone_kinds=["rigid", "odd", "rigid"]),
    row("bone_segments", bone_kinds=KINDS, bone_segments=[1, 1001, 1]),
    row("bends needs bone_kinds", bends=np.zeros((2, 3, 4)), kind=TypeError),
    row("segment_poses needs bone_kinds", segment_poses=np.zeros((2, 3, 3, 4)), kind=TypeError),
    row(
        r"bends\[0, 0\] has the stretch 0",
        bone_kinds=KINDS,
        bone_segments=[1, 2, 1],
        bends=np.zeros((2, 3, 4)),
    ),
    row(
        r"segment_poses\[1\] of joint 2 contains nan",
        bone_kinds=KINDS,
        bone_segments=[1, 2, 1],
        segment_poses=changed(np.ones((2, 3, 3, 4)), (1, 2, 0, 0), NAN),
    ),
    row(
        r"parameters\[0, 1\] is 2: must be from 0 to 1",
        bone_kinds=KINDS,
        bone_segments=[1, 2, 1],
        parameters=changed(np.zeros((N, 3)), (0, 1), 2.0),
    ),
    row(r"posed\[0, \d+\] is .*inf.*: not finite", poses=1e308 * np.ones_like(POSES)),
)


POSED = MESH[0][None].repeat(2, 0)


POINTS = (
    row("there are no poses", posed=POSED[:0]),
    row("posed has shape", posed=POSED[:, :29]),
    row(r"posed\[1, 7\] is .*nan", posed=changed(POSED, (1, 7, 2), NAN)),
)
test_bad_points = table(
    araplbs.surface_strain, {"vertices": MESH[0], "triangles": MESH[1], "posed": POSED}, *POINTS
)
test_bad_points_of_a_deformation = table(
    araplbs.Deformation(*MESH).add, {"posed": POSED}, *POINTS[:4]
)


@pytest.mark.parametrize("far", [1e30, 1e60, 1e100, 1e150, 1e154, 1e200, 5e307])
@pytest.mark.parametrize("whole", [True, False])
def test_points_far_off_are_measured_or_refused(arm, far, whole):
    """Strain is squared twice, and a volume is a product of three lengths."""
    vertices, triangles, bones, weights, poses = arm
    posed = np.repeat(vertices[None], 5, 0)
    if whole:
        posed[3] *= far
    else:
        posed[3, 7, 1] = far
    seen = araplbs.Deformation(vertices, triangles, bones.heads, bones.tails)
    seen.skin(weights, poses[:2])
    before = seen.measures()
    try:
        seen.add(posed, poses[:5])
        found = seen.measures(per_triangle=True, per_vertex=True)
        assert np.isfinite(found["triangle_strain"]).all()
        assert all(np.isfinite(found[name]) for name in NAMES if not np.isnan(before[name]))
        assert np.isfinite(araplbs.surface_strain(vertices, triangles, posed)).all()
    except ValueError as error:
        assert far >= 1e60
        assert "posed[3, 7] is" in str(error) or whole
        assert "too far away to be measured" in str(error)
        assert str(seen.measures()) == str(before)
        if far >= 1e154:
            with pytest.raises(ValueError, match="too far away"):
                araplbs.surface_strain(vertices, triangles, posed)
    else:
        assert far <= 1e150


def test_what_a_deformation_refuses(arm):
    vertices, triangles, bones, weights, poses = arm
    seen = araplbs.Deformation(vertices, triangles, bones.heads, bones.tails)
    refuse(ValueError, "there are no poses", seen.measures)
    posed = np.repeat(vertices[None], 5, 0)
    refuse(TypeError, "poses must be an array, not None", seen.add, posed=posed)
    refuse(ValueError, "posed has 4 poses, but poses has 5", seen.add, posed=posed[1:], poses=poses)
    seen.skin(weights, poses)
    before = seen.measures(per_triangle=True)
    refuse(
        ValueError, r"posed\[4, 3\] is", seen.add, posed=changed(posed, (4, 3, 0), NAN), poses=poses
    )
    with pytest.raises(araplbs.Cancelled, match="deformation"):
        seen.skin(weights, poses, progress=lambda stage, fraction: False)
    after = seen.measures(per_triangle=True)
    for name, value in before.items():
        np.testing.assert_array_equal(value, after[name])
    refuse(RuntimeError, "created only once", lambda: seen.__init__(vertices, triangles))
    empty = araplbs.Deformation.__new__(araplbs.Deformation)
    refuse(RuntimeError, "the Deformation has not been created", empty.measures)


def test_progress_is_told(arm):
    vertices, triangles, _bones, weights, poses = arm
    told = []
    araplbs.deformation(
        vertices, triangles, weights, poses, progress=lambda *step: told.append(step)
    )
    assert told[-1] == ("deformation", 1.0)


@pytest.mark.parametrize(
    "name", ["cesium_man", "knight", "m2m_horse", "q_robot", "q_wasp", "webxr_hand"]
)
@pytest.mark.slow
def test_equals_the_yardstick(name):
    data = load(DATA, name)
    path = shared_file(SHARED / "tools", "yardstick.py")
    spec = importlib.util.spec_from_file_location("yardstick", path)
    yardstick = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(yardstick)
    deform = data["bone_deform"].astype(bool)
    weights = np.array(data["W"], float) * deform
    poses = {
        "random": yardstick.random_poses(
            data["bone_head"], data["bone_tail"], data["bone_parent"].astype(int)
        )
    }
    if data.get("anim", np.zeros(0)).size:
        frames = np.linspace(0, len(data["anim"]) - 1, 24).astype(int)
        poses["animation"] = data["anim"][np.unique(frames)]

    class Model(dict):
        files = tuple(data)

    judged = yardstick.judge(Model(data), weights)
    assert judged.keys() == poses.keys()
    for kind, some in poses.items():
        found = araplbs.deformation(
            data["V"], data["F"], weights, some, data["bone_head"], data["bone_tail"],
            bone_deform=deform,
        )  # fmt: skip
        for ours, theirs in zip(
            NAMES, ("area", "face", "p99", "drift", "worst", "volume"), strict=True
        ):
            if not np.isnan(judged[kind][theirs]):  # it knows no parts, only closed meshes
                assert found[ours] == pytest.approx(judged[kind][theirs], abs=1e-6), (kind, ours)
