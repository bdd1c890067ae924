"""Stretchable-twistable bones and spines: where they take points, their poses, and the weights for
them, against quadrature, differences, many small rigid bones and dense NumPy. (An independent
implementation of the same: test_fixtures.py.)"""

import araplbs
import numpy as np
import pytest
import reference
import scipy.sparse
import shapes
from guarantees import check_report, check_weights

KINDS = ["rigid", "stb", "spine"]
BENT = np.full((3, 4, 2), np.nan)
BENT[1, 2:] = [[-1.5, 2], [0.5, 2]]
BENT[2, 2:] = [[-2, 1.5], [0.7, 1.5]]


def rig(**more):
    return shapes.chain(3, kinds=KINDS, ranges=BENT, **more)


def sample(bones, count, **settings):
    poses, bends = araplbs.sample_poses(*bones, count, **bones.more, **settings)
    return poses, bends


def place(bones, vertices):
    """u (n, m), NaN for rigid bones."""
    pairs = zip(bones.kinds, bones.heads, bones.tails, strict=True)
    nothing = np.full(len(vertices), np.nan)
    return np.column_stack(
        [nothing if k == "rigid" else reference.along_bone(h, t, vertices) for k, h, t in pairs]
    )


def one_spine(bend, mesh, kind="spine", **settings):
    """The inside of a solver with one pose of one bone along Z from 0.1 to 1.3, base at rest."""
    bones = shapes.chain(1).but(heads=np.array([[0, 0, 0.1]]), tails=np.array([[0.2, 0, 1.3]]))
    return bones, araplbs.Solver(
        *mesh, *bones, bone_kinds=[kind], poses=np.eye(3, 4)[None, None], pose_count=0,
        bends=np.array(bend, float)[None, None], weights=np.ones((len(mesh[0]), 1)),
        start_from_weights=True, **settings,
    )._inside  # fmt: skip


AXIS = np.array([0.48, -0.6, 0.64])
BENDS = [(angle, stretch) for angle in (0, 1e-9, 1e-4, 0.3, -2.5, 7) for stretch in (0.4, 1, 4)]


@pytest.mark.parametrize(("angle", "stretch"), BENDS)
def test_points(angle, stretch):
    mesh = shapes.tube(5, 6)
    bend = np.array([*(angle * AXIS), stretch])
    bones, inside = one_spine(bend, mesh)
    centre, size = (mesh[0].min(0) + mesh[0].max(0)) / 2, inside["diagonal"]
    u = reference.along_bone(bones.heads[0], bones.tails[0], mesh[0])
    np.testing.assert_allclose(inside["spine_parameter"][:, 0], u, atol=1e-15)
    expected = [
        reference.spine_point(bones.heads[0], bones.tails[0], bend, *pair)
        for pair in zip(u, mesh[0], strict=True)
    ]
    points = inside["spine_point"][:, 0, 0] * size + centre
    np.testing.assert_allclose(points, expected, atol=2e-14)


@pytest.mark.parametrize(("angle", "stretch"), BENDS)
def test_jacobians_against_differences(angle, stretch):
    """Where u is linear around a vertex, so that the least squares gradient is exact."""
    mesh = shapes.tube(5, 9)
    bend = np.array([*(angle * AXIS), stretch])
    bones, inside = one_spine(bend, mesh)
    head, tail = bones.heads[0], bones.tails[0]
    _, a = reference.edge_weights(*mesh)
    place_of = (mesh[0] - head) @ (tail - head) / np.sum((tail - head) ** 2)
    linear = [i for i in range(len(a)) if ((place_of > 0) & (place_of < 1))[a[i] > 0].all()]
    assert len(linear) > 10
    h = 1e-4
    for i in linear:
        moved = np.array([mesh[0][i] + s * h * e for e in np.eye(3) for s in (1, -1, 2, -2)])
        u = (moved - head) @ (tail - head) / np.sum((tail - head) ** 2)
        f = [reference.spine_point(head, tail, bend, *p) for p in zip(u, moved, strict=True)]
        f = np.array(f).reshape(3, 4, 3)
        expected = (8 * (f[:, 0] - f[:, 1]) - (f[:, 2] - f[:, 3])) / (12 * h)
        got = inside["spine_jacobian"][i, 0, 0].reshape(3, 3)
        np.testing.assert_allclose(got, expected.T, atol=1e-9)


