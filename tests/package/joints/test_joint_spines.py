"""Tests joints of STBs and spines: the quadratic of a step is compared with dense NumPy; also
invariants of a step, and refusals."""

import araplbs
import numpy as np
import pytest
import reference
import shapes
from refusals import GOOD, POSES, N, row, table
from reports import Told

ARM = shapes.tube(10, 21, 0.25, 3.0)
KINDS = ["rigid", "spine", "stb"]
RANGES = np.full((3, 4, 2), np.nan)
RANGES[1:, 2] = [-1.0, 1.0]
RANGES[1:, 3] = 1.0
STRETCHED = RANGES.copy()
STRETCHED[1:, 3] = [0.85, 1.15]


def arm(first=(0, 0, 0), second=(0, 0, 0), kinds=KINDS):
    """Three bones in a tube, with the two joints between them off its axis."""
    bones = shapes.chain(3, 3.0, kinds=kinds, ranges=RANGES)
    joints = np.concatenate([bones.heads, bones.tails[-1:]])
    joints[1] += first
    joints[2] += second
    return bones.but(heads=joints[:-1], tails=joints[1:])


BENT = arm([0.12, 0.05, 0], [-0.1, 0.08, 0])


def solver(bones=BENT, mesh=ARM, **settings):
    """With holds, because spines have no springs, and nothing else prevents their weights from
    vanishing."""
    settings = {"pose_count": 8, "peak_stiffness": 0.01, **settings}
    return araplbs.JointSolver(*mesh, *bones, **{**bones.more, **settings})


def some_weights(bones=BENT):
    """Smooth along the tube."""
    z = ARM[0][:, 2]
    weights = np.exp(-4 * (z[:, None] - [0.5, 1.5, 2.5]) ** 2)
    return weights / weights.sum(1, keepdims=True)


def two_trees():
    """A spine with two branches, one of them next to it, and an STB that carries a bone."""
    heads = [[0, 0, 0], [0, 0, 1], [0.1, 0.05, 2], [0.3, 0.1, 1.6], [1.0, 0, 0], [1, 0, 1.1]]
    tails = [[0, 0, 1], [0.1, 0.05, 2], [0, 0, 2.5], [0.8, 0.1, 1.7], [1, 0, 1.1], [1.1, 0, 2]]
    kinds = ["rigid", "spine", "rigid", "rigid", "stb", "rigid"]
    parents = np.array([-1, 0, 1, 1, -1, 4])
    bones = shapes.Bones(np.array(heads), np.array(tails), parents, kinds=kinds)
    tube = shapes.tube(4, 6, 0.3)
    return bones, shapes.join(tube, (tube[0] + [1.0, 0, 0], tube[1]))


