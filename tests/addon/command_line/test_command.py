"""The command line in this process and, if there is an executable, as users call it."""

import contextlib
import json
from pathlib import Path

import araplbs
import bpy
import pytest
from command import OLDER, OLDER_REPORT, blender, folder_of, needs_executable, opened, run, save
from scenes import (
    add_armature,
    add_tube,
    assert_good,
    bind,
    entries,
    package,
    select,
    tube_and_rig,
)


@pytest.fixture
def character(tmp_path):
    tube_and_rig()
    return save(tmp_path / "in.blend")


def test_one_file(character, tmp_path, capfd):
    before = character.read_bytes()
    out, report = tmp_path / "out.blend", tmp_path / "report.json"
    # Without bone springs, only strain counts.
    assert run("weight", character, "--output", out, "--json", report, "--firmness", 0) == 0
    assert character.read_bytes() == before
    assert folder_of(tmp_path) == ["in.blend", "out.blend", "report.json"]
    objects = opened(out)
    assert_good(objects["Tube"], objects["Rig"])
    printed = capfd.readouterr().out
    assert "Rig:   0 % mesh" in printed and "192 vertices, 3 bones" in printed
    content = json.loads(report.read_text())
    assert content["version"] == araplbs.__version__
    (entry,) = content["files"]
    (armature,) = entry["armatures"]
    assert entry["input"] == str(character) and entry["output"] == str(out)
    assert armature["armature"] == "Rig" and armature["vertices"] == 192
    assert armature["most_influences"] <= 4
    assert 0 < armature["energy_after"] < armature["energy_before"]
    found = armature["deformation"]
    assert 0 < found["after"]["surface_strain"] < found["before"]["surface_strain"]
    (tube,) = armature["objects"]
    assert tube["name"] == "Tube" and tube["new_groups"] == 3 and tube["changed"] > 192


@pytest.mark.parametrize("compress", [False, True])
def test_compression_is_kept(tmp_path, compress):
    tube_and_rig()
    path = save(tmp_path / "in.blend", compress)
    assert run("weight", path, "--output", tmp_path / "out.blend") == 0
    starts = [(tmp_path / name).read_bytes()[:7] for name in ("in.blend", "out.blend")]
    assert [start == b"BLENDER" for start in starts] == [not compress] * 2


def test_options(character, tmp_path):
    out, report = tmp_path / "out.blend", tmp_path / "report.json"
    options = [
        "--max-influences",
        "1",
        "--swing",
        "30",
        "--seed",
        "3",
        "--no-link-parts",
        "--no-symmetric",
        "--paper-constraints",
    ]
    assert run("weight", character, "-o", out, "--json", report, *options) == 0
    used = json.loads(report.read_text())["files"][0]["armatures"][0]["options"]
    assert used["max_influences"] == 1 and used["seed"] == 3 and used["link_parts"] is False
    assert used["symmetric"] is False
    assert used["swing"] == pytest.approx(0.5235988) and used["paper_constraints"] is True
    objects = opened(out)
    assert_good(objects["Tube"], objects["Rig"], 1)


def test_relative_paths_in_the_file_follow(tmp_path):
    tube_and_rig()
    image = bpy.data.images.new("Skin", 4, 4)
    image.filepath_raw = str(tmp_path / "skin.png")
    image.file_format = "PNG"
    image.save()
    image.use_fake_user = True
    path = tmp_path / "in.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    image.filepath = "//skin.png"
    save(path)
    out = tmp_path / "deeper" / "out.blend"
    assert run("weight", path, "--output", out) == 0
    opened(out)
    assert Path(bpy.path.abspath(bpy.data.images["Skin"].filepath)).resolve().exists()


def test_a_bad_file_among_good_ones(character, tmp_path, capfd):
    """The good files are processed, the bad one is named, and the exit code reports it."""
    bad = tmp_path / "bad.blend"
    bad.write_text("no Blender file")
    out, report = tmp_path / "out", tmp_path / "report.json"
    assert run("weight", bad, character, "--output", out, "--json", report) == 1
    assert folder_of(out) == ["in.blend"]
    entries_of = json.loads(report.read_text())["files"]
    assert entries_of[0]["error"] == "not a .blend file" and "armatures" in entries_of[1]
    assert f"araplbs: {bad}: not a .blend file\n" in capfd.readouterr().err


