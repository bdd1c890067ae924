"""Tests how the engine is loaded."""

import json
import os
import subprocess
import sys

import pytest

LOAD = """
import json, os, sys
import numpy
from araplbs.base import engine
count = lambda: len(os.listdir("/proc/self/task"))
before = count()
module = engine.load()
again = engine.load() is module
print(json.dumps([before, count(), again, os.environ.get("OPENBLAS_NUM_THREADS")]))
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="no list of threads")
@pytest.mark.parametrize("threads", [None, "2"])
def test_loading_starts_no_threads_and_leaves_the_environment(threads):
    """NumPy's own OpenBLAS has as many threads as the environment says, and ours has none."""
    env = {k: v for k, v in os.environ.items() if k != "OPENBLAS_NUM_THREADS"}
    env |= {} if threads is None else {"OPENBLAS_NUM_THREADS": threads}
    env["PYTHONPATH"] = os.pathsep.join(p for p in sys.path if p)
    out = subprocess.run(
        [sys.executable, "-c", LOAD], env=env, capture_output=True, text=True, check=True
    )
    before, after, again, left = json.loads(out.stdout)
    assert after == before and again
    assert left == threads
