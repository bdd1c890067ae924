"""Compares Anderson acceleration with its textbook form in NumPy, and tests its benefit."""

import araplbs
import numpy as np
import pytest
import reference
import shapes
from test_steps import Solved


def energy(s, weights):
    return reference.relative_energy(s.points, s.a, weights, s.poses)


def accelerated(s, window, count):
    """Weights after each iteration: dense steps mixed by weighted least squares, and the plain step
    wherever the mixed weights have a higher energy than those before the step."""
    weights, past, found = s.weights, [], []
    root = np.sqrt(s.area)[:, None]
    for _ in range(count):
        step = reference.Quadratic(s.points, s.a, weights, s.poses).step(weights, s.mask)
        past = [*past[-window:], (step - weights, step)]
        mixed = step
        if len(past) > 1:
            df, dg = (np.diff([p[k] for p in past], axis=0) for k in (0, 1))
            df = (root * df).reshape(len(df), -1)
            theta = np.linalg.lstsq(df.T, (root * past[-1][0]).ravel(), rcond=None)[0]
            mixed = step - np.tensordot(theta, dg, 1)
        weights = mixed if energy(s, mixed) <= energy(s, weights) else step
        found.append(weights)
    return found


@pytest.mark.parametrize("window", [1, 3])
def test_is_that_of_the_textbook(window, rng):
    s = Solved(rng, "tube", acceleration=window, iterations=7, tolerance=0)
    for k, weights in enumerate(accelerated(s, window, 7)):
        s.solver.iterate(1)
        np.testing.assert_allclose(s.raw(), weights, atol=1e-5, err_msg=f"iteration {k + 1}")


@pytest.mark.parametrize("positivity", ["clip", "none"])
def test_converges_in_fewer_iterations(positivity):
    """On a fixed problem, both methods end at the same energy; acceleration gets there sooner and
    never raises the energy."""
    mesh, bones = shapes.tube(16, 30), shapes.chain(4)
    settings = {
        "expansion_rounds": 0,
        "tolerance": 0,
        "positivity": positivity,
        "precision": "double",
    }
    needed = {}
    for window in (0, 5):
        solver = shapes.solved(
            araplbs.Solver(*mesh, *bones, acceleration=window, iterations=200, **settings)
        )
        energies = solver.energies
        assert (np.diff(energies[1:]) <= 1e-6 * energies[-1]).all()
        needed[window] = np.nonzero(energies > 1.001 * energies.min())[0][-1] + 1
        if window == 0:
            converged = energies[-1]
    assert solver.energies[-1] == pytest.approx(converged, rel=2e-3)
    assert needed[5] < needed[0]


def test_vertex_at_its_fixed_point():
    """All past steps are the same. The normal equations are zero, and nothing happens."""
    mesh, bones = shapes.tube(6, 4), shapes.chain(1)
    solver = shapes.solved(araplbs.Solver(*mesh, *bones, iterations=5, tolerance=0))
    np.testing.assert_array_equal(solver.weights, 1)
