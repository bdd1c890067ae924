"""OpenBLAS is tested when the engine is loaded. If a routine is wrong, plain loops replace it, a
message reports this fact, and all results stay the same."""

import os
import subprocess
import sys

import araplbs
import numpy as np
import pytest
from paths import CSRC

ROUTINES = ("dgemm", "dsyrk", "dtrsm", "dgemv", "dtrsv", "dpotrf", "dpotrs")
ROUTINES += ("sgemm", "ssyrk", "strsm", "sgemv", "strsv", "spotrf")
SETTING = "ARAPLBS_LINEAR_ALGEBRA"

RESULTS = """
import sys, warnings
import numpy as np
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    import araplbs
    araplbs.simd  # loads the engine
print(araplbs.linear_algebra, *(w.message for w in said if w.category is RuntimeWarning), sep="|")
if len(sys.argv) > 1:
    from shapes import chain, tube
    mesh, bones = tube(12, 31, caps=True), chain(4)
    solver = araplbs.Solver(*mesh, *bones, pose_count=8, precision="double")
    solver.solve()
    transforms = araplbs.sample_poses(*bones, 3)
    posed = araplbs.linear_skinning(mesh[0], solver.weights, transforms)
    baked = araplbs.bake(mesh[0], posed, transforms)["weights"]
    joints = araplbs.JointSolver(*mesh, *bones, pose_count=8)
    joints.iterate()
    # So many joints that their system is factorized panel by panel.
    far = araplbs.JointSolver(*tube(4, 60), *chain(530), pose_count=1)
    far.iterate()
    np.savez(
        sys.argv[1],
        weights=solver.weights,
        heads=joints.heads,
        far=far.heads,
        elastic=araplbs.elastic_poses(*mesh, transforms, *list(bones)[:2]),
        baked=araplbs.linear_skinning(mesh[0], baked, transforms),
    )
"""


def run(wish, *arguments):
    """The report of a new Python process on its linear algebra. For folders in words, see
    test_examples.py."""
    code = f"import sys; sys.path[:0] = {[*filter(None, sys.path)]!r}\n{RESULTS}"
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env={**os.environ, SETTING: wish}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().split("|")


def test_it_is_right_here():
    assert os.environ.get(SETTING) or araplbs.linear_algebra == "OpenBLAS"


@pytest.mark.parametrize("routine", ROUTINES)
def test_a_wrong_routine_is_found_and_named(routine):
    found, said = run(f"wrong {routine}")
    assert found == "plain loops"
    assert said == (
        f"OpenBLAS gives wrong results on this processor ({routine}): araplbs uses plain loops, "
        "which are correct but slower"
    )


def test_plain_loops_on_request():
    assert run("plain") == ["plain loops"]
    assert run("") == ["OpenBLAS"]


def test_every_routine_that_is_called_is_tested():
    text = (CSRC / "linalg/openblas.h").read_text("utf-8")
    assert all(f" scipy_{routine}_(" in text for routine in ROUTINES)
    assert text.count("void scipy_") == len(ROUTINES)


def test_the_results_are_the_same(tmp_path):
    files = {}
    for wish in ("", "wrong dgemm"):
        path = tmp_path / f"{wish or 'openblas'}.npz".replace(" ", "_")
        run(wish, str(path))
        files[wish] = np.load(path)
    for name in files[""].files:
        right, found = files[""][name], files["wrong dgemm"][name]
        assert not np.isnan(found).any()
        np.testing.assert_allclose(found, right, rtol=0, atol=1e-6 * abs(right).max(), err_msg=name)
    assert any(not np.array_equal(files[""][n], files["wrong dgemm"][n]) for n in files[""].files)
