"""All files named in our pages, comments and docstrings exist, also after a rename, and the root
has only files that belong there."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from paths import ROOT

NAME = re.compile(r"(?<![\w*{}/.\"'-])(?:[\w-]+/)*[a-z_0-9]+\.(?:c|h|def|py|sh)\b(?!\w|\()")
ELSEWHERE = {  # of other programs, of the shared folder, made by the build
    *("features/test.py", "merge.sh", "tools/yardstick.py", "engine_docs.h", "get.sh"),
    *("features/NAME/settings.py", "arrayobject.h"),
}
IN_ROOT = {
    *("ARCHITECTURE.md", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "Makefile"),
    *("MANIFEST.in", "README.md", "SECURITY.md", "THIRD_PARTY.md", "blender_manifest.toml"),
    *("pyproject.toml", "setup.py"),
}
FOLDERS = (
    *("csrc", "araplbs", "araplbs_addon", "docs", "tools", "tests", "bench", "demo", "examples"),
)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


def texts():
    """(path, text for readers) of pages, of comments in C, and of Python files."""
    for path in sorted(
        [*ROOT.glob("*.md"), *(p for f in FOLDERS for p in (ROOT / f).rglob("*.*"))]
    ):
        place = path.relative_to(ROOT).as_posix()
        if place.startswith(("docs/changes.md", "docs/bench/", "tests/")) or "cache" in place:
            continue
        if path.suffix == ".md":
            yield place, path.read_text("utf-8")
        elif path.suffix in {".c", ".h", ".def"}:
            yield place, "\n".join(COMMENT.findall(path.read_text("utf-8")))
        elif path.suffix == ".py" and not place.startswith("tools/"):
            text = path.read_text("utf-8")
            yield place, "\n".join(re.findall(r'"""[\s\S]*?"""|#[^\n]*', text))


def names_of(paths):
    """All names by which a text may call these files: with any number of their folders."""
    return {"/".join(path.parts[-k:]) for path in paths for k in range(1, len(path.parts) + 1)}


def missing(text, names):
    """The files that a text names and that have none of these names."""
    return sorted(set(NAME.findall(text)) - names - ELSEWHERE)


def test_named_files_are_there():
    folders = (*FOLDERS, ".ci", ".github")
    files = [p for folder in folders for p in (ROOT / folder).rglob("*.*")] + list(ROOT.glob("*.*"))
    names = names_of(path.relative_to(ROOT) for path in files)
    found = {place: lost for place, text in texts() if (lost := missing(text, names))}
    assert found == {}


def test_the_root_has_no_other_files():
    """Trials have left their output there. A log that is not in the repository may lie there."""
    if not shutil.which("git"):
        pytest.skip("without git")
    told = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if told.returncode:
        pytest.skip(f"no repository here: {told.stderr.strip()}")
    names = told.stdout.splitlines()
    assert {name for name in names if "/" not in name and name[0] != "."} == IN_ROOT


def test_a_renamed_file_is_found():
    names = names_of([Path("csrc/rig/poses.c"), Path("araplbs/base/stop.py")])
    text = "see rig/poses.c, poses.c, `stop.py`, turn_orders.c and csrc/poses.c; t.py() is a call"
    assert missing(text, names) == ["csrc/poses.c", "turn_orders.c"]