def test_gradients_by_least_squares(rng):
    """Of parameters that are anything, by the dense normal equation; 0 where no edge goes along."""
    mesh = shapes.tube(5, 6)
    flat = shapes.join(mesh, ([[1, 0, 0.5], [2, 0, 0.5], [1, 1, 0.5]], [[0, 1, 2]]))
    u = rng.uniform(size=(len(flat[0]), 1))
    bones = shapes.chain(1)
    settings = {"parameters": u, "link_parts": False, "edge_power": 0}
    solver = araplbs.Solver(*flat, *bones, bone_kinds=["spine"], **settings)
    gradient = solver._inside["spine_gradient"][:, 0] / solver._inside["diagonal"]
    _, a = reference.edge_weights(*flat)
    for i in range(len(a)):
        k = np.nonzero(a[i])[0]
        rise = flat[0][k, 2] - flat[0][i, 2]
        slope = np.linalg.lstsq(
            (np.sqrt(a[i, k]) * rise)[:, None], np.sqrt(a[i, k]) * (u[k, 0] - u[i, 0]), rcond=None
        )[0]
        np.testing.assert_allclose(gradient[i], [0, 0, slope[0]], atol=1e-12)
    assert not gradient[-3:].any()


@pytest.mark.parametrize("stretch", [1, 1.8])
def test_many_small_rigid_bones_converge_to_a_spine(stretch):
    """Pieces of the stretched bone that turn by angle / n each; the error goes with 1 / n."""
    mesh = shapes.tube(7, 40)
    bend = np.array([*(2.1 * AXIS), stretch])
    bones, inside = one_spine(bend, mesh)
    centre = (mesh[0].min(0) + mesh[0].max(0)) / 2
    points = inside["spine_point"][:, 0, 0] * inside["diagonal"] + centre
    head, along = bones.heads[0], bones.tails[0] - bones.heads[0]
    u = inside["spine_parameter"][:, 0]
    stretched = mesh[0] + (stretch - 1) * u[:, None] * along
    errors = []
    for n in (16, 64, 256):
        joints = head + stretch * np.linspace(0, 1, n + 1)[:, None] * along
        turns = np.tile(reference.turn(bend[:3] / n), (1, n, 1, 1))
        small = araplbs.forward_kinematics(joints[:-1], joints[1:], np.arange(n) - 1, turns)[0]
        own = small[np.minimum((u * n).astype(int), n - 1)]
        moved = np.einsum("nij,nj->ni", own[..., :3], stretched) + own[..., 3]
        errors.append(np.abs(moved - points).max())
    assert errors[2] < 0.02
    assert 3.5 < errors[0] / errors[1] < 4.5
    assert 3.5 < errors[1] / errors[2] < 4.5


class Solved:
    """A bare solver on a rig of three kinds, and the dense reference in its coordinates."""

    def __init__(self, rng, parameters=None, **settings):
        self.mesh, self.bones = shapes.tube(5, 7), rig()
        vertices = self.mesh[0]
        given, self.bends = sample(self.bones, 3, seed=3)
        self.mask = rng.uniform(size=(len(vertices), 3)) < 0.7
        self.mask[~self.mask.any(1), 1] = True
        weights = shapes.random_weights(rng, *self.mask.shape) * self.mask
        self.weights = weights / weights.sum(1, keepdims=True)
        self.given = {"poses": given, "bends": self.bends, "parameters": parameters}
        self.solver = araplbs.Solver(
            *self.mesh, *self.bones, **self.bones.more, **self.given,
            weights=shapes.rows(self.mask, self.weights), **{**reference.BARE, **settings},
        )  # fmt: skip
        self.before = self.solver._inside
        self.points, poses, diagonal = reference.normalise_to_solver(vertices, given)
        _, self.a = reference.edge_weights(self.points, self.mesh[1])
        heads, tails = (
            (x - (vertices.min(0) + vertices.max(0)) / 2) / diagonal
            for x in (self.bones.heads, self.bones.tails)
        )
        u = place(self.bones, vertices)
        if parameters is not None:
            u = np.where(np.isnan(u) | np.isnan(parameters), u, parameters)
        self.spines = reference.Spines(self.points, self.a, poses, heads, tails, self.bends, u)

    def energy(self, weights):
        """Relative to that of the edges at rest."""
        transforms = self.spines.transforms(self.points, self.a, weights)
        design, target = self.spines.quadratic(self.points, self.a, weights, transforms)
        unit = len(self.bends) * sum(
            self.a[i, k] * np.sum((self.points[k] - self.points[i]) ** 2)
            for i, k in reference.edges_of(self.a)
        )
        return np.sum((design @ weights.ravel() - target) ** 2) / unit

    def quadratic(self):
        transforms = self.spines.transforms(self.points, self.a, self.weights)
        return self.spines.quadratic(self.points, self.a, self.weights, transforms)

    @property
    def flat(self):
        return np.nonzero(self.mask.ravel())[0]

    def differences(self, entries):
        """Of entries to the first of their vertex: what a step of the weights sees."""
        vertex = self.flat // 3
        first = np.searchsorted(vertex, vertex)
        return entries - entries[first]


