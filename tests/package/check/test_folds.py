"""A collapse is worst where a limb loses its girth, and skin counts as below cloth only if it
clearly is."""

import numpy as np
import pytest
import shapes

BONES = [((0, 0, 0), (0, 0, 1), -1), ((0, 0, 1), (0, 0, 2), 0)]


def turned(axis, degrees):
    """Transforms of both bones, (1, 2, 3, 4): the second rotates about the joint."""
    angle, (x, y, z) = np.radians(degrees), axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]], float)
    turn = np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
    joint = np.array([0.0, 0, 1])
    moved = np.column_stack([turn, joint - turn @ joint])
    return np.stack([np.eye(3, 4), moved])[None]


def checked(core, meshes, weights, transforms):
    """[Finding] of meshes [(vertices, triangles)] with these weights (n, 2) in these poses."""
    own, skeletons = core("character.problem"), core("skeleton.skeleton")
    heads, tails, parents = zip(*BONES, strict=True)
    skeleton = skeletons.Skeleton.from_joints(heads, parents, tails=tails, names=["lower", "upper"])
    problem = own.Problem(
        [own.Mesh(f"mesh {k}", *mesh, np.zeros((0, 2), int), np.eye(4))
         for k, mesh in enumerate(meshes)],
        skeleton, symmetric=False,
    )  # fmt: skip
    rows = core("model.sparse_weights").sparse_of(weights)
    poses = core("skeleton.poses").Poses(np.asarray(transforms, float), None)
    return core("features.check.check").check(
        problem, rows, poses, core("model.options").Options(symmetric=False)
    )


def blended(vertices, width=0.6):
    upper = np.clip((vertices[:, 2] - 1) / width + 0.5, 0, 1)
    return np.column_stack([1 - upper, upper])


def worst(found, kind):
    return max((each.severity for each in found if each.kind == kind), default=0)


@pytest.mark.parametrize("flipped", [False, True])
def test_a_bend_folds_on_one_side_and_a_twist_all_around(core, flipped):
    vertices, triangles = shapes.tube(24, 81, 0.3)
    if flipped:
        triangles = triangles[:, ::-1]
    mesh, weights = (vertices, triangles), blended(vertices)
    bent = checked(core, [mesh], weights, turned((1, 0, 0), 90))
    twisted = checked(core, [mesh], blended(vertices, 0.4), turned((0, 0, 1), 175))
    (fold,) = [each for each in bent if each.kind == "COLLAPSE"]
    assert 0.33 <= fold.severity <= 0.6 and fold.value > 0.92, "visible, and not ruined"
    assert (vertices[fold.vertices, 1] < 0.1).all(), "on one side"
    assert worst(twisted, "COLLAPSE") >= 0.66, "ruined"


def test_a_single_pose_of_many_is_enough(core):
    """Only the worst pose counts, regardless of the others."""
    mesh = vertices, _triangles = shapes.tube(24, 81, 0.3)
    weights, twist = blended(vertices, 0.4), turned((0, 0, 1), 175)
    poses = np.concatenate([*[turned((0, 0, 1), 0)] * 11, twist])
    alone, among = (checked(core, [mesh], weights, each) for each in (twist, poses))
    assert worst(among, "COLLAPSE") == worst(alone, "COLLAPSE") >= 0.66
    assert [each.pose for each in among if each.kind == "COLLAPSE"] == [11]


@pytest.mark.parametrize("depth", [5e-5, -5e-5, 0.0])
def test_copies_of_a_surface_are_no_clothes(core, depth):
    """Other levels of detail, or a second glove for the same hand: only rounding determines which
    one is below."""
    vertices, triangles = shapes.tube(16, 41, 0.3)
    copy = vertices * (1 + depth, 1 + depth, 1)
    rigid = np.column_stack([np.ones(len(vertices)), np.zeros(len(vertices))])
    weights = np.concatenate([blended(vertices), rigid])
    meshes = [(vertices, triangles), (copy, triangles)]
    assert not worst(checked(core, meshes, weights, turned((1, 0, 0), 60)), "INTERSECTION")


def test_clothes_that_are_clearly_above(core):
    vertices, triangles = shapes.tube(16, 41, 0.3)
    rigid = np.column_stack([np.ones(len(vertices)), np.zeros(len(vertices))])
    weights = np.concatenate([blended(vertices), rigid])
    meshes = [(vertices, triangles), (vertices * (1.02, 1.02, 1), triangles)]
    assert worst(checked(core, meshes, weights, turned((1, 0, 0), 60)), "INTERSECTION") >= 0.66


def test_folds_on_opposite_sides_in_different_poses(core):
    """A limb that bends both ways folds all around over the poses, but in no pose loses its
    girth."""
    mesh = vertices, _triangles = shapes.tube(24, 81, 0.3)
    weights = blended(vertices)
    ways = [turned((x, y, 0), 90) for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1))]
    bends = np.concatenate(ways)
    alone, both = (checked(core, [mesh], weights, each) for each in (ways[0], bends))
    assert 0.33 <= worst(alone, "COLLAPSE") <= worst(both, "COLLAPSE") <= 0.6
    twist = np.concatenate([bends, turned((0, 0, 1), 175)])
    assert worst(checked(core, [mesh], blended(vertices, 0.4), twist), "COLLAPSE") >= 0.66


@pytest.mark.parametrize("sunk", [True, False])
def test_a_ball_in_its_socket_is_not_skin_below_cloth(core, sunk):
    """If a ball is partly visible at rest, only more of it becomes visible when it moves, unless it
    leaves its socket. A patch of skin that is covered at rest becomes visible."""
    vertices, triangles = shapes.tube(48, 81, 0.3)
    ball, faces = shapes.sphere(24, 24, radius=0.12 if sunk else 0.09, at=(0.2, 0, 1))
    rigid = np.column_stack([np.ones(len(vertices)), np.zeros(len(vertices))])
    weights = np.concatenate([rigid, np.tile([0.0, 1], (len(ball), 1))])
    moved = np.stack([np.eye(3, 4), np.eye(3, 4)])[None]
    moved[0, 1, 0, 3] = 0.035
    parts = [(vertices, triangles), (ball, faces)]
    severity = worst(checked(core, parts, weights, moved), "INTERSECTION")
    assert severity == pytest.approx(0.6) if sunk else severity >= 0.66
    moved[0, 1, 0, 3] = 0.4
    assert worst(checked(core, parts, weights, moved), "INTERSECTION") >= 0.66
