"""Tests symmetric characters: the symmetry map, poses that mirror each other, bit-identical weights
on both sides, and vertices solved without symmetry."""

import re

import araplbs
import numpy as np
import pytest
import shapes

FLIP = np.array([-1.0, 1, 1])
PARTNERS = [0, 1, 4, 5, 2, 3]
PLANE = ((0, 0, 0), (1, 0, 0))


def skeleton():
    """A spine and two arms. The rolls of one arm differ from those of the other."""
    table = [  # head, tail, parent, roll axis
        ((0, 0, 0), (0, 0, 1), -1, (0, 1, 0)),
        ((0, 0, 1), (0, 0, 1.9), 0, (0, 1, 0)),
        ((0.2, 0, 1.5), (0.8, 0.1, 1.5), 1, (0, 0, 1)),
        ((0.8, 0.1, 1.5), (1.5, 0, 1.4), 2, (0, 0.3, 1)),
        ((-0.2, 0, 1.5), (-0.8, 0.1, 1.5), 1, (0, -1, 0.2)),
        ((-0.8, 0.1, 1.5), (-1.5, 0, 1.4), 4, (0, 1, 1)),
    ]
    heads, tails, parents, roll_axes = (np.array(c, float) for c in zip(*table, strict=True))
    return shapes.Bones(heads, tails, parents.astype(int), roll_axes=roll_axes)


BONES = skeleton()


def body(around=16, along=25):
    """A trunk from which the arms are extruded, in one piece. Returns a mesh and its symmetry
    map."""
    vertices, triangles = shapes.tube(around, along, 0.25, 2.0, caps=True)
    sideways = np.abs(vertices[:, 0]) / 0.25
    at_arms = np.exp(-(((vertices[:, 2] - 1.5) / 0.12) ** 2))
    vertices = vertices * (1 + 5 * (at_arms * sideways**4)[:, None] * [1, 0, 0])
    return (vertices, triangles), expected_map(vertices)


def expected_map(vertices):
    """The vertex nearest to the image of each vertex, computed by the test itself, by brute
    force."""
    return np.linalg.norm(vertices[:, None] * FLIP - vertices[None], axis=2).argmin(1)


def make(mesh, bones=BONES, partners=PARTNERS, plane=PLANE, **settings):
    settings = {"symmetry": (partners, *plane), "pose_count": 20, **settings}
    return shapes.solver(mesh, bones, **settings)


def solved(mesh, bones=BONES, **settings):
    return shapes.solved(make(mesh, bones, **settings))


def asymmetry(weights, partner, partners=PARTNERS):
    """Largest |w(i, b) - w(i', b')| over the vertices with a partner."""
    i = np.flatnonzero(partner >= 0)
    return np.abs(weights[i] - weights[partner[i]][:, partners]).max()


def found(solver):
    """The symmetry map of the caller's vertices if nothing is welded."""
    return solver._inside["symmetry_vertex"]


def test_map_of_a_symmetric_mesh():
    mesh, partner = body()
    solver = make(mesh)
    assert (partner == np.arange(len(partner))).sum() > 10
    np.testing.assert_array_equal(found(solver), partner)
    assert solver.report["symmetric_vertices"] == len(partner)
    assert solver.report["symmetric_bones"] == 6


def test_map_in_any_order_and_place(rng):
    (vertices, triangles), _ = body()
    order = rng.permutation(len(vertices))
    vertices, triangles = vertices[order], np.argsort(order)[triangles]
    turn, offset = 30 * shapes.rotation([1, 2, 3], 0.7), np.array([5.0, -2, 9])
    bones = BONES.moved(turn, offset)
    plane = (offset + turn @ [0, 0.3, 0.8], 4 * turn @ [-1, 0, 0])
    solver = solved((vertices @ turn.T + offset, triangles), bones, plane=plane)
    np.testing.assert_array_equal(found(solver), expected_map(vertices))
    assert asymmetry(solver.weights, found(solver)) == 0


