"""Tests which bone owns each vertex of the skin, and how far bones may take skin, against explicit
sums over all bones and faces (csrc/springs/owners.c, inside.c, spread.c)."""

import araplbs
import generated
import numpy as np
import pytest
import shapes
from test_spring_bones import bone_of, distances, moved, nearest_point, springs

CAP, OUTSIDE = 1.25, 2.0  # csrc/springs/owners.c
REACH, SHARE = 2.5, 1 / 3  # csrc/springs/spread.c


def crossings(start, end, corners):
    """Sorted [(position, leaves)] of the segment with outward triangles (f, 3, 3)."""
    way, (a, b, c) = end - start, np.moveaxis(corners, 1, 0)
    normal = np.cross(b - a, c - a)
    speed = normal @ way
    with np.errstate(divide="ignore", invalid="ignore"):
        at = np.einsum("fk,fk->f", normal, a - start) / speed
        p = start + at[:, None] * way
        inside = np.ones(len(corners), bool)
        for one, two in ((a, b), (b, c), (c, a)):
            inside &= np.einsum("fk,fk->f", np.cross(two - one, p - one), normal) >= 0
    met = inside & (at > 1e-9) & (at < 1 - 1e-9)
    return sorted(zip(at[met], speed[met] > 0, strict=True))


def outside_share(mesh, normals, i, point):
    vertices, triangles = mesh
    others = triangles[(triangles != i).all(1)]
    depth, left, share = int((point - vertices[i]) @ normals[i] <= 0), 0.0, 0.0
    for at, leaves in crossings(vertices[i], point, vertices[others]):
        if leaves:
            if depth == 1:
                left = at
            depth = max(0, depth - 1)
        else:
            if depth == 0:
                share += at - left
            depth += 1
    return share


def expected_owners(mesh, bones, area):
    """(n,) for a mesh that is one part, around all bones."""
    vertices, count = mesh[0], len(bones.heads)
    points = np.array([[nearest_point(bones, b, p) for b in range(count)] for p in vertices])
    distance = np.linalg.norm(points - vertices[:, None], axis=2)
    near, radius = distance.argmin(1), np.empty(count)
    for b in range(count):
        along = bones.tails[b] - bones.heads[b]
        place = (vertices - bones.heads[b]) @ along / (along @ along)
        middle = (near == b) & (place > 0.25) & (place < 0.75)
        radius[b] = (area * distance[:, b])[middle].sum() / area[middle].sum()
    normals = generated.normals(*mesh)
    share = [
        [outside_share(mesh, normals, i, points[i, b]) for b in range(count)]
        for i in range(len(vertices))
    ]
    way = distance * (1 + OUTSIDE * np.array(share))
    return (way * np.maximum(1, way / (CAP * radius))).argmin(1)


def joined(one, other):
    """Two tubes in one part: a bridge of two faces leads from rim to rim."""
    vertices, triangles = shapes.join(one, other)
    n = len(one[0])
    top = vertices[:, 2].max()
    rim = np.flatnonzero(vertices[:n, 2] == top)
    a, b = rim[np.argsort(-vertices[rim, 0])[:2]]
    rim = n + np.flatnonzero(vertices[n:, 2] == top)
    c, d = rim[np.argsort(vertices[rim, 0])[:2]]
    bridge = np.array([[a, b, c], [b, d, c]], triangles.dtype)
    return vertices, np.concatenate([triangles, bridge])


