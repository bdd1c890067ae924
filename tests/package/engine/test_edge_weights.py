"""Edge weights that do not depend on the tessellation: a (unit / mean)^2 (mean /
length)^edge_power, where a are the paper's weights."""

import araplbs
import numpy as np
import pytest
import reference
import shapes
from test_parts import button_on_a_tube

POWERS = pytest.mark.parametrize("power", [0, 2, 3])
WIRES = np.array([[3, 24], [7, 25], [24, 25], [11, 26]])


def solver_of(vertices, triangles, power, **settings):
    """A solver that uses these edge weights, and none of its other defaults."""
    bones = shapes.chain(2)
    settings = {"pose_count": 2, "link_parts": False, "bone_spring_stiffness": 0, **settings}
    return araplbs.Solver(vertices, triangles, *bones, edge_power=power, **settings)


def irregular(rng):
    """A tube with edges of many lengths, and a vertex on one of them that creates a sliver."""
    vertices, triangles = shapes.tube(5, 5)
    vertices = vertices * [1, 1, 1.3] + rng.uniform(-0.08, 0.08, vertices.shape)
    a, b, _ = triangles[4]
    vertices = np.concatenate([vertices, [0.5 * (vertices[a] + vertices[b]) + 1e-5]])
    return vertices, np.concatenate([triangles, [[a, b, len(vertices) - 1]]])


def rest_energy(inside):
    """The cost of a strain of 1 everywhere."""
    a, points = reference.edge_matrix(inside), inside["points"]
    return sum(a[i, k] * np.sum((points[k] - points[i]) ** 2) for i, k in reference.edges_of(a))


@POWERS
def test_faces(power, rng):
    mesh = irregular(rng)
    inside = solver_of(*mesh, power)._inside
    points = inside["points"]
    unit = reference.UNIT * reference.size(points, mesh[1])
    area, a = reference.edge_weights(points, mesh[1])
    assert inside["unit"] == pytest.approx(unit, rel=1e-12)
    np.testing.assert_allclose(inside["area"], area, rtol=1e-12)
    expected = reference.balanced(points, a, power, unit)
    np.testing.assert_allclose(reference.edge_matrix(inside), expected, rtol=1e-10)


@POWERS
def test_wires(power, rng):
    """They contribute to the mean length, and up to that length are weighted like edges of
    faces."""
    vertices, triangles = shapes.tube(6, 4)
    more = rng.uniform([0.4, 0.4, 0], [1.5, 0.6, 2], (3, 3))
    vertices = np.concatenate([vertices + rng.uniform(-0.05, 0.05, vertices.shape), more])
    inside = solver_of(vertices, triangles, power, edges=WIRES)._inside
    points = inside["points"]
    _, a = reference.edge_weights(points, triangles, WIRES)
    unit = reference.UNIT * reference.size(points, triangles)
    expected = reference.balanced(points, a, power, unit, wires=WIRES)
    np.testing.assert_allclose(reference.edge_matrix(inside), expected, rtol=1e-10)


@POWERS
def test_wires_alone(power, rng):
    vertices = rng.uniform(-1, 1, (8, 3)) + np.array([0, 0, 1])
    wires = np.array([[0, 1], [1, 2], [2, 3], [2, 4], [5, 6], [6, 7]])
    inside = solver_of(vertices, np.zeros((0, 3), int), power, edges=wires)._inside
    points = inside["points"]
    _, a = reference.edge_weights(points, [], wires)
    radius = np.linalg.norm(points - points.mean(0), axis=1).max()
    assert inside["unit"] == pytest.approx(reference.UNIT * 2 * radius, rel=1e-12)
    expected = reference.balanced(points, a, power, inside["unit"], wires=wires)
    np.testing.assert_allclose(reference.edge_matrix(inside), expected, rtol=1e-10)


@POWERS
def test_links_count_by_the_area_of_the_part(power):
    """The distance between the parts does not matter. Links do not change the edges of the
    faces."""
    mesh, _ = button_on_a_tube()
    solver = solver_of(*mesh, power, link_parts=True)
    inside, links = solver._inside, solver._inside["wires"]
    assert len(links) == solver.report["links"] > 0
    points = inside["points"]
    _, a = reference.edge_weights(points, mesh[1], (), links)
    expected = reference.balanced(points, a, power, inside["unit"], links, triangles=mesh[1])
    np.testing.assert_allclose(reference.edge_matrix(inside), expected, rtol=1e-10)