def test_map_of_a_mesh_with_noise(rng):
    (vertices, triangles), partner = body()
    noisy = vertices + rng.uniform(-0.006, 0.006, vertices.shape)
    solver = solved((noisy, triangles))
    np.testing.assert_array_equal(found(solver), partner)
    assert asymmetry(solver.weights, partner) == 0


def test_map_grows_where_the_halves_differ():
    """One side is dented by more than a quarter of the edges, so positions alone do not pair it."""
    (vertices, triangles), partner = body()
    dented = vertices.copy()
    side = np.flatnonzero((vertices[:, 0] > 0.05) & (np.abs(vertices[:, 2] - 0.5) < 0.2))
    dented[side, 2] += 0.04 * np.cos((vertices[side, 2] - 0.5) * np.pi / 0.5)
    mean_edge = 0.103  # of the trunk
    offsets = np.linalg.norm(dented[partner] * FLIP - dented, axis=1)
    assert 0.3 * mean_edge < offsets.max() < 0.5 * mean_edge
    solver = solved((dented, triangles))
    np.testing.assert_array_equal(found(solver), partner)


def test_more_bones_than_a_word_has_bits():
    """Rows are combined as sets of bits, and bones of the other side are in another word."""
    mesh, partner = body()
    heads = np.array([(x, 0, 0.05 * k) for x in (0.1, -0.1) for k in range(36)])
    parents = np.array([k - 1 if k % 36 else -1 for k in range(72)])
    tails = heads + np.array([0, 0, 0.05])
    bones = shapes.Bones(heads, tails, parents, roll_axes=np.tile([0, 1, 0.0], (72, 1)))
    other = (np.arange(72) + 36) % 72
    few = {"max_influences": 0, "pose_count": 6, "heat_floor": 0.02}
    one, many = (solved(mesh, bones, partners=other, threads=t, **few) for t in (1, 4))
    assert asymmetry(one.weights, partner, other) == 0
    assert one.report["symmetric_vertices"] == len(partner)
    assert (one.weights[:, :36] > 0).any(0).sum() > 30
    np.testing.assert_array_equal(one.weights, many.weights)


def test_faces_that_are_cut_the_other_way():
    """A half and its image, each quad of which is split along the same diagonal as in the half."""
    (vertices, triangles), partner = body()
    assert {tuple(sorted(t)) for t in partner[triangles]} != {tuple(sorted(t)) for t in triangles}
    np.testing.assert_array_equal(found(make((vertices, triangles))), partner)


def test_details_of_all_sizes():
    """Beads with thousands of vertices within reach of one of the body, and a frame whose corners
    are far from their images, beyond the usual search distance."""
    beads = [shapes.sphere(24, 48, 0.002, (x, -0.4, 0.8)) for x in (-0.3, 0.3)]
    beads[1] = beads[0][0] * FLIP, beads[0][1][:, ::-1]
    frame, faces = shapes.box((4, 4, 4), (0, 0, 1))
    frame = frame + [0.3, 0, 0] * (frame > 1).all(axis=1)[:, None]
    mesh = shapes.join(body()[0], *beads, (frame, faces))
    partner = found(make(mesh))
    np.testing.assert_array_equal(partner, expected_map(mesh[0]))
    assert np.linalg.norm(mesh[0] * FLIP - mesh[0][partner], axis=1).max() > 0.2


def test_decoration_of_one_side_is_free():
    mesh, _ = body()
    n = len(mesh[0])
    mesh = shapes.join(mesh, shapes.sphere(5, 8, 0.06, (0.2, -0.2, 0.8)))
    solver = solved(mesh)
    partner = found(solver)
    assert (partner[n:] < 0).all()
    assert (partner[:n] >= 0).all()
    assert solver.report["symmetric_vertices"] == n
    assert asymmetry(solver.weights, partner) == 0


