"""Bendy bones are compared with a rigid bone for every joint and, for many segments, with a spine;
also tests refusals."""

import araplbs
import numpy as np
import pytest
import reference
import scipy.sparse
import shapes
from guarantees import check_report, check_weights
from refusals import refuse, row, table

KINDS = ["rigid", "bendy", "spine", "bendy"]
SEGMENTS = [0, 3, 0, 2]


def affine(rng, poses, count):
    """Transforms near rotations, with a little scale and shear."""
    turns = shapes.random_rotations(rng, poses, count) + rng.normal(0, 0.05, (poses, count, 3, 3))
    return np.concatenate([turns, rng.uniform(-0.3, 0.3, (poses, count, 3, 1))], -1)


class Expanded:
    """Three bones, two of them bendy, and the same with nine rigid bones: one and 4 + 4 joints.

    Columns as in the engine's header: those of the bones, then the further joints.
    """

    def __init__(self, rng, parameters=None):
        self.mesh = shapes.tube(5, 9)
        n = len(self.mesh[0])
        self.bones = shapes.chain(3, kinds=["rigid", "bendy", "bendy"], segments=[0, 3, 4])
        self.joints = affine(rng, 3, 9)  # 4 of bone 1, 5 of bone 2
        self.poses = affine(rng, 3, 3)
        self.mask = rng.uniform(size=(n, 3)) < 0.7
        self.mask[~self.mask.any(1), 1] = True
        weights = shapes.random_weights(rng, n, 3) * self.mask
        self.weights = weights / weights.sum(1, keepdims=True)
        self.given = {"poses": self.poses, "segment_poses": self.joints, "parameters": parameters}
        u = np.column_stack(
            [reference.along_bone(h, t, self.mesh[0]) for h, t, _ in zip(*self.bones, strict=True)]
        )
        if parameters is not None:
            u = np.where(np.isnan(parameters), u, parameters)
        # share[b]: (vertices, joints) of bone b, hats over the joints.
        hats = [np.ones((n, 1))]
        for b, segments in ((1, 3), (2, 4)):
            at = u[:, b, None] * segments
            hats.append(np.maximum(0, 1 - np.abs(at - np.arange(segments + 1))))
        self.share = np.zeros((n, 3, 10))  # columns of the NumPy side: 1 + 4 + 5 in order
        self.share[:, 0, :1], self.share[:, 1, 1:5], self.share[:, 2, 5:] = hats
        self.columns = np.concatenate([self.poses[:, :1], self.joints], 1)

    def solver(self, **settings):
        return shapes.solver(
            self.mesh, self.bones,  **self.given,
            weights=shapes.rows(self.mask, self.weights), **{**reference.BARE, **settings},
        )  # fmt: skip

    def energy(self, weights, **more):
        bones = {k: v for k, v in self.bones.more.items() if k in ("bone_kinds", "bone_segments")}
        return araplbs.energy(
            *self.mesh, weights, **self.given, **bones, bone_heads=self.bones.heads,
            bone_tails=self.bones.tails, **more,
        )  # fmt: skip

    def expand(self, weights):
        return np.einsum("nb,nbc->nc", weights, self.share)


def some_parameters(rng, vertices):
    u = rng.uniform(size=(vertices, 3))
    u[::3] = np.nan
    u[1, 1:], u[2, 1:] = 0, 1
    return u