def stiffness_of_links(vertices, triangles, around):
    """The stiffness of the links of the part that ends with vertex `around`, relative to its area,
    in this tessellation."""
    inside = solver_of(vertices, triangles, 3, link_parts=True)._inside
    a = reference.edge_matrix(inside)
    part = inside["part"] == inside["part"][around]
    return sum(a[i, k] for i, k in inside["wires"] if part[i] != part[k]) / len(inside["wires"])


def test_links_are_as_stiff_in_a_finer_tessellation():
    """The stiffness is compared per vertex and its area. With every triangle split into four, links
    used to be four times as stiff."""
    mesh, _ = button_on_a_tube()
    coarse, fine = (
        stiffness_of_links(*m, len(mesh[0]) - 1) for m in (mesh, shapes.halved(*mesh))
    )  # fmt: skip
    assert fine < 1.5 * coarse / 4


@POWERS
def test_tets(power, rng):
    vertices, tets = shapes.bar((2, 2, 4))
    vertices = vertices + rng.uniform(-0.03, 0.03, vertices.shape)
    bones = shapes.chain(2)
    solver = araplbs.Solver(
        vertices, None, *bones, tets=tets, edge_power=power, bone_spring_stiffness=0, pose_count=2
    )
    inside = solver._inside
    points = inside["points"]
    _, a = reference.edge_weights(points, [], tets=tets)
    surface = np.array(reference.tet_surface(points, tets))
    unit = reference.UNIT * reference.size(points, surface)
    assert power == 0 or inside["unit"] == pytest.approx(unit, rel=1e-12)
    expected = reference.balanced(points, a, power, unit)
    np.testing.assert_allclose(reference.edge_matrix(inside), expected, rtol=1e-10)


@pytest.mark.parametrize("power", [2, 3])
def test_strain_costs_the_same_after_subdivision(power, rng):
    """With the paper's weights, strain costs a quarter."""
    mesh = irregular(rng)
    mesh = mesh[0], mesh[1][:-1]  # the sliver's edges are held at the least length
    fine = shapes.halved(*mesh)
    before, after = (rest_energy(solver_of(*m, power)._inside) for m in (mesh, fine))
    assert after == pytest.approx(before, rel=1e-9)
    paper = [rest_energy(solver_of(*m, 0)._inside) for m in (mesh, fine)]
    assert paper[1] == pytest.approx(paper[0] / 4, rel=1e-9)


@pytest.mark.parametrize("power", [2, 3])
def test_strain_costs_the_same_in_another_tessellation(power):
    """A tube of squares, of half as many, and of four times as many."""
    costs = [
        rest_energy(solver_of(*shapes.tube(around, along, 0.3), power)._inside)
        for around, along in ((16, 18), (24, 26), (32, 35))
    ]
    np.testing.assert_allclose(costs, costs[0], rtol=0.03)


@POWERS
def test_energies_do_not_depend_on_the_unit_of_length(power, rng):
    mesh = irregular(rng)
    bones = shapes.chain(2)
    weights = shapes.random_weights(rng, len(mesh[0]), 2)
    one, other = (
        araplbs.Solver(
            mesh[0] * scale, mesh[1], bones.heads * scale, bones.tails * scale, bones.parents,
            edge_power=power, weights=weights, start_from_weights=True, precision="double",
            pose_count=8,
        )
        for scale in (1.0, 1000.0)
    )  # fmt: skip
    one.solve(), other.solve()
    np.testing.assert_allclose(other.energies, one.energies, rtol=1e-7)
    np.testing.assert_allclose(other.weights, one.weights, atol=1e-6)


@pytest.mark.parametrize("power", [0.5, 3, 4])
def test_relative_energy_is_that_of_these_weights(power, rng):
    mesh, bones = irregular(rng), shapes.chain(2)
    weights = shapes.random_weights(rng, len(mesh[0]), 2)
    poses = araplbs.sample_poses(*bones, 3, seed=4)
    settings = {**reference.BARE, "edge_power": power, "poses": poses, "weights": weights}
    solver = araplbs.Solver(*mesh, *bones, **settings)
    points, moved, _ = reference.normalize_to_solver(mesh[0], poses)
    _, a = reference.edge_weights(points, mesh[1])
    a = reference.balanced(points, a, power, solver._inside["unit"])
    expected = reference.relative_energy(points, a, weights, moved)
    assert solver.energies[0] == pytest.approx(expected, rel=1e-9)