def test_faces_that_do_not_match_are_free():
    """Cuffs with other faces, in one piece with the body: a vertex that is near by chance is not a
    partner."""
    (vertices, triangles), _ = body()
    n, bridges = len(vertices), []
    cuffs = [
        (tube[0] @ shapes.rotation([0, 1, 0], side * np.pi / 2).T + [side * 0.5, 0, 1.5], tube[1])
        for side, tube in ((1, shapes.tube(11, 7, 0.3, 0.5)), (-1, shapes.tube(9, 8, 0.3, 0.5)))
    ]
    mesh = shapes.join((vertices, triangles), *cuffs)
    for first in (n, n + len(cuffs[0][0])):
        at = np.argsort(np.linalg.norm(vertices - mesh[0][first], axis=1))[:2]
        bridges.append([*at, first])
    solver = make((mesh[0], np.concatenate([mesh[1], bridges])))
    assert solver.report["parts"] == 1
    assert (found(solver)[n:] < 0).all()
    assert (found(solver)[:n] >= 0).sum() > 0.95 * n


def test_a_part_of_which_too_little_is_symmetric_is_free():
    """A pole across the plane, of whose 17 rings 9 have their image."""
    body_, _ = body()
    pole = shapes.tube(8, 17, 0.05, 1.6)
    pole = pole[0] @ shapes.rotation([0, 1, 0], np.pi / 2).T + [-0.4, 0.5, 1.5], pole[1]
    solver = make(shapes.join(body_, pole))
    assert (found(solver)[len(body_[0]) :] < 0).all()
    assert solver.report["symmetric_vertices"] == len(body_[0])


@pytest.mark.parametrize("limit", [4, 0, 1, 2, 3])
@pytest.mark.parametrize("expansion_rounds", [0, 2])
def test_weights_are_symmetric_to_the_last_bit(limit, expansion_rounds):
    mesh, partner = body()
    settings = {"max_influences": limit, "expansion_rounds": expansion_rounds}
    if limit == 1:  # bone springs alone would make it symmetric
        settings["bone_spring_stiffness"] = 0
    off = solved(mesh, symmetry=None, **settings)
    assert asymmetry(off.weights, partner) > 1e-6, "symmetric without doing anything"
    solver = solved(mesh, **settings)
    weights = solver.weights
    if limit == 1:  # one bone can be no image of two
        partner = np.where(partner == np.arange(len(partner)), -1, partner)
    assert asymmetry(weights, partner) == 0
    assert solver.report["symmetric_vertices"] == (partner >= 0).sum()
    np.testing.assert_allclose(weights.sum(1), 1, atol=1e-12)
    assert not limit or (weights > 0).sum(1).max() <= limit
    # With one bone and no bone springs, other poses alone change it by a quarter.
    assert solver.energy < (1.4 if limit == 1 else 1.1) * off.energy


@pytest.mark.parametrize("settings", [{"positivity": "penalty"}, {"positivity": "none"},
                                      {"attach": True, "neumann": True, "drop_attachments": True},
                                      {"peak_stiffness": 0},
                                      {"harmonic": 1e-4}, {"rotation_clusters": 0.1},
                                      {"position_clusters": 100},
                                      {"precision": "double"}, {"pose_count": 7}])  # fmt: skip
def test_weights_are_symmetric_with_other_settings(settings):
    mesh, partner = body()
    solver = solved(mesh, **settings)
    for weights in (solver.weights, solver.raw_weights, solver.initial_weights):
        assert asymmetry(weights, partner) == 0


def test_welded_vertices():
    mesh, _ = body()
    vertices, triangles = shapes.split(*mesh)
    solver = solved((vertices, triangles))
    assert solver.report["symmetric_vertices"] == len(vertices)
    assert asymmetry(solver.weights, expected_map(vertices)) == 0


def test_locked_vertices_stay_and_the_rest_is_symmetric(rng):
    mesh, partner = body()
    weights = shapes.random_weights(rng, len(partner), 6)
    locked = (mesh[0][:, 0] > 0.1) & (mesh[0][:, 2] < 0.6)
    solver = solved(mesh, weights=weights, locked_vertices=locked)
    np.testing.assert_array_equal(solver.weights[locked], weights[locked])
    free = np.where(locked | locked[partner], -1, partner)
    assert 0 < (free >= 0).sum() == solver.report["symmetric_vertices"] < len(free)
    assert asymmetry(solver.weights, free) == 0


