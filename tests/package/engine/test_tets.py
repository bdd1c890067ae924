"""Compares edge weights, energy, heat and visibility for tets with explicit sums in NumPy."""

import araplbs
import numpy as np
import pytest
import reference
import shapes

BARE = {**reference.PAPER, "link_parts": False, "precision": "double", "damping": 0}
BARE |= {"max_influences": 0}
PLAIN = {**BARE, "coarsen": 0, "pruning": (1, 1.0, 0.0), "heat_floor": 0}


def wavy(cells=(2, 2, 4), seed=1, amount=0.02):
    """A bar whose tets all differ."""
    vertices, tets = shapes.bar(cells)
    rng = np.random.default_rng(seed)
    return vertices + rng.uniform(-amount, amount, vertices.shape), tets


def solver_of(vertices, tets, triangles=None, bones=None, **settings):
    bones = bones or shapes.chain(2)
    settings = {**BARE, "pose_count": 4, **settings}
    return araplbs.Solver(vertices, triangles, *bones, tets=tets, **settings)


def test_bar_is_whole():
    vertices, tets = shapes.bar((2, 3, 4), (1, 2, 3))
    volumes = [reference.tet_volume(vertices[t]) for t in tets]
    assert min(volumes) > 0
    assert sum(volumes) == pytest.approx(6)
    assert len(reference.tet_surface(vertices, tets)) == 4 * (6 + 8 + 12)


@pytest.mark.parametrize("what", ["tets", "inverted", "fin", "surface given", "wires"])
def test_edge_weights(what):
    """Inverted tets count by |V|, triangles of a tet do not count, and others are sheets."""
    vertices, tets = wavy()
    given, triangles, wires = tets, [], []
    if what == "inverted":
        given = np.where(np.arange(len(tets))[:, None] % 3 == 0, tets[:, [1, 0, 2, 3]], tets)
    if what in ("fin", "wires"):
        vertices = np.concatenate([vertices, [[0.6, 0, 0.5], [0.6, 0, 1.0]]])
    n = len(vertices)
    if what == "fin":
        triangles = np.array([[12, n - 2, n - 1], tets[5, :3], [0, 1, n - 1], [1, 0, n - 1]])
    if what == "wires":
        wires = np.array([[12, n - 2], [n - 2, n - 1]])
    if what == "surface given":
        triangles = np.array(reference.tet_surface(vertices, tets))
    inside = solver_of(vertices, given, triangles, edges=wires)._inside
    if what == "fin":
        triangles = triangles[:3]  # the last one comes twice
    scaled, *_ = reference.normalize_to_solver(vertices, np.zeros((0, 2, 3, 4)))
    area, a = reference.edge_weights(scaled, triangles, wires, tets=tets)
    np.testing.assert_allclose(inside["area"], area, rtol=1e-11)
    np.testing.assert_allclose(reference.edge_matrix(inside), a, atol=1e-12 * a.max())


@pytest.mark.parametrize("flat", [True, False])
def test_tets_without_volume_add_nothing(flat):
    """Flat tets, and those with a repeated corner."""
    vertices, tets = shapes.bar((1, 1, 3))
    on_plane = np.flatnonzero(vertices[:, 0] == vertices[:, 0].min())
    more = on_plane[:4] if flat else [0, 1, 1, 2]
    expected = solver_of(vertices, tets)
    solver = solver_of(vertices, np.concatenate([tets, [more]]))
    np.testing.assert_allclose(solver._inside["area"], expected._inside["area"], rtol=1e-12)
    solver.solve()
    assert np.isfinite(solver.weights).all()
    assert np.isfinite(solver.energies).all()


def test_only_flat_tets():
    vertices = np.array([[0.0, 0, 0], [1, 0, 0], [1, 0, 1], [0, 0, 1], [0, 0, 2]])
    solver = shapes.solved(solver_of(vertices, [[0, 1, 2, 3]]))
    np.testing.assert_allclose(solver.weights.sum(1), 1)
    assert solver.report["parts"] == 2


def test_energy():
    """The energy is tested for any weights, for every vertex, and as the solver reports it for its
    own weights."""
    vertices, tets = wavy()
    bones = shapes.chain(2)
    rng = np.random.default_rng(3)
    weights = shapes.random_weights(rng, len(vertices), 2)
    poses = araplbs.sample_poses(*bones, 3, seed=5)
    _, a = reference.edge_weights(vertices, [], tets=tets)
    energy, each = araplbs.energy(vertices, None, weights, poses, tets=tets, per_vertex=True)
    own, unit = reference.vertex_energies(vertices, a, weights, poses)
    assert energy == pytest.approx(own.sum() / unit.sum(), rel=1e-11)
    np.testing.assert_allclose(each, own / unit, rtol=1e-9)
    solver = shapes.solved(solver_of(vertices, tets, poses=poses, pose_count=0))
    again = araplbs.energy(vertices, None, solver.weights, poses, tets=tets)
    assert solver.energy == pytest.approx(again, rel=1e-9)
    assert solver.energy < solver.energies[0]


def test_rigid_motion_costs_nothing():
    vertices, tets = wavy()
    pose = np.column_stack([shapes.rotation([1, 2, 3], 0.7), [4, 5, 6]])
    poses = np.tile(pose, (1, 2, 1, 1))
    weights = np.full((len(vertices), 2), 0.5)
    assert araplbs.energy(vertices, None, weights, poses, tets=tets) < 1e-24


