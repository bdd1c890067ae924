"""Compares the engine with the fixtures next to this file, which an independent reference
implementation produced, to the tolerances in their README. Joints are tested in test_joints.py."""

import araplbs
import numpy as np
import pytest
import reference
import scipy.sparse
import shapes
from shared_data import fixture

ITERATIONS = (1, 2, 5, 10, 50)
BARE = {
    **reference.PAPER,
    "link_parts": False,
    "precision": "double",
    "damping": 0,
    "peak_stiffness": 0,
    "max_influences": 0,
    "expansion_rounds": 0,
    "iterations": 1000,
    "tolerance": 0,
    "acceleration": 0,
    "positivity": "none",
}
weights_problems = pytest.mark.parametrize(
    "name", ["fx01_bar2", "fx02_cyl4", "fx04_wires_nonmanifold"]
)


def bare(d, **settings):
    names = ("V", "F", "bone_head", "bone_tail", "bone_parent")
    return araplbs.Solver(*(d[name] for name in names), **{**BARE, **settings})


def start(d, **settings):
    """A solver on the fixture's poses, supports and initial weights."""
    given = {"weights": shapes.rows(d["support"], d["W0"]), "start_from_weights": True}
    return bare(d, edges=d.get("wires"), poses=d["T"], pose_count=0, **given, **settings)


def sparse(d, name, size):
    rows, columns = d[f"{name}_ij"].T
    return scipy.sparse.coo_matrix((d[f"{name}_v"], (rows, columns)), shape=(size, size)).tocsr()


def largest(matrix):
    return np.abs(matrix).max()


@weights_problems
def test_edge_weights(name):
    d = fixture(name)
    inside = start(d)._inside
    n, area = len(d["V"]), inside["diagonal"] ** 2
    np.testing.assert_allclose(inside["area"] * area, d["Lam"], rtol=1e-12)
    edges = scipy.sparse.csr_matrix(
        (inside["edge_weight"] * area, inside["neighbor"], inside["ring"]), shape=(n, n)
    )
    om = sparse(d, "om", n)
    assert largest(edges - om) < 1e-12 * largest(om)


@weights_problems
def test_gram_matrix(name):
    """G in the solver's coordinates equals the fixture's G for x = diagonal x' + center."""
    d = fixture(name)
    inside = start(d)._inside
    bones = len(d["bone_parent"])
    center = (d["V"].min(0) + d["V"].max(0)) / 2
    forward = np.eye(4) * inside["diagonal"]  # x' to x, homogeneous
    forward[:3, 3], forward[3, 3] = center, 1
    # T' = (T forward - [0 | center]) / diagonal, so products with the constant appear as well.
    shift = np.zeros((3, 4))
    shift[:, 3] = center
    total = d["T"].sum(0)
    expected = np.zeros((bones, bones, 4, 4))
    for b in range(bones):
        for c in range(bones):
            mixed = forward.T @ total[b].T @ shift + shift.T @ total[c] @ forward
            expected[b, c] = forward.T @ d["G"][b, c] @ forward - mixed
            expected[b, c] += len(d["T"]) * shift.T @ shift
    expected /= inside["diagonal"] ** 2
    np.testing.assert_allclose(inside["gram"], expected, atol=1e-12 * np.abs(expected).max())


@weights_problems
def test_energy_of_the_start(name):
    d = fixture(name)
    expected = d["E0_rel"][0]
    assert start(d).energies[0] == pytest.approx(expected, rel=1e-12)
    free = araplbs.energy(d["V"], d["F"], d["W0"], d["T"], edges=d.get("wires"))
    assert free == pytest.approx(expected, rel=1e-12)
    for pose, own in zip(d["T"], d["E0_per_exemplar"], strict=True):
        got = araplbs.energy(d["V"], d["F"], d["W0"], pose[None], edges=d.get("wires"))
        assert got == pytest.approx(own, rel=1e-11)