def some_parameters(rng, vertices):
    u = rng.uniform(size=(vertices, 3))
    u[:, 0] = np.nan  # of a rigid bone
    u[::3] = np.nan
    return u


@pytest.mark.parametrize("given", [False, True])
def test_energy_product_right_side_and_matrix(given, rng):
    s = Solved(rng, some_parameters(rng, 35) if given else None)
    expected = s.energy(s.weights)
    assert s.solver.energies[0] == pytest.approx(expected, rel=1e-8)
    free = araplbs.energy(
        *s.mesh, s.weights, bone_heads=s.bones.heads, bone_tails=s.bones.tails, bone_kinds=KINDS,
        **s.given,
    )  # fmt: skip
    assert free == pytest.approx(s.solver.energies[0], rel=1e-12)
    design, target = s.quadratic()
    full = design.T @ design
    product = (full @ s.weights.ravel())[s.flat]
    np.testing.assert_allclose(s.before["product"], product, atol=1e-12)
    right_side = s.differences((design.T @ target)[s.flat])
    np.testing.assert_allclose(s.differences(s.before["right_side"]), right_side, atol=1e-8)
    s.solver.iterate(1)
    inside = s.solver._inside
    unknowns, entry = len(inside["entry"]), inside["entry"]
    lower = scipy.sparse.csc_matrix(
        (inside["value"], inside["row"], inside["column"]), shape=(unknowns, unknowns)
    ).toarray()
    z = np.zeros((len(s.flat), unknowns))
    vertex = np.repeat(np.arange(len(s.points)), np.diff(inside["start"]))
    z[entry, np.arange(unknowns)] = 1
    z[inside["start"][vertex[entry]], np.arange(unknowns)] -= 1
    reduced = z.T @ full[np.ix_(s.flat, s.flat)] @ z
    np.testing.assert_allclose(lower + np.tril(lower, -1).T, reduced, atol=1e-12)
    # The step is the least squares one, and the energy after it that of new transforms.
    x = np.linalg.lstsq(design[:, s.flat] @ z, target - design @ s.weights.ravel(), rcond=1e-13)[0]
    after = s.weights.ravel().copy()
    after[s.flat] += z @ x
    np.testing.assert_allclose(s.solver.raw_weights.ravel(), after, atol=1e-6)
    assert s.solver.energies[1] == pytest.approx(s.energy(after.reshape(-1, 3)), rel=1e-6)


def test_gradient_with_transforms_fixed(rng):
    s = Solved(rng)
    design, target = s.quadratic()
    gradient = s.differences(2 * (s.before["product"] - s.before["right_side"]))
    h, change = 1e-5, np.eye(s.weights.size)[s.flat]
    up, down = (
        np.array([np.sum((design @ (s.weights.ravel() + t * h * c) - target) ** 2) for c in change])
        for t in (1, -1)
    )
    np.testing.assert_allclose(gradient, s.differences((up - down) / (2 * h)), atol=1e-7)


def test_energies_of_vertices_sum_up(rng):
    s = Solved(rng)
    rest = {"bone_heads": s.bones.heads, "bone_tails": s.bones.tails, "bone_kinds": KINDS}
    energy, each = araplbs.energy(*s.mesh, s.weights, **rest, **s.given, per_vertex=True)
    edge = np.linalg.norm(s.points[:, None] - s.points, axis=-1)
    unit = (s.a * edge**2).sum(1)
    assert each @ unit / unit.sum() == pytest.approx(energy, rel=1e-12)


@pytest.mark.parametrize("kind", ["stb", "spine"])
def test_an_unbent_spine_is_a_rigid_bone(kind):
    """With angle 0 and stretch 1, and wherever u is the same all over."""
    mesh, bones = shapes.tube(10, 13), shapes.chain(3)
    still = np.full((3, 4, 2), np.nan)
    still[:, 2], still[:, 3] = 0, 1
    # Spines have no truss; holds keep their bones from dying.
    settings = {"precision": "double", "pose_count": 12, "truss": 0, "hold": 0.01}
    rigid = araplbs.Solver(*mesh, *bones, **bones.more, **settings)
    spines = bones.but(kinds=["rigid", kind, kind], ranges=still)
    solver = araplbs.Solver(*mesh, *spines, **spines.more, **settings)
    rigid.solve(), solver.solve()
    np.testing.assert_allclose(solver.energies, rigid.energies, rtol=1e-9, atol=1e-11)  # of 1
    np.testing.assert_allclose(solver.weights, rigid.weights, atol=1e-7)
    bent = bones.but(kinds=["rigid", kind, kind])
    poses, bends = sample(bent, 5)
    at_the_head = araplbs.energy(
        *mesh, rigid.weights, poses, bone_heads=bones.heads, bone_tails=bones.tails,
        bone_kinds=bent.kinds, bends=bends, parameters=np.zeros((len(mesh[0]), 3)),
    )  # fmt: skip
    assert at_the_head == pytest.approx(araplbs.energy(*mesh, rigid.weights, poses), rel=1e-9)


