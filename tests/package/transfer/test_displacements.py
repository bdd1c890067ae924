"""Tests the displacements of the components of disconnected skeletons in random poses (paper
sections 4.4 and 7, Figure 12)."""

import numpy as np
import pytest
import reference
import shapes
from paths import DATA
from reports import check_stops
from shared_data import load

BARE = {"link_parts": False, "precision": "double", "edge_power": 0, "bone_spring_stiffness": 0}


def two_chains(extra_parent=False):
    """Two chains of two bones along Z with a gap between them; at the end, with a bone that does
    not deform and is the parent of both."""
    heads = np.array([[0, 0, z] for z in (0.1, 1.0, 2.3, 3.0)])
    tails = np.array([[0, 0, z] for z in (1.0, 1.7, 3.0, 3.9)])
    parents = np.array([-1, 0, -1, 2])
    if not extra_parent:
        return shapes.Bones(heads, tails, parents)
    heads, tails = np.vstack([heads, [0, 0, -1]]), np.vstack([tails, [0, 0, 0]])
    return shapes.Bones(
        heads, tails, np.array([4, 0, 4, 2, -1]), deform=np.array([True] * 4 + [False])
    )


COMPONENT = np.array([0, 0, 1, 1])
TUBE = shapes.tube(12, 31, 0.25, 4.0, caps=True)


def solver(mesh=TUBE, bones=None, **settings):
    bones = two_chains() if bones is None else bones
    return shapes.solver(mesh, bones, **settings)


def strain(mesh, weights, transforms):
    """Root of the mean squared relative change of edge lengths."""
    vertices, triangles = mesh
    edges = np.unique(np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1), axis=0)
    at_rest = np.linalg.norm(np.diff(vertices[edges], axis=1)[:, 0], axis=1)
    total = []
    for points in reference.posed(vertices, weights, transforms):
        length = np.linalg.norm(np.diff(points[edges], axis=1)[:, 0], axis=1)
        total.append(np.mean((length / at_rest - 1) ** 2))
    return np.sqrt(np.mean(total))


def test_gap_in_the_middle():
    """As in the paper's figure: without displacements, the mesh between the chains is torn."""
    torn, whole = solver(displace_components=False), solver()
    assert whole.energies[0] < 0.2 * torn.energies[0]
    torn.solve()
    whole.solve()
    points = whole._inside["points"]
    mesh = points, TUBE[1][TUBE[1].max(1) < len(points)]
    before = strain(mesh, torn.weights, torn._inside["transform"])
    after = strain(mesh, whole.weights, whole._inside["transform"])
    assert after < 0.5 * before
    assert whole.energy < 0.2 * torn.energy


def test_character_in_pieces():
    """A human separated at hips, shoulders and neck: in its own animation, the weights are nearer
    to those of the whole skeleton."""
    model = load(DATA, "cesium_man")
    parents = model["bone_parent"].astype(int)
    below = np.zeros(len(parents), int)
    for bone in range(len(parents)):
        while bone >= 0:
            below[bone] += 1
            bone = parents[bone]
    cut = parents.copy()
    for bone in range(len(parents)):
        siblings = np.flatnonzero((parents == parents[bone]) & (below > 1))
        if bone in siblings and len(siblings) > 1:
            cut[bone] = -1
    assert np.count_nonzero(cut < 0) == 7
    frames = model["anim"][::4, :, :3].astype(float)
    mesh = model["V"].astype(float), model["F"]
    found = []
    for roots, displace in ((parents, True), (cut, True), (cut, False)):
        bones = shapes.Bones(model["bone_head"], model["bone_tail"], roots)
        run = shapes.solved(solver(mesh, bones, displace_components=displace))
        found.append(strain(mesh, run.weights, frames))
    whole, pieces, torn = found
    assert whole < pieces < whole + 0.7 * (torn - whole)


def displaced(mesh, weights, **settings):
    """A solver that has only displaced its components for these weights."""
    given = {"weights": weights, "start_from_weights": True, "max_influences": 0}
    return solver(mesh, **{**BARE, **given, **settings})


def idle_between(bones, weights):
    """With bones that have no weights before, between and after these four: (bones, weights, the
    four)."""
    four, places = np.array([1, 2, 4, 5]), np.zeros((7, 3))
    places[[0, 3, 6], 0] = 1, 2, 3
    heads, tails = places.copy(), places + np.array([0, 0, 0.5])
    heads[four], tails[four] = bones.heads, bones.tails
    wide = np.zeros((len(weights), 7))
    wide[:, four] = weights
    return shapes.Bones(heads, tails, np.array([-1, -1, 1, -1, -1, 4, -1])), wide, four