@pytest.mark.parametrize(
    "name", ["fx01_bar2", "fx02_cyl4", "fx04_wires_nonmanifold", "fx08_spines"]
)
def test_first_system(name):
    d, settings = with_spines() if name == "fx08_spines" else (fixture(name), {})
    solver = start(d, **settings)
    before = solver._inside
    solver.iterate(1)
    inside = solver._inside
    unknowns, scale = len(inside["entry"]), inside["diagonal"] ** 4
    lower = scipy.sparse.csc_matrix(
        (inside["value"] * scale, inside["row"], inside["column"]), shape=(unknowns, unknowns)
    )
    matrix = (lower + scipy.sparse.tril(lower, -1).T).tocsr()
    # What our unknowns change in the entries, and so in the fixture's unknowns: there the first
    # weight of a vertex balances the others.
    x = np.arange(unknowns)
    z = scipy.sparse.coo_matrix(
        (
            np.repeat([1.0, -1.0], unknowns),
            (np.append(inside["entry"], inside["balance"]), np.append(x, x)),
        ),
        shape=(len(inside["bone"]), unknowns),
    ).tocsr()
    entry = d["unknown_entry"]
    assert len(entry) == unknowns
    ours = z[entry]
    theirs = sparse(d, "A", unknowns)
    expected = (ours.T @ theirs @ ours).tocsr()
    assert largest(matrix - expected) < 1e-12 * largest(expected)
    # A x = Z'(b - F w) is a step from w; the fixture's right-hand side is for the weights.
    vertex = np.repeat(np.arange(len(d["V"])), np.diff(inside["start"]))
    step = z.T @ (before["right_side"] - before["product"]) * scale
    right_side = step + ours.T @ (theirs @ d["W0"][vertex, inside["bone"]][entry])
    assert largest(right_side - ours.T @ d["b0"]) < 1e-11 * largest(d["b0"])


def settings_of(d, run):
    """free: no constraints; cons: attach and Neumann rows; pos: the same and positivity rows; filt:
    the same and the filter; harm: the same and the harmonic term."""
    if run == "free":
        return {}
    vertices, bones = d["attach"].T
    settings = {"neumann": True, "constraints": (vertices, bones, np.ones(len(vertices)))}
    more = {"pos": {"positivity": "penalty"}, "filt": {"filter": "all"}}
    more["harm"] = {"harmonic": d["harm_delta"][0]}
    return {**settings, **more.get(run, {})}


@weights_problems
@pytest.mark.parametrize("run", ["free", "cons", "pos", "filt", "harm"])
def test_iterations(name, run):
    d = fixture(name)
    solver = start(d, **settings_of(d, run))
    done = 0
    for count in ITERATIONS:
        solver.iterate(count - done)
        done = count
        tolerance = 1e-9 if count <= 10 else 1e-7
        np.testing.assert_allclose(solver.raw_weights, d[f"{run}_W{count}"], atol=tolerance)
    energies = d[f"{run}_energy"] / d["const_full"]
    np.testing.assert_allclose(solver.energies, energies[: len(solver.energies)], rtol=1e-9)
    assert len(solver.energies) == 51 or solver.done
    if run != "free":
        assert solver.report["neumann_rows"] == d["neumann"].sum()
    if run == "pos":
        assert solver.report["positivity_rows"] == d["pos_count"][0]


starts = pytest.mark.parametrize("name", ["fx05_init_cyl4", "fx07_init_virtual"])


def heat(d, **settings):
    return bare(d, **{"pose_count": 2, "heat_floor": 0, **settings})


@starts
def test_nearest_bones_and_visibility(name):
    d = fixture(name)
    inside = heat(d)._inside
    distance = inside["distance"] * inside["diagonal"]
    np.testing.assert_allclose(distance, d["bone_dist"].min(1), atol=1e-12)
    np.testing.assert_array_equal(inside["visible"], d["visible"])


@starts
def test_heat_weights(name):
    d = fixture(name)
    full = heat(d, pruning=(1, 1.0, 0.0)).initial_weights
    np.testing.assert_allclose(full, d["heat"], atol=1e-12)


@starts
def test_supports_and_initial_weights(name):
    d = fixture(name)
    solver = heat(d, pruning=(1, 0.95, 0.05))
    inside = solver._inside
    keep = shapes.dense((inside["start"], inside["bone"], True), d["keep"].shape[1])
    np.testing.assert_array_equal(keep, d["keep"])
    np.testing.assert_allclose(solver.initial_weights, d["W0"], atol=1e-12)


