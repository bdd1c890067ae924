"""Clusters of vertices that share rotations (paper section 5) are compared with their
definition."""

import araplbs
import numpy as np
import pytest
import reference
import shapes
from guarantees import check_weights
from test_steps import Solved, problems

SHARE = 0.5  # random weights differ much


def clusters_of(triangles, weights, difference, most=16):
    """(n,) the first vertex of each vertex's cluster, grown breadth first along edges of faces."""
    faces = np.zeros((len(weights), len(weights)), bool)
    for t in triangles:
        faces[np.ix_(t, t)] = True
    cluster = np.full(len(weights), -1)
    for first in range(len(weights)):
        if cluster[first] >= 0:
            continue
        grown, cluster[first] = [first], first
        for i in grown:
            for k in np.nonzero(faces[i] & (cluster < 0))[0]:
                if len(grown) < most and np.abs(weights[k] - weights[first]).max() <= difference:
                    cluster[k] = first
                    grown.append(k)
    return cluster


class Clustered(Solved):
    def __init__(self, rng, name, **settings):
        super().__init__(rng, name, rotation_clusters=SHARE, **settings)
        self.clusters = clusters_of(self.triangles, self.weights, SHARE)
        self.model = self.model_of(self.weights)

    def model_of(self, weights):
        return reference.Quadratic(self.points, self.a, weights, self.poses, self.clusters)

    def energy_of(self, weights):
        return reference.relative_energy(self.points, self.a, weights, self.poses, self.clusters)


@problems
def test_energy_right_side_and_step(name, rng):
    s = Clustered(rng, name)
    sizes = np.bincount(s.clusters)
    assert sizes.max() > 2 and (sizes == 1).any()
    assert s.solver.energies[0] == pytest.approx(s.energy_of(s.weights), rel=1e-12)
    np.testing.assert_allclose(
        s.differences(s.before["right_side"]), s.differences(s.model.right_side[s.flat]), atol=1e-12
    )
    own = reference.Quadratic(s.points, s.a, s.weights, s.poses)
    assert np.abs(own.right_side - s.model.right_side).max() > 1e-4
    expected = s.model.step(s.weights, s.mask)
    s.solver.iterate(1)
    np.testing.assert_allclose(s.raw(), expected, atol=1e-7)
    assert s.solver.energies[1] == pytest.approx(s.energy_of(expected), rel=1e-9)


@problems
def test_iterations_keep_their_clusters_and_descend(name, rng):
    s = Clustered(rng, name, iterations=5, tolerance=0, acceleration=0)
    weights = s.weights
    for _ in range(5):
        weights = s.model_of(weights).step(weights, s.mask)
    s.solver.iterate(5)
    np.testing.assert_allclose(s.raw(), weights, atol=1e-6)
    assert (np.diff(s.solver.energies) <= 1e-15).all()


def character(**settings):
    mesh, bones = shapes.tube(24, 80), shapes.chain(5)
    solver = shapes.solve(mesh, bones, **settings)
    return mesh, solver