class Dense:
    """Residuals of all edges in all poses as a function of the positions of joints and of component
    displacements, with u, bends, linear parts and R fixed, in the solver's coordinates."""

    def __init__(self, bones, mesh, weights, poses, bends, parameters, segments):
        self.bones, self.weights, self.bends, self.segments = bones, weights, bends, segments
        center = (mesh[0].min(0) + mesh[0].max(0)) / 2
        self.points, self.poses, diagonal = reference.normalize_to_solver(mesh[0], poses)
        self.heads, self.tails = ((x - center) / diagonal for x in (bones.heads, bones.tails))
        _, self.a = reference.edge_weights(self.points, mesh[1])
        u = np.full(weights.shape, np.nan)
        for b, kind in enumerate(bones.kinds):
            if kind != "rigid":
                u[:, b] = reference.along_bone(self.heads[b], self.tails[b], self.points)
        u = np.where(np.isnan(parameters), u, parameters)
        spines = reference.Spines(
            self.points, self.a, self.poses, self.heads, self.tails, bends, u
        )  # fmt: skip
        self.best = spines.transforms(self.points, self.a, weights)
        self.spines = [b for b, kind in enumerate(bones.kinds) if kind != "rigid"]
        self.parts = {
            (p, b): [self.part(bends[p, b], x) for x in u[:, b]]
            for p in range(len(poses)) for b in self.spines
        }  # fmt: skip
        self.hung = {}  # where children hang on spines
        for d, up in enumerate(bones.parents):
            if up in self.spines:
                place = reference.along_bone(self.heads[up], self.tails[up], self.heads[d])
                for p in range(len(poses)):
                    self.hung[p, d] = self.part(bends[p, up], place)

    @staticmethod
    def part(bend, u):
        """R and sigma S - u R."""
        node, weight = np.polynomial.legendre.leggauss(14)
        turned = reference.turn(np.outer(u * (1 + node) / 2, bend[:3]))
        rotation = reference.turn(u * bend[:3])
        return rotation, bend[3] * u / 2 * np.tensordot(weight, turned, 1) - u * rotation

    @staticmethod
    def take(part, head, tail, point):
        rotation, along = part
        return head - rotation @ head + along @ (tail - head) + rotation @ point

    def translations(self, p, heads, tails, displacement):
        """Relative to before, with the same connections of joints."""
        shift, tree = np.zeros((len(heads), 3)), np.arange(len(heads))
        for d, up in enumerate(self.bones.parents):
            if up < 0:
                continue
            ends = (self.heads[up], self.tails[up], self.heads[d])
            moved = (heads[up], tails[up], heads[d])
            if up in self.spines:
                gap = self.take(self.hung[p, d], *moved) - self.take(self.hung[p, d], *ends)
            else:
                gap = moved[2] - ends[2]
            own = self.poses[p, d, :, :3] @ (moved[2] - ends[2])
            shift[d] = shift[up] + self.poses[p, up, :, :3] @ gap - own
            tree[d] = tree[up]
        for c, root in enumerate(np.unique(tree)):
            own = tree == root
            mean = np.average(shift[own], axis=0, weights=self.segments[own])
            shift[own] += displacement[c] - mean
        return shift

    def residuals(self, heads, tails, displacements):
        out = []
        for p, pose in enumerate(self.poses):
            t = pose[..., 3] + self.translations(p, heads, tails, displacements[p])
            where = np.repeat(self.points[:, None], len(heads), 1)
            for b in self.spines:
                where[:, b] = [
                    self.take(part, heads[b], tails[b], point)
                    for part, point in zip(self.parts[p, b], self.points, strict=True)
                ]
            phi = np.einsum("bij,nbj->nbi", pose[..., :3], where) + t
            points = np.einsum("nb,nbi->ni", self.weights, phi)
            i, k = np.nonzero(self.a)
            turned = np.einsum("erc,ec->er", self.best[p, i], self.points[k] - self.points[i])
            out.append(np.sqrt(self.a[i, k])[:, None] * (points[k] - points[i] - turned))
        return np.ravel(out)

    def system(self, joint_of_head, joint_of_tail, stiffness):
        """A_J and B_J with the best component displacements, and the energy."""
        joints, poses = max(*joint_of_head, *joint_of_tail) + 1, len(self.poses)
        components = np.sum(self.bones.parents < 0)
        count, columns = 3 * joints, []
        start = self.residuals(self.heads, self.tails, np.zeros((poses, components, 3)))
        for x in np.eye(count + 3 * poses * components):
            moves = x[:count].reshape(-1, 3)
            heads, tails = self.heads + moves[joint_of_head], self.tails + moves[joint_of_tail]
            displacements = x[count:].reshape(poses, components, 3)
            columns.append(self.residuals(heads, tails, displacements) - start)
        design = np.array(columns).T
        full, right = design.T @ design, -design.T @ start
        rest = sum(
            self.a[i, k] * np.sum((self.points[k] - self.points[i]) ** 2)
            for i, k in reference.edges_of(self.a)
        )
        inner = full[count:, count:] + stiffness * rest * np.eye(len(full) - count)
        best = np.linalg.solve(inner, full[count:, :count])
        matrix = full[:count, :count] - full[:count, count:] @ best
        return matrix, right[:count] - best.T @ right[count:], start @ start / (rest * poses)


