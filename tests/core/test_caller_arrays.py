"""The module reads copies of the caller's arrays: whoever writes to his own while the module is at
work (a progress function, another thread) changes nothing.

Each case gives arrays that would need no conversion: contiguous, of the very type that is read."""

import threading

import araplbs
import numpy as np
import pytest
import shapes
from refusals import BONES, LIMITS, MESH, M, N

SOLID = shapes.bar()
BENT = ["rigid", "bendy", "rigid"]
RNG = np.random.default_rng(7)


def whole(array, kind):
    return np.array(array, kind, order="C")


def sparse(vertices, bones=M):
    weights = shapes.random_weights(RNG, vertices, bones, 0.3)
    start, bone, values = shapes.rows(weights > 0, weights)
    return whole(start, np.int64), whole(bone, np.int32), values


def skeleton():
    return {
        "bone_heads": whole(BONES.heads, float),
        "bone_tails": whole(BONES.tails, float),
        "bone_parents": whole(BONES.parents, np.int32),
        "bone_roll_axes": whole(BONES.roll_axes, float),
        "bone_deform": np.ones(M, bool),
        "bone_limits": whole(LIMITS, float),
    }


def mesh():
    return {"vertices": whole(MESH[0], float), "triangles": whole(MESH[1], np.int32)}


def poses(count=2):
    return whole(araplbs.sample_poses(*BONES, count, **BONES.more), float)


def surface_problem():
    return {
        **mesh(),
        **skeleton(),
        "edges": np.array([[0, 7]], np.int32),
        "bone_ranges": np.full((M, 4, 2), np.nan),
        "bone_stretch": np.ones(M, bool),
        "poses": poses(),
        "pose_weights": np.array([2.0, 0.5]),
        "weights": sparse(N),
        "start_from_weights": True,
        "locked_vertices": whole(np.arange(N) % 7 == 0, bool),
        "locked_bones": np.array([[0, 0, 0], [0, 1, 0]], bool),
        "vertex_sets": whole(np.arange(N) % 2, np.int32),
        "constraints": (np.array([3, 8], np.int32), np.array([0, 2], np.int32), np.array([0.5, 1])),
        "influences": (np.array([5], np.int32), np.array([2], np.int32), np.ones(1, bool)),
        "smoothed": (np.array([6, 7], np.int32), np.array([0.5, 1])),
        "released": (np.array([4], np.int32), np.array([0], np.int32)),
        "symmetry": (np.arange(M, dtype=np.int32), np.zeros(3), np.array([1.0, 0, 0])),
    }


def bendy_problem():
    bends = np.zeros((2, M, 4))
    bends[..., 3] = 1
    bends[:, 1, 0] = 0.4
    return {
        **mesh(),
        **skeleton(),
        "bone_kinds": BENT,
        "bone_segments": np.array([0, 4, 0], np.int32),
        "poses": poses(),
        "bends": bends,
        "parameters": np.full((N, M), np.nan),
        "weights": shapes.random_weights(RNG, N, M),
    }


def joint_poses_problem():
    problem = bendy_problem()
    del problem["bends"]
    return {**problem, "segment_poses": np.tile(np.eye(3, 4), (2, 5, 1, 1))}


def volume_problem():
    return {
        "vertices": whole(SOLID[0], float),
        "triangles": None,
        "tets": whole(SOLID[1], np.int32),
        **skeleton(),
    }


def solved(problem, progress):
    solver = araplbs.Solver(**problem, progress=progress, pose_count=6, iterations=3)
    solver.solve()
    return solver.sparse_weights


def joints_solved(problem, progress):
    solver = araplbs.JointSolver(**problem, progress=progress, pose_count=6, iterations=2)
    solver.solve()
    return solver.heads, solver.tails, *solver.sparse_weights


def joints_problem():
    return {
        **mesh(),
        **skeleton(),
        "edges": np.array([[0, 7]], np.int32),
        "poses": poses(),
        "weights": sparse(N),
        "pinned": np.zeros((M, 2), bool),
        "joint_stiffness": np.full((M, 2), 0.1),
        "tangential": np.full((M, 2), 0.1),
        "symmetry": (np.arange(M, dtype=np.int32), np.zeros(3), np.array([1.0, 0, 0])),
    }


def deformed(problem, progress):
    found = araplbs.deformation(**problem, progress=progress, per_vertex=True)
    return [np.asarray(value, float) for value in found.values() if value is not None]


def deformation_problem():
    return {
        **mesh(),
        "bone_heads": whole(BONES.heads, float),
        "bone_tails": whole(BONES.tails, float),
        "bone_deform": np.ones(M, bool),
        "weights": sparse(N),
        "poses": poses(40),
    }


def control_problem():
    kept = ("bone_heads", "bone_tails", "bone_parents", "bone_deform")
    bones = {key: value for key, value in skeleton().items() if key in kept}
    return {**mesh(), **bones, "bone_evidence": np.zeros(M), "edges": np.zeros((1, 2), np.int32)}


