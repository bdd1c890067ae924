"""The part of the changelog for users lists every name that is removed."""

import ast
import re

from araplbs.base.old_names import OPTIONS
from paths import ADDON, PACKAGE, ROOT

CHANGELOG = (ROOT / "CHANGELOG.md").read_text("utf-8")
VERSION = re.search(r'^version = "(.*)"$', (ROOT / "blender_manifest.toml").read_text(), re.M)[1]


def section():
    """The changes of this version for users."""
    of_version = CHANGELOG.split(f"\n## {VERSION}\n")[1].split("\n## ")[0]
    return of_version.split("\n### What changes for you\n")[1].split("\n### ")[0]


def tables(path):
    """{name: dict} of the tables of names in a file."""
    tree = ast.parse(path.read_text("utf-8"))
    of = {n.targets[0].id: n.value for n in tree.body if isinstance(n, ast.Assign)}
    return {n: {k.value for k in v.keys if k} for n, v in of.items() if isinstance(v, ast.Dict)}


def test_old_names_are_listed():
    package, window = (
        tables(PACKAGE / "base/old_names.py"),
        tables(ADDON / "window/old_names.py"),
    )
    old = package["OPTIONS"] | package["ARGUMENTS"] | window["OPERATORS"]
    assert {"truss", "support", "object.araplbs_weight_new"} <= old
    listed = set(re.findall(r"`(?:object\.)?(\w+)`", section()))
    assert {name.removeprefix("object.") for name in old} - listed == set()


def test_no_line_is_there_twice():
    """No two lines are equal or have the same beginning."""
    of_version = CHANGELOG.split(f"\n## {VERSION}\n")[1].split("\n## ")[0]
    lines = [" ".join(each.split()) for each in re.split(r"\n- ", of_version)[1:]]
    starts = [" ".join(line.split()[:6]) for line in lines]
    assert len(lines) > 50
    assert sorted({s for s in starts if starts.count(s) > 1}) == []


def test_an_upgrade_sets_what_the_old_version_has():
    """tests/addon/update_step.py also runs in version 0.2.0, if its zip exists; no other test would
    notice."""
    tree = ast.parse((ROOT / "tests/addon/update_step.py").read_text("utf-8"))
    of = {n.targets[0].id: n.value for n in tree.body if isinstance(n, ast.Assign)
          and isinstance(n.targets[0], ast.Name)}  # fmt: skip
    settings, old = (ast.literal_eval(of[name]) for name in ("SETTINGS", "UP_TO_0_2_0"))
    renamed = {new: was for was, new in OPTIONS.items()}
    assert old == {name: renamed[name] for name in settings if name in renamed}
