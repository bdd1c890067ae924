"""Every line of the first block of docs/manual/command_line.md and of README.md does what the page
says, on files with the required contents."""

import re
import shlex

import bpy
import pytest
from command import folder_of, run, save
from flaws import flawed, remove, weighted
from paths import ROOT
from scenes import add_armature, add_tube, auto_weight, bind, select, tube_and_rig
from test_guard import moved

PAGE = ROOT / "docs/manual/command_line.md"
TEXT = PAGE.read_text("utf-8") if PAGE.exists() else ""
with_docs = pytest.mark.skipif(not TEXT, reason="a chroot has no docs")
LINES = TEXT.partition("```\n")[2].partition("```")[0].splitlines()
START = "blender -c araplbs "


def dressed():
    body, _rig = weighted()
    body.name = "Body"
    for name in ("Shirt", "Skirt"):
        add_tube(name, radius=0.32, caps=False)


def grown():
    remove(weighted()[0], range(60, 80))


def of_many_bones():
    height = [3 * k / 40 for k in range(41)]
    names = [f"bone{k}" for k in range(40)]
    bones = [
        (name, (0, 0, height[k]), (0, 0, height[k + 1]), names[k - 1] if k else None)
        for k, name in enumerate(names)
    ]
    tube, rig = add_tube(rings=81), add_armature(bones=bones)
    bind(tube, rig)
    auto_weight(tube, rig)


def remeshed():
    tube, rig = weighted()
    select(tube, rig)
    assert bpy.ops.object.araplbs_keep_weights("EXEC_DEFAULT") == {"FINISHED"}
    tube.vertex_groups.clear()


def with_flaws():
    flawed("SPECKLE", "STRETCH")


# The content of a command's file, or of an option's file if the option requires more.
SCENES = {
    **{"weight": tube_and_rig, "--only-new": grown, "quantize": weighted, "joints": weighted},
    **{"bake": moved, "transfer": dressed, "keep": weighted, "restore": remeshed},
    **{"reduce-bones": of_many_bones, "check": with_flaws, "repair": with_flaws},
    "compare": weighted,
}


def inputs(words, folder):
    """Creates the files that the line names."""
    make = next(SCENES[word] for word in reversed(words[:2]) if word in SCENES)
    names = [word for word in words if re.fullmatch(r"in\.blend|remeshed\.blend", word)]
    if "characters/*.blend" in words:
        (folder / "characters").mkdir()
        names = ["characters/a.blend", "characters/b.blend"]
    for name in names:
        make()
        save(folder / name)
    return names


@with_docs
def test_there_are_lines():
    assert len(LINES) > 10
    commands = {line.removeprefix(START).split()[0] for line in LINES}
    assert set(SCENES) - {"--only-new"} == commands


@with_docs
@pytest.mark.outside
@pytest.mark.parametrize("line", LINES or ["none"])
def test_line(line, tmp_path, monkeypatch, capfd):
    assert line.startswith(START)
    words = shlex.split(line.removeprefix(START))
    monkeypatch.chdir(tmp_path)
    names = inputs(words, tmp_path)
    before = {name: (tmp_path / name).read_bytes() for name in names}
    found = words[words.index("--fail-on") - 1 :] if "--fail-on" in words else []
    assert run(*words) == (3 if found else 0), capfd.readouterr().err
    assert {name: (tmp_path / name).read_bytes() for name in names} == before
    written = {words[k + 1] for k, word in enumerate(words) if word in ("--output", "--json")}
    for name in written:
        path = tmp_path / name
        assert path.is_file() if "." in name else folder_of(path), name


def readme_lines():
    path = ROOT / "README.md"
    text = path.read_text("utf-8") if path.exists() else ""
    return [line for line in text.splitlines() if line.startswith(START)]


@pytest.mark.outside
@with_docs
def test_lines_of_readme(tmp_path, monkeypatch, capfd):
    """The lines run in order, because the last one reads the output of the first one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "characters").mkdir()
    for name in ("hero.blend", "characters/a.blend", "characters/b.blend"):
        tube_and_rig()
        save(tmp_path / name)
    lines = readme_lines()
    assert len(lines) == 3
    for line in lines:
        assert run(*shlex.split(line.removeprefix(START))) == 0, capfd.readouterr().err
    assert folder_of(tmp_path / "weighted") == ["a.blend", "b.blend"]
    assert (tmp_path / "findings.json").exists() and (tmp_path / "reports/index.html").exists()