@pytest.mark.parametrize("stretch", [0.5, 4])
def test_stretch_along_the_bone(stretch):
    """One STB, stretched. Where the edges of a one-ring are as many to all sides, they are as long
    as desired; elsewhere V of the covariance is not along the bone, and something is left."""
    vertices, triangles = shapes.tube(8, 9)
    quads = np.array([[i, i // 8 * 8 + (i + 1) % 8] for i in range(64)])
    a, b = quads.T
    other = np.concatenate([np.column_stack([a, b, a + 8]), np.column_stack([b, b + 8, a + 8])])
    bones = shapes.chain(1, kinds=["stb"])
    one = {"bone_heads": bones.heads, "bone_tails": bones.tails, "bone_kinds": bones.kinds}
    poses, weights = np.eye(3, 4)[None, None], np.ones((72, 1))
    one["bends"] = np.array([[[0, 0, 0, stretch]]])
    crossed = vertices, np.concatenate([triangles, other])
    _, each = araplbs.energy(*crossed, weights, poses, **one, per_vertex=True)
    assert each[8:-8].max() < 1e-12
    moved = np.array([[np.diag([1, 1, stretch, 0])[:3]]])
    as_rigid = araplbs.energy(vertices, triangles, weights, moved)
    assert araplbs.energy(vertices, triangles, weights, poses, **one) < 0.25 * as_rigid


def test_an_stb_does_not_twist_like_a_candy_wrapper():
    """A tube twisted by 170 degrees: half of the energy that two rigid bones need, at most."""
    mesh = shapes.tube(16, 25, 0.3)
    bones, angle = shapes.chain(2), np.radians(170)
    turned = np.tile(np.eye(3), (1, 2, 1, 1))
    turned[0, 1] = shapes.rotation([0, 0, 1], angle)
    poses = araplbs.forward_kinematics(*bones, turned)
    rigid = araplbs.Solver(*mesh, *bones, poses=poses, pose_count=0)
    stb = shapes.chain(1, kinds=["stb"])
    twisted = araplbs.Solver(
        *mesh, *stb, bone_kinds=["stb"], poses=np.eye(3, 4)[None, None], pose_count=0,
        bends=[[[0, 0, angle, 1]]],
    )  # fmt: skip
    assert twisted.solve() < 0.5 * rigid.solve()


# Sampled poses


def test_bends_keep_to_their_ranges_and_cover_them():
    bones = rig()
    poses, bends = sample(bones, 200, seed=4)
    assert poses.shape == (200, 3, 3, 4)
    assert bends.shape == (200, 3, 4)
    np.testing.assert_array_equal(bends[:, 0], np.tile([0, 0, 0, 1], (200, 1)))
    np.testing.assert_allclose(bends[:, 1, :2], 0, atol=1e-15)  # about itself, Z
    for numbers, (low, high) in (
        (bends[:, 1, 2], BENT[1, 2]),
        (bends[:, 1, 3], BENT[1, 3]),
        (bends[:, 2, 3], BENT[2, 3]),
    ):
        assert low <= numbers.min() < low + 0.05 * (high - low)
        assert high >= numbers.max() > high - 0.05 * (high - low)
    angle = np.linalg.norm(bends[:, 2, :3], axis=1)
    assert 1.9 < angle.max() <= 2
    axis = bends[:, 2, :3] / angle[:, None]
    for direction in np.concatenate([np.eye(3), -np.eye(3)]):
        assert (axis @ direction).max() > 0.97


def test_usual_ranges():
    bones = shapes.chain(3, kinds=KINDS)
    _, bends = sample(bones, 60, swing=0.8)
    angle = np.linalg.norm(bends[:, 1:, :3], axis=-1)
    assert (angle.max(0) > 0.75).all()
    assert angle.max() <= 0.8
    np.testing.assert_array_equal(bends[..., 3], 1)


def test_rolls_and_twists_keep_to_their_ranges():
    ranges = np.full((1, 4, 2), np.nan)
    ranges[0, :2] = [[0.2, 0.4], [-0.5, -0.3]]
    bones = shapes.chain(1, ranges=ranges)
    turns = araplbs.sample_poses(*bones, 80, **bones.more)[:, 0, :, :3]
    tilt = np.arccos(turns[:, 2, 2])
    assert 0.2 <= tilt.min() < 0.22
    assert 0.4 >= tilt.max() > 0.38
    twist = np.arctan2(turns[:, 1, 0] - turns[:, 0, 1], turns[:, 0, 0] + turns[:, 1, 1])
    assert -0.5 <= twist.min() < -0.48
    assert -0.3 >= twist.max() > -0.32
    limits = np.full((1, 3, 2), np.nan)
    limits[0, 1] = 0.1  # joint limits come first
    turns = araplbs.sample_poses(*bones, 5, **bones.but(limits=limits).more)[:, 0, :, :3]
    twist = np.arctan2(turns[:, 1, 0] - turns[:, 0, 1], turns[:, 0, 0] + turns[:, 1, 1])
    np.testing.assert_allclose(twist, 0.1, atol=1e-12)


def test_the_same_seed_means_the_same_bends_and_kinds_leave_turns_alone():
    bones = rig()
    first, again, other = (sample(bones, 9, seed=s) for s in (5, 5, 6))
    np.testing.assert_array_equal(first[0], again[0])
    np.testing.assert_array_equal(first[1], again[1])
    assert np.abs(first[1] - other[1]).max() > 0.1
    plain = bones.but(kinds=None)
    rigid = araplbs.sample_poses(*plain, 9, seed=5, **plain.more)
    np.testing.assert_array_equal(first[0][:, :2], rigid[:, :2])
    assert np.abs(first[0][:, 2] - rigid[:, 2]).max() > 0.1, "it hangs on the STB"
    solver = araplbs.Solver(*shapes.tube(6, 9), *bones, **bones.more, seed=5, pose_count=9)
    np.testing.assert_allclose(solver._inside["transform"][..., :3], first[0][..., :3], atol=1e-12)


def test_joints_stay_connected():
    """What hangs on a spine follows its tail, or whatever place along it is next to its head."""
    bones = shapes.chain(3, kinds=["spine", "stb", "rigid"])
    beside = [0.1, 0.2, 0.4]
    bones = bones.but(
        heads=np.concatenate([bones.heads, [beside]]),
        tails=np.concatenate([bones.tails, [[1, 0, 0.4]]]),
        parents=np.append(bones.parents, 0),
        roll_axes=None,
        kinds=[*bones.kinds, "rigid"],
    )
    poses, bends = sample(bones, 6)
    for pose, bend in zip(poses, bends, strict=True):
        for parent, child in ((0, 1), (1, 2), (0, 3)):
            head, tail, joint = bones.heads[parent], bones.tails[parent], bones.heads[child]
            u = reference.along_bone(head, tail, joint)
            local = reference.spine_point(head, tail, bend[parent], u, joint)
            expected = pose[parent, :, :3] @ local + pose[parent, :, 3]
            got = pose[child, :, :3] @ joint + pose[child, :, 3]
            np.testing.assert_allclose(got, expected, atol=1e-13)
        assert np.abs(pose[1, :, :3] - pose[0, :, :3]).max() > 0.05


MIRROR = np.diag([-1.0, 1, 1])


def mirror_rig(kind):
    heads = np.array([[0, 0, 0], [0.2, 0, 1], [-0.2, 0, 1.0]])
    tails = np.array([[0, 0, 1], [1, 0.1, 1.2], [-1, 0.1, 1.2]])
    ranges = np.full((3, 4, 2), np.nan)
    ranges[1, 2:] = [[-0.3, 1], [0.7, 1.5]]
    ranges[2, 2:] = [[-1, 0.3], [0.7, 1.5]]
    if kind == "spine":  # its axis is anywhere, so an angle is the same on both sides
        ranges[2, 2] = ranges[1, 2]
    roll = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 1.0]])
    return shapes.Bones(heads, tails, np.array([-1, 0, 0]), roll, None, None, [kind] * 3, ranges)


