"""The lists of tests that run in fewer places, in tests/run.sh and tools/asan.sh, name only
existing tests. A renamed test would otherwise run everywhere again, unnoticed. Tables of tests are
never empty, even without the files from which they are made."""

import ast
import re
import subprocess
from pathlib import Path

import pytest
from paths import ROOT

LISTS = {
    "tests/run.sh": (
        "WIN_PART",
        "WIN_LESS",
        "WIN_LESS_OF",
        "WIN_CORE_PART",
        "WIN_CORE_LESS",
        "ARM_PART",
        "ARM_LESS",
    ),
    "tools/asan.sh": ("LONG", "PURE"),
}
CASES = [(script, name) for script, names in LISTS.items() for name in names]


def listed(script, name):
    """The words of a list, with braces and patterns expanded: FILE, FOLDER or
    FILE::BEGINNING_OF_A_TEST."""
    text = (ROOT / script).read_text("utf-8")
    (words,) = re.findall(rf"^{name}=\(.*?\)$", text, flags=re.MULTILINE | re.DOTALL)
    print_all = f'{words}\nprintf "%s\\n" "${{{name}[@]}}"'
    command = ["bash", "-c", print_all]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(("script", "name"), CASES)
def test_what_is_listed_is_there(script, name):
    found = listed(script, name).split()
    assert found
    for each in found:
        path, _, test = each.partition("::")
        files = list(ROOT.glob(path if "/" in path else f"tests/package/*/{path}"))
        assert files, each
        assert not test or any(has(file, test) for file in files), each


def test_what_runs_in_every_blender_is_there():
    """EVERYWHERE in tests/addon/conftest.py."""
    text = (ROOT / "tests/addon/conftest.py").read_text("utf-8")
    patterns = ast.literal_eval(re.search(r"^EVERYWHERE = (\(.*?\))$", text, flags=re.M | re.S)[1])
    assert patterns and all(list((ROOT / "tests/addon").glob(each)) for each in patterns)


def has(file: Path, beginning):
    return re.search(rf"^def {beginning}", file.read_text("utf-8"), flags=re.MULTILINE)


def test_files_of_the_data_are_looked_up_in_one_place():
    """tests/paths.py skips the tests of files that are not here. A table made elsewhere is empty
    without $ARAPLBS_DATA, which pytest refuses (pyproject.toml)."""
    folders = [ROOT / "tests" / each for each in ("addon", "farm", "package", "tools", "window")]
    files = [file for folder in folders for file in folder.rglob("*.py")]
    look = re.compile(r"\b(DATA|RIGS|SHARED)\b.*\.(glob|rglob|iterdir|exists|is_\w+)\(")
    assert look.search('DATA.glob("*.blend")') and files
    assert [file.name for file in files if look.search(file.read_text("utf-8"))] == [
        Path(__file__).name
    ]
