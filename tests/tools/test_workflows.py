"""The parts of the workflows that can be checked here: shell code that shellcheck accepts, jobs,
artifacts and files that exist, and one wheel and one zip per target."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import cross
import pytest
from paths import ROOT

yaml = pytest.importorskip("ruamel.yaml")
NAMES = ("test", "release")


def read(name):
    text = (ROOT / f".github/workflows/{name}.yml").read_text("utf-8")
    return yaml.YAML(typ="safe").load(text)


def steps(name):
    for job, content in read(name)["jobs"].items():
        for number, step in enumerate(content.get("steps", [])):
            yield f"{name}.{job}.{number}", content, step


RUNS = [
    (place, step["run"]) for name in NAMES for place, _job, step in steps(name) if "run" in step
]


@pytest.mark.parametrize("place, script", RUNS, ids=[place for place, _script in RUNS])
def test_shell(place, script):
    checker = shutil.which("shellcheck", path=str(Path(sys.executable).parent))
    if not checker:
        pytest.skip("no shellcheck beside this Python")
    plain = "#!/bin/bash\n" + re.sub(r"\$\{\{.*?\}\}", "value", script)
    done = subprocess.run(
        [checker, "-S", "warning", "-"], input=plain, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("place, script", RUNS, ids=[place for place, _script in RUNS])
def test_files_and_targets_that_are_named(place, script):
    for path in re.findall(r"\b((?:tools|tests)/[\w/.-]+)", script):
        assert (ROOT / path).exists(), path
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for target in re.findall(r"^make ([\w-]+)", script, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


@pytest.mark.parametrize("name", NAMES)
def test_jobs_that_are_needed(name):
    jobs = read(name)["jobs"]
    for job, content in jobs.items():
        needs = content.get("needs", [])
        for needed in [needs] if isinstance(needs, str) else needs:
            assert needed in jobs, f"{job} needs {needed}"


@pytest.mark.parametrize("name", NAMES)
def test_values_of_the_matrix(name):
    for place, job, step in steps(name):
        matrix = job.get("strategy", {}).get("matrix", {})
        known = {key for key in matrix if key != "include"}
        known |= {key for entry in matrix.get("include", []) for key in entry}
        assert set(re.findall(r"matrix\.(\w+)", str(step))) <= known, place


def test_artifacts():
    """All downloaded artifacts were uploaded before, and so were all released ones."""
    given = {
        step["with"]["name"]
        for _place, _job, step in steps("test")
        if step.get("uses", "").startswith("actions/upload-artifact")
    }
    for name in NAMES:
        for place, _job, step in steps(name):
            taken = step.get("with", {}).get("name")
            if step.get("uses", "").startswith("actions/download-artifact") and taken:
                assert taken in given, place
            for folder in re.findall(r"artifacts/(\w+)/", str(step)):
                assert folder in given, place


def test_every_wheel_and_zip_is_tested():
    jobs = read("test")["jobs"]
    core = jobs["core"]["strategy"]["matrix"]
    assert set(core["target"]) == set(cross.TARGETS)
    assert {e["target"]: e["tag"] for e in core["include"]} == {
        name: target.tag for name, target in cross.TARGETS.items()
    }
    pythons = {*core["python"], *(e["python"] for e in core["include"] if "python" in e)}
    assert pythons == {"3.11", "3.12", "3.13", "3.14"}, "of Blender, and of distributions"
    blender = jobs["blender"]["strategy"]["matrix"]["include"]
    known = {target.blender.replace("-", "_") for target in cross.TARGETS.values()}
    assert {entry["system"] for entry in blender} <= known


def test_actionlint():
    checker = shutil.which("actionlint")
    if not checker:
        pytest.skip("no actionlint on PATH")
    found = sorted(map(str, (ROOT / ".github/workflows").glob("*.yml")))
    done = subprocess.run([checker, *found], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_sanitizers_and_fuzzing_run():
    """Each entry of the matrix runs what it names, and nothing else."""
    job = read("test")["jobs"]["sanitizers"]
    runs = {step["if"]: step["run"] for step in job["steps"] if "if" in step}
    assert {f"matrix.what == '{what}'" for what in job["strategy"]["matrix"]["what"]} == set(runs)
    for what, script in (
        ("asan", "tools/asan.sh"),
        ("tsan", "tools/tsan.sh"),
        ("fuzz", "make fuzz"),
    ):
        assert script in runs[f"matrix.what == '{what}'"]


def test_the_release_page_says_how_to_install(tmp_path):
    """Its notes contain the two commands of docs/release.md, with the address of the repository."""
    (script,) = (run for place, run in RUNS if "gh release create" in run and "release" in place)
    environment = {"GITHUB_REPOSITORY_OWNER": "OWNER", "GITHUB_REPOSITORY": "OWNER/REPOSITORY"}
    subprocess.run(
        ["bash", "-euc", script.split("gh release create")[0]],
        cwd=tmp_path, env=environment | {"PATH": "/usr/bin:/bin"}, check=True,
    )  # fmt: skip
    notes = (tmp_path / "notes.md").read_text("utf-8")
    page = (ROOT / "docs/release.md").read_text("utf-8")
    commands = re.findall(r"^blender --command extension .*$", page, re.MULTILINE)
    assert len(commands) == 2
    assert [line.strip() for line in notes.splitlines() if "--command" in line] == commands
    assert "https://OWNER.github.io/REPOSITORY/docs/docs/manual/" in notes