@pytest.mark.parametrize("kind", ["stb", "spine"])
def test_poses_mirror_each_other(kind):
    bones = mirror_rig(kind)
    partners = np.array([0, 2, 1])
    poses, bends = sample(bones, 8, mirror=(partners, (0, 0, 0), (1, 0, 0)))
    pairs = np.arange(8) ^ 1
    images = MIRROR @ poses[:, partners] @ np.diag([-1, 1, 1, 1])
    np.testing.assert_allclose(poses[pairs], images, atol=1e-12)
    np.testing.assert_allclose(bends[pairs][..., :3], -bends[:, partners, :3] @ MIRROR, atol=1e-12)
    np.testing.assert_array_equal(bends[pairs][..., 3], bends[:, partners, 3])
    assert np.abs(bends[pairs] - bends).max() > 0.1


@pytest.mark.parametrize("kind", ["stb", "spine"])
def test_a_mirrored_skeleton_gets_the_mirrored_bends(kind):
    bones = mirror_rig(kind)
    moved = bones.moved(MIRROR)
    ranges = bones.ranges.copy()
    if kind == "stb":
        ranges[:, 2] = -ranges[:, 2, ::-1]
    _, bends = sample(bones, 8)
    _, mirrored = sample(moved.but(ranges=ranges), 8)
    pairs = np.arange(8) ^ 1
    np.testing.assert_allclose(mirrored[pairs][..., :3], -bends[..., :3] @ MIRROR, atol=1e-12)
    if kind == "spine":
        np.testing.assert_array_equal(mirrored[pairs][..., 3], bends[..., 3])


