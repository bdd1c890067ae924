"""Compares the energy terms of bone springs with explicit sums in which springs are vertices of
fixed weight and one-way neighbors. Also tests how springs weaken, and how they behave with edits,
symmetry and coarser meshes. test_spring_bones.py tests the choice of bones, and
test_joint_anchors.py the motion with joints."""

import araplbs
import numpy as np
import pytest
import reference
import scipy.sparse
import shapes
from joint_rigs import ARM, BONES, moved, two_trees
from test_bendy import Expanded
from test_steps import Solved, make_problem, problems

SETTINGS = {**reference.BARE, "edge_power": 3, "bone_spring_stiffness": 20, "section": 0}
YIELD, WEAKEST = 0.3, 0.1  # csrc/springs/bone_springs.c


def owners(inside):
    """(springs,) the vertex of each."""
    start = inside["spring_start"]
    return np.repeat(np.arange(len(start) - 1), np.diff(start))


class Trussed(Solved):
    """A bare solver with springs, and the dense reference, which has them as additional
    vertices."""

    def __init__(self, rng, name, **settings):
        mesh, wires, bones, poses, mask, weights = make_problem(rng, name)
        given = {"poses": poses, "weights": shapes.rows(mask, weights), "edges": wires}
        self.deforming = np.arange(len(bones)) if bones.deform is None else bones.deform
        settings = {**SETTINGS, **given, **settings}
        self.solver = shapes.solver(mesh, bones, **settings)
        self.inside = inside = self.solver._inside
        self.mask, weights = mask[:, self.deforming], weights[:, self.deforming]
        points, moved, _ = reference.normalize_to_solver(mesh[0], poses)
        _, a = reference.edge_weights(points, mesh[1], wires or [])
        a = reference.balanced(points, a, settings["edge_power"], inside["unit"], wires=wires or [])
        self.count, self.poses = len(points), moved[:, self.deforming]
        self.points, self.a, self.weights = reference.with_springs(points, a, weights, inside)
        self.free = np.zeros(self.weights.shape, bool)
        self.free[: self.count] = self.mask
        self.model = self.quadratic(self.weights)

    def quadratic(self, weights):
        return reference.Quadratic(self.points, self.a, weights, self.poses)


@problems
def test_energy_product_and_right_side(name, rng):
    s = Trussed(rng, name)
    assert len(s.inside["spring_bone"]) > 0.5 * s.count
    expected = reference.relative_energy(s.points, s.a, s.weights, s.poses)
    assert s.solver.energies[0] == pytest.approx(expected, rel=1e-10)
    product = (s.model.product_matrix @ s.weights.ravel())[s.flat]
    np.testing.assert_allclose(s.inside["product"], product, atol=1e-10 * np.abs(product).max())
    right = s.differences(s.model.right_side[s.flat])
    np.testing.assert_allclose(
        s.differences(s.inside["right_side"]), right, atol=1e-9 * np.abs(right).max()
    )


@problems
def test_gradient_by_differences_of_the_full_energy(name, rng):
    s = Trussed(rng, name)
    gradient = s.differences(2 * (s.inside["product"] - s.inside["right_side"]))
    h, at = 1e-5, 0
    unit = reference.vertex_energies(s.points, s.a, s.weights, s.poses)[1].sum()
    for i in range(s.count):
        bones = np.nonzero(s.mask[i])[0]
        at += len(bones)
        if i % 4 or len(bones) < 2:
            continue
        slopes = []
        for sign in (1, -1):
            moved = s.weights.copy()
            moved[i, bones[-1]] += sign * h
            moved[i, bones[0]] -= sign * h
            slopes.append(reference.relative_energy(s.points, s.a, moved, s.poses) * unit)
        difference = (slopes[0] - slopes[1]) / (2 * h)
        assert gradient[at - 1] == pytest.approx(difference, abs=1e-5 * np.abs(gradient).max())


