"""Tests the guarantees for results on generated meshes that are as difficult as possible."""

import araplbs
import numpy as np
import pytest
import reference
import shapes
from guarantees import check_report, check_weights

TUBE, CHAIN = shapes.tube(10, 21), shapes.chain(5)
NOTHING = np.zeros((0, 3), int)


def with_fin():
    vertices, triangles = TUBE
    fin = np.concatenate([vertices, [[0.6, 0, 0.9], [0.6, 0, 1.1]]])
    n = len(vertices)
    return fin, np.concatenate([triangles, [[90, 100, n], [100, n + 1, n], [100, 110, n + 1]]])


def with_flat_faces():
    """Faces of one point, of two points, of three points in a line, and slivers."""
    vertices, triangles = TUBE
    more = [[3, 3, 3], [5, 5, 6], [0, 10, 20], [10, 30, 50], [7, 17, 7]]
    sliver = np.concatenate([vertices, vertices[[42]] + 1e-9, vertices[[55]] + [0, 1e-7, 0]])
    n = len(vertices)
    return sliver, np.concatenate([triangles, more, [[42, 43, n], [55, 56, n + 1]]])


def noisy():
    vertices, triangles = TUBE
    rng = np.random.default_rng(5)
    return vertices + rng.normal(size=vertices.shape) * 0.08, triangles


def layered():
    """Two tubes, one inside the other, and an open half of a third around both."""
    outer, half = shapes.tube(12, 15, 0.3), shapes.tube(12, 15, 0.35)
    kept = (half[0][half[1]][:, :, 0] > -0.05).all(1)
    return shapes.join(shapes.tube(12, 15, 0.25, caps=True), outer, (half[0], half[1][kept]))


def strip():
    """A flat strip whose middle is on the bones."""
    places = np.array([[x, 0, z] for z in np.linspace(0, 2, 9) for x in (-0.3, 0, 0.3)])
    first = [3 * k + i for k in range(8) for i in range(2)]
    return places, np.array([(k + i, k + j, k + 3) for i, j in ((0, 1), (1, 4)) for k in first])


MESHES = {
    **shapes.odd_meshes(),
    "open tube": TUBE,
    "closed tube": shapes.tube(10, 21, caps=True),
    "normals in": (TUBE[0], TUBE[1][:, ::-1]),
    "normals anyhow": (
        TUBE[0],
        np.where(np.arange(len(TUBE[1]))[:, None] % 2, TUBE[1], TUBE[1][:, ::-1]),
    ),
    "moebius": shapes.moebius(),
    "non-manifold": shapes.join(shapes.fan(4), shapes.tube(7, 9)),
    "layered": layered(),
    "strip": strip(),
    "fin": with_fin(),
    "split": shapes.split(*TUBE),
    "flat faces": with_flat_faces(),
    "noisy": noisy(),
    "duplicate faces": (TUBE[0], np.concatenate([TUBE[1], TUBE[1][:50], TUBE[1][:20, ::-1]])),
    "two tubes": shapes.join(TUBE, (TUBE[0] + [0.6, 0, 0], TUBE[1])),
    "sphere and box": shapes.join(shapes.sphere(at=(0, 0, 1)), shapes.box(at=(0, 0, 0.2))),
    "vertices alone": (TUBE[0][:40], NOTHING),
    "one vertex": (np.array([[0.3, 0, 1.2]]), NOTHING),
    "two vertices": (np.array([[0.3, 0, 0.1], [0.3, 0, 1.9]]), NOTHING),
    "the same vertex 50 times": (np.tile([[0.1, 0, 1.0]], (50, 1)), np.arange(48).reshape(-1, 3)),
    "one triangle": (np.array([[0.1, 0, 0.2], [0.2, 0, 1.8], [0, 0.3, 1]]), np.array([[0, 1, 2]])),
    "loose vertices beside": (
        np.concatenate([TUBE[0], [[0, 0, 3], [2, 2, 2], [0, 0, 1.0]]]),
        TUBE[1],
    ),
    "all in a plane": (TUBE[0] * [1, 0, 1], TUBE[1]),
    "all on a line": (TUBE[0] * [0, 0, 1], TUBE[1]),
    "far from the origin": (TUBE[0] + [1e6, -1e6, 1e6], TUBE[1]),
}