def controls(problem, progress):
    return (araplbs.control_bones(**problem, progress=progress),)


def edited(problem, progress):
    """Progress from the edits on, whose arrays are meant."""
    begun = []

    def later(*call):
        return progress(*call) if begun else None

    solver = araplbs.Solver(**mesh(), **skeleton(), pose_count=6, iterations=3, progress=later)
    solver.iterate(2)
    begun.append(True)
    solver.edit(**problem)
    solver.solve()
    return solver.sparse_weights


def edits_problem():
    problem = surface_problem()
    return {key: problem[key] for key in ("constraints", "influences", "smoothed", "released")}


CASES = {
    "surface": (solved, surface_problem),
    "bendy": (solved, bendy_problem),
    "joint poses": (solved, joint_poses_problem),
    "volume": (solved, volume_problem),
    "edits": (edited, edits_problem),
    "joints": (joints_solved, joints_problem),
    "deformation": (deformed, deformation_problem),
    "control bones": (controls, control_problem),
}


def arrays_of(problem):
    """{name: array} of every array in the arguments."""
    found = {}
    for name, value in problem.items():
        parts = value if isinstance(value, tuple) else (value,)
        for k, part in enumerate(parts):
            if isinstance(part, np.ndarray):
                found[f"{name}[{k}]" if len(parts) > 1 else name] = part
    return found


def spoil(array):
    """What no check lets pass, in place."""
    if array.dtype == bool:
        array[...] = ~array
    else:
        array[...] = np.nan if array.dtype == float else 2**30


def seeded(make):
    global RNG
    RNG = np.random.default_rng(7)
    return make()


@pytest.mark.parametrize(
    ("case", "name"),
    [(case, name) for case, (_, make) in CASES.items() for name in arrays_of(seeded(make))],
)
def test_written_to_by_progress(case, name):
    run, make = CASES[case]
    expected = run(seeded(make), lambda *_: True)
    problem, calls = seeded(make), []
    array = arrays_of(problem)[name]

    def progress(*_):
        if not calls:
            spoil(array)
        calls.append(1)

    found = run(problem, progress)
    assert calls, "there was no progress to write at"
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def without_progress():
    """Functions that tell no progress, with their arguments: another thread is at the arrays."""
    weights, frames = shapes.random_weights(RNG, N, M), poses(300)
    posed = np.ascontiguousarray(np.einsum("pij,vj->pvi", frames[:, 0, :, :3], MESH[0]))
    rotations = np.tile(np.eye(3), (M, 1, 1))
    return {
        "energy": (araplbs.energy, {**mesh(), "weights": weights, "poses": frames}),
        "posed_energy": (araplbs.posed_energy, {**mesh(), "posed": posed}),
        "surface_strain": (araplbs.surface_strain, {**mesh(), "posed": posed}),
        "dual_quaternion_skinning": (
            araplbs.dual_quaternion_skinning,
            {
                "vertices": mesh()["vertices"],
                "weights": sparse(N),
                "poses": frames,
                "bone_axes": rotations,
            },
        ),
        "rotation_centers": (
            araplbs.rotation_centers,
            {**mesh(), "weights": sparse(N)},
        ),
        "center_of_rotation_skinning": (
            araplbs.center_of_rotation_skinning,
            {
                "vertices": mesh()["vertices"],
                "weights": sparse(N),
                "poses": frames,
                "centers": mesh()["vertices"],
                "bone_axes": rotations,
            },
        ),
        "linear_skinning": (
            araplbs.linear_skinning,
            {"vertices": mesh()["vertices"], "weights": weights, "poses": frames},
        ),
        "nearest_points": (
            araplbs.nearest_points,
            {**mesh(), "points": RNG.uniform(-1, 1, (400, 3))},
        ),
        "inspect_weights": (araplbs.inspect_weights, {**mesh(), "weights": weights}),
        "embed": (
            araplbs.embed,
            {
                "vertices": whole(SOLID[0], float),
                "tets": whole(SOLID[1], np.int32),
                "points": RNG.uniform(-1, 1, (400, 3)),
            },
        ),
    }


def several(result):
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("name", seeded(without_progress))
def test_written_to_by_a_thread(name):
    """Either the good arrays count or the spoiled ones are refused, never half of each."""
    function, arguments = seeded(without_progress)[name]
    expected = function(**arguments)
    for wrong in arrays_of(arguments).values():
        good, over = wrong.copy(), threading.Event()

        def write(wrong=wrong, good=good, over=over):
            while not over.is_set():
                spoil(wrong)
                wrong[...] = good

        thread = threading.Thread(target=write)
        thread.start()
        try:
            for _ in range(10):
                try:
                    found = function(**arguments)
                except ValueError:
                    continue
                for one, other in zip(several(found), several(expected), strict=True):
                    np.testing.assert_array_equal(one, other)
        finally:
            over.set()
            thread.join()
            wrong[...] = good