def test_heat_weights():
    """(L + M H) w = M H chi with the Laplacian of finite elements."""
    vertices, tets = wavy(amount=0.04)
    bones = shapes.chain(3)
    solver = solver_of(vertices, tets, bones=bones, **PLAIN)
    inside = solver._inside
    points, *_ = reference.normalize_to_solver(vertices, np.zeros((0, 3, 3, 4)))
    stiff = reference.tet_laplacian(points, tets)
    mass = inside["area"]
    heat = inside["visible"] * mass / np.maximum(inside["distance"], 1e-6) ** 2
    chi = np.zeros((len(points), 3))
    for i, count in enumerate(inside["nearest_count"]):
        chi[i, inside["nearest"][i, :count]] = 1 / count
    expected = np.linalg.solve(stiff + np.diag(heat), heat[:, None] * chi)
    expected = np.maximum(expected, 0)
    expected /= expected.sum(1, keepdims=True)
    np.testing.assert_allclose(solver.initial_weights, expected, atol=1e-9)


def test_the_surface_of_the_tets_blocks_the_view():
    """Two bars side by side with a bone in one: it is not visible from the near side of the
    other."""
    vertices, tets = shapes.bar((1, 1, 4))
    far = vertices + np.array([1.0, 0, 0])
    both = np.concatenate([vertices, far]), np.concatenate([tets, tets + len(vertices)])
    visible = solver_of(*both, bones=shapes.chain(2))._inside["visible"]
    assert visible[: len(vertices)].all()
    assert not visible[len(vertices) :].any()


def test_inner_faces_block_nothing():
    vertices, tets = shapes.bar((4, 4, 8))
    assert solver_of(vertices, tets, coarsen=0)._inside["visible"].all()


def test_attach_holds_vertices_on_bones_only():
    vertices, tets = shapes.bar((2, 2, 8))
    solver = solver_of(vertices, tets, attach=True)
    attached = {row["vertex"] for row in solver.constraint_rows if row["kind"] == "attach"}
    on_axis = np.flatnonzero(np.abs(vertices[:, :2]).max(1) < 1e-12)
    middle = np.flatnonzero(np.abs(vertices[:, 2] - 1) < 1e-12)  # the joint: half and half
    assert attached == set(on_axis) - set(middle)


def test_seams_are_welded():
    """Each tet has vertices of its own. The weights equal those with shared vertices."""
    vertices, tets = wavy()
    expected = solver_of(vertices, tets)
    solver = solver_of(vertices[tets.ravel()], np.arange(tets.size).reshape(-1, 4))
    assert solver.report["welded"] == tets.size - len(vertices)
    expected.solve()
    solver.solve()
    np.testing.assert_allclose(solver.weights, expected.weights[tets.ravel()], atol=1e-6)


@pytest.mark.parametrize("cells", [(4, 4, 40), (1, 1, 200), (1, 12, 60)])
def test_coarse_levels_keep_volumes_whole(cells):
    """Volumes stay whole even where they are so thin that clusters of vertices span them."""
    vertices, tets = shapes.bar(cells)
    bones = shapes.chain(3)
    fine = solver_of(vertices, tets, bones=bones, coarsen=0, max_influences=4)
    solver = solver_of(vertices, tets, bones=bones, coarsen=200, max_influences=4)
    assert 0 < solver.report["coarse_vertices"] < 0.6 * len(vertices)
    fine.solve()
    solver.solve()
    assert solver.report["parts"] == 1
    assert not solver.report["unseen_parts"]
    np.testing.assert_allclose(solver.weights.sum(1), 1)
    assert solver.energy < 1.1 * fine.energy


def test_parts_are_linked():
    """A sheet that lies on a volume follows the volume."""
    vertices, tets = shapes.bar((2, 2, 8))
    card = np.array([[0.21, -0.1, 0.4], [0.21, 0.1, 0.4], [0.21, 0, 0.6]])
    solver = solver_of(
        np.concatenate([vertices, card]), tets, [len(vertices) + np.arange(3)], link_parts=True
    )
    assert solver.report["linked_parts"] == 1
    solver.solve()
    lower = solver.weights[-3:, 0]
    assert (lower > 0.5).all()


def test_mirrored_volume_has_mirrored_weights():
    vertices, tets = shapes.bar((2, 2, 6))
    bones = shapes.Bones(
        np.array([[0, 0, 0], [0.05, 0, 1.0], [-0.05, 0, 1.0]]),
        np.array([[0, 0, 1.0], [0.15, 0, 2], [-0.15, 0, 2]]), np.array([-1, 0, 0]),
    )  # fmt: skip
    flipped = np.concatenate([tets, tets])  # a tet mesh that is its own image, if not a proper one
    image = {tuple(np.round(v, 9)): i for i, v in enumerate(vertices)}
    partner = np.array([image[tuple(np.round(v * [-1, 1, 1], 9) + 0.0)] for v in vertices])
    flipped[len(tets) :] = partner[tets]
    solver = solver_of(
        vertices, flipped, bones=bones, symmetry=([0, 2, 1], (0, 0, 0), (1, 0, 0)), pose_count=6
    )
    solver.solve()
    assert solver.report["symmetric_vertices"] == len(vertices)
    np.testing.assert_array_equal(solver.weights, solver.weights[partner][:, [0, 2, 1]])
