"""Every block of docs/manual/gltf.md runs without changes, and so do the commands for glTF files on
other pages of the manual."""

import importlib.util
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from gltf_files import TRIANGLES, VERTICES, Glb, bare, moves, plain, rows
from gltf_validity import File, faults
from paths import ROOT

PAGE = (ROOT / "docs/manual/gltf.md").read_text("utf-8")
OWN_TESTS = ("gltf.md", "agents.md", "predicted.md")
OTHER_PAGES = [
    path.read_text("utf-8")
    for path in sorted((ROOT / "docs/manual").glob("*.md"))
    if path.name not in OWN_TESTS
]
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the files that the page names."""
    monkeypatch.chdir(tmp_path)
    for name in ("characters", "accepted"):
        (tmp_path / name).mkdir()
    for name in (
        "in.glb",
        "skeleton.glb",
        "hero.glb",
        "hero_lod1.glb",
        "hair.glb",
        "characters/a.glb",
        "characters/b.glb",
    ):
        glb = plain(weights="<f4")
        for joint, named in ((1, "Jaw"), (3, "LeftArm")):
            glb.json["nodes"][joint]["name"] = named
        if name == "in.glb":  # a mesh that can be kept beside the other one
            glb.json["meshes"][0]["name"] = "Face"
            skin = glb.json["nodes"][-1]["skin"]
            glb.node(mesh=glb.mesh(glb.primitive(TRIANGLES[:16], (0.5, 0, 0))), skin=skin)
        glb.write(tmp_path / name)
    for name in ("body.glb", "hero_lod2.glb"):
        bare().write(tmp_path / name)
    clothed = Glb()
    skin = clothed.skin(clothed.joints())
    for name in ("Body", "Shirt"):
        clothed.node(mesh=clothed.mesh(clothed.primitive(TRIANGLES), name=name), skin=skin)
    clothed.write(tmp_path / "clothed.glb")
    (tmp_path / "vertices.json").write_text('{"Face": [0, 1, 2]}')
    return tmp_path


def commands():
    lines = [line for kind, text in BLOCKS if not kind for line in text.splitlines()]
    return [*lines, *re.findall("^araplbs .*$", "\n".join(OTHER_PAGES), re.MULTILINE)]


def test_there_are_commands_of_all_kinds(core):
    used = {line.split()[1] for line in commands()}
    assert used == {name for name, _help in core("cli.main").COMMANDS}


def test_commands(core, folder):
    """The commands run in order, because some commands read the outputs of others."""
    if importlib.util.find_spec("pxr"):
        importlib.import_module("usd_files").write_character(folder / "in.usdc")
    for line in commands():
        program, *arguments = shlex.split(line)
        if "--together" in arguments:
            Path("rigged.glb").replace("body.glb")
        if "in.usdc" in arguments and not (folder / "in.usdc").exists():
            continue  # without usd-core
        if arguments[0] == "reduce-bones":
            arguments[-1] = "3"  # the chain has five joints
        if arguments[0] == "compare":
            arguments += ["--method", "present", "--method", "ours"]
        assert program == "araplbs"
        code = core("cli.main").main([*arguments, *([] if "compare" in line else ["-q"])])
        assert code in ((0, 3) if arguments[0] == "check" else (0,)), line
    levels = ("out/hero.glb", "out/hero_lod1.glb", "out/hero_lod2.glb")
    for name in ("out.glb", "out/body.glb", "weighted/a.glb", "weighted/b.glb", *levels):
        assert faults(name) == [], name
    for name in ("out/body.glb", *levels):
        assert moves(rows(File(name))[1]), name
    assert (folder / "comparison/index.html").exists()


def test_program(folder, capsys):
    (code,) = [text for kind, text in BLOCKS if kind == "python"]
    exec(compile(code, "gltf.md", "exec"), {})
    assert capsys.readouterr().out == f"Skin_0 ({len(VERTICES) + 16}, 5) {{}}\n"
    assert faults("out.glb") == [] and moves(rows(File("out.glb"))[1])


def test_options_that_it_names(core):
    """Each is an option of a command."""
    cli = core("cli.main")
    commands = {name: cli.load_command(name) for name, _help in cli.COMMANDS}
    assert [command.name for command in commands.values()] == [*commands]
    helps = "".join(cli.make_parser(command).format_help() for command in commands.values())
    named = set(re.findall(r"--[a-z][a-z-]*", PAGE)) - {"--help"}
    assert named and all(option in helps for option in named)
    assert np.isin(["--json", "--in-place"], list(named)).all()