def bones_for(name, bones=CHAIN):
    return bones.moved(np.eye(3), (1e6, -1e6, 1e6)) if name.startswith("far") else bones


@pytest.mark.parametrize("limit", [0, 1, 2, 4, 8])
@pytest.mark.parametrize("name", MESHES)
def test_any_mesh(name, limit):
    vertices, triangles = MESHES[name]
    bones = bones_for(name)
    solver = araplbs.Solver(vertices, triangles, *bones, **bones.more, max_influences=limit)
    check_weights(solver, 0)  # before any iteration, when the limit does not hold yet
    solver.solve()
    assert solver.done
    check_weights(solver, limit, len(vertices))
    check_report(solver, vertices, bones)


WIRES = {
    "wires alone": (shapes.tube(4, 8)[0], NOTHING, [[i, i + 4] for i in range(28)]),
    "wires between parts": (
        *shapes.join(shapes.box(at=(0, 0, 0.5)), shapes.box(at=(0, 0, 2.5))),
        [[1, 8]],
    ),
    "wires to nowhere": (
        np.concatenate([TUBE[0], [[1, 0, 1], [2, 0, 1]]]),
        TUBE[1],
        [[100, 210], [210, 211]],
    ),
    "loops and repeats": (*TUBE, [[0, 0], [1, 2], [2, 1], [1, 2], [0, 209]]),
}


@pytest.mark.parametrize("limit", [0, 2, 4])
@pytest.mark.parametrize("name", WIRES)
def test_wires(name, limit):
    vertices, triangles, wires = WIRES[name]
    bones = shapes.chain(5)
    solver = shapes.solved(
        araplbs.Solver(vertices, triangles, *bones, **bones.more, edges=wires, max_influences=limit)
    )
    check_weights(solver, limit, len(vertices))
    check_report(solver, vertices, bones)


def nasty_bones():
    yield "one", shapes.chain(1)
    yield (
        "no length",
        shapes.Bones(
            np.array([[0, 0, 0.5], [0, 0, 1.5]]),
            np.array([[0, 0, 0.5], [0, 0, 1.5]]),
            np.array([-1, 0]),
        ),
    )
    yield "all at one point", shapes.Bones(np.ones((3, 3)), np.ones((3, 3)), np.array([-1, 0, 1]))
    same = shapes.chain(2)
    yield (
        "twice the same",
        shapes.Bones(
            np.tile(same.heads, (2, 1)), np.tile(same.tails, (2, 1)), np.array([-1, 0, -1, 2])
        ),
    )
    yield "all outside", shapes.chain(4).moved(np.eye(3), (3, 0, 0))
    yield "far outside", shapes.chain(4).moved(np.eye(3), (1e4, 0, 0))
    yield "on the surface", shapes.chain(4).moved(np.eye(3), (0.2, 0, 0))
    yield "through vertices", shapes.Bones(TUBE[0][:200:20], TUBE[0][10:210:20], np.arange(10) - 1)
    yield "all roots", shapes.chain(6).but(parents=np.full(6, -1))
    yield (
        "children first",
        shapes.Bones(
            shapes.chain(3).heads[::-1], shapes.chain(3).tails[::-1], np.array([1, 2, -1])
        ),
    )
    yield "only the last deforms", shapes.chain(4).but(deform=np.arange(4) == 3)
    yield "only the first deforms", shapes.chain(4).but(deform=np.arange(4) == 0)
    yield "a tree with gaps", shapes.tree()
    still = np.zeros((4, 3, 2))
    yield "limits that forbid all turns", shapes.chain(4).but(limits=still)


BONES = dict(nasty_bones())