@problems
def test_matrix_and_global_step(name, rng):
    s = Trussed(rng, name)
    s.solver.iterate(1)
    matrix, z = reference.matrix_of_the_step(s.solver._inside)
    full = z.T @ s.model.product_matrix[np.ix_(s.flat, s.flat)] @ z
    np.testing.assert_allclose(matrix, full, atol=1e-10 * np.abs(full).max())
    expected = s.model.step(s.weights, s.free)
    change = np.zeros(s.weights.shape)
    change[: s.count] = expected[: s.count] - s.raw()
    scale = np.linalg.norm(s.model.target)
    assert np.linalg.norm(s.model.design @ change.ravel()) < 1e-8 * scale
    np.testing.assert_allclose(s.raw(), expected[: s.count], atol=1e-6)
    assert s.solver.energies[1] == pytest.approx(
        reference.relative_energy(s.points, s.a, expected, s.poses), rel=1e-8
    )


@problems
def test_iterations_repeat_both_steps(name, rng):
    s = Trussed(rng, name, iterations=5, tolerance=0)
    weights = s.weights
    for _ in range(5):
        weights = s.quadratic(weights).step(weights, s.free)
    s.solver.iterate(5)
    np.testing.assert_allclose(s.raw(), weights[: s.count], atol=1e-5)
    assert (np.diff(s.solver.energies) <= 1e-12).all()


def test_no_springs_without_strength():
    settings = {"pose_count": 2, "bone_spring_stiffness": 0}
    solver = araplbs.Solver(*shapes.tube(6, 5), *shapes.chain(2), **settings)
    assert "spring_start" not in solver._inside
    weak, strong = (
        Trussed(np.random.default_rng(1), "tube", bone_spring_stiffness=t) for t in (1, 7)
    )
    np.testing.assert_allclose(
        strong.inside["spring_weight"], 7 * weak.inside["spring_weight"], rtol=1e-12
    )


def test_locked_weights_stay_and_the_others_take_their_springs(rng):
    s = Trussed(rng, "tube")
    vertices = np.zeros(s.count, bool)
    vertices[[1, 7, 12]] = True
    bones = np.array([False, True, False])
    locked = Trussed(
        np.random.default_rng(20180813), "tube", locked_vertices=vertices, locked_bones=bones
    )
    free = s.free & ~bones
    free[: s.count][vertices] = False
    np.testing.assert_array_equal(locked.inside["spring_bone"], s.inside["spring_bone"])
    start = locked.raw()
    np.testing.assert_allclose(start, s.weights[: s.count], atol=1e-12)
    locked.solver.iterate(1)
    expected = s.model.step(s.weights, free)[: s.count]
    np.testing.assert_allclose(locked.raw(), expected, atol=1e-6)
    np.testing.assert_array_equal(locked.raw()[vertices], start[vertices])


def test_shared_rotations(rng):
    """The springs of all vertices of a cluster contribute to its rotations, by their own terms."""
    from test_rotation_clusters import SHARE, clusters_of

    s = Trussed(rng, "tube", rotation_clusters=SHARE)
    triangles = shapes.tube(5, 4)[1]
    clusters = clusters_of(triangles, s.weights[: s.count], SHARE)
    assert np.bincount(clusters).max() > 2
    clusters = np.concatenate([clusters, np.arange(s.count, len(s.points))])
    given = s.points, s.a, s.weights, s.poses, clusters
    expected = reference.relative_energy(*given)
    assert s.solver.energies[0] == pytest.approx(expected, rel=1e-10)
    model = reference.Quadratic(*given)
    right = s.differences(model.right_side[s.flat])
    np.testing.assert_allclose(
        s.differences(s.inside["right_side"]), right, atol=1e-9 * np.abs(right).max()
    )


