"""Every allocation fails once: the result is a MemoryError, nothing is lost, and no memory leaks.

Only the build of `make asan` lets allocations fail (csrc/base/memory.h)."""

import gc
import os

import araplbs
import numpy as np
import pytest
import shapes
from araplbs import _engine

pytestmark = pytest.mark.skipif(
    not hasattr(_engine, "_fail_allocations_after"), reason="allocations fail in `make asan` only"
)

BODY, BONES = shapes.tube(6, 9), shapes.chain(3)
BUTTON = shapes.box((0.05, 0.05, 0.05), (0.23, 0, 1.0))
VERTICES = np.concatenate([BODY[0], BUTTON[0]])
TRIANGLES = np.concatenate([BODY[1], BUTTON[1] + len(BODY[0])])


def start(**settings):
    settings = {**BONES.more, "pose_count": 5, **settings}
    return araplbs.Solver(VERTICES, TRIANGLES, *BONES, **settings)


def everything(**settings):
    solver = shapes.solved(start(**settings))
    return solver.weights, solver.energy, solver.report["most_influences"]


def bars():
    """A stick, and a piece of it across the tube."""
    stick = shapes.box((0.04, 0.03, 1.9), (0.24, 0, 1.0))
    stick = stick[0] + np.outer(stick[0][:, 2] - 1, (0, 0.3, 0)), stick[1]
    mesh = shapes.join(BODY, stick, shapes.box((0.06, 0.06, 0.06), (0.24, 0.29, 1.95)))
    solver = shapes.solved(araplbs.Solver(*mesh, *BONES, pose_count=5))
    assert solver.report["found_rigid_parts"] == 2
    return solver.weights, solver.energy


def levels():
    solver = araplbs.Solver(
        *shapes.tube(8, 24), *shapes.chain(2), pose_count=5, coarsen=100,
        weights=np.full((192, 2), 0.5), locked_vertices=np.arange(192) < 3,
        constraints=([20], [0], [1.0]), influences=([30, 40], [0, 1], [True, False]),
    )  # fmt: skip
    solver.edit(constraints=([21], [0], [1.0]), influences=([50], [0], [False]))
    solver.solve()
    solver.edit(
        constraints=([21], [0], [1.0]), influences=([30], [0], [False]), released=([0], [0])
    )
    solver.solve()
    assert solver.constraint_rows and len(solver.bone_springs[0])
    assert solver.report["coarse_vertices"]
    return solver.weights, solver.energy


def in_pieces():
    """A disconnected skeleton with a bendy bone, and smoothed vertices."""
    tails = BONES.tails - np.array([[0, 0, 0.1]])
    solver = araplbs.Solver(
        VERTICES, TRIANGLES, BONES.heads, tails, [-1, 0, -1], pose_count=5, expansion_rounds=1,
        bone_kinds=["rigid", "bendy", "rigid"], bone_segments=[0, 2, 0],
        smoothed=([3, 9], [0.5, 1.0]), symmetry=([0, 1, 2], (0, 0, 0), (1, 0, 0)),
    )  # fmt: skip
    solver.iterate(2)
    solver.edit(smoothed=([4], [0.5]))
    solver.solve()
    return solver.weights, solver.energy


def from_weights():
    weights = start().initial_weights
    return everything(
        weights=weights, start_from_weights=True, locked_vertices=np.arange(len(VERTICES)) < 6,
        constraints=([20], [0], [1.0]),
    )  # fmt: skip


def functions_with_spines():
    kinds = {"bone_kinds": ["spine", "rigid", "stb"]}
    poses, bends = araplbs.sample_poses(*BONES, 4, **kinds)
    araplbs.forward_kinematics(*BONES, poses[..., :3], bends)
    return araplbs.energy(
        VERTICES, TRIANGLES, np.ones((len(VERTICES), 3)), poses, bone_heads=BONES.heads,
        bone_tails=BONES.tails, **kinds, bends=bends, parameters=np.full((len(VERTICES), 3), 0.5),
    )  # fmt: skip