@pytest.mark.parametrize("name", BONES)
@pytest.mark.parametrize("mesh", MESHES)
def test_any_mesh_and_any_skeleton(mesh, name):
    """Springs have a reasonable strength before and after."""
    mesh, bones = MESHES[mesh], bones_for(mesh, BONES[name])
    solver = shapes.solver(mesh, bones, pose_count=10)
    for _ in range(2):
        inside = solver._inside
        assert (np.diff(inside["spring_start"]) <= 1).all()
        for key in ("spring_point", "spring_strength", "spring_weight", "spring_held"):
            assert np.isfinite(inside[key]).all()
        assert (inside["spring_strength"] >= 0).all()
        assert ((inside["spring_held"] >= 0.1) & (inside["spring_held"] <= 1)).all()
        solver.solve()
    check_weights(solver, 4, len(mesh[0]))
    check_report(solver, mesh[0], bones)


@pytest.mark.parametrize("limit", [0, 4])
@pytest.mark.parametrize("name", BONES)
def test_any_skeleton(name, limit):
    bones = BONES[name]
    steps = np.random.default_rng(2).normal(0, 0.2, (30, 3))
    wires = np.column_stack([np.arange(29), np.arange(1, 30)])
    settings = {"edges": wires, "max_influences": limit, "pose_count": 10}
    check_weights(
        shapes.solve((np.cumsum(steps, 0) + CHAIN.tails[1], None), bones, **settings), limit, 30
    )
    solver = shapes.solve(TUBE, bones, max_influences=limit)
    check_weights(solver, limit)
    report = check_report(solver, TUBE[0], bones)
    assert report["deforming_bones"] == len(bones) - np.sum(bones.deform == np.array(False))


def test_two_hundred_bones():
    mesh, bones = shapes.tube(5, 101, 0.02), shapes.chain(200)
    solver = shapes.solve(mesh, bones)
    check_weights(solver, 4)
    check_report(solver, mesh[0], bones)


POSES = {
    "rest": np.tile(np.eye(3, 4), (4, 5, 1, 1)),
    "scaled": np.tile(np.diag([2.0, 2, 2, 1])[:3], (4, 5, 1, 1))
    * np.linspace(0.1, 5, 4)[:, None, None, None],
    "mirrored": np.tile(np.diag([-1.0, 1, 1, 1])[:3], (4, 5, 1, 1)),
    "collapsed": np.zeros((4, 5, 3, 4)),
    "anything": np.random.default_rng(1).normal(size=(7, 5, 3, 4)),
    "far travels": np.tile(np.eye(3, 4), (4, 5, 1, 1)) + np.array([0, 0, 0, 1e5]),
    "huge": np.random.default_rng(1).normal(size=(7, 5, 3, 4)) * 1e5,
}


@pytest.mark.parametrize("sampled", [0, 1, 9])
@pytest.mark.parametrize("name", POSES)
def test_any_poses(name, sampled):
    solver = shapes.solve(TUBE, CHAIN, poses=POSES[name], pose_count=sampled)
    check_weights(solver, 4)
    assert solver.report["poses"] == len(POSES[name]) + sampled


@pytest.mark.parametrize(
    "settings",
    [
        {"attach": True, "neumann": True, "drop_attachments": True},
        {"positivity": "penalty"},
        {"positivity": "none", "damping": 0, "peak_stiffness": 0},
        {"precision": "double", "iterations": 50, "tolerance": 0},
        {"pruning": (1, 0.95, 0.05), "attach": True, "neumann": True, "positivity": "penalty"},
        {"pruning": (3, 1.0, 1.0), "heat_floor": 0.1},
        {"damping": 1e6},
        {"harmonic": 1e-4},
        {"rotation_clusters": 0.1},
        {"position_clusters": 40},
        {"rotation_clusters": 1, "positivity": "none", "harmonic": 1e-4},
        {"harmonic": 1e6, "positivity": "penalty"},
        {"peak_stiffness": 1e6},
        {"constraint_strength": 0, "attach": True},
        {"swing": 3.1, "twist": 3.1},
        {"swing": 0, "twist": 0},
        {"min_weight": 0.001, "iterations": 1, "pose_count": 1},
    ],
    ids=str,
)
def test_any_settings(settings):
    for limit in (0, 4):
        solver = shapes.solve(TUBE, CHAIN, max_influences=limit, **settings)
        check_weights(solver, limit)