def test_locked_bone_of_one_side_stays(rng):
    """Locked vertices are not symmetric, and all others are."""
    mesh, partner = body()
    weights = np.zeros((len(partner), 6))
    weights[mesh[0][:, 0] > 0.5, 3] = 0.25
    solver = solved(mesh, weights=weights, locked_bones=np.arange(6) == 3)
    np.testing.assert_array_equal(solver.weights[:, 3], weights[:, 3])
    np.testing.assert_allclose(solver.weights.sum(1), 1, atol=1e-12)
    symmetric = solver._inside["symmetric"]
    assert symmetric.sum() == solver.report["symmetric_vertices"] > 100
    assert not symmetric[weights[:, 3] > 0].any()
    assert symmetric[mesh[0][:, 2] < 0.8].all()
    assert asymmetry(solver.weights, np.where(symmetric, partner, -1)) == 0


def test_given_start_becomes_symmetric(rng):
    mesh, partner = body()
    weights = shapes.random_weights(rng, len(partner), 6, empty=0.6)
    solver = make(mesh, weights=weights, start_from_weights=True, max_influences=0)
    mean = (weights + weights[partner][:, PARTNERS]) / 2
    np.testing.assert_allclose(solver.initial_weights, mean, atol=1e-12)
    solver.solve()
    assert asymmetry(solver.weights, partner) == 0


def test_a_bone_without_partner_leaves_its_vertices_free():
    mesh, partner = body()
    solver = solved(mesh, partners=[0, 1, 4, -1, 2, -1])
    assert solver.report["symmetric_bones"] == 4
    symmetric = solver._inside["symmetric"]
    assert 50 < symmetric.sum() == solver.report["symmetric_vertices"] < len(partner)
    assert not (solver.weights[symmetric][:, [3, 5]] > 0).any()
    partner = np.where(symmetric, partner, -1)
    assert asymmetry(solver.weights, partner, [0, 1, 4, 3, 2, 5]) == 0


def test_no_partners_are_as_none():
    mesh, _ = body()
    off, none = solved(mesh, symmetry=None), solved(mesh, partners=[-1] * 6)
    np.testing.assert_array_equal(off.weights, none.weights)
    np.testing.assert_array_equal(off.energies, none.energies)
    assert off.report["symmetric_vertices"] == none.report["symmetric_vertices"] == 0


def test_symmetric_weights_cost_no_energy():
    """The energy is measured in poses that no solver has used."""
    mesh, _ = body()
    unseen = araplbs.sample_poses(*BONES, 60, **BONES.more, seed=99)
    energies = [
        np.mean([
            araplbs.energy(*mesh, solved(mesh, pose_count=80, seed=s, **more).weights, unseen)
            for s in range(3)
        ])
        for more in ({"symmetry": None}, {})
    ]  # fmt: skip
    assert energies[1] < 1.02 * energies[0]


@pytest.mark.parametrize("limited", [False, True])
def test_poses_mirror_each_other(limited):
    bones = BONES.but(roll_axes=np.where(BONES.heads[:, :1] < 0, FLIP, 1) * BONES.roll_axes[
        [0, 1, 2, 3, 2, 3]])  # fmt: skip
    if limited:
        limits = np.full((6, 3, 2), np.nan)
        limits[2] = limits[4] = [[-0.2, 1.0], [-0.1, 0.3], [-0.5, 0.1]]
        limits[4, 1:] = -limits[4, 1:, ::-1]  # about Y and Z the other way round
        bones = bones.but(limits=limits)
    plane = ([0.1, 3, 4], [-2, 0, 0])
    moved = bones.moved(np.eye(3), (0.1, 0, 0))
    poses = araplbs.sample_poses(*moved, 10, **moved.more, symmetry=(PARTNERS, *plane))
    s = np.diag([-1.0, 1, 1, 1])
    s[0, 3] = 0.2
    whole = np.concatenate([poses, np.tile([0, 0, 0, 1.0], (10, 6, 1, 1))], axis=2)
    images = (s @ whole @ s)[:, PARTNERS, :3]
    pairs = np.arange(10) ^ 1
    np.testing.assert_allclose(poses[pairs], images, atol=1e-12)
    assert np.abs(poses[::2] - images[::2]).max() > 0.1, "each its own image"
    mesh, _ = body()
    used = make((mesh[0] + [0.1, 0, 0], mesh[1]), moved, plane=plane, pose_count=10)
    np.testing.assert_allclose(used._inside["transform"][..., :3], poses[..., :3], atol=1e-12)