# Whole solves


def solved(mesh=None, bones=None, **settings):
    mesh, bones = mesh or shapes.tube(10, 21), bones or rig()
    solver = araplbs.Solver(*mesh, *bones, **bones.more, **{"pose_count": 20, **settings})
    solver.solve()
    return solver


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"max_influences": 2},
        {"positivity": "penalty", "attach": True, "neumann": True},
        {"filter": "extrema", "harmonic": 1e-4},
    ],
)
def test_weights_are_good_and_better_than_those_of_the_start(settings):
    solver = solved(**settings, **reference.PAPER_ENERGY)
    check_weights(solver, settings.get("max_influences", 4))
    check_report(solver, shapes.tube(10, 21)[0], rig())
    if "max_influences" not in settings:
        assert solver.energy < solver.energies[0]
    poses, bends = sample(rig(), 20)
    again = araplbs.energy(
        *shapes.tube(10, 21), solver.weights, poses, bone_heads=rig().heads, bone_tails=rig().tails,
        bone_kinds=KINDS, bends=bends,
    )  # fmt: skip
    assert again == pytest.approx(solver.energy, rel=1e-9)


@pytest.mark.parametrize("threads", [2, 5])
def test_threads_change_nothing(threads):
    alone, together = (solved(threads=t) for t in (1, threads))
    np.testing.assert_array_equal(alone.weights, together.weights)
    np.testing.assert_array_equal(alone.energies, together.energies)


def test_a_turned_problem_has_the_same_weights():
    mesh, bones = shapes.tube(10, 21), rig()
    turn = shapes.rotation([1, 2, 3], 1.1)
    moved = (3 * mesh[0] @ turn.T + [5, 6, 7], mesh[1])
    settings = {"precision": "double"}
    plain = solved(mesh, bones, **settings)
    turned = solved(moved, bones.moved(3 * turn, [5, 6, 7]), **settings)
    np.testing.assert_allclose(turned.energies, plain.energies, rtol=1e-8)
    np.testing.assert_allclose(turned.weights, plain.weights, atol=1e-6)


def test_no_coarser_mesh_and_no_shared_rotations():
    """Neither knows spines: both are left out, as the documentation says."""
    plain = solved(coarsen=0)
    other = solved(coarsen=100, rotation_clusters=0.2)
    assert other.report["coarse_vertices"] == 0
    np.testing.assert_array_equal(other.weights, plain.weights)
    bones = rig().but(kinds=None)
    assert solved(bones=bones, coarsen=100).report["coarse_vertices"] > 0


def test_symmetric_weights():
    mesh, bones = shapes.tube(10, 21), rig()
    solver = solved(mesh, bones, mirror=([0, 1, 2], (0, 0, 0), (1, 0, 0)))
    partner = solver._inside["mirror_vertex"]
    assert solver.report["mirrored_vertices"] == len(mesh[0])
    np.testing.assert_array_equal(solver.weights[partner], solver.weights)


def test_locks_and_edits():
    mesh, bones = shapes.tube(10, 21), rig()
    given = np.zeros((210, 3))
    given[:40, 1] = 1
    solver = solved(
        mesh, bones, weights=given, locked_vertices=np.arange(210) < 40,
        influences=([100], [1], [False]),
    )  # fmt: skip
    np.testing.assert_array_equal(solver.weights[:40], given[:40])
    assert solver.weights[100, 1] == 0
    solver.edit(constraints=([150], [2], [1.0]))
    solver.solve()
    assert solver.weights[150, 2] > 0.9