def joints(method, **settings):
    """Bones bent where the tube is straight, in two trees, one of which has a symmetric joint."""
    heads, tails = BONES.heads.copy(), BONES.tails.copy()
    heads[1, 0] = tails[0, 0] = 0.1
    settings = {"pose_count": 4, "iterations": 2, **settings}
    solver = araplbs.JointSolver(
        VERTICES, TRIANGLES, heads, tails, [-1, 0, -1], method=method,
        symmetry=([0, 1, 2], (0, 0, 0), (0, 1, 0)), centering=10.0, max_shift=0.02, **settings,
    )  # fmt: skip
    solver.solve()
    assert solver.report["joint_steps"]
    report = {k: v for k, v in solver.report.items() if k != "seconds"}
    return solver.heads, solver.poses, solver.weights, solver.sparse_weights, report


def functions_of_poses():
    weights = np.ones((len(VERTICES), 3))
    poses = araplbs.sample_poses(*BONES, 4)
    posed = araplbs.dual_quaternion_skinning(VERTICES, weights, poses)
    some = np.full((len(VERTICES), 3), 1 / 3)
    centers = araplbs.rotation_centers(VERTICES, TRIANGLES, some)
    turned = araplbs.center_of_rotation_skinning(VERTICES, some, poses, centers)
    parameters = araplbs.diffuse_parameters(VERTICES, TRIANGLES, *BONES)
    control = araplbs.control_bones(VERTICES, TRIANGLES, *BONES)
    owners = araplbs.skin_owners(VERTICES, TRIANGLES, *BONES)
    energy = araplbs.posed_energy(VERTICES, TRIANGLES, posed, per_vertex=True)
    return *energy, turned, parameters, control, owners


def inspection():
    """Two tubes, each of whose bones influences both."""
    body = shapes.join((VERTICES, TRIANGLES), (VERTICES + np.eye(3)[0], TRIANGLES))
    weights = np.random.default_rng(3).uniform(size=(len(body[0]), 3)) ** 3
    poses = araplbs.sample_poses(*BONES, 5)
    posed = araplbs.linear_skinning(body[0], weights, poses)
    near = araplbs.nearest_points(*body, body[0], owners=np.arange(len(body[0])), threads=1)
    found = araplbs.inspect_weights(*body, weights, links=[[0, len(VERTICES)]], threads=1)
    doubts = araplbs.part_doubts(*body, weights, BONES.heads, BONES.tails, BONES.parents, threads=1)
    return posed, *near, *found, *doubts


def baked():
    posed = VERTICES[None] * np.array([1.0, 1.2, 0.8]).reshape(3, 1, 1)
    transforms = araplbs.sample_poses(*BONES, 3)
    weights = np.full((len(VERTICES), 3), 1 / 3)
    more = {"weights": weights, "locked_vertices": np.arange(len(VERTICES)) < 3}
    result = araplbs.bake(
        VERTICES, posed, transforms, triangles=TRIANGLES, new_bones=2, move_bones=True,
        smoothness=1e-3, iterations=2, **more,
    )  # fmt: skip
    return tuple(result.values())


def reach():
    poses = araplbs.sample_poses(*BONES, 4, reach_poses=1)
    chains = araplbs.reach_chains(*BONES)
    solved = araplbs.inverse_kinematics(*BONES, 2, [[0.3, 0.2, 1.0]])
    return poses, chains, solved, *everything(reach_poses=0.5, threads=1)


def deformation():
    kinds = {"bone_kinds": ["spine", "bendy", "rigid"], "bone_segments": [0, 2, 0]}
    weights = np.ones((len(VERTICES), 3))
    poses, bends = araplbs.sample_poses(*BONES, 4, **kinds)
    seen = araplbs.Deformation(VERTICES, TRIANGLES, BONES.heads, BONES.tails, **kinds)
    seen.skin(weights, poses, bends=bends)
    seen.add(VERTICES[None], poses[:1], bends=bends[:1])
    strain = araplbs.surface_strain(VERTICES, TRIANGLES, 1.1 * VERTICES)
    whole = araplbs.deformation(VERTICES, TRIANGLES, weights, poses, BONES.heads, BONES.tails)
    return seen.measures(per_triangle=True, per_vertex=True), strain, whole