@pytest.mark.parametrize("idle", [False, True])
@pytest.mark.parametrize("tolerance", [1, 0])
def test_displacements_are_the_dense_minimum(tolerance, idle, rng):
    """With tolerance 1, there is one round, the minimum for the rotations of the sampled poses."""
    mesh = shapes.tube(5, 7, 0.3, 4.0)
    weights = rng.dirichlet(np.ones(4), len(mesh[0]))
    bones, wide, four = two_chains(), weights, np.arange(4)
    if idle:
        bones, wide, four = idle_between(bones, weights)
    off, on = (
        displaced(
            mesh, wide, bones=bones, pose_count=4, tolerance=tolerance, displace_components=on
        )
        for on in (False, True)
    )
    points, before = on._inside["points"], off._inside["transform"]
    after = on._inside["transform"]
    moved = after - before
    assert np.abs(moved[..., :3]).max() == 0
    assert not np.delete(moved, four, axis=1).any()
    before, after, moved = (each[:, four] for each in (before, after, moved))
    np.testing.assert_allclose(moved[:, 1], moved[:, 0], atol=1e-13)
    np.testing.assert_allclose(moved[:, 3], moved[:, 2], atol=1e-13)
    share = weights @ np.eye(2)[COMPONENT]
    a = reference.edge_weights(points, mesh[1])[1]
    for p, posed in enumerate(reference.posed(points, weights, before if tolerance else after)):
        rotations, _ = reference.local_step(points, a, posed)
        design, target = [], []
        for i, k in reference.edges_of(a):
            root = np.sqrt(a[i, k])
            design.append(root * (share[k] - share[i]))
            edge = rotations[i] @ (points[k] - points[i])
            target.append(root * (edge - (posed[k] - posed[i])))
        best = np.linalg.lstsq(np.array(design), np.array(target), rcond=1e-10)[0]
        if tolerance:  # the smallest moves: those of all together change nothing
            np.testing.assert_allclose(moved[p, [0, 2], :, 3], best, atol=1e-5)
            assert np.abs(best).max() > 1e-2, "nothing has moved"
        else:  # nothing is left to gain
            np.testing.assert_allclose(best, 0, atol=1e-3)


@pytest.mark.parametrize("settings", [{}, {"bone_spring_stiffness": 12}, {"edge_power": 3}])
def test_displacements_never_raise_the_energy(settings, rng):
    mesh = shapes.tube(6, 9, 0.3, 4.0, caps=True)
    weights = rng.dirichlet(np.ones(4), len(mesh[0]))
    energies = [
        displaced(mesh, weights, displace_components=on, tolerance=tolerance, **settings).energies[
            0
        ]
        for on, tolerance in ((False, 0), (True, 1), (True, 1e-2), (True, 0))
    ]
    assert (np.diff(energies) <= 1e-12).all()
    assert energies[-1] < 0.9 * energies[0]


def test_levels_hand_their_displacements_on():
    mesh = shapes.tube(24, 81, 0.25, 4.0)
    levels, alone = solver(mesh, coarsen=300), solver(mesh, coarsen=0)
    torn = solver(mesh, coarsen=300, displace_components=False)
    for each in (levels, alone, torn):
        each.solve()
    assert levels.report["coarse_vertices"]
    assert levels.energy < 1.1 * alone.energy < 0.3 * torn.energy


@pytest.mark.parametrize(
    "bones",
    [shapes.chain(3), shapes.tree(), two_chains(extra_parent=True)],
    ids=["chain", "tree", "parent"],
)
def test_connected_skeletons_stay_as_they_are(bones):
    """A parent that does not deform holds its children together."""
    runs = [solver(shapes.tube(), bones, displace_components=on) for on in (False, True)]
    for run in runs:
        run.solve()
    np.testing.assert_array_equal(*(run.weights for run in runs))
    np.testing.assert_array_equal(*(run.energies for run in runs))


def test_given_poses_stay_where_they_are(rng):
    poses = np.tile(np.eye(4)[:3], (3, 4, 1, 1))
    poses[:, :, :, 3] = rng.normal(size=(3, 4, 3))
    run, torn = (solver(poses=poses, pose_count=5, displace_components=on) for on in (True, False))
    run.solve()
    now, before = run._inside["transform"], torn._inside["transform"]
    np.testing.assert_array_equal(now[5:], before[5:])
    assert np.abs(now[:5] - before[:5]).max() > 0.01


def test_bendy_bones_move_as_a_whole():
    bones = two_chains()
    bones = bones.but(kinds=["bendy", "rigid", "rigid", "bendy"], segments=[3, 1, 1, 2])
    run, torn = (solver(bones=bones, pose_count=7, displace_components=on) for on in (True, False))
    moved = run._inside["transform"] - torn._inside["transform"]
    for columns in ([0, 1, 4, 5, 6], [2, 3, 7, 8]):
        assert np.ptp(moved[:, columns], axis=1).max() < 1e-13
    assert np.abs(moved[:, 0] - moved[:, 2]).max() > 0.01
    assert run.energies[0] < 0.3 * torn.energies[0]
    run.solve()


def test_bones_with_one_head_are_joined():
    """As in JointSolver, a root may consist of two bones."""
    bones = two_chains()
    heads = bones.heads.copy()
    heads[2] = heads[0]
    runs = [solver(bones=bones.but(heads=heads), displace_components=on) for on in (False, True)]
    np.testing.assert_array_equal(*(run.energies for run in runs))


@pytest.mark.parametrize("mesh", shapes.odd_meshes())
def test_any_mesh_will_do(mesh):
    run = shapes.solved(solver(shapes.odd_meshes()[mesh]))
    assert np.isfinite(run.weights).all()


def test_a_cancelled_solve_goes_on():
    check_stops(lambda told: solver(pose_count=9, progress=told), "components", every=5)
