"""Runs storms of session_storm.py in a separate Blender process, because undo would otherwise
return to data of other tests in this process. Each run includes a few storms; STORMS=1000
STORM_SEED=7 runs 1000 of them, beginning with seed 7."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import bpy
import pytest
import session_storm
from scenes import addon

STORMS = int(os.environ.get("STORMS", 8))
SEED = int(os.environ.get("STORM_SEED", 1))
HERE = Path(__file__)


@pytest.mark.skipif("OWN_BLENDER" in os.environ, reason="this is that Blender")
def test_storms_in_a_blender_of_their_own(tmp_path):
    blender = [bpy.app.binary_path, "-b", "--python-exit-code", "3", "-P"]
    program = [
        *(blender if bpy.app.binary_path else [sys.executable]),
        HERE.parents[1] / "run_in_blender.py",
    ]
    done = subprocess.run(
        [*program, "--", os.environ["ARAPLBS_ZIP"], HERE, "-q", "-p", "no:cacheprovider"],
        env={**os.environ, "OWN_BLENDER": "1", "BLENDER_USER_RESOURCES": str(tmp_path)},
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert "1 passed" in done.stdout


@pytest.mark.skipif("OWN_BLENDER" not in os.environ, reason="in a Blender of their own")
def test_storms(tmp_path):
    failed, ends, actions = [], Counter(), Counter()
    for seed in range(SEED, SEED + STORMS):
        try:
            end, done = session_storm.run(seed, tmp_path)
        except Exception as error:
            failed.append((seed, f"{type(error).__name__}: {error}"[:2000]))
            addon("operators.session").end_session()
        else:
            ends[end] += 1
            actions.update(each.split()[0] for each in done)
    print(f"{STORMS} storms, {actions.total()} actions; ends: {dict(ends)}")
    assert not failed, "\n".join(f"seed {seed}: {text}" for seed, text in failed)