def volume():
    vertices, tets = shapes.bar((2, 2, 8))
    solver = shapes.solved(
        araplbs.Solver(vertices, None, *shapes.chain(2), tets=tets, coarsen=50, pose_count=5)
    )
    place = araplbs.embed(vertices, tets, vertices[:20] + 0.01)
    return solver.weights, solver.energy, place


def biharmonic():
    """Few vertices, because every iteration allocates."""
    vertices, tets = shapes.bar((2, 2, 3))
    joints = np.array([[0, 0, 0.3], [0, 0, 1.1], [0, 0, 1.7]])  # between vertices
    bones = shapes.Bones(joints[:-1], joints[1:], np.array([-1, 0]))
    solver = araplbs.Solver(
        vertices, None, *bones, tets=tets, coarsen=0, pose_count=2, initial="bbw"
    )
    return solver.initial_weights


def automatic(method, **more):
    """A surface with a loose part, and wires."""
    body = VERTICES, TRIANGLES, *BONES
    path = np.column_stack([np.arange(9), np.arange(9) + 1])
    wires = BODY[0][:10] * [0.1, 0.1, 1] + [0, 0, 0.2] * np.arange(10)[:, None], None, *BONES
    return (
        *araplbs.baseline_weights(*body, method=method, **more),
        *araplbs.baseline_weights(*wires, edges=path, method=method),
    )


def elastic():
    poses, ends = araplbs.sample_poses(*BONES, 2), (BONES.heads, BONES.tails)
    weights = np.full((len(VERTICES), 3), 1 / 3)
    body = VERTICES, TRIANGLES, poses, *ends
    posed = araplbs.elastic_poses(*body, weights=weights, iterations=3, per_iteration=True)
    bar, tets = shapes.bar((1, 1, 4))
    solid = araplbs.elastic_poses(bar, None, poses, *ends, tets=tets, iterations=2)
    mixed = araplbs.elastic_poses(*body, method="mixed", iterations=2, samples=3, threads=1)
    return posed, solid, mixed, araplbs.mixed_elasticity(*body, samples=3)


def transfer():
    """Half of the target is out of reach."""
    target = BODY[0] * [1.05, 1.05, 1] + [0.5, 0, 0] * (BODY[0][:, 2:] > 1)
    weights = np.tile([0.5, 0.25, 0.25], (len(VERTICES), 1))
    found = araplbs.transfer_weights(VERTICES, TRIANGLES, weights, target, BODY[1], threads=1)
    assert 0 < found[1].sum() < len(target)
    return *found, araplbs.match_surfaces(VERTICES, TRIANGLES, target, BODY[1])


def transfer_shapes():
    """Half of the target is out of reach, and the swelling source penetrates it."""
    target = BODY[0] * [1.05, 1.05, 1] + [0.5, 0, 0] * (BODY[0][:, 2:] > 1)
    given = np.stack([VERTICES * [2, 2, 1], VERTICES])
    found = araplbs.transfer_shapes(VERTICES, TRIANGLES, given, target, BODY[1], threads=1)
    assert 0 < found[1].sum() < len(target)
    return found


# Every one of so many allocations fails; tools/asan.sh --quick leaves some out.
STRIDE = int(os.environ.get("ARAPLBS_FAULT_STRIDE", "1"))

