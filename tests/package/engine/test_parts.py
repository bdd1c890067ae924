"""Coincident vertices, loose parts, parts from which no bone is visible, and bones without
influence."""

import araplbs
import numpy as np
import pytest
import reference
import shapes
from guarantees import check_report, check_weights
from shapes import solve

INSIDE = shapes.chain(4, 1.8).moved(np.eye(3), (0, 0, 0.1))  # of a closed tube: no end shows


def posed(mesh, weights, bones, count=40):
    poses = araplbs.sample_poses(*bones, count, seed=99, **bones.more)
    return reference.posed(mesh[0], weights, poses)


@pytest.mark.parametrize("limit", [0, 4])
@pytest.mark.parametrize("noise", [0, 1e-8])
def test_coincident_vertices_get_identical_weights(limit, noise, rng):
    """Coincident vertices get identical weights even if the exporter's rounding keeps them slightly
    apart."""
    joined, bones = shapes.tube(10, 21), shapes.chain(4)
    vertices, triangles = shapes.split(*joined)
    vertices = vertices + noise * rng.uniform(-1, 1, vertices.shape)
    solver = solve((vertices, triangles), bones, max_influences=limit)
    weights = check_weights(solver, limit, len(vertices))
    owner = joined[1].ravel()
    first = np.array([np.nonzero(owner == v)[0][0] for v in range(len(joined[0]))])
    np.testing.assert_array_equal(weights, weights[first[owner]])
    assert solver.report["welded"] == len(vertices) - len(joined[0])
    assert solver.report["parts"] == 1


def test_a_split_mesh_is_solved_like_the_joined_one():
    joined, bones = shapes.tube(10, 21), shapes.chain(4)
    split = solve(shapes.split(*joined), bones, precision="double")
    whole = solve(joined, bones, precision="double")
    np.testing.assert_allclose(split.weights, whole.weights[joined[1].ravel()], atol=1e-9)


def button_on_a_tube(distance=0.02):
    """The button sits on the side of the tube, at its bend."""
    body = shapes.tube(16, 41)
    button = shapes.box((0.04, 0.1, 0.1), (0.2 + distance + 0.02, 0, 1.0))
    return shapes.join(body, button), len(body[0])


def test_loose_parts_follow_what_they_sit_on():
    mesh, first = button_on_a_tube()
    bones = shapes.chain(2)
    solver = solve(mesh, bones)
    report = check_report(solver, mesh[0], bones)
    assert report["parts"] == 2
    assert report["linked_parts"] == 1
    assert report["links"] >= 4
    assert len(solver._inside["wires"]) == report["links"]
    # How far the button's center is from the tube's vertices next to it, at rest and posed.
    weights = check_weights(solver, 4)
    beside = np.linalg.norm(mesh[0][:first] - [0.2, 0, 1], axis=1) < 0.09
    rest = np.linalg.norm(mesh[0][first:].mean(0) - mesh[0][:first][beside].mean(0))
    points = posed(mesh, weights, bones)
    gap = np.linalg.norm(points[:, first:].mean(1) - points[:, :first][:, beside].mean(1), axis=1)
    assert np.abs(gap - rest).max() < 0.25 * 0.2  # a quarter of the tube's radius
    # and rigidly: its own edges keep their lengths
    a, b = mesh[0][first:], points[:, first:]
    sizes = (np.linalg.norm(b[:, 0] - b[:, 7], axis=1)) / np.linalg.norm(a[0] - a[7])
    assert np.abs(sizes - 1).max() < 0.25


def test_without_links_loose_parts_are_on_their_own():
    mesh, _ = button_on_a_tube()
    bones = shapes.chain(2)
    solver = solve(mesh, bones, link_parts=False)
    report = check_report(solver, mesh[0], bones)
    assert (report["parts"], report["linked_parts"], report["links"]) == (2, 0, 0)
    check_weights(solver, 4)


def test_parts_linked_in_a_row():
    """In a stack of boxes on a tube, each box is linked to the next."""
    body = shapes.tube(12, 21)
    stack = [shapes.box((0.08, 0.08, 0.08), (0.25 + 0.09 * k, 0, 1.5)) for k in range(4)]
    mesh, bones = shapes.join(body, *stack), shapes.chain(2)
    solver = solve(mesh, bones)
    assert solver.report["parts"] == 5
    assert solver.report["linked_parts"] == 4
    points = posed(mesh, solver.weights, bones)
    n = len(body[0])
    centers = np.stack([points[:, n + 8 * k : n + 8 * k + 8].mean(1) for k in range(4)], axis=1)
    steps = np.linalg.norm(np.diff(centers, axis=1), axis=2)
    np.testing.assert_allclose(steps, 0.09, rtol=0.3)


def test_links_go_to_what_is_nearest(rng):
    """Scales over a tube, some of them on others: each is linked to the nearest corner of another
    part, with the same links in any order of the parts."""
    body, bones = shapes.tube(12, 21), shapes.chain(2)
    at = rng.uniform([0.21, -0.1, 0.5], [0.3, 0.1, 1.5], (40, 3))
    scales = [shapes.box(rng.uniform(0.01, 0.06, 3), a) for a in at]
    one = shapes.solver(shapes.join(body, *scales), bones)
    other = shapes.solver(shapes.join(*scales[::-1], body), bones)
    assert one.report["linked_parts"] == other.report["linked_parts"] == 40
    assert one.report["links"] == other.report["links"] > 100


