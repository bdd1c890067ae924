"""Tests the wheel in a clean environment, without Blender and without this tree: examples,
metadata, types and `python -m`. Also tests the source package, which contains everything that it
compiles."""

import os
import shutil
import subprocess
import sys
import tarfile
from email.parser import Parser
from pathlib import Path

import numpy as np
import pytest
import release_check
import sources
from paths import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("[0-9]*.py"))
NEWEST = max(f.stat().st_mtime for f in (ROOT / "csrc").rglob("*") if f.is_file())


def wheel():
    """A wheel for this machine that is not older than the sources."""
    found = [
        *(ROOT / "build/wheelhouse").glob("*linux*.whl"),
        *(ROOT / "build/cross/wheels").glob(f"*linux*_{os.uname().machine}.whl"),
    ]
    found = [path for path in found if path.stat().st_mtime > NEWEST]
    if not found:
        pytest.skip("no wheel of these sources here: run make extension")
    return found[0]


def clean(**more):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "ARAPLBS"))}
    return kept | more


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """The Python of an environment with the wheel and with NumPy from our own environment, so that
    nothing is downloaded."""
    path, folder = wheel(), tmp_path_factory.mktemp("clean")
    run = {"env": clean(), "check": True, "capture_output": True, "text": True}
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], **run)
    python = folder / "venv/bin/python"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python]
    subprocess.run([*pip, "install", "-q", "--no-index", "--no-deps", path], **run)
    (site,) = (folder / "venv/lib").glob("python3*/site-packages")
    ours = Path(np.__file__).parents[1]
    for name in ("numpy", "numpy.libs"):
        if (ours / name).exists():
            (site / name).symlink_to(ours / name)
    return python


