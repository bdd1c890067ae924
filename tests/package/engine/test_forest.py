"""Work on the nodes of a forest: each node is visited once, after the nodes below it, and every run
ends (csrc/base/forest.c). Also tests whole solves whose factor consists of a few dense
supernodes."""

import os
import shutil
import subprocess
import sys

import araplbs
import numpy as np
import pytest
import shapes
from paths import CSRC

HERE = os.path.dirname(os.path.dirname(__file__))
SOURCES = [
    CSRC / "base" / f"{name}.c"
    for name in ["forest", "context", "thread_pool", "clock", "memory", "status"]
]

FORESTS = 30_000 if os.environ.get("ARAPLBS_TEST_ALL") else 10_000
PLAIN = {**os.environ, "LD_PRELOAD": ""}


def compiled(folder, *more):
    """The program of forest_model.c, or None if it cannot be built."""
    compiler = os.environ.get("CC") or shutil.which("gcc")
    if not compiler or sys.platform == "win32":
        pytest.skip("no C compiler")
    path = folder / "forest_model"
    flags = [f"-I{CSRC}", "-O2", "-g", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-pthread"]
    program = os.path.join(HERE, "forest_model.c")
    command = [compiler, *flags, *more, program, *map(str, SOURCES), "-o", str(path), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, env=PLAIN)
    assert more or not done.returncode, done.stderr
    return None if done.returncode else path


def check_forests(command, count):
    done = subprocess.run([*command, str(count)], capture_output=True, text=True, env=PLAIN)
    assert done.stdout == f"{count} forests\n", done.stdout + done.stderr
    assert done.returncode == 0


def test_random_forests(tmp_path):
    """On 1 to 8 threads: runs that end, runs that are stopped, and invalid forests, which end with
    an error instead of waiting."""
    check_forests([compiled(tmp_path), "0"], FORESTS)


def test_random_forests_have_no_race(tmp_path):
    path = compiled(tmp_path, "-fsanitize=thread")
    apart = shutil.which("setarch")  # some kernels spread addresses more than libtsan can map
    if not path or not apart:
        pytest.skip("no thread sanitizer")
    check_forests([apart, os.uname().machine, "-R", path, "0"], 2_000)


def ends(mesh, bones, edits=None, **settings):
    """Solve, edit, solve."""
    solver = araplbs.Solver(*mesh, *bones, **settings, threads=2)
    solver.solve()
    if edits:
        solver.edit(**edits)
        solver.solve()
    np.testing.assert_allclose(solver.weights.sum(1), 1, atol=1e-6)


@pytest.mark.parametrize("around", [32, 100])
@pytest.mark.parametrize("later", [False, True])
def test_smooth_over_a_cone(around, later):
    """All vertices are in each other's two-rings, so there is one dense system, whose supernode has
    no child."""
    mesh, bones = shapes.cone(around), shapes.chain(8, height=1)
    edits = {"smoothed": (np.arange(len(mesh[0])), np.ones(len(mesh[0])))}
    ends(mesh, bones, edits) if later else ends(mesh, bones, **edits)


@pytest.mark.parametrize("count", [100, 160, 400])
@pytest.mark.parametrize("shape", [shapes.cone, shapes.disc])
@pytest.mark.parametrize("method", ["bbw", "biharmonic"])
def test_initial_weights_of_a_fan(count, shape, method):
    rows = araplbs.baseline_weights(*shape(count), *shapes.chain(3), method=method)
    weights = shapes.dense(rows, 3)
    np.testing.assert_allclose(weights.sum(1), 1, atol=1e-6)


@pytest.mark.parametrize("count", [160, 400])
@pytest.mark.parametrize("shape", [shapes.cone, shapes.disc])
def test_transfer_to_a_fan_that_hardly_matches(count, shape):
    vertices, triangles = shape(count)
    source, faces = shapes.sphere(12, 20, 0.9)
    touching = np.array([[0, 1, 2]]) + len(source)
    mesh = np.concatenate([source, vertices[:3]]), np.concatenate([faces, touching])
    weights = shapes.random_weights(np.random.default_rng(0), len(mesh[0]), 3)
    options = {"distance": 1e-3, "near": 1e-6}
    found = araplbs.transfer_weights(*mesh, weights, vertices, triangles, **options)[0]
    assert np.isfinite(shapes.dense(found, 3)).all()
    moved = araplbs.transfer_shapes(*mesh, mesh[0][None] + 0.1, vertices, triangles, **options)[0]
    assert np.isfinite(moved).all()


def test_unlimited_influences_of_many_bones():
    rng = np.random.default_rng(0)
    heads = rng.uniform(-0.4, 0.4, (64, 3))
    bones = heads, heads + 0.2 * rng.normal(size=heads.shape), np.arange(64) - 1
    mesh = shapes.box()
    weights = rng.dirichlet(np.ones(64), len(mesh[0]))
    ends(mesh, bones, weights=weights, start_from_weights=True, max_influences=0)