WORK = {
    "volume": volume,
    "biharmonic": biharmonic,
    "boneglow": lambda: automatic("boneglow"),
    "bounded biharmonic": lambda: automatic("bbw"),
    "unbounded biharmonic": lambda: automatic("biharmonic"),
    "biharmonic of points": lambda: automatic(
        "biharmonic", handles=np.maximum(np.arange(len(VERTICES)) % 40 - 37, -1)
    ),
    "nearest": lambda: automatic("nearest"),
    "transfer": transfer,
    "transfer_shapes": transfer_shapes,
    "elastic": elastic,
    "joints": lambda: joints("alternate"),
    "joints, together": lambda: joints("together"),
    "joints, given weights": lambda: joints(
        "alternate", weights=np.full((len(VERTICES), 3), 1 / 3), optimize_weights=False
    ),
    # Few poses: points of spines are one for each.
    "joints of spines": lambda: joints(
        "alternate", bone_kinds=["spine", "rigid", "stb"], pose_count=2, iterations=1
    ),
    "limited": lambda: everything(max_influences=2),
    "unlimited": lambda: everything(max_influences=0),
    "levels": levels,
    "bars": bars,
    "paper": lambda: everything(
        max_influences=0, attach=True, drop_attachments=True, neumann=True, positivity="penalty",
        threads=1,
    ),
    "from weights": from_weights,
    "in pieces": in_pieces,
    "harmonic": lambda: everything(harmonic=0.1),
    "clusters": lambda: everything(rotation_clusters=0.1),
    "clusters by position": lambda: everything(position_clusters=40),
    "dual quaternions": lambda: everything(deformer="dual_quaternions"),
    "mirrored": lambda: everything(symmetry=([0, 1, 2], (0, 0, 0), (1, 0, 0))),
    "spines": lambda: everything(bone_kinds=["rigid", "stb", "spine"], pose_count=2),
    "functions with spines": functions_with_spines,
    "bendy": lambda: everything(
        bone_kinds=["bendy", "spine", "bendy"], bone_segments=[2, 0, 3],
        parameters=np.full((len(VERTICES), 3), 0.5), pose_count=2,
    ),
    "functions of poses": functions_of_poses,
    "inspection": inspection,
    "reach": reach,
    "deformation": deformation,
    "bake": baked,
    "wires": lambda: everything(edges=[[0, 1], [30, 31]]),
    "functions": lambda: araplbs.energy(
        VERTICES, TRIANGLES, np.ones((len(VERTICES), 3)),
        araplbs.sample_poses(
            BONES.heads, BONES.tails, BONES.parents, 4, symmetry=([0, 1, 2], (0, 0, 0), (1, 0, 0))
        ),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WORK)
def test_each_allocation_may_fail(name):
    work = WORK[name]
    expected = work()
    gc.collect()
    live = _engine._live_allocations()
    count = 0
    while True:
        _engine._fail_allocations_after(count)
        try:
            result = work()
            break
        except MemoryError:
            pass
        finally:
            _engine._fail_allocations_after(-1)
        if _engine._live_allocations() != live:  # an exception may hold a solver for a while
            gc.collect()
        assert _engine._live_allocations() == live, f"allocation {count} failed"
        count += STRIDE
    assert count > 20
    np.testing.assert_equal(result, expected)


def test_a_failed_iteration_ends_the_solver():
    """The state of the solver is uncertain after a failure. The solver reports this fact and does
    not crash."""
    for count in range(8):
        solver = start()
        solver.iterate(2)
        _engine._fail_allocations_after(count)
        try:
            with pytest.raises(MemoryError):
                solver.solve()
        finally:
            _engine._fail_allocations_after(-1)
        with pytest.raises(araplbs.SolverError, match="create a new one"):
            solver.iterate()


PER_ITERATION = 4  # of the global step; any increase must be explained in the commit


@pytest.mark.parametrize("size", [(12, 24), (24, 48)])
@pytest.mark.parametrize("poses", [8, 40])
def test_allocations_of_iterations(size, poses):
    """The number of allocations does not depend on the numbers of vertices and poses, because the
    inner loop allocates nothing."""

    def iterate(count, allowed):
        solver = araplbs.Solver(
            *shapes.tube(*size), *shapes.chain(4), pose_count=poses, max_influences=0,
            expansion_rounds=0, coarsen=0, tolerance=0, threads=1,
        )  # fmt: skip
        solver.iterate(2)
        _engine._fail_allocations_after(allowed)
        try:
            solver.iterate(count)
        finally:
            _engine._fail_allocations_after(-1)

    for count in (1, 3):  # further ones gain nothing, so rounding may cost them a second local step
        iterate(count, PER_ITERATION * count)
        with pytest.raises(MemoryError):
            iterate(count, PER_ITERATION * count - 1)
