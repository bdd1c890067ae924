"""tools/commit_message.py, and the hooks, which must name existing files."""

import re

import commit_message
import pytest
from paths import ROOT

WRONG = [
    ("", "there is no subject"),
    ("# only a comment\n", "there is no subject"),
    ("A" * 73, "73 characters"),
    ("Fix the wheel.", "period"),
    ("Fixed the wheel", "'Fixed'"),
    ("Adding a wheel", "'Adding'"),
    ("Fix the wheel\nIt was flat.", "second line"),
]


@pytest.mark.parametrize(("message", "fault"), WRONG)
def test_wrong_messages(message, fault):
    assert any(fault in each for each in commit_message.faults(message))


@pytest.mark.parametrize(
    "message",
    [
        "Fix the wheel",
        "A" * 72,
        "Embed the wheel",
        "Fix the wheel\n\nIt was flat.\n# On branch main\n",
        'Revert "Fixed the wheel."',
        "Merge branch 'wheel' into main",
        "fixup! Fix the wheel",
    ],
)
def test_good_messages(message):
    assert list(commit_message.faults(message)) == []


def test_hooks_call_what_is_there():
    hooks = (ROOT / ".pre-commit-config.yaml").read_text("utf-8")
    called = re.findall(r"\btools/[\w.]+", hooks)
    assert called and all((ROOT / each).exists() for each in called)
    checks = (ROOT / "tools/check.sh").read_text("utf-8")
    for tool in re.findall(r"build/venv/bin/([\w-]+)", hooks):
        assert f"/{tool}" in checks or tool == "python", tool
