"""Tests springs between the middle of a whole limb and its bone: gradient and steps are compared
with explicit sums, and their purpose is checked."""

import araplbs
import numpy as np
import pytest
import reference
import shapes

SECTION, REACH, SLACK = 0.25, 0.35, 0.22  # csrc/settings.def, csrc/springs/sections.c
BARE = {**reference.BARE, "edge_power": 3, "bone_spring_stiffness": 12, "seed": 3, "pose_count": 6}
MESH, BONES = shapes.tube(7, 16, 0.15), shapes.chain(3)


def solver(rng, **more):
    weights = shapes.random_weights(rng, len(MESH[0]), 3)
    weights = shapes.rows(np.ones(weights.shape, bool), weights)
    return shapes.solver(MESH, BONES, **{**BARE, "weights": weights, **more})


class Limbs:
    """The sections of a solver, by their definition."""

    def __init__(self, inside, fixed=()):
        n = len(inside["points"])
        self.points = np.column_stack([inside["points"], np.ones(n)])
        self.transforms = inside["transform"]  # (poses, bones, 3, 4)
        low, high = MESH[0].min(0), MESH[0].max(0)
        heads, tails = (
            (ends - (low + high) / 2) / inside["diagonal"] for ends in (BONES.heads, BONES.tails)
        )
        owner = np.repeat(np.arange(n), np.diff(inside["spring_start"]))
        bone, along = inside["spring_bone"], tails - heads
        from_middle = inside["spring_point"] - ((heads + tails) / 2)[bone]
        x = (from_middle * along[bone]).sum(1) / (REACH * (along[bone] ** 2).sum(1))
        base = inside["spring_strength"] * np.maximum(0, 1 - x * x) ** 2
        distance = np.linalg.norm(inside["spring_point"] - self.points[owner, :3], axis=1)
        self.all = []  # (bone, strength, vertices, their shares)
        self.slack = {}  # by bone
        for b in range(3):
            at = np.flatnonzero((bone == b) & (base > 0))
            share = base[at] * inside["spring_held"][at] * ~np.isin(owner[at], fixed)
            strength = SECTION * inside["spring_strength"][at].sum()
            self.all.append((b, strength, owner[at], share / share.sum()))
            radius = np.average(distance[at], weights=base[at])
            self.slack[b] = SLACK * radius * min(1, radius / np.linalg.norm(along[b]))

    def off(self, weights, b, vertices, share):
        """(poses, 3) the distance of the mean from the position to which the bone moves it, beyond
        the slack."""
        own = self.points[vertices]
        posed = np.einsum("vb,pbij,vj->pvi", weights[vertices], self.transforms, own)
        carried = np.einsum("pij,vj->pvi", self.transforms[:, b], own)
        off = np.einsum("v,pvi->pi", share, posed - carried)
        far = np.linalg.norm(off, axis=1, keepdims=True)
        return off * np.maximum(0, 1 - self.slack[b] / far)

    def energy(self, weights):
        return sum(
            strength * (self.off(weights, b, vertices, share) ** 2).sum()
            for b, strength, vertices, share in self.all
        )

    def slope(self, weights):
        """(vertices, bones) half of the derivative of the energy."""
        out = np.zeros(weights.shape)
        for b, strength, vertices, share in self.all:
            off = self.off(weights, b, vertices, share)
            pull = np.einsum("pi,pbij,vj->vb", off, self.transforms, self.points[vertices])
            np.add.at(out, vertices, strength * share[:, None] * pull)
        return out


def both(more=(), count=0):
    """A solver with sections and one without, after the same number of iterations."""
    solvers = []
    for section in (SECTION, 0):
        made = solver(np.random.default_rng(7), section=section, **dict(more))
        made.iterate(count)
        solvers.append(made)
    return solvers