def test_attach_and_neumann_rows():
    """The number of rows and the step that they cause at the fixture's vertices are the same. (On
    fx05, only rounding decides which of several equal weights is a maximum.)"""
    d = fixture("fx07_init_virtual")
    settings = {"pruning": (1, 0.95, 0.05), "neumann": True, "pose_count": 6}
    vertices, bones = d["attach"].T
    own = heat(d, **settings, attach=True)
    given = heat(d, **settings, constraints=(vertices, bones, np.ones(len(vertices))))
    own.iterate(1), given.iterate(1)
    assert own.report["attach_rows"] == len(vertices)
    assert own.report["neumann_rows"] == d["neumann"].sum()
    np.testing.assert_allclose(own.raw_weights, given.raw_weights, atol=1e-11)


@pytest.mark.parametrize("case", [0, 1, 2])
def test_pruning_with_ties(case):
    d = fixture("fx13_sparsify_ties")
    least, prune_sum, relative = d[f"par{case}"]
    got = araplbs.prune(d["V"], d["F"], d["W"], int(least), prune_sum, relative)
    np.testing.assert_array_equal(got, d[f"keep{case}"])


def test_rotations():
    d = fixture("fx14_rotfit")
    np.testing.assert_allclose(araplbs.nearest_rotations(d["S"]), d["R"], atol=1e-12)


def with_spines(**settings):
    """fx08: a rigid bone, a spine and an STB."""
    d = fixture("fx08_spines")
    bends = np.concatenate([d["axis"] * d["theta"][..., None], d["sigma"][..., None]], axis=-1)
    kinds = [("rigid", "stb", "spine")[k] for k in d["kind"]]
    return d, {"bone_kinds": kinds, "bends": bends, **settings}


def test_spine_parameters_gradients_points_and_jacobians():
    d, spines = with_spines()
    inside = start(d, **spines)._inside
    center = (d["V"].min(0) + d["V"].max(0)) / 2
    points = inside["spine_point"] * inside["diagonal"] + center
    for k, b in enumerate((1, 2)):
        np.testing.assert_allclose(inside["spine_parameter"][:, k], d[f"u{b}"], atol=1e-14)
        gradient = inside["spine_gradient"][:, k] / inside["diagonal"]
        np.testing.assert_allclose(gradient, d[f"gradu{b}"], atol=1e-13)
        jacobian = inside["spine_jacobian"][:, k].reshape(d[f"J{b}"].shape)
        np.testing.assert_allclose(jacobian, d[f"J{b}"], atol=1e-13)
        own = d["entry_j"] == b
        np.testing.assert_allclose(points[d["entry_i"][own], k], d["phi"][own], atol=1e-13)


@pytest.mark.parametrize("spines", [False, True])
def test_forward_kinematics(spines):
    d, more = with_spines() if spines else (fixture("fx09_fk"), {})
    got = araplbs.forward_kinematics(
        d["bone_head"], d["bone_tail"], d["bone_parent"], d["local_rot"], more.get("bends")
    )
    np.testing.assert_allclose(got, d["T"], atol=1e-13)


def test_iterations_with_spines():
    vertices, bones = fixture("fx08_spines")["attach"].T
    rows = {"neumann": True, "constraints": (vertices, bones, np.ones(len(vertices)))}
    d, spines = with_spines(**rows)
    solver, done = start(d, **spines), 0
    for count in ITERATIONS:
        solver.iterate(count - done)
        done = count
        np.testing.assert_allclose(solver.raw_weights, d[f"cons_W{count}"], atol=1e-9)
    edges = d["V"][d["om_ij"][:, 0]] - d["V"][d["om_ij"][:, 1]]
    unit = len(d["T"]) * d["om_v"] @ np.sum(edges**2, axis=1)
    np.testing.assert_allclose(solver.energies, d["cons_energy"] / unit, rtol=1e-9)


def test_edge_weights_of_tets():
    d = fixture("fx12_tets")
    n, bones = len(d["V"]), shapes.chain(1)
    inside = araplbs.Solver(d["V"], None, *bones, tets=d["T"], pose_count=2, edge_power=0)._inside
    volume = inside["diagonal"] ** 3
    np.testing.assert_allclose(inside["area"] * volume, d["Lam"], rtol=1e-12)
    edges = scipy.sparse.csr_matrix(
        (inside["edge_weight"] * volume, inside["neighbor"], inside["ring"]), shape=(n, n)
    )
    om = scipy.sparse.coo_matrix(
        (d["Lam"][d["lam_ij"][:, 0]] * d["lam_v"], d["lam_ij"].T), shape=(n, n)
    ).tocsr()
    assert largest(edges - om) < 1e-12 * largest(om)