def test_clusters_have_sixteen_vertices_at_most():
    """The limit holds even if the option makes all weights count as equal."""
    (vertices, triangles), bones = shapes.tube(8, 12), shapes.chain(2)
    poses = araplbs.sample_poses(*bones, 4, **bones.more)
    solver = araplbs.Solver(
        vertices, triangles, *bones, poses=poses, pose_count=0, precision="double",
        max_influences=0, rotation_clusters=1.0, coarsen=0, link_parts=False,
        **reference.PAPER_ENERGY,
    )  # fmt: skip
    points, moved, _ = reference.normalize_to_solver(vertices, poses)
    _, a = reference.edge_weights(points, triangles)
    clusters = clusters_of(triangles, solver.initial_weights, 1.0)
    assert np.bincount(clusters).max() == 16
    expected = reference.relative_energy(points, a, solver.initial_weights, moved, clusters)
    assert solver.energies[0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("clusters", [{"rotation_clusters": 0.05}, {"position_clusters": 1000}])
def test_result_is_about_as_good(precision, clusters):
    (mesh, own), (_, shared) = (
        character(**settings, precision=precision) for settings in ({}, clusters)
    )
    assert shared.report["coarse_vertices"]
    check_weights(shared, 4, len(mesh[0]))
    assert shared.energy < 1.1 * own.energy


def random_numbers(seed):
    """Numbers in [0, 1), by SplitMix64."""
    mask = 2**64 - 1
    while True:
        seed = (seed + 0x9E3779B97F4A7C15) & mask
        z = ((seed ^ seed >> 30) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & mask
        yield ((z ^ z >> 31) >> 11) * 2.0**-53


def clusters_by_position(points, count, seed):
    """(n,) the cluster of each vertex: k-means++, then five rounds of Lloyd's algorithm."""
    random, n = random_numbers(seed), len(points)
    chosen = [int(next(random) * n)]
    squared = lambda centers: ((points[:, None] - centers) ** 2).sum(-1)  # noqa: E731
    while len(chosen) < count and (d := squared(points[chosen]).min(1)).sum() > 0:
        passed = np.searchsorted(d.cumsum(), next(random) * d.sum(), side="right")
        chosen.append(min(passed, np.nonzero(d)[0][-1]))
    centers = points[chosen]
    cluster = squared(centers).argmin(1)
    for _ in range(5):
        centers = [points[cluster == c].mean(0) for c in range(len(chosen))]
        cluster = squared(np.array(centers)).argmin(1)
    return cluster


@pytest.mark.parametrize(("count", "seed"), [(1, 0), (12, 5), (12, 6), (40, 7), (10**6, 0)])
def test_clusters_by_position_are_those_of_k_means(count, seed):
    """The energy of the first step is compared, which depends on every cluster."""
    (vertices, triangles), bones = shapes.tube(8, 12), shapes.chain(2)
    vertices = vertices + np.random.default_rng(3).normal(size=vertices.shape) * 0.05
    poses = araplbs.sample_poses(*bones, 4, **bones.more)
    solver = araplbs.Solver(
        vertices, triangles, *bones, poses=poses, pose_count=0, precision="double", seed=seed,
        max_influences=0, position_clusters=count, coarsen=0, link_parts=False,
        **reference.PAPER_ENERGY,
    )  # fmt: skip
    points, moved, _ = reference.normalize_to_solver(vertices, poses)
    _, a = reference.edge_weights(points, triangles)
    clusters = clusters_by_position(points, min(count, len(points)), seed)
    assert len(np.unique(clusters)) == min(count, len(points))
    expected = reference.relative_energy(points, a, solver.initial_weights, moved, clusters)
    assert solver.energies[0] == pytest.approx(expected, rel=1e-12)
    own = reference.relative_energy(points, a, solver.initial_weights, moved)
    assert (expected > 1.0001 * own) == (count < len(points))


def test_energy_of_the_result_is_that_of_its_own_rotations():
    """Only the history uses shared rotations, and its energies are never lower."""
    (vertices, triangles), bones = shapes.tube(8, 20), shapes.chain(4)
    poses = araplbs.sample_poses(*bones, 20, **bones.more)
    solver = araplbs.Solver(
        vertices, triangles, *bones, **bones.more, poses=poses, pose_count=0,
        rotation_clusters=0.2, min_weight=0, precision="double", **reference.PAPER_ENERGY,
    )  # fmt: skip
    solver.solve()
    expected = araplbs.energy(vertices, triangles, solver.weights, poses)
    assert solver.energy == pytest.approx(expected, rel=1e-9)
    assert solver.energies[-1] > 1.0001 * expected
    before = araplbs.energy(vertices, triangles, solver.initial_weights, poses)
    assert solver.report["energy_before"] == pytest.approx(before, rel=1e-9)
    assert solver.energies[0] > 1.0001 * before


def test_clusters_of_one_vertex_change_nothing():
    mesh, bones = shapes.tube(12, 30), shapes.chain(5)
    mesh[0][:] += np.random.default_rng(4).normal(size=mesh[0].shape) * 0.01
    own, single = (
        shapes.solver(mesh, bones, **reference.PAPER, rotation_clusters=c) for c in (0.0, 1e-15)
    )
    own.solve(), single.solve()
    np.testing.assert_array_equal(own.raw_weights, single.raw_weights)
    np.testing.assert_array_equal(own.energies, single.energies)