def body_and_arm(gap=0.04, around=16):
    """A thick body of two bones and a thin arm beside it, in one part. The skin of the flank is
    nearer to the bone of the arm. Returns mesh, bones and whether each vertex is of the body."""
    beside = 0.2 + gap + 0.05
    body = shapes.tube(around, 25, 0.2, caps=False)
    arm = moved(shapes.tube(around // 2, 25, 0.05), by=[beside, 0, 0])
    heads = np.array([[0, 0, 0], [0, 0, 1], [beside, 0, 2.0]])
    tails = np.array([[0, 0, 1], [0, 0, 2], [beside, 0, 0.0]])
    bones = shapes.Bones(heads, tails, np.array([-1, 0, 1]))
    mesh = joined(body, arm)
    return mesh, bones, np.arange(len(mesh[0])) < len(body[0])


def test_the_flank_does_not_belong_to_the_arm():
    mesh, bones, of_body = body_and_arm()
    nearest = distances(bones, mesh[0]).argmin(1)
    assert (nearest[of_body] == 2).sum() > 20
    bone = bone_of(springs(mesh, bones))
    assert not (bone[of_body] == 2).any()
    assert (bone[~of_body] == 2).all()


def test_the_raised_arm_leaves_the_flank():
    mesh, bones, of_body = body_and_arm(around=24)
    weights = np.asarray(shapes.solved(shapes.solver(mesh, bones, pose_count=40)).weights)
    low = of_body & (mesh[0][:, 2] < 1.2)
    assert weights[low, 2].max() < 0.02


@pytest.mark.parametrize("gap", [0.02, 0.1])
def test_owners_by_the_formula(gap, rng):
    mesh, bones, _ = body_and_arm(gap, around=12)
    mesh = mesh[0] + rng.uniform(-0.004, 0.004, mesh[0].shape), mesh[1]
    inside = springs(mesh, bones)
    np.testing.assert_array_equal(bone_of(inside), expected_owners(mesh, bones, inside["area"]))


def owners_of(mesh, bones, **more):
    return araplbs.skin_owners(*mesh, bones.heads, bones.tails, bones.parents, **more)


def test_the_function_returns_the_owners_of_the_springs(rng):
    """In any units, for coincident vertices, and with indices of all bones."""
    mesh, bones, of_body = body_and_arm()
    mesh = mesh[0] + rng.uniform(-0.004, 0.004, mesh[0].shape), mesh[1]
    expected = bone_of(springs(mesh, bones))
    found = owners_of(mesh, bones)
    assert found.dtype == np.int32 and found.shape == expected.shape
    np.testing.assert_array_equal(found, expected)
    split = mesh[0][mesh[1].ravel()] * 1e3 - 70, np.arange(mesh[1].size).reshape(-1, 3)
    far = shapes.Bones(bones.heads * 1e3 - 70, bones.tails * 1e3 - 70, bones.parents)
    np.testing.assert_array_equal(owners_of(split, far), expected[mesh[1].ravel()])
    without = owners_of(mesh, bones, bone_deform=np.array([True, False, True]))
    assert set(without.tolist()) == {0, 2} and (without[~of_body] == 2).all()


def test_owners_of_vertices_without_faces():
    """Loose vertices and wires have owners, too."""
    bones = shapes.chain(2)
    points = np.array([[0, 0, 0.2], [0, 0.1, 1.8], [0, 0, 5.0]])
    assert owners_of((points, None), bones).tolist() == [0, 1, 1]
    with pytest.raises(araplbs.InputError, match="deform"):
        owners_of((points, None), bones, bone_deform=np.zeros(2, bool))
    with pytest.raises(ValueError, match="bone_parents has shape"):
        araplbs.skin_owners(points, None, bones.heads, bones.tails, bones.parents[:1])


def test_the_root_of_a_thin_limb_does_not_own_the_body():
    """The head of the arm is in the body, near the skin of its side."""
    body = shapes.tube(24, 31, 0.4)
    arm, turn = shapes.tube(12, 21, 0.08, 1.2), shapes.rotation([0, 1, 0], np.pi / 2)
    arm = (arm[0] @ turn.T + [0.41, 0, 1.2], arm[1])
    vertices, triangles = shapes.join(body, arm)
    n = len(body[0])
    inner = n + np.flatnonzero(vertices[n:, 0] < 0.42)
    outer = np.argsort(np.linalg.norm(vertices[:n] - [0.4, 0, 1.2], axis=1))[:2]
    triangles = np.concatenate([triangles, [[outer[0], outer[1], inner[0]]]])
    heads = np.array([[0, 0, 0], [0, 0, 1.0], [0.25, 0, 1.2]])
    tails = np.array([[0, 0, 1], [0, 0, 2.0], [1.6, 0, 1.2]])
    bones = shapes.Bones(heads, tails, np.array([-1, 0, 1]))
    bone = bone_of(springs((vertices, triangles), bones))
    side = np.abs(vertices[:n] - [0.4, 0, 1.2]).max(1) < 0.3
    nearest = distances(bones, vertices[:n][side]).argmin(1)
    assert (nearest == 2).sum() > 0.25 * side.sum()  # by distance alone
    assert (bone[:n][side] == 2).sum() < (nearest == 2).sum() / 4


@pytest.mark.parametrize("change", ["inside out", "order", "moved", "threads"])
def test_owners_do_not_depend_on(change, rng):
    mesh, bones, _ = body_and_arm()
    mesh = mesh[0] + rng.uniform(-0.004, 0.004, mesh[0].shape), mesh[1]  # no ties
    expected = bone_of(springs(mesh, bones))
    if change == "inside out":
        found = bone_of(springs((mesh[0], mesh[1][:, ::-1]), bones))
    elif change == "order":
        order = rng.permutation(len(mesh[0]))
        triangles = np.argsort(order)[rng.permutation(mesh[1])]
        found = np.empty(len(order), int)
        found[order] = bone_of(springs((mesh[0][order], triangles), bones))
    elif change == "moved":
        matrix, offset = 300 * shapes.rotation([1, 2, -1], 1.1), np.array([70.0, 0, -900])
        found = bone_of(
            springs((mesh[0] @ matrix.T + offset, mesh[1]), bones.moved(matrix, offset))
        )
    else:
        found = bone_of(springs(mesh, bones, threads=5))
    np.testing.assert_array_equal(found, expected)


def test_finer_faces_have_the_same_owners():
    coarse, bones, _ = body_and_arm(around=12)
    fine, _, _ = body_and_arm(around=36)
    near = np.linalg.norm(coarse[0][:, None] - fine[0], axis=2).argmin(1)
    same = bone_of(springs(coarse, bones)) == bone_of(springs(fine, bones))[near]
    assert same.mean() > 0.97


def test_a_garment_is_inside_itself():
    """The air between a sleeve and the arm is not outside, and neither is the skin below a coat."""
    arm, sleeve = shapes.tube(12, 25, 0.1, caps=True), shapes.tube(12, 25, 0.16)
    bones = shapes.chain(2)
    bone = bone_of(springs(shapes.join(arm, sleeve), bones))
    vertices = np.concatenate([arm[0], sleeve[0]])
    np.testing.assert_array_equal(bone, vertices[:, 2] > 1 + 1e-9)


def test_a_bone_does_not_spread_beyond_its_limb():
    """Adopted influences end at the stated distance."""
    mesh, bones, _ = body_and_arm(around=24)
    solver = shapes.solver(mesh, bones, pose_count=40, coarsen=0, max_influences=0)
    inside = solver._inside
    area, diagonal = inside["area"], inside["diagonal"]
    start, bone = inside["spring_start"], inside["spring_bone"]
    point = inside["spring_point"] * diagonal + (mesh[0].min(0) + mesh[0].max(0)) / 2
    own = np.linalg.norm(point - mesh[0], axis=1)
    assert (np.diff(start) == 1).all()
    reach = np.empty(3)
    for b in range(3):
        at = bone == b
        mean = (area * own)[at].sum() / area[at].sum()
        reach[b] = max(mean, SHARE * np.linalg.norm(bones.tails[b] - bones.heads[b]))
    limit = REACH * reach * np.maximum(1, own / reach[bone])[:, None]
    distance = distances(bones, mesh[0])
    weights = np.asarray(shapes.solved(solver).weights)
    far = distance > limit * (1 + 1e-9)
    assert far.any()
    assert not weights[far].any()


def test_the_user_may_allow_a_bone_beyond_its_reach():
    mesh, bones, of_body = body_and_arm(around=24)
    low = np.flatnonzero(of_body)[:1]
    influences = low, np.array([2]), np.array([True])
    constraints = low, np.array([2]), np.array([0.5])
    edits = {"influences": influences, "constraints": constraints}
    assert shapes.solve(mesh, bones, pose_count=10, coarsen=0, **edits).weights[low, 2] > 0.3