def test_each_bone_turns_to_both_sides_alike():
    """In mirrored poses, each bone gets the images of its own rotations, so its twists add up to
    0."""
    poses = araplbs.sample_poses(*BONES, 20, **BONES.more, symmetry=(PARTNERS, *PLANE))
    for bone in range(1, 6):
        parent = BONES.parents[bone]
        r = np.swapaxes(poses[:, parent, :, :3], 1, 2) @ poses[:, bone, :, :3]
        axis = BONES.tails[bone] - BONES.heads[bone]
        turn = np.stack([r[:, 2, 1] - r[:, 1, 2], r[:, 0, 2] - r[:, 2, 0], r[:, 1, 0] - r[:, 0, 1]])
        w4 = 2 * np.sqrt(1 + np.trace(r, axis1=1, axis2=2))
        twist = 2 * np.arctan2(axis / np.linalg.norm(axis) @ turn / w4, w4 / 4)
        assert np.ptp(twist) > 0.1
        np.testing.assert_allclose(np.sort(twist), np.sort(-twist), atol=1e-12)


def test_mirrored_poses_stay_in_the_limits_of_both():
    """A rotation and its image have the same angle, whatever the rolls are."""
    args = {**BONES.more, "swing": 0.5, "twist": 0.1}
    poses = araplbs.sample_poses(*BONES, 40, **args, symmetry=(PARTNERS, *PLANE))
    local = np.swapaxes(poses[:, 2, :, :3], 1, 2) @ poses[:, 3, :, :3]
    angle = np.arccos(np.clip((np.trace(local, axis1=1, axis2=2) - 1) / 2, -1, 1))
    assert 0.4 < angle.max() <= 0.61