FAILURES = {
    "no .blend file": (b"plain text", 1, "not a .blend file"),
    "empty file": (b"", 1, "not a .blend file"),
    "broken .blend file": (b"BLENDER-v405" + bytes(100), 1, "failed"),
    "no file": (None, 2, "no such file"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_input_that_cannot_be_read(name, tmp_path, capfd):
    content, code, message = FAILURES[name]
    path, out, report = (tmp_path / n for n in ("in.blend", "out.blend", "report.json"))
    if content is not None:
        path.write_bytes(content)
    out.write_text(OLDER)
    report.write_text(OLDER_REPORT)
    assert run("weight", path, "--output", out, "--json", report) == code
    assert out.read_text() == OLDER and report.read_text() == OLDER_REPORT
    if content is not None:
        assert path.read_bytes() == content
    error = [line for line in capfd.readouterr().err.splitlines() if line.startswith("araplbs:")]
    assert len(error) == 1 and message in error[0] and str(path) in error[0]


def test_failure_while_saving(character, tmp_path, monkeypatch):
    out = tmp_path / "out.blend"
    out.write_text(OLDER)

    def fail(*_args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(package("disk.files").os, "replace", fail)
    assert run("weight", character, "--output", out) == 1
    assert out.read_text() == OLDER
    assert folder_of(tmp_path) == ["in.blend", "out.blend"]


def test_names(tmp_path):
    """The options --armature and --mesh restrict the selection; all other objects stay
    unchanged."""
    rig = add_armature()
    other = add_armature("Other")
    for name, owner in (("A", rig), ("B", rig), ("C", other)):
        bind(add_tube(name), owner)
    path, out = save(tmp_path / "in.blend"), tmp_path / "out.blend"

    def weighted(*arguments):
        assert run("weight", path, "--output", out, *arguments) == 0
        return {name for name in "ABC" if any(entries(opened(out)[name]))}

    assert weighted() == {"A", "B", "C"}
    assert weighted("--armature", "Rig") == {"A", "B"}
    assert weighted("--mesh", "B", "--mesh", "C") == {"B", "C"}
    assert weighted("--armature", "Other", "--mesh", "C") == {"C"}
    for wrong in (("--armature", "Nobody"), ("--mesh", "Nothing")):
        assert run("weight", path, "--output", out, *wrong) == 1


def test_one_armature_and_nothing_bound(tmp_path):
    add_armature()
    add_tube("Body")
    hidden = add_tube("Reference")
    hidden.hide_viewport = True
    out = tmp_path / "out.blend"
    assert run("weight", save(tmp_path / "in.blend"), "--output", out) == 0
    objects = opened(out)
    assert_good(objects["Body"], objects["Rig"])
    assert objects["Body"].parent == objects["Rig"] and objects["Body"].modifiers
    assert objects["Reference"].parent is None and not objects["Reference"].vertex_groups


def test_hidden_but_bound(tmp_path):
    """Blender does not update the matrices of hidden objects, so the command computes them."""
    rig = add_armature()
    shown, expected = add_tube("Shown"), None
    bind(shown, rig)
    hidden = add_tube("Hidden", shift=(0, 0, -5))
    bind(hidden, rig)
    hidden.location.z = 5
    hidden.hide_viewport = True
    out = tmp_path / "out.blend"
    path = save(tmp_path / "in.blend")
    assert run("weight", path, "--output", out, "--mesh", "Shown") == 0
    expected = assert_good(opened(out)["Shown"], bpy.data.objects["Rig"])
    assert run("weight", path, "--output", out, "--mesh", "Hidden") == 0
    found = assert_good(opened(out)["Hidden"], bpy.data.objects["Rig"])
    assert abs(found - expected).max() < 1e-4


def test_props_on_bones_are_left_alone(tmp_path):
    _tube, rig = tube_and_rig()
    sword = add_tube("Sword", length=0.5)
    sword.parent, sword.parent_type, sword.parent_bone = rig, "BONE", "upper"
    out = tmp_path / "out.blend"
    assert run("weight", save(tmp_path / "in.blend"), "--output", out) == 0
    sword = opened(out)["Sword"]
    assert sword.parent_type == "BONE" and not sword.vertex_groups and not sword.modifiers


@needs_executable
def test_executable(character, tmp_path):
    """Checks exit codes and remaining files of blender -c araplbs ..., in a process of its own."""
    out, report = tmp_path / "out.blend", tmp_path / "report.json"
    done = blender("weight", character, "--output", out, "--json", report)
    assert done.returncode == 0, done.stderr
    assert "192 vertices, 3 bones: stretch " in done.stdout
    assert json.loads(report.read_text())["files"][0]["armatures"][0]["vertices"] == 192
    objects = opened(out)
    assert_good(objects["Tube"], objects["Rig"])
    good = out.read_bytes()

    bad = tmp_path / "bad.blend"
    bad.write_text("no Blender file")
    done = blender("weight", bad, "--output", out)
    assert done.returncode == 1 and "not a .blend file" in done.stderr
    assert out.read_bytes() == good and bad.read_text() == "no Blender file"
    assert blender("weight", character).returncode == 2
    assert folder_of(tmp_path) == ["bad.blend", "in.blend", "out.blend", "report.json"]


def test_names_of_strangers_are_printed_without_control_characters(tmp_path, capfd):
    """Neither control sequences of a terminal nor lines that resemble ours are printed."""
    evil = "\x1b]0;owned\x07\x1b[2J\n  saved by"
    tube, rig = tube_and_rig()
    rig.name = rig.data.name = tube.name = tube.data.name = evil
    rig.data.bones["upper"].name = evil
    source = save(tmp_path / "in.blend")
    assert run("weight", source, "-o", tmp_path / "out.blend") == 0
    assert run("check", tmp_path / "out.blend") == 0
    assert run("restore", source, "-o", tmp_path / "new.blend") == 1
    opened(source)
    select(bpy.data.objects[evil])
    for operator in ("restore_weights", "check", "auto_weight"):
        with contextlib.suppress(RuntimeError):
            getattr(bpy.ops.object, f"araplbs_{operator}")("EXEC_DEFAULT")
    said = "".join(capfd.readouterr())
    ours = [line for line in said.splitlines() if "owned" in line]
    assert len(ours) > 5 and not any("\x1b" in line or "\x07" in line for line in ours)
    assert "\n  saved by" not in said