@pytest.mark.parametrize(("stiffness", "given"), [(1e3, False), (1e-3, True)])
@pytest.mark.slow
def test_the_quadratic_is_that_of_the_energy(rng, stiffness, given):
    bones, mesh = two_trees()
    weights = shapes.random_weights(rng, len(mesh[0]), 6)
    weights[: len(weights) // 4, [1, 4]] = 0  # some vertices know of no spine
    weights[0, 1] = 0
    weights /= weights.sum(1, keepdims=True)
    poses, bends = araplbs.sample_poses(*bones, 2, bone_kinds=bones.kinds, seed=3)
    bends[:, 1, 3], bends[:, 4, 3] = [1.2, 0.8], [0.9, 1.1]
    parameters = np.full(weights.shape, np.nan)
    if given:
        parameters[::3, [1, 4]] = rng.uniform(size=(len(parameters[::3]), 2))
    s = solver(
        bones, mesh, weights=shapes.rows(weights > 0, weights), poses=poses, bends=bends,
        parameters=parameters, pose_count=0, link_parts=False,
        component_stiffness=stiffness, optimize_weights=False, max_influences=0,
        **reference.PAPER_ENERGY,
    )  # fmt: skip
    matrix, right, _, _ = s._inside
    segments = np.array([1, 2, 1, 1, 1, 1])
    dense = Dense(bones, mesh, weights, poses, bends, parameters, segments)
    report = s.report
    expected = dense.system(report["joint_of_head"], report["joint_of_tail"], stiffness)
    assert abs(report["energy_before"] - expected[2]) < 1e-9
    scale = np.abs(expected[0]).max()
    np.testing.assert_allclose(matrix, expected[0], atol=1e-7 * scale)
    np.testing.assert_allclose(right, expected[1], atol=1e-7 * np.abs(expected[1]).max())


def check_connected(s, bones):
    """The head of a child is where its parent moves it."""
    for p, pose in enumerate(s.poses):
        for d, up in enumerate(bones.parents):
            if up < 0:
                continue
            head, tail, point = s.heads[up], s.tails[up], s.heads[d]
            u = reference.along_bone(head, tail, point)
            taken = reference.spine_point(head, tail, s.bends[p, up], u, point)
            np.testing.assert_allclose(
                pose[up] @ np.append(taken, 1), pose[d] @ np.append(point, 1), atol=1e-9
            )


@pytest.mark.parametrize("ranges", [RANGES, STRETCHED], ids=["bent", "stretched"])
@pytest.mark.parametrize("method", ["alternate", "together"])
@pytest.mark.slow
def test_energy_never_rises_and_joints_stay_connected(method, ranges):
    settings = {"iterations": 6, "tolerance": 1e-4, **reference.PAPER_HELD}
    s = shapes.solved(solver(BENT.but(ranges=ranges), method=method, **settings))
    assert s.report["joint_steps"]
    assert (np.diff(s.energies) <= 0).all()
    assert s.energies[-1] < (0.96 if ranges is RANGES else 1) * s.energies[0]
    np.testing.assert_array_equal(s.heads[1:], s.tails[:-1])
    check_connected(s, BENT)
    told = araplbs.energy(
        *ARM, s.weights, s.poses, bone_heads=s.heads, bone_tails=s.tails, bone_kinds=KINDS,
        bends=s.bends,
    )  # fmt: skip
    assert abs(told - s.energy) < 0.02 * s.energy  # small weights are dropped


def test_the_energy_is_that_of_what_is_handed_out():
    weights = some_weights()
    s = shapes.solved(
        solver(weights=weights, optimize_weights=False, iterations=4, **reference.PAPER_ENERGY)
    )
    assert s.report["joint_steps"] > 1
    told = araplbs.energy(
        *ARM, weights, s.poses, bone_heads=s.heads, bone_tails=s.tails, bone_kinds=KINDS,
        bends=s.bends,
    )  # fmt: skip
    assert abs(told - s.energy) < 1e-9
    np.testing.assert_array_equal(s.bends[:, 0], np.tile([0, 0, 0, 1.0], (8, 1)))
    off = np.cross(s.bends[:, 2, :3], s.tails[2] - s.heads[2])
    assert np.abs(off).max() < 1e-12  # STBs turn about themselves
    assert np.abs(s.bends[:, 2, :3]).max() > 0.1


def test_trees_stay_connected():
    bones, mesh = two_trees()
    weights = shapes.random_weights(np.random.default_rng(5), len(mesh[0]), 6)
    s = solver(
        bones, mesh, weights=weights, optimize_weights=False, link_parts=False, iterations=5,
        joint_stiffness=1e-3, tangential=0,
    )  # fmt: skip
    s.solve()
    assert s.report["joint_steps"] > 1
    assert (np.diff(s.energies) <= 0).all()
    assert np.abs(s.heads[3] - bones.heads[3]).max() > 1e-3
    check_connected(s, bones)


def test_displaced_ends_come_back():
    """Displaced ends come back across the bones, including both ends of the spine."""
    s = shapes.solved(solver(iterations=12, pose_count=20))
    before = np.linalg.norm(BENT.heads[1:, :2], axis=1)
    after = np.linalg.norm(s.heads[1:, :2], axis=1)
    assert (after < 0.5 * before).all(), (before, after)


def test_spines_that_are_not_bent_are_rigid():
    poses = araplbs.sample_poses(BENT.heads, BENT.tails, BENT.parents, 6)
    given = {"weights": some_weights(), "poses": poses, "pose_count": 0, "iterations": 4}
    given |= reference.PAPER_HELD
    rigid, straight = (
        solver(BENT.but(kinds=kinds), **given)
        for kinds in (["rigid"] * 3, ["spine", "stb", "rigid"])
    )
    rigid.solve()
    straight.solve()
    np.testing.assert_allclose(straight.heads, rigid.heads, atol=1e-6)
    np.testing.assert_allclose(straight.energies, rigid.energies, rtol=1e-6)


def test_given_parameters_stay():
    """They belong to vertices, wherever the ends of their bones move."""
    parameters = araplbs.diffuse_parameters(*ARM, *BENT, bone_kinds=KINDS)
    weights = some_weights()
    s = solver(
        weights=weights, parameters=parameters, optimize_weights=False, iterations=3,
        **reference.PAPER_ENERGY,
    )  # fmt: skip
    s.solve()
    assert s.report["joint_steps"]
    told = araplbs.energy(
        *ARM, weights, s.poses, bone_heads=s.heads, bone_tails=s.tails, bone_kinds=KINDS,
        bends=s.bends, parameters=parameters,
    )  # fmt: skip
    assert abs(told - s.energy) < 1e-9


def test_a_bone_that_does_not_deform_follows_its_spine():
    bones = shapes.chain(3, 3.0, kinds=["spine", "rigid", "rigid"], deform=[True, False, True])
    s = shapes.solved(solver(bones, iterations=2))
    check_connected(s, bones)


@pytest.mark.parametrize("mesh", shapes.odd_meshes().values(), ids=shapes.odd_meshes())
def test_any_mesh_will_do(mesh):
    s = shapes.solved(
        solver(BENT.but(ranges=STRETCHED), mesh, iterations=2, centering=0.01, anchor=0.1)
    )
    assert np.isfinite([s.heads, s.tails]).all()
    assert np.isfinite(s.bends).all()
    assert (np.diff(s.energies) <= 0).all()


def test_cancelled_iterations_can_go_on():
    told, settings = Told(), {"weights": some_weights(), "iterations": 2}
    whole = solver(progress=told, **settings)
    created, _ = len(told), whole.solve()
    for call in range(created + 1, len(told) + 1, 3):
        s = solver(progress=Told(call), **settings)
        with pytest.raises(araplbs.Cancelled):
            s.solve()
        check_connected(s, BENT)
        s.solve()
        assert (np.diff(s.energies) <= 0).all()
        assert abs(s.energy - whole.energy) < 0.05 * whole.energy


test_bad_input_is_refused = table(
    araplbs.JointSolver,
    GOOD,
    row("bone 1 is bendy", bone_kinds=["rigid", "bendy", "rigid"]),
    row("bends has shape", bone_kinds=KINDS, bends=np.zeros((1, 3, 4))),
    row(
        r"bends\[0, 0\] has the stretch 0",
        bone_kinds=KINDS,
        poses=POSES,
        bends=np.zeros((2, 3, 4)),
    ),
    row(r"parameters\[0, 1\] is 2", bone_kinds=KINDS, parameters=np.full((N, 3), 2.0)),
)