BAD = {
    "one too many": ([0, 1, 4, 6, 2, 3], PLANE, "partner of bone 3 is 6, but there are 6"),
    "below -1": ([0, -2, 4, 5, 2, 3], PLANE, "partner of bone 1 is -2, but there are 6"),
    "no involution": ([0, 1, 4, 5, 3, 2], PLANE, "partner of bone 2 is 4, but that of 4 is 3"),
    "one way": ([0, 1, 4, 5, 2, -1], PLANE, "partner of bone 3 is 5, but that of 5 is -1"),
    "zero normal": (PARTNERS, ((0, 0, 0), (0, 0, 0)), r"normal \(0, 0, 0\): not a direction"),
    "infinite normal": (PARTNERS, ((0, 0, 0), (np.inf, 0, 0)), r"normal \(inf, 0, 0\)"),
    "NaN normal": (PARTNERS, ((0, 0, 0), (np.nan, 0, 1)), r"normal \(-?nan, 0, 1\)"),
    "NaN point": (PARTNERS, ((0, np.nan, 0), (1, 0, 0)), r"point \(0, -?nan, 0\)"),
    "wrong count": ([0, 1, 4, 5, 2], PLANE, r"^symmetry\[0\] has shape \(5,\)"),
    "flat point": (PARTNERS, ((0, 0), (1, 0, 0)), r"^symmetry\[1\] has shape \(2,\)"),
    "long normal": (PARTNERS, ((0, 0, 0), (1, 0, 0, 0)), r"^symmetry\[2\] has shape \(4,\)"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_values(name):
    partners, plane, message = BAD[name]
    mesh, _ = body()
    for call in (
        lambda: make(mesh, partners=partners, plane=plane),
        lambda: araplbs.sample_poses(*BONES, 4, symmetry=(partners, *plane)),
    ):
        with pytest.raises(ValueError) as caught:
            call()
        assert re.search(message, str(caught.value)), str(caught.value)


def test_a_deforming_bone_and_one_that_does_not_deform():
    mesh, _ = body()
    bones = BONES.but(deform=np.arange(6) != 5)
    with pytest.raises(
        ValueError, match="only one of the mirror partners 3 and 5 is a deform bone"
    ):
        make(mesh, bones)
    solver = solved(mesh, BONES.but(deform=~np.isin(np.arange(6), [3, 5])))
    assert solver.report["symmetric_bones"] == 4


@pytest.mark.parametrize("symmetry", [(PARTNERS, (0, 0, 0)), [PARTNERS, *PLANE], 3,
                                    (None, *PLANE), (PARTNERS, None, (1, 0, 0)),
                                    (PARTNERS, (0, 0, 0), None),
                                    (["a"] * 6, *PLANE)])  # fmt: skip
def test_wrong_types(symmetry):
    mesh, _ = body()
    with pytest.raises(TypeError, match=r"^symmetry"):
        make(mesh, symmetry=symmetry)


def test_vertices_without_edges_and_lone_points():
    """Points are paired by position. A mesh without any symmetry has no pairs and is still
    solved."""
    mesh, _ = body()
    n = len(mesh[0])
    points = np.array([[0.5, 1, 0.5], [-0.5, 1, 0.5], [0, 1, 1], [0.7, 1, 0.2]])
    solver = solved((np.concatenate([mesh[0], points]), mesh[1]))
    np.testing.assert_array_equal(found(solver)[n:], [n + 1, n, n + 2, -1])
    one_sided = solved((mesh[0] + [5, 0, 0], mesh[1]), plane=PLANE)
    assert one_sided.report["symmetric_vertices"] == 0


def deviation(vertices, size):
    """A smooth deviation from symmetry."""
    x, y, z = vertices.T
    return size * np.column_stack([np.sin(2 * z + 1), np.cos(1.5 * z + x), np.sin(x + 2 * y)])


@pytest.mark.parametrize("size", [0.004, 0.009, 0.018])
def test_map_of_a_body_that_is_off_smoothly(size):
    """By as much as the length of its edges: the vertex nearest to an image may be a neighbor of
    the partner, or there may be none."""
    (vertices, triangles), partner = body(48, 81)
    edge = 2.0 / 80
    moved = vertices + deviation(vertices, size)
    off = np.linalg.norm(moved[partner] * FLIP - moved, axis=1)
    assert 0.2 * edge < off.max() < 2.2 * edge
    pairs = found(make((moved, triangles)))
    assert (pairs == partner).mean() > 0.99


def test_weights_of_a_body_that_is_off_smoothly():
    (vertices, triangles), partner = body()
    solver = solved((vertices + deviation(vertices, 0.025), triangles))
    np.testing.assert_array_equal(found(solver), partner)
    assert asymmetry(solver.weights, partner) == 0


def test_a_body_with_its_own_faces_on_each_side_is_free_when_it_is_off():
    """A tube with other rings on the other side and a deviation: the map does not grow there."""
    (vertices, triangles), _partner = body()
    left, right = shapes.tube(11, 17, 0.1, 1.0), shapes.tube(9, 14, 0.1, 1.0)
    turned = [
        (tube[0] @ shapes.rotation([0, 1, 0], side * np.pi / 2).T + [side * 0.4, 0.6, 1.5], tube[1])
        for side, tube in ((1, left), (-1, right))
    ]
    whole = shapes.join((vertices, triangles), *turned)
    whole = whole[0] + deviation(whole[0], 0.02), whole[1]
    n = len(vertices)
    free = found(make(whole))[n:]
    assert (free >= 0).mean() < 0.2


def test_partners_are_no_farther_off_than_a_share_of_the_size():
    """One arm is moved away as a whole: its edges are images, but its positions are not."""
    (vertices, triangles), _partner = body()
    arm = np.clip((vertices[:, 0] - 0.3) / 0.2, 0, 1)
    moved = vertices + deviation(vertices, 0.02) + np.outer(arm, [0, 0.4, 0])
    pairs = found(make((moved, triangles)))
    end = np.flatnonzero(vertices[:, 0] > 0.8)
    assert len(end) > 4 and (pairs[end] < 0).all()