def test_parameters_are_those_of_the_caller(rng):
    """NaN and the place along the bone are the same; of welded vertices the first counts."""
    mesh, bones = shapes.tube(10, 9), rig()
    u = np.nan_to_num(place(bones, mesh[0]))
    plain, same = (solved(mesh, bones, parameters=p) for p in (None, u))
    np.testing.assert_allclose(same.weights, plain.weights, atol=1e-9)
    nothing = solved(mesh, bones, parameters=np.full_like(u, np.nan))
    np.testing.assert_array_equal(nothing.weights, plain.weights)
    squared = solved(mesh, bones, parameters=u**2)
    assert np.abs(squared.weights - plain.weights).max() > 0.01
    apart = shapes.split(*mesh)
    corner = mesh[1].ravel()
    first = np.isin(np.arange(len(corner)), np.unique(corner, return_index=True)[1])
    mixed = np.where(first[:, None], (u**2)[corner], 0.5)
    solver = araplbs.Solver(*apart, *bones, **bones.more, parameters=mixed)
    welded = solver._inside["spine_parameter"]
    np.testing.assert_allclose(welded, (u**2)[corner[first]][:, 1:], atol=1e-15)


def test_spines_of_other_pieces_and_lengths():
    """A helper bone between spines, a spine without length, loose wires and a lone vertex."""
    bones = shapes.tree()
    bones = bones.but(kinds=["spine", "stb", "spine", "rigid", "spine", "stb"])
    bones.tails[3] = bones.heads[3]
    bones.kinds[3] = "spine"
    mesh = shapes.join(shapes.tube(8, 9), shapes.sphere(5, 6, 0.2, (1, 0, 1.9)))
    mesh = np.concatenate([mesh[0], [[0, 0.5, 2], [0, 0.6, 2.3], [2, 2, 2]]]), mesh[1]
    n = len(mesh[0])
    solver = solved(mesh, bones, edges=[[3, n - 3], [n - 3, n - 2]])
    check_weights(solver, 4)
    assert not solver.weights[:, 4].any()


# Wrong input


MESH = shapes.tube(6, 5)


def refused(kind, message, function=None, **arguments):
    bones = shapes.chain(3)
    with pytest.raises(kind, match=message) as caught:
        (function or araplbs.Solver)(*MESH, *bones, **arguments)
    assert caught.type is kind


def ranges_with(bone, row, pair):
    ranges = np.full((3, 4, 2), np.nan)
    ranges[bone, row] = pair
    return ranges


POSES = np.tile(np.eye(3, 4), (2, 3, 1, 1))
STILL = np.tile([0.0, 0, 0, 1], (2, 3, 1))


def bends_with(bone, bend):
    bends = STILL.copy()
    bends[1, bone] = bend
    return {"bone_kinds": KINDS, "poses": POSES, "bends": bends}


@pytest.mark.parametrize(
    ("kinds", "kind", "message"),
    [
        (["rigid", "spline", "stb"], ValueError, r"^bone_kinds\[1\] is 'spline': must be 'rigid'"),
        (["rigid", "stb"], ValueError, "^bone_kinds has 2 entries, expected 3"),
        (["rigid", 1, "stb"], TypeError, r"^bone_kinds\[1\] is 1: not a string"),
        (["rigid", None, "stb"], TypeError, r"^bone_kinds\[1\] is None: not a string"),
        ("stb", TypeError, "^bone_kinds is 'stb', expected a sequence"),
        (3, TypeError, "^bone_kinds is 3, expected a sequence"),
    ],
)
def test_wrong_kinds(kinds, kind, message):
    refused(kind, message, bone_kinds=kinds)
    with pytest.raises(kind, match=message):
        araplbs.sample_poses(*shapes.chain(3), 2, bone_kinds=kinds)


@pytest.mark.parametrize("kinds", [tuple(KINDS), np.array(KINDS)])
def test_kinds_of_other_sequences(kinds):
    araplbs.Solver(*MESH, *shapes.chain(3), bone_kinds=kinds)


@pytest.mark.parametrize(
    ("ranges", "message"),
    [
        (ranges_with(1, 0, (0.5, 0.4)), r"^bone_ranges\[1, 0\] \(roll\) is \(0.5, 0.4\): no range"),
        (ranges_with(0, 1, (np.nan, 1)), r"^bone_ranges\[0, 1\] \(twist\) is \(nan, 1\)"),
        (ranges_with(2, 2, (-np.inf, 1)), r"^bone_ranges\[2, 2\] \(bend\) is \(-inf, 1\)"),
        (ranges_with(2, 3, (0, 1)), r"^bone_ranges\[2, 3\] \(stretch\) is \(0, 1\): must be above"),
        (ranges_with(2, 3, (-2, -1)), r"^bone_ranges\[2, 3\] \(stretch\) is \(-2, -1\): must be"),
        (np.zeros((3, 3, 2)), r"^bone_ranges has shape \(3, 3, 2\), expected \(3, 4, 2\)"),
        (np.zeros((2, 4, 2)), r"^bone_ranges has shape \(2, 4, 2\), expected \(3, 4, 2\)"),
    ],
)
def test_wrong_ranges(ranges, message):
    refused(ValueError, message, bone_ranges=ranges, bone_kinds=KINDS)
    with pytest.raises(ValueError, match=message):
        araplbs.sample_poses(*shapes.chain(3), 2, bone_ranges=ranges)