@pytest.mark.parametrize("least", [0, 0.01, 0.1, 0.25])
def test_least_weight(least):
    solver = shapes.solve(TUBE, CHAIN, min_weight=least, max_influences=8)
    weights = solver.weights
    np.testing.assert_allclose(weights.sum(1), 1, atol=1e-12)
    assert weights[weights > 0].min() >= least


@pytest.mark.parametrize("name", ["open tube", "noisy", "split", "soup", "two tubes", "fan"])
def test_energy_is_never_above_that_of_the_start(name):
    """Iterations only lower the energy, as long as no penalty rows oppose this; rows that hold
    every bone may give up a part of the gain, but never all of it. Influences cost nothing in this
    test, because this cost can exceed the gain."""
    for limit, hold in ((0, 0), (4, 0), (0, 0.01), (4, 0.01)):
        settings = {
            "max_influences": limit,
            "peak_stiffness": hold,
            "iterations": 30,
            "min_gain": 3e-5,
        }
        solver = shapes.solve(MESHES[name], CHAIN, **settings)
        energies, stages = solver.energies, solver.report["stage_starts"]
        assert len(energies) == 1 + solver.report["iterations"] + len(stages)
        assert solver.report["energy_before"] == energies[0]
        last = stages[-1] if stages else 0
        assert energies[-1] <= energies[last] * (1.02 if hold else 1 + 1e-6)
        few = limit and name == "fan"  # whose start has all five bones in places
        assert solver.energy < (1.01 if few else 1) * energies[0]


@pytest.mark.parametrize("name", ["open tube", "noisy", "split", "soup", "two tubes", "fan"])
@pytest.mark.parametrize("positivity", ["none", "clip"])
def test_iterations_never_raise_the_energy(name, positivity):
    """Without clipping and with little damping, iterations never raise the energy. Clipping may
    raise it slightly in between, but a stage ends with its best weights."""
    for limit in (0, 4):
        settings = {
            "max_influences": limit,
            "peak_stiffness": 0,
            "positivity": positivity,
            "damping": 1e-10,
        }
        solver = shapes.solve(MESHES[name], CHAIN, **settings)
        energies, stages = solver.energies, solver.report["stage_starts"]
        for first, after in zip([0, *stages], [*stages, len(energies)], strict=True):
            rise = 1e-6 if positivity == "none" else 0.02
            assert (np.diff(energies[first:after]) <= rise * energies[first]).all()
            assert energies[after - 1] <= energies[first] * (1 + 1e-6)


def test_energy_is_that_of_araplbs_energy():
    """The reported energy equals araplbs.energy of the returned weights over the solver's poses,
    without links and with the paper's edge weights."""
    mesh, bones = shapes.join(TUBE, shapes.sphere(at=(0, 0, 1))), shapes.chain(5)
    wires = [[0, 215]]
    given = np.random.default_rng(1).normal(size=(3, 5, 3, 4))
    for precision, tolerance in (("double", 1e-9), ("single", 1e-5)):
        solver = shapes.solve(
            mesh,
            bones,
            poses=given,
            pose_count=20,
            seed=4,
            edges=wires,
            link_parts=False,
            precision=precision,
            **reference.PAPER_ENERGY,
        )
        poses = np.concatenate([araplbs.sample_poses(*bones, 20, seed=4, **bones.more), given])
        expected = araplbs.energy(*mesh, solver.weights, poses, edges=wires)
        assert solver.energy == pytest.approx(expected, rel=tolerance)


@pytest.mark.parametrize("coarsen", [0, 100])
def test_initial_weights_as_rows(coarsen):
    bones = shapes.chain(4)
    vertices, triangles = with_fin()
    welded = np.concatenate([vertices, vertices[:5]]), triangles
    solver = araplbs.Solver(*welded, *bones, coarsen=coarsen)
    start, used, _weights = rows = solver.sparse_initial_weights
    dense = shapes.dense(rows, len(bones))
    np.testing.assert_array_equal(dense, solver.initial_weights)
    np.testing.assert_allclose(dense.sum(1), 1)
    ends = np.repeat(start[1:], np.diff(start)) - 1 == np.arange(len(used))
    assert (np.diff(used)[~ends[:-1]] > 0).all()
