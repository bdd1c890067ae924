"""The house has a budget of lines: what comes in takes something out."""

import pytest
from paths import ROOT

SUFFIXES = {".c", ".h", ".def", ".py", ".pyi", ".sh"}
BUDGET = {
    ("csrc", "araplbs", "araplbs_addon", "tools"): 114_869,
    ("tests", "bench"): 83_410,
}


@pytest.mark.parametrize("folders", BUDGET, ids=" ".join)
def test_lines(folders):
    files = [path for folder in folders for path in (ROOT / folder).rglob("*")]
    lines = sum(path.read_bytes().count(b"\n") for path in files if path.suffix in SUFFIXES)
    assert lines <= BUDGET[folders], (
        f"{lines - BUDGET[folders]} lines above the budget of {', '.join(folders)}: what comes in "
        "takes something out"
    )
