"""Compares the points that stretchable-twistable bones and spines move, and the energy of weights
for such bones, with quadrature, finite differences, many small rigid bones and dense NumPy.
(test_fixtures.py compares them with an independent implementation.)"""

import araplbs
import numpy as np
import pytest
import reference
import shapes
from spine_rigs import KINDS, place, rig, sample


def one_spine(bend, mesh, kind="spine", **settings):
    """The internals of a solver with one pose of one bone along Z from 0.1 to 1.3, with its base at
    rest."""
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
    center, size = (mesh[0].min(0) + mesh[0].max(0)) / 2, inside["diagonal"]
    u = reference.along_bone(bones.heads[0], bones.tails[0], mesh[0])
    np.testing.assert_allclose(inside["spine_parameter"][:, 0], u, atol=1e-15)
    expected = [
        reference.spine_point(bones.heads[0], bones.tails[0], bend, *pair)
        for pair in zip(u, mesh[0], strict=True)
    ]
    points = inside["spine_point"][:, 0, 0] * size + center
    np.testing.assert_allclose(points, expected, atol=2e-14)


@pytest.mark.parametrize(("angle", "stretch"), BENDS)
@pytest.mark.slow
def test_jacobians_against_differences(angle, stretch):
    """Where u is linear around a vertex, so that the least-squares gradient is exact."""
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
    """The gradient for arbitrary parameters solves the dense normal equation. It is 0 where no edge
    leads along the bone."""
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
    """Pieces of the stretched bone, each rotated by angle / n; the error is proportional to 1 /
    n."""
    mesh = shapes.tube(7, 40)
    bend = np.array([*(2.1 * AXIS), stretch])
    bones, inside = one_spine(bend, mesh)
    center = (mesh[0].min(0) + mesh[0].max(0)) / 2
    points = inside["spine_point"][:, 0, 0] * inside["diagonal"] + center
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
        self.solver = shapes.solver(
            self.mesh, self.bones,  **self.given,
            weights=shapes.rows(self.mask, self.weights), **{**reference.BARE, **settings},
        )  # fmt: skip
        self.before = self.solver._inside
        self.points, poses, diagonal = reference.normalize_to_solver(vertices, given)
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
        """Differences of entries to the first of their vertex, which are the ones that a step of
        the weights depends on."""
        vertex = self.flat // 3
        first = np.searchsorted(vertex, vertex)
        return entries - entries[first]


def some_parameters(rng, vertices):
    u = rng.uniform(size=(vertices, 3))
    u[:, 0] = np.nan  # of a rigid bone
    u[::3] = np.nan
    return u


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.slow
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
    matrix, z = reference.matrix_of_the_step(s.solver._inside)
    np.testing.assert_allclose(matrix, z.T @ full[np.ix_(s.flat, s.flat)] @ z, atol=1e-12)
    # The step is the least squares one, and the energy after it that of new transforms.
    x = np.linalg.lstsq(design[:, s.flat] @ z, target - design @ s.weights.ravel(), rcond=1e-13)[0]
    after = s.weights.ravel().copy()
    after[s.flat] += z @ x
    np.testing.assert_allclose(s.solver.raw_weights.ravel(), after, atol=1e-6)
    assert s.solver.energies[1] == pytest.approx(s.energy(after.reshape(-1, 3)), rel=1e-6)


@pytest.mark.slow
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


@pytest.mark.slow
def test_energies_of_vertices_sum_up(rng):
    s = Solved(rng)
    rest = {"bone_heads": s.bones.heads, "bone_tails": s.bones.tails, "bone_kinds": KINDS}
    energy, each = araplbs.energy(*s.mesh, s.weights, **rest, **s.given, per_vertex=True)
    edge = np.linalg.norm(s.points[:, None] - s.points, axis=-1)
    unit = (s.a * edge**2).sum(1)
    assert each @ unit / unit.sum() == pytest.approx(energy, rel=1e-12)


@pytest.mark.parametrize("kind", ["stb", "spine"])
def test_an_unbent_spine_is_a_rigid_bone(kind):
    """With angle 0 and stretch 1, and wherever u is constant."""
    mesh, bones = shapes.tube(10, 13), shapes.chain(3)
    still = np.full((3, 4, 2), np.nan)
    still[:, 2], still[:, 3] = 0, 1
    # Spines have no bone springs; holds keep their bones from dying.
    settings = {
        "precision": "double",
        "pose_count": 12,
        "bone_spring_stiffness": 0,
        "peak_stiffness": 0.01,
    }
    rigid = shapes.solver(mesh, bones, **settings)
    spines = bones.but(kinds=["rigid", kind, kind], ranges=still)
    solver = shapes.solver(mesh, spines, **settings)
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
    """One stretched STB. If a one-ring has the same number of edges in all directions, they have
    the desired length; elsewhere, V of the covariance is not along the bone, and an error
    remains."""
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
    """A tube twisted by 170 degrees has at most half of the energy that two rigid bones need."""
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