def of_the_paper(mesh, bones, rng):
    """(solver, its weights, its poses), with the energy of the paper."""
    weights = shapes.random_weights(rng, len(mesh[0]), 2)
    poses = araplbs.sample_poses(*bones, 3, **bones.more)
    solver = shapes.solver(
        mesh,
        bones,
        poses=poses,
        pose_count=0,
        weights=weights,
        start_from_weights=True,
        precision="double",
        **reference.PAPER_ENERGY,
    )
    return solver, weights, poses


def test_links_weigh_a_share_of_wires(rng):
    """The energy of the solver includes them, as in docs/energy.md 1, with the share of links."""
    mesh, bones = button_on_a_tube()[0], shapes.chain(2)
    solver, weights, poses = of_the_paper(mesh, bones, rng)
    links = solver._inside["wires"]
    _, a = reference.edge_weights(mesh[0], mesh[1], links=links)
    expected = reference.relative_energy(mesh[0], a, weights, poses)
    assert solver.energies[0] == pytest.approx(expected, rel=1e-9)
    assert solver.energies[0] != pytest.approx(araplbs.energy(*mesh, weights, poses), rel=1e-6)


PLACES = [(5 + 2 * (k % 5), 4 * (k // 5) - 4, 0.3 * k) for k in range(13)]


def body_and_stray_cubes():
    body = shapes.tube(12, 21, caps=True)
    return body, shapes.join(body, *[shapes.box((0.2, 0.2, 0.2), at) for at in PLACES])


def test_thirteen_stray_cubes():
    """The cubes are far from the body. All get weights, each follows its nearest bone as a whole,
    and all are reported."""
    (body, mesh), bones = body_and_stray_cubes(), INSIDE
    solver = solve(mesh, bones)
    weights = check_weights(solver, 4, len(mesh[0]))
    check_report(solver, mesh[0], bones)
    unseen = solver.report["unseen_parts"]
    assert len(unseen) == 13
    n = len(body[0])
    assert sorted(p["vertex"] for p in unseen) == [n + 8 * k for k in range(13)]
    assert {p["size"] for p in unseen} == {8}
    assert all(p["rigid"] is True for p in unseen)
    for k, at in enumerate(PLACES):
        own = weights[n + 8 * k : n + 8 * k + 8]
        assert (own == own[0]).all()
        assert own[0].max() == 1
        distance = reference.distances([np.array(at)], bones.heads, bones.tails)[0]
        assert distance[own[0].argmax()] < distance.min() + 0.2


@pytest.mark.parametrize(
    "settings",
    [{"min_gain": 0}, {"edge_power": 0, "bone_spring_stiffness": 0, "peak_stiffness": 0}],
)
def test_stray_cubes_leave_the_body_alone(settings):
    """With a minimum gain, influences whose gain is close to it would be kept in only one of the
    cases."""
    body, mesh = body_and_stray_cubes()
    alone, among = (solve(m, INSIDE, precision="double", **settings) for m in (body, mesh))
    apart = 0.002 if "min_gain" in settings else 0.1  # without bone springs little decides
    np.testing.assert_allclose(among.weights[: len(body[0])], alone.weights, atol=apart)


def test_islands_that_see_no_bone_are_reported():
    """A shell around another hides the bones; a part near one is not rigid."""
    inner, outer = shapes.tube(12, 21, 0.15, caps=True), shapes.tube(12, 21, 0.4, 2.4, caps=True)
    outer = outer[0] - [0, 0, 0.2], outer[1]
    mesh, bones = shapes.join(inner, outer), INSIDE
    loose = solve(mesh, bones, link_parts=False)
    assert loose.report["unseen_parts"] == [
        {"vertex": len(inner[0]), "size": len(outer[0]), "rigid": False}
    ]
    check_weights(loose, 4)
    assert not solve(inner, bones).report["unseen_parts"]


def test_idle_bones_are_reported():
    """Bones far from the mesh, beyond others, end up without weights."""
    mesh, bones = shapes.tube(10, 21), shapes.chain(3)
    far = np.array([[0, 0, 40.0], [0, 0, 41.0]])
    bones = shapes.Bones(
        np.concatenate([bones.heads, far]),
        np.concatenate([bones.tails, far + np.array([0, 0, 1])]),
        np.array([-1, 0, 1, -1, -1]),
        deform=np.array([True, True, True, True, False]),
    )
    solver = solve(mesh, bones)
    report = check_report(solver, mesh[0], bones)
    assert report["idle_bones"] == [3]
    assert report["deforming_bones"] == 4


def test_parts_with_a_common_vertex_or_a_wire_are_one():
    """Boxes that touch at a corner have separate vertices there: test_solids.py."""
    a, b = shapes.box(), shapes.box(at=(1, 1, 1))
    points, triangles = shapes.join(a, b)
    assert solve((points, triangles), shapes.chain(1)).report["parts"] == 2
    there = np.flatnonzero((points == points[7]).all(1))
    assert len(there) == 2
    common = np.where(triangles == there[1], there[0], triangles)
    assert solve((points, common), shapes.chain(1)).report["parts"] == 1
    apart = shapes.join(a, shapes.box(at=(5, 5, 5)))
    assert solve(apart, shapes.chain(1)).report["parts"] == 2
    assert solve(apart, shapes.chain(1), edges=[[0, 8]]).report["parts"] == 1