def test_slope():
    with_them, without = both()
    weights, limbs = with_them.raw_weights, Limbs(with_them._inside)
    own = with_them._inside["product"] - without._inside["product"]
    expected = limbs.slope(weights).ravel()
    np.testing.assert_allclose(own, expected, atol=1e-10 * np.abs(expected).max())
    rng, h = np.random.default_rng(1), 1e-5
    way = rng.normal(size=weights.shape)
    rise = (limbs.energy(weights + h * way) - limbs.energy(weights - h * way)) / (2 * h)
    assert rise == pytest.approx(2 * expected @ way.ravel(), rel=1e-6)
    rise = with_them.energies[0] - without.energies[0]
    assert rise == pytest.approx(limbs.energy(weights) / unit(with_them._inside), rel=1e-9)
    assert with_them.report["section_energy"] == pytest.approx(rise, rel=1e-9)
    assert without.report["section_energy"] == 0


def test_report_of_a_coarser_mesh():
    """While the coarser mesh is solved, the reported energies are those of this mesh."""
    mesh = shapes.tube(24, 60, 0.15)
    made = shapes.solver(mesh, shapes.chain(8), pose_count=6, seed=3)
    assert made.report["coarse_vertices"] > 0
    assert 0 < made.report["section_energy"] < made.energies[0]


def test_matrix_has_the_ties_of_the_vertices_alone():
    with_them, without = both(count=1)
    inside = with_them._inside
    tie = np.zeros(len(MESH[0]))
    for _, strength, vertices, share in Limbs(inside).all:
        tie[vertices] += strength * share
    points = np.column_stack([inside["points"], np.ones(len(tie))])
    blocks = np.einsum("k,ki,bcij,kj->kbc", tie, points, inside["gram"], points)
    (matrix, z), (plain, _) = (
        reference.matrix_of_the_step(s._inside) for s in (with_them, without)
    )
    whole = np.zeros((3 * len(tie), 3 * len(tie)))
    for k, block in enumerate(blocks):
        whole[3 * k : 3 * k + 3, 3 * k : 3 * k + 3] = block
    expected = z.T @ whole @ z
    np.testing.assert_allclose(matrix - plain, expected, atol=1e-9 * np.abs(matrix).max())
    assert np.abs(expected).max() > 1e-3 * np.abs(matrix).max()


def test_every_step_lowers_the_energy():
    """The global step omits the couplings within a section, and still descends."""
    made = solver(np.random.default_rng(7), tolerance=0, iterations=12)
    plain = solver(np.random.default_rng(7), tolerance=0, iterations=12, section=0)
    made.iterate(4)
    plain.iterate(4)
    limbs = Limbs(made._inside)
    assert limbs.energy(made.raw_weights) < 0.5 * limbs.energy(plain.raw_weights)
    made.iterate(6)
    assert (np.diff(made.energies) < 1e-9 * made.energies[0]).all()


def test_a_limb_on_its_bone_pays_nothing():
    """Within the slack, energy and derivative are zero."""
    solved = solver(np.random.default_rng(7), tolerance=0, iterations=12, section=0)
    solved.iterate(10)
    weights = np.maximum(solved.raw_weights, 0)
    given = {"weights": weights / weights.sum(1, keepdims=True)}
    with_them, without = both(given)
    assert Limbs(with_them._inside).energy(with_them.raw_weights) == 0
    assert with_them.energies[0] == without.energies[0]
    np.testing.assert_array_equal(with_them._inside["product"], without._inside["product"])


def unit(inside):
    """The absolute energy that corresponds to a relative energy of 1."""
    rest = (inside["edge_weight"] * lengths2(inside)).sum() + springs2(inside)
    return len(inside["transform"]) * rest


def lengths2(inside):
    owner = np.repeat(np.arange(len(inside["points"])), np.diff(inside["ring"]))
    edges = inside["points"][inside["neighbor"]] - inside["points"][owner]
    return (edges**2).sum(1)


def springs2(inside):
    owner = np.repeat(np.arange(len(inside["points"])), np.diff(inside["spring_start"]))
    springs = inside["spring_point"] - inside["points"][owner]
    return (inside["spring_weight"] * (springs**2).sum(1)).sum()


def test_locked_vertices_take_no_part():
    """The other vertices would compensate for them."""
    locked = np.zeros(len(MESH[0]), bool)
    locked[20:45] = True
    with_them, without = both({"locked_vertices": locked})
    limbs = Limbs(with_them._inside, np.flatnonzero(locked))
    own = with_them._inside["product"] - without._inside["product"]
    expected = limbs.slope(with_them.raw_weights).ravel()
    np.testing.assert_allclose(own, expected, atol=1e-10 * np.abs(expected).max())


