"""How the add-on loads the module."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

LOAD = """
import json, os, sys
import numpy
from araplbs_addon.core.base import native_module
count = lambda: len(os.listdir("/proc/self/task"))
before = count()
module = native_module.load()
again = native_module.load() is module
print(json.dumps([before, count(), again, os.environ.get("OPENBLAS_NUM_THREADS")]))
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="no list of threads")
@pytest.mark.parametrize("threads", [None, "2"])
def test_loading_starts_no_threads_and_leaves_the_environment(threads):
    """NumPy's own OpenBLAS has as many as the environment says, ours none."""
    env = {k: v for k, v in os.environ.items() if k != "OPENBLAS_NUM_THREADS"}
    env |= {} if threads is None else {"OPENBLAS_NUM_THREADS": threads}
    env["PYTHONPATH"] = os.pathsep.join([str(ROOT), *(p for p in sys.path if p)])
    out = subprocess.run(
        [sys.executable, "-c", LOAD], env=env, capture_output=True, text=True, check=True
    )
    before, after, again, left = json.loads(out.stdout)
    assert after == before and again
    assert left == threads