BAD_BENDS = [
    (bends_with(1, (0, 0, 1, 0)), r"^bends\[1, 1\] has the stretch 0: must be above 0"),
    (bends_with(2, (1, 0, 0, -1)), r"^bends\[1, 2\] has the stretch -1: must be above 0"),
    (bends_with(2, (np.nan, 0, 0, 1)), r"^bends\[1, 2\] is \(nan, 0, 0, 1\): not finite"),
    (bends_with(2, (1, 0, 0, np.inf)), r"^bends\[1, 2\] is \(1, 0, 0, inf\): not finite"),
    (bends_with(0, (0, 0, 1, 1)), r"^bends\[1, 0\] is \(0, 0, 1, 1\), but bone 0 is rigid"),
    (bends_with(0, (0, 0, 0, 2)), r"^bends\[1, 0\] is \(0, 0, 0, 2\), but bone 0 is rigid"),
    (bends_with(1, (0.1, 0, 1, 1)), r"^bends\[1, 1\] turns about \(0.1, 0, 1\), but bone 1 is an"),
    (
        {"bone_kinds": KINDS, "poses": POSES, "bends": STILL[:1]},
        r"^bends has shape \(1, 3, 4\), expected \(2, 3, 4\)",
    ),
]


@pytest.mark.parametrize(("arguments", "message"), BAD_BENDS)
def test_wrong_bends(arguments, message):
    refused(ValueError, message, **arguments)
    bones = {"bone_heads": shapes.chain(3).heads, "bone_tails": shapes.chain(3).tails}
    with pytest.raises(ValueError, match=message):
        araplbs.energy(*MESH, np.ones((30, 3)), **bones, **arguments)


@pytest.mark.parametrize(
    ("bend", "message"),
    [
        ((1, 0, 0, 0), r"^bends\[1, 2\] has the stretch 0: must be above 0"),
        ((1, 0, np.inf, 1), r"^bends\[1, 2\] is \(1, 0, inf, 1\): not finite"),
    ],
)
def test_wrong_bends_of_forward_kinematics(bend, message):
    turns, bends = POSES[..., :3], bends_with(2, bend)["bends"]
    with pytest.raises(ValueError, match=message):
        araplbs.forward_kinematics(*shapes.chain(3), turns, bends)
    with pytest.raises(ValueError, match=r"^bends has shape \(1, 3, 4\), expected \(2, 3, 4\)"):
        araplbs.forward_kinematics(*shapes.chain(3), turns, bends[:1])


def test_bends_without_poses_or_kinds():
    refused(ValueError, r"^bends has shape \(2, 3, 4\), expected \(0, 3, 4\)", bends=STILL)
    arguments = {"poses": POSES, "bends": STILL}
    with pytest.raises(TypeError, match=r"^bends needs bone_kinds$"):
        araplbs.energy(*MESH, np.ones((30, 3)), **arguments)
    with pytest.raises(TypeError, match=r"^bone_kinds needs bone_heads and bone_tails$"):
        araplbs.energy(*MESH, np.ones((30, 3)), **arguments, bone_kinds=KINDS)


def test_no_poses():
    bones = {"bone_heads": shapes.chain(3).heads, "bone_tails": shapes.chain(3).tails}
    for poses, bends in ((POSES[:0], STILL[:0]), ([], None)):
        with pytest.raises(ValueError, match="there are no poses"):
            araplbs.energy(
                *MESH, np.ones((30, 3)), poses, **bones, bone_kinds=KINDS, bends=bends
            )  # fmt: skip


@pytest.mark.parametrize("value", [-0.1, 1.1, np.inf])
def test_wrong_parameters(value):
    u = np.full((30, 3), 0.5)
    u[:, 0] = 7  # of a rigid bone: nobody looks
    araplbs.Solver(*MESH, *shapes.chain(3), bone_kinds=KINDS, parameters=u)
    u[4, 2] = value
    refused(
        ValueError, rf"^parameters\[4, 2\] is {value:g}: must be from 0 to 1", bone_kinds=KINDS,
        parameters=u,
    )  # fmt: skip


def test_parameters_of_the_wrong_shape():
    refused(
        ValueError,
        r"^parameters has shape \(29, 3\), expected \(30, 3\)",
        parameters=np.ones((29, 3)),
    )


def test_partners_of_different_kinds():
    refused(
        ValueError, "^the mirror partners 1 and 2 are bones of different kinds", bone_kinds=KINDS,
        mirror=([0, 2, 1], (0, 0, 0), (1, 0, 0)),
    )  # fmt: skip
