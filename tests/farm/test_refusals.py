"""Refusals of the client, each in one sentence."""

import json
import subprocess
import sys

import pytest
from conftest import farm
from paths import ROOT
from patience import HANGS

TASK = {
    **{"output": "/out/a.blend", "seconds": 1.0, "bytes": 1, "timeout": 0},
    "arguments": ["weight"],
}


@pytest.fixture
def plan(tmp_path):
    (tmp_path / "a.blend").write_text("")
    path = tmp_path / "plan.jsonl"
    path.write_text(json.dumps(TASK | {"input": str(tmp_path / "a.blend")}))
    return path


def refused(*words):
    done = subprocess.run(farm("run", *words), capture_output=True, text=True, timeout=HANGS)
    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stderr
    return done.stderr


def test_scheduler_that_does_not_answer(plan):
    pytest.importorskip("distributed")
    for address in ("tcp://127.0.0.1:1", "127.0.0.1:1"):
        errors = refused(plan, "--scheduler", address, "--patience", "2")
        assert f"the scheduler {address} did not respond within 2 s" in errors


def test_bad_address(plan):
    pytest.importorskip("distributed")
    assert "the scheduler's address 'nothing://x'" in refused(plan, "--scheduler", "nothing://x")


def test_plan_with_missing_file(tmp_path, plan):
    (tmp_path / "a.blend").unlink()
    errors = refused(plan, "--scheduler", "tcp://127.0.0.1:1")
    assert f"the plan refers to a missing file: {tmp_path / 'a.blend'}" in errors


def test_no_plan(tmp_path):
    assert "cannot be read" in refused(tmp_path / "no.jsonl", "--scheduler", "tcp://127.0.0.1:1")


def test_from_the_files_of_the_extension():
    """A machine with the extension but without the package runs the farm from the extension's
    folder."""
    words = [sys.executable, ROOT / "araplbs_addon/farm", "template", "slurm"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("#!/bin/bash")


def test_without_distributed(plan, tmp_path):
    """One sentence reports this, because the extension does not include it."""
    (tmp_path / "distributed.py").write_text("raise ImportError('not here')")
    (tmp_path / "cloudpickle.py").write_text("")
    words = farm("run", plan, "--scheduler", "tcp://127.0.0.1:1")
    code = (
        "import sys, runpy; sys.argv = sys.argv[1:]\n"
        f"sys.path.insert(1, {str(tmp_path)!r})\n"
        "runpy.run_module('araplbs.farm', run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", code, *words[2:]], capture_output=True, text=True)
    assert done.returncode == 1
    assert "araplbs: the farm needs the package distributed in this Python" in done.stderr