def test_stretched_rings(rng):
    """If a ring should stretch with its bones, its springs should stretch, too."""
    from test_stretch import scaled, tensor

    mesh, bones = shapes.tube(5, 7), shapes.chain(3)
    poses, weights = scaled(rng, 4, 3), shapes.random_weights(rng, 35, 3)
    stretch = [True, False, True]
    solver = araplbs.Solver(
        *mesh, *bones, bone_stretch=stretch, poses=poses, weights=weights, **SETTINGS
    )
    inside = solver._inside
    points, moved, _ = reference.normalize_to_solver(mesh[0], poses)
    a = reference.balanced(points, reference.edge_weights(points, mesh[1])[1], 3, inside["unit"])
    points, a, whole = reference.with_springs(points, a, weights, inside)
    total = unit = 0
    for pose, posed in zip(moved, reference.posed(points, whole, moved), strict=True):
        own = [tensor(t[:, :3]) if s else np.eye(3) for t, s in zip(pose, stretch, strict=True)]
        for i in range(len(weights)):
            u = np.eye(3) + np.einsum("b,bij->ij", weights[i], np.array(own) - np.eye(3))
            ring = np.flatnonzero(a[i])
            rest, after = points[ring] - points[i], posed[ring] - posed[i]
            best = reference.rotation_of(np.einsum("k,ki,kj->ij", a[i, ring], after, rest) @ u) @ u
            total += np.sum(a[i, ring, None] * (after - rest @ best.T) ** 2)
            unit += np.sum(a[i, ring, None] * rest**2)
    assert solver.energies[0] == pytest.approx(total / unit, rel=1e-9)