def hand():
    """A thick palm on four bones that swing apart, with a slender finger on each."""
    vertices, triangles = [], []
    heads, tails, parents = [[0.45, 0, -0.6]], [[0.45, 0, 0]], [-1]
    for finger in range(4):
        x = 0.3 * finger
        for k, (low, high) in enumerate(((0, 1), (1, 1.7), (1.7, 2.2))):
            heads.append([x if k else 0.45 + 0.3 * (x - 0.45), 0, low])
            tails.append([x, 0, high])
            parents.append(len(heads) - 2 if k else 0)
    grid = 13
    ring = np.concatenate([
        np.column_stack([np.linspace(-0.15, 1.05, grid), np.full(grid, -0.12)]),
        np.column_stack([np.linspace(1.05, -0.15, grid), np.full(grid, 0.12)]),
    ])  # fmt: skip
    for z in np.linspace(0, 1, 9):
        vertices += [[x, y, z] for x, y in ring]
    size = len(ring)
    for j in range(8):
        for i in range(size):
            a, b = j * size + i, j * size + (i + 1) % size
            triangles += [[a, b, b + size], [a, b + size, a + size]]
    count = 8 * size
    for finger in range(4):  # each goes on from seven points of the border of the palm
        front = count + 3 * finger + np.arange(4)
        back = count + size - 1 - 3 * finger - np.arange(4)
        below = np.concatenate([front, back[::-1]])
        for z in np.linspace(1.1, 2.2, 10):
            first = len(vertices)
            for i in below:
                x, y = vertices[i][0], vertices[i][1]
                vertices.append([0.3 * finger + 0.8 * (x - 0.3 * finger), y, z])
            own = first + np.arange(8)
            for i in range(8):
                a, b, c, d = below[i], below[(i + 1) % 8], own[(i + 1) % 8], own[i]
                triangles += [[a, b, c], [a, c, d]]
            below = own
    bones = shapes.Bones(np.array(heads), np.array(tails), np.array(parents))
    return (np.array(vertices, float), np.array(triangles, np.int32)), bones


def drift(mesh, bones, weights, poses):
    """The drift of the first bone of each finger: of the middle third of its skin, in radii."""
    points = np.column_stack([mesh[0], np.ones(len(mesh[0]))])
    found = []
    for b in range(2, len(bones.heads), 3):
        middle = (bones.heads[b] + bones.tails[b]) / 2
        near = np.abs(mesh[0] - middle) < [0.2, 1, 0.15]
        at = np.flatnonzero(near.all(1))
        radius = np.linalg.norm((mesh[0][at] - middle)[:, :2], axis=1).mean()
        posed = np.einsum("vb,pbij,vj->pvi", weights[at], poses, points[at]).mean(1)
        carried = np.einsum("pij,vj->pvi", poses[:, b], points[at]).mean(1)
        found.append(np.sqrt(((posed - carried) ** 2).sum(1).mean()) / radius)
    return np.mean(found)


@pytest.mark.parametrize("seed", [1, 2])
def test_fingers_stay_on_their_bones(seed):
    """The palm follows four bones that swing apart, so springs weaken. The fingers used to follow
    the mean of all four."""
    mesh, bones = hand()
    held, loose = (
        np.asarray(shapes.solved(shapes.solver(mesh, bones, seed=seed, section=k)).weights)
        for k in (SECTION, 0)
    )
    transforms = swung(bones, 5)
    with_them, without = (drift(mesh, bones, w, transforms) for w in (held, loose))
    assert with_them < 0.85 * without


def swung(bones, seed, count=24):
    """(poses, bones, 3, 4): every bone rotates by up to 60 degrees about an axis across it."""
    rng = np.random.default_rng(seed)
    axes = rng.normal(size=(count, len(bones), 3)) * [1, 1, 0]
    angles = rng.uniform(-1, 1, (count, len(bones), 1)) * np.pi / 3
    turns = reference.turn(angles * axes / np.linalg.norm(axes, axis=2, keepdims=True))
    return araplbs.forward_kinematics(*bones, turns)