def output(python, *arguments, cwd=None):
    done = subprocess.run(
        [python, "-I", *arguments],
        cwd=cwd,
        env=clean(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_is_the_installed_one(python):
    said = output(
        python, "-c", "import araplbs, sys; print(araplbs.__file__, *sys.path, sep='\\n')"
    )
    file, *path = said.split()
    assert Path(file).is_relative_to(python.parents[1])
    assert not any(Path(entry).is_relative_to(ROOT) for entry in path)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run_on_it(python, path):
    code = (
        f"import runpy, sys; sys.path.insert(0, {str(path.parent)!r}); "
        f"runpy.run_path({str(path)!r}, run_name='__main__')"
    )
    assert output(python, "-c", code) == path.with_suffix(".out").read_text("utf-8")


def test_python_m(python, tmp_path):
    code = (
        "import numpy as np; from araplbs import replay; from limb import chain, tube; "
        "names = ('vertices', 'triangles', 'bone_heads', 'bone_tails', 'bone_parents'); "
        "replay.save('problem.npz', dict(zip(names, (*tube(), *chain()))))"
    )
    path = f"import sys; sys.path.insert(0, {str(ROOT / 'examples')!r}); "
    output(python, "-c", path + code, cwd=tmp_path)
    assert "solved in" in output(python, "-m", "araplbs.replay", "problem.npz", cwd=tmp_path)


def test_what_it_says_of_itself(python):
    code = (
        "from importlib.metadata import distribution; own = distribution('araplbs'); "
        "print(own.read_text('METADATA')); print('FILES', *own.files)"
    )
    text, files = output(python, "-c", code).split("FILES ")
    info, project = Parser().parsestr(text), sources.PROJECT
    assert info["Name"] == "araplbs" and info["Version"] == sources.MANIFEST["version"]
    assert info.get_all("Classifier") == project["classifiers"]
    assert info["Keywords"].split(",") == project["keywords"]
    assert info["Description-Content-Type"] == "text/markdown"
    assert info.get_payload().strip() == (ROOT / project["readme"]).read_text("utf-8").strip()
    wanted = {f.relative_to(ROOT).as_posix() for f in sources.wheel_files()}
    assert {"araplbs/py.typed", "araplbs/SKILL.md", "araplbs_addon/script.py"} < wanted
    there = {name for name in files.split() if name.startswith(("araplbs/", "araplbs_addon/"))}
    assert {name for name in there if "_engine.abi3" not in name and ".pyc" not in name} == wanted


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    """The source package, made from a copy of the tree, so that simultaneous builds are not
    affected."""
    if not sources.suitesparse_version():
        pytest.skip("no SuiteSparse sources: run make build")
    folder = tmp_path_factory.mktemp("sdist")
    tree = folder / "tree"
    skip = shutil.ignore_patterns("__pycache__", ".*", "*.pyc")
    for name in ("araplbs", "araplbs_addon", "csrc", "examples", "tools"):
        shutil.copytree(ROOT / name, tree / name, ignore=skip)
    for path in [*ROOT.glob("*.toml"), *ROOT.glob("*.md"), *ROOT.glob("*.cff")]:
        shutil.copy(path, tree)
    for name in ("setup.py", "MANIFEST.in", "LICENSE"):
        shutil.copy(ROOT / name, tree)
    done = subprocess.run(
        [sys.executable, "setup.py", "-q", "sdist", "-d", folder],
        cwd=tree, env={**os.environ, "ARAPLBS_SUITESPARSE_DIR": str(sources.SUITESPARSE)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (path,) = folder.glob("*.tar.gz")
    assert release_check.broken_in_sdist(path.read_bytes()) == []
    with tarfile.open(path) as archive:
        archive.extractall(folder / "out")
    return next((folder / "out").iterdir())


def test_the_source_package_has_what_it_compiles(unpacked):
    code = (
        "import sys; sys.path.insert(0, 'tools'); import sources; assert sources.IN_SDIST; "
        "files = [*sources.suitesparse_sources(), *sources.own_sources()]; "
        "print(len(files), all(f.is_file() and f.is_relative_to(sources.ROOT) for f in files), "
        "all(d.is_dir() for d in sources.include_dirs()), sources.suitesparse_version())"
    )
    count, there, headers, version = output(sys.executable, "-c", code, cwd=unpacked).split()
    assert int(count) == len(sources.suitesparse_sources()) + len(sources.own_sources())
    assert (there, headers, version) == ("True", "True", sources.suitesparse_version())


def test_the_headers_of_the_source_package_are_enough(unpacked):
    """One file of CHOLMOD compiles with everything that it includes; its templates are included in
    this way as well."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if not compiler:
        pytest.skip("no C compiler")
    tree = unpacked / "suitesparse"
    folders = [tree / "SuiteSparse_config", unpacked / "csrc"]
    folders += [tree / name / "Include" for name in ("AMD", "COLAMD", "CHOLMOD")]
    file = tree / "CHOLMOD/Supernodal/cholmod_super_solve.c"
    command = [compiler, "-fsyntax-only", "-w", "-DNPARTITION", *(f"-I{f}" for f in folders), file]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_module_of_cholmod_is_called():
    """csrc/ reaches every module of CHOLMOD that is compiled, directly or through other modules,
    and everything that these files call is compiled."""
    compiled, nm = ROOT / "build/obj", shutil.which("nm")
    if not (nm and compiled.exists()):
        pytest.skip("no nm, or no engine built here")
    ours = [compiled / f.relative_to(ROOT).with_name(f"{f.name}.o") for f in sources.own_sources()]
    theirs = [
        compiled / "suitesparse" / f.relative_to(sources.SUITESPARSE).with_name(f"{f.name}.o")
        for f in sources.suitesparse_sources()
    ]
    needs, owners = {}, {}
    for file in (*ours, *theirs):
        lines = [
            line.split()[-2:]
            for line in subprocess.check_output([nm, file], text=True).splitlines()
        ]
        needs[file] = {name for kind, name in lines if kind == "U"}
        owners |= {name: file for kind, name in lines if kind.isupper() and kind != "U"}
    reached, names = set(ours), set().union(*(needs[file] for file in ours))
    while found := {owners[name] for name in names if name in owners} - reached:
        reached |= found
        names = set().union(*(needs[file] for file in found))
    asked = set().union(*(needs[file] for file in reached))
    assert not {n for n in asked if n.startswith(("cholmod_", "amd_", "colamd"))} - set(owners)
    modules = {file.parent.name for file in reached if "CHOLMOD" in file.parts}
    assert modules == {file.parent.name for file in theirs if "CHOLMOD" in file.parts}