@pytest.mark.parametrize("given", [False, True])
def test_energy_is_that_of_a_bone_for_each_joint(given, rng):
    s = Expanded(rng, some_parameters(rng, 45) if given else None)
    expected, each = araplbs.energy(
        *s.mesh, s.expand(s.weights), s.columns, per_vertex=True
    )  # fmt: skip
    energy, own = s.energy(s.weights, per_vertex=True)
    assert energy == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(own, each, rtol=1e-9)
    assert s.solver().energies[0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("given", [False, True])
def test_product_right_side_matrix_and_step(given, rng):
    s = Expanded(rng, some_parameters(rng, 45) if given else None)
    solver = s.solver()
    points, poses, _ = reference.normalize_to_solver(s.mesh[0], s.columns)
    _, a = reference.edge_weights(points, s.mesh[1])
    dense = reference.Quadratic(points, a, s.expand(s.weights), poses)
    to_columns = scipy.sparse.block_diag([h.T for h in s.share]).toarray()
    full = to_columns.T @ dense.product_matrix @ to_columns
    flat = np.nonzero(s.mask.ravel())[0]
    before = solver._inside
    np.testing.assert_allclose(before["product"], (full @ s.weights.ravel())[flat], atol=1e-12)
    # The engine leaves out what is the same for all influences of a vertex.
    first = np.searchsorted(flat // 3, flat // 3)
    right = (to_columns.T @ dense.right_side)[flat]
    own = before["right_side"]
    np.testing.assert_allclose(own - own[first], right - right[first], atol=1e-9)
    solver.iterate(1)
    matrix, z = reference.matrix_of_the_step(solver._inside)
    np.testing.assert_allclose(matrix, z.T @ full[np.ix_(flat, flat)] @ z, atol=1e-12)
    design = dense.design @ to_columns[:, flat]
    start = s.weights.ravel()[flat]
    x = np.linalg.lstsq(design @ z, dense.target - design @ start, rcond=1e-13)[0]
    after = np.zeros(s.weights.size)
    after[flat] = start + z @ x
    np.testing.assert_allclose(solver.raw_weights.ravel(), after, atol=1e-6)
    new = araplbs.energy(*s.mesh, s.expand(s.weights), s.columns)
    assert solver.energies[1] < new


def test_one_segment_at_rest_is_a_rigid_bone():
    mesh, bones = shapes.tube(10, 13), shapes.chain(3)
    bendy = bones.but(kinds=["bendy"] * 3, segments=[1, 5, 9])
    poses = araplbs.sample_poses(*bones, 12)
    # With bendy bones there are no springs of sections.
    settings = {"precision": "double", "pose_count": 0, "poses": poses, "section": 0}
    rigid = shapes.solver(mesh, bones, **settings)
    solver = shapes.solver(mesh, bendy, **settings)
    rigid.solve(), solver.solve()
    np.testing.assert_allclose(solver.energies, rigid.energies, rtol=1e-9)
    np.testing.assert_allclose(solver.weights, rigid.weights, atol=1e-7)


def test_many_segments_come_near_to_a_spine():
    """The difference between the energies is proportional to 1 / segments^2, because each segment
    is a chord."""
    mesh = shapes.tube(7, 60)
    bones = shapes.chain(2, kinds=["spine", "spine"])
    poses, bends = araplbs.sample_poses(*bones, 4, **bones.more)
    weights = shapes.random_weights(np.random.default_rng(1), len(mesh[0]), 2)
    rest = {"bone_heads": bones.heads, "bone_tails": bones.tails, "bends": bends}
    # Rotations are as rigid as desired, except for shear across a bent spine.
    posed = []
    for segments in (0, 8, 16, 32):
        kinds = ["bendy" if segments else "spine"] * 2
        posed.append(
            araplbs.energy(
                *mesh, weights, poses, **rest, bone_kinds=kinds, bone_segments=[segments] * 2
            )
        )
    spine, *bendy = np.array(posed)
    steps = np.abs(np.diff(bendy))
    assert 3 < steps[0] / steps[1] < 5
    assert abs(bendy[2] - spine) < 0.05 * spine


def taken_by(kind, segments, bend, mesh):
    """(n, 3) positions to which a bone with this bend, of length 2 from the origin upward, moves
    the vertices of a mesh, in the units of the solver."""
    bones = shapes.chain(1, kinds=[kind], segments=[segments])
    pose = np.eye(3, 4)
    pose[:, :3] = shapes.rotation([1, 2, 3], 0.7)
    solver = shapes.solver(mesh, bones, poses=[[pose]], bends=[[bend]], pose_count=0)
    inside = solver._inside
    if kind == "spine":
        return inside["spine_point"][:, 0, 0]
    u = np.clip(mesh[0][:, 2] / 2, 0, 1)
    hats = np.maximum(0, 1 - np.abs(segments * u[:, None] - np.arange(segments + 1)))
    blended = np.einsum("nj,jrc->nrc", hats, inside["transform"][0])
    points = np.column_stack([inside["points"], np.ones(len(u))])
    return np.einsum("nrc,nc->nr", blended, points)


@pytest.mark.parametrize("segments", [1, 2, 5])
def test_a_straight_stretched_one_is_a_spine(segments):
    mesh = shapes.tube(7, 23)
    bendy = taken_by("bendy", segments, (0, 0, 0, 1.7), mesh)
    spine = taken_by("spine", 1, (0, 0, 0, 1.7), mesh)
    np.testing.assert_allclose(bendy, spine, atol=1e-12)


def test_a_bent_and_stretched_one_comes_near_to_a_spine():
    """The two are identical at the joints."""
    bend, mesh = (0.5, 0.3, 0.2, 1.6), shapes.tube(7, 25)
    spine = taken_by("spine", 1, bend, mesh)
    off = [
        np.abs(taken_by("bendy", segments, bend, mesh) - spine).reshape(25, -1).max(1)
        for segments in (3, 6, 24)
    ]
    assert off[0][::8].max() < 1e-12 and off[1][::4].max() < 1e-12 and off[2].max() < 1e-12
    assert 3 < off[0].max() / off[1].max() < 5


@pytest.mark.parametrize("sampled", [False, True])
def test_a_stretch_along_is_no_cost_where_it_is_desired(sampled):
    """Stretch along a bone costs nothing if it is desired, whether it comes from bends or from
    scaled poses, even beyond the ends."""
    mesh = shapes.tube(8, 41, height=3.0)
    still = [[0, 0], [0, 0], [0, 0], [0.5, 2]]
    bones = shapes.chain(1, kinds=["bendy"], segments=[4], ranges=[still])
    poses, bends = np.eye(3, 4)[None, None], np.array([[[0, 0, 0, 1.8]]])
    energies = []
    for stretch in (True, False):
        if sampled:
            solver = shapes.solver(mesh, bones, bone_stretch=[stretch], precision="double")
            energies.append(solver.energies[0])
        else:
            energies.append(
                araplbs.energy(
                    *mesh,
                    np.ones((len(mesh[0]), 1)),
                    poses,
                    bends=bends,
                    bone_stretch=[stretch],
                    bone_heads=bones.heads,
                    bone_tails=bones.tails,
                    bone_kinds=bones.kinds,
                    bone_segments=bones.segments,
                )
            )
    assert energies[0] < 1e-12
    assert energies[1] > 0.01


def test_sampled_poses_are_those_of_a_spine():
    """Poses from the same random numbers; the solver's random poses equal the given ones."""
    mesh = shapes.tube(6, 12)
    spine = shapes.chain(3, kinds=["spine"] * 3)
    bendy = spine.but(kinds=["bendy"] * 3, segments=[4, 4, 4])
    poses, bends = araplbs.sample_poses(*bendy, 6, **bendy.more)
    as_spine = araplbs.sample_poses(*spine, 6, **spine.more)
    np.testing.assert_array_equal(poses, as_spine[0])
    np.testing.assert_array_equal(bends, as_spine[1])
    own = shapes.solver(mesh, bendy, pose_count=6, precision="double")
    given = shapes.solver(mesh, bendy, pose_count=0, poses=poses, bends=bends, precision="double")
    assert given.energies[0] == pytest.approx(own.energies[0], rel=1e-9)


@pytest.mark.parametrize("settings", [{}, {"coarsen": 0}, {"rotation_clusters": 0.1}])
def test_weights_are_good_and_better_than_those_of_the_start(settings):
    mesh, bones = shapes.tube(12, 31), shapes.chain(4, kinds=KINDS, segments=SEGMENTS)
    if "coarsen" not in settings:  # spines have no coarser mesh
        mesh = shapes.tube(20, 61)
        bones = bones.but(kinds=["rigid", "bendy", "bendy", "bendy"], segments=[0, 3, 8, 2])
    # Influences that cost more than they are worth would count against it.
    settings = {**settings, "min_gain": 3e-5, "fine_poses": 1.0}  # energies of the same poses
    solver = shapes.solver(mesh, bones, **settings)
    start = solver.energies[0]
    solver.solve()
    check_weights(solver, 4)
    check_report(solver, mesh[0], bones)
    assert solver.energy < start
    assert (solver.report["coarse_vertices"] > 0) == ("coarsen" not in settings)


def test_parameters_of_a_coarser_mesh(rng):
    """A vertex keeps its parameters on the coarser meshes."""
    mesh = shapes.tube(20, 61)
    bones = shapes.chain(3, kinds=["bendy"] * 3, segments=[4] * 3)
    u = np.column_stack(
        [reference.along_bone(h, t, mesh[0]) for h, t, _ in zip(*bones, strict=True)]
    )
    own = shapes.solver(mesh, bones)
    same = shapes.solver(mesh, bones, parameters=u)
    none = shapes.solver(mesh, bones, parameters=np.zeros_like(u))
    assert same.report["coarse_vertices"]
    assert same.energies[0] == pytest.approx(own.energies[0], rel=0.02)
    assert none.energies[0] != pytest.approx(own.energies[0], rel=0.02)


def small(**changes):
    bones = shapes.chain(3, kinds=["rigid", "bendy", "bendy"], segments=[0, 2, 3])
    mesh = dict(zip(("vertices", "triangles"), shapes.tube(6, 5), strict=True))
    skeleton = {"bone_heads": bones.heads, "bone_tails": bones.tails, "bone_parents": bones.parents}
    return {**mesh, **skeleton, **bones.more, **changes}


STILL = np.tile(np.eye(3, 4), (2, 3, 1, 1))
JOINTS = np.tile(np.eye(3, 4), (2, 7, 1, 1))


def joints_with(value):
    joints = JOINTS.copy()
    joints[1, 5, 2, 3] = value
    return joints


def shadowed():
    square = np.tile(np.eye(4), (2, 7, 1, 1))
    square[1, 4, 3, 0] = 0.1
    return square


test_refused = table(
    araplbs.Solver,
    small(),
    row(r"^bone_segments\[1\] of a bendy bone is 0: must be from 1 to", bone_segments=None),
    row(r"^bone_segments\[1\] of a bendy bone is 1001", bone_segments=[0, 1001, 2]),
    row(r"^bone_segments\[2\] of a bendy bone is -1", bone_segments=[0, 2, -1]),
    row(r"^bone_segments has shape \(2,\), expected \(3,\)", bone_segments=[0, 2]),
    row(
        r"^segment_poses has shape \(2, 6, 3, 4\), expected",
        poses=STILL,
        segment_poses=JOINTS[:, :6],
    ),
    row(
        r"^segment_poses has shape \(1, 7, 3, 4\), expected",
        poses=STILL,
        segment_poses=JOINTS[:1],
    ),
    row(
        "^segment_poses has 2 rows per transform, expected 3 or 4",
        poses=STILL,
        segment_poses=JOINTS[:, :, :2],
    ),
    row(
        r"^segment_poses\[1\] of joint 5 contains nan",
        poses=STILL,
        segment_poses=joints_with(np.nan),
    ),
    row(
        r"^segment_poses\[1\] of joint 4 has a last row other than",
        poses=STILL,
        segment_poses=shadowed(),
    ),
    row(r"^parameters\[0, 1\] is 1.5: must be from 0 to 1", parameters=np.full((30, 3), 1.5)),
)


def test_joints_without_kinds():
    refuse(
        TypeError, "^segment_poses needs bone_kinds$", araplbs.energy,
        vertices=np.eye(3), triangles=[[0, 1, 2]], weights=np.ones((3, 3)), poses=STILL,
        segment_poses=JOINTS,
    )  # fmt: skip


def test_partners_of_different_segments():
    refuse(
        ValueError, "^the mirror partners 1 and 2 are bones of different kinds", araplbs.Solver,
        **small(symmetry=([0, 2, 1], (0, 0, 0), (1, 0, 0))),
    )  # fmt: skip


def test_bendy_bones_that_do_not_deform_have_no_joints():
    arguments = small(bone_deform=[True, False, True], poses=STILL, segment_poses=JOINTS[:, :4])
    araplbs.Solver(**arguments)