def test_bendy_bones_carry_points_on_their_curves(rng):
    """Two joints move each point, also at the very tail, where only the last joint does."""
    s = Expanded(rng)
    solver = s.solver(edge_power=3, bone_spring_stiffness=20)
    inside = solver._inside
    points, poses, diagonal = reference.normalize_to_solver(s.mesh[0], s.columns)
    center = (s.mesh[0].min(0) + s.mesh[0].max(0)) / 2
    bone = inside["spring_bone"]
    assert set(bone) == {0, 1, 2}
    shares = np.zeros((len(bone), 10))
    for b, first, segments in ((0, 0, 0), (1, 1, 3), (2, 5, 4)):
        own = bone == b
        at = inside["spring_point"][own] * diagonal + center
        u = reference.along_bone(s.bones.heads[b], s.bones.tails[b], at)
        np.testing.assert_allclose(
            at, s.bones.heads[b] + u[:, None] * (s.bones.tails[b] - s.bones.heads[b]), atol=1e-12
        )
        joints = np.arange(segments + 1)
        shares[np.ix_(own, first + joints)] = np.maximum(
            0, 1 - np.abs(u[:, None] * segments - joints)
        )
    assert (shares[:, [4, 9]] == 1).any()
    a = reference.balanced(points, reference.edge_weights(points, s.mesh[1])[1], 3, inside["unit"])
    columns = s.expand(s.weights)
    extended = reference.with_springs(points, a, columns, inside, shares)
    expected = reference.relative_energy(*extended, poses)
    assert solver.energies[0] == pytest.approx(expected, rel=1e-9)
    dense = reference.Quadratic(*extended, poses)
    to_columns = scipy.sparse.block_diag([h.T for h in s.share]).toarray()
    flat, size = np.nonzero(s.mask.ravel())[0], columns.size
    product = (to_columns.T @ (dense.product_matrix @ extended[2].ravel())[:size])[flat]
    np.testing.assert_allclose(inside["product"], product, atol=1e-10 * np.abs(product).max())
    first = np.searchsorted(flat // 3, flat // 3)
    right, own = (to_columns.T @ dense.right_side[:size])[flat], inside["right_side"]
    np.testing.assert_allclose(
        own - own[first], right - right[first], atol=1e-9 * np.abs(right).max()
    )
    solver.iterate(1)
    z = []
    for i in range(len(points)):
        at = np.nonzero(flat // 3 == i)[0]
        for k in at[1:]:
            z.append(np.zeros(len(flat)))
            z[-1][[at[0], k]] = -1, 1
    design = dense.design[:, :size] @ to_columns[:, flat]
    start = s.weights.ravel()[flat]
    target = dense.target - dense.design @ extended[2].ravel()
    x = np.linalg.lstsq(design @ np.transpose(z), target, rcond=1e-13)[0]
    after = start + np.transpose(z) @ x
    np.testing.assert_allclose(solver.raw_weights.ravel()[flat], after, atol=1e-6)


def relative_errors(points, a, weights, poses, inside):
    """(springs,) mean squares over the poses."""
    owner, n = owners(inside), len(points) - len(inside["spring_bone"])
    ends = np.arange(n, len(points))
    rest = points[ends] - points[owner]
    sums = np.zeros(len(ends))
    for posed in reference.posed(points, weights, poses):
        rotations, _ = reference.local_step(points, a, posed)
        turned = np.einsum("sij,sj->si", rotations[owner], rest)
        sums += np.sum((posed[ends] - posed[owner] - turned) ** 2, axis=1)
    return sums / (len(poses) * np.sum(rest**2, axis=1))


def test_springs_give_way_by_the_formula():
    """Springs are weakened at the start of the next stage, with the weights of the last one."""
    mesh, bones = shapes.tube(6, 9, 0.35), shapes.chain(4)
    poses = araplbs.sample_poses(*bones, 6, seed=2, swing=1.5, twist=0.8)
    solver = araplbs.Solver(
        *mesh, *bones, poses=poses, pose_count=0, precision="double", coarsen=0,
        link_parts=False,
    )  # fmt: skip
    points, moved, _ = reference.normalize_to_solver(mesh[0], poses)
    a = reference.edge_weights(points, mesh[1])[1]
    changes = 0
    while not solver.done:
        before, weights = solver._inside, solver.raw_weights
        solver.iterate(1)
        after = solver._inside
        np.testing.assert_allclose(
            after["spring_weight"], after["spring_held"] * after["spring_strength"], rtol=1e-14
        )
        if (after["spring_held"] == before["spring_held"]).all():
            continue
        changes += 1
        balanced = reference.balanced(points, a, 3, before["unit"])
        extended = reference.with_springs(points, balanced, weights, before)
        q = relative_errors(*extended, moved, before)
        give, bone = (1 + q / YIELD**2) ** -2, after["spring_bone"]
        best = np.array([give[bone == b].max() for b in bone])
        expected = np.maximum(WEAKEST, give / np.sqrt(best))
        np.testing.assert_allclose(after["spring_held"], expected, rtol=1e-6)
        assert expected.min() < 0.9
    assert changes == 2


def test_released_springs_weigh_nothing_until_they_are_taken_back():
    mesh, bones = shapes.tube(8, 13), shapes.chain(3)
    settings = {"precision": "double", "coarsen": 0}
    whole = araplbs.Solver(*mesh, *bones, **settings)
    inside = whole._inside
    owner = owners(inside)
    picked = np.array([3, 40, 77])
    pairs = owner[picked], inside["spring_bone"][picked]
    other = owner[[5]], (inside["spring_bone"][[5]] + 1) % 3  # its spring is to another bone
    given = np.concatenate([pairs, other], axis=1)
    solver = araplbs.Solver(*mesh, *bones, **settings, released=tuple(given))
    expected = inside["spring_weight"].copy()
    expected[picked] = 0
    np.testing.assert_array_equal(solver._inside["spring_weight"], expected)
    assert solver.energies[0] != whole.energies[0]
    solver.edit()
    np.testing.assert_array_equal(solver._inside["spring_weight"], inside["spring_weight"])
    assert solver.energy == pytest.approx(whole.energy, rel=1e-9)
    solver.edit(released=tuple(given))
    solver.solve()
    inside = solver._inside
    assert not inside["spring_weight"][picked].any()
    others = np.setdiff1d(np.arange(len(owner)), picked)
    assert inside["spring_weight"][others].all()


def test_springs_of_partners_are_images():
    from test_symmetry import FLIP, PARTNERS, body, make

    mesh, partner = body()
    solver = make(mesh)
    for _ in range(2):
        inside = solver._inside
        start = inside["spring_start"]
        plane = mesh[0].min(0)[0] + mesh[0].max(0)[0]
        assert abs(plane) < 1e-12  # so that the solver's coordinates mirror at 0
        for i, k in enumerate(partner):
            own, image = (np.arange(start[v], start[v + 1]) for v in (i, k))
            assert len(own) == len(image) == 1
            for j in own:
                bone = PARTNERS[inside["spring_bone"][j]]
                other = image[inside["spring_bone"][image] == bone][0]
                np.testing.assert_array_equal(
                    inside["spring_strength"][j], inside["spring_strength"][other]
                )
                np.testing.assert_allclose(
                    inside["spring_point"][j] * FLIP, inside["spring_point"][other], atol=1e-12
                )
        solver.solve()


def test_a_vertex_between_partners_is_tied_to_both():
    vertices, triangles = shapes.tube(8, 9, 0.4)
    heads = np.array([[-0.15, 0, 0], [0.15, 0, 0]])
    bones = heads, heads + np.array([0, 0, 2.0]), [-1, -1]
    symmetry = ([1, 0], (0, 0, 0), (1, 0, 0))
    solver = araplbs.Solver(vertices, triangles, *bones, symmetry=symmetry, pose_count=4)
    inside = solver._inside
    count = np.diff(inside["spring_start"])
    np.testing.assert_array_equal(count, np.where(np.abs(vertices[:, 0]) < 1e-9, 2, 1))
    one = araplbs.Solver(vertices, triangles, *bones, pose_count=4)._inside["spring_strength"]
    strengths = np.add.reduceat(inside["spring_strength"], inside["spring_start"][:-1])
    flipped = vertices * [-1, 1, 1]
    image = np.linalg.norm(vertices[:, None] - flipped, axis=2).argmin(1)
    decides = np.where(vertices[:, 0] >= 0, np.arange(len(image)), image)
    np.testing.assert_allclose(strengths, one[decides], rtol=1e-12)
    between = inside["spring_strength"][np.repeat(count == 2, count)].reshape(-1, 2)
    np.testing.assert_array_equal(between[:, 0], between[:, 1])
    solver.solve()
    middle = solver.weights[count == 2]
    np.testing.assert_array_equal(middle[:, 0], middle[:, 1])


def test_fine_springs_give_way_as_those_of_their_clusters_did():
    from test_levels import TUBE

    bones = shapes.chain(12)  # shorter than thick: not all can be satisfied
    solver = shapes.solver(TUBE, bones, coarsen=600)
    cluster = solver._inside["cluster"]
    assert (solver._inside["spring_held"] == 1).all()
    while "cluster" in solver._inside:
        solver.iterate(1)
    inside = solver._inside
    assert (np.diff(inside["spring_start"]) == 1).all()
    held = inside["spring_held"]
    assert held.min() < 0.9
    assert len(np.unique(held)) > 20
    for k in np.unique(cluster):
        assert np.ptp(held[cluster == k]) == 0


def test_a_vertex_of_one_bone_has_that_of_its_spring():
    """The last influence to be removed is the one to which a spring ties the vertex."""
    mesh, bones = shapes.tube(10, 25, 0.3), shapes.chain(5)
    solver = shapes.solved(araplbs.Solver(*mesh, *bones, max_influences=1, coarsen=0))
    inside = solver._inside
    tied = inside["spring_held"] >= 0.5
    assert tied.mean() > 0.5
    owner = owners(inside)[tied]
    np.testing.assert_array_equal(solver.weights[owner].argmax(1), inside["spring_bone"][tied])


def joint_problem(rng):
    bones, mesh = two_trees()
    weights = shapes.random_weights(rng, len(mesh[0]), 5)
    poses = araplbs.sample_poses(*bones, 4, seed=3)
    given = {"weights": weights, "poses": poses, "pose_count": 0, "link_parts": False}
    return bones, mesh, weights, poses, given


def test_joints_have_the_energy_of_the_solver(rng):
    bones, mesh, _, _, given = joint_problem(rng)
    joints = araplbs.JointSolver(
        *mesh, *bones, **given, optimize_weights=False, max_influences=0, component_stiffness=1e6
    )
    solver = araplbs.Solver(
        *mesh, *bones, **given, start_from_weights=True, precision="double", max_influences=0,
        section=0,
    )  # fmt: skip
    assert joints._inside is not None  # sums in double precision from here on
    assert joints.report["energy_before"] == pytest.approx(solver.energies[0], rel=1e-9)


@pytest.mark.parametrize("method", ["alternate", "together"])
def test_joints_and_weights_never_raise_the_energy(method):
    bones = moved(moved(BONES, 1, [0.15, 0.05, 0.1]), 2, [-0.1, 0.1, 0])
    settings = {"pose_count": 12, "tolerance": 1e-5, "iterations": 12}
    s = shapes.solved(araplbs.JointSolver(*ARM, *bones, **bones.more, **settings, method=method))
    assert len(s.energies) > 4
    assert (np.diff(s.energies) <= 0).all()
    assert s.energies[-1] < 0.95 * s.energies[0]
