"""docs/manual/agents.md equals SKILL.md in the package and describes the commands correctly."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import araplbs
import pytest
from gltf_files import plain
from paths import PACKAGE, ROOT, environment
from rig_files import write_rig

PAGE = (ROOT / "docs/manual/agents.md").read_text("utf-8")
SKILL = (PACKAGE / "SKILL.md").read_text("utf-8")
BLOCKS = dict(re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))


@pytest.fixture
def main(main, tmp_path):
    for name in ("in", "predicted", "body", "hair", "hero", "hero_lod1"):
        glb = plain()
        glb.json["nodes"][2]["name"] = "Arm"
        glb.write(tmp_path / f"{name}.glb")
    write_rig(tmp_path / "mesh.obj", tmp_path / "rig.txt")
    return main


def test_the_skill_is_the_page():
    """The skill is the page after a head with name and purpose, which an assistant reads first."""
    nothing, head, body = SKILL.split("---\n", 2)
    assert nothing == "" and body == "\n" + PAGE, "copy docs/manual/agents.md into SKILL.md"
    named = dict(line.split(": ", 1) for line in head.splitlines())
    assert named["name"] == "araplbs" and "bone heat failed" in named["description"]
    assert len(named["description"]) < 1024
    assert not re.search(r"\]\((?!http)", PAGE), "the package has no other pages"


def test_commands_of_the_first_table(main, capsys):
    lines = re.findall(r"`(araplbs (?:weight|check) [^`]*(?:\.glb|\.txt|/))`", PAGE)
    assert len(lines) == 7
    for line in lines:
        assert main(shlex.split(line)[1:]) == 0, capsys.readouterr().err


def test_all_commands_are_there(core):
    table = PAGE.partition("## The commands")[2].partition("\n- ")[0]
    named = re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE)
    assert named == [name for name, _help in core("cli.main").COMMANDS] or sorted(named) == sorted(
        name for name, _help in core("cli.main").COMMANDS
    )


def test_options_and_presets(core):
    text = core("cli.main").make_parser(core("cli.main").load_command("weight")).format_help()
    text += core("cli.main").make_parser(core("cli.main").load_command("check")).format_help()
    for option in set(re.findall(r"(--[a-z][a-z-]+)", PAGE)) - {
        "--only-new",
        "--help",
        "--timeout",
    }:
        assert option in text, option
    listed = PAGE.partition("options of an engine:")[2].partition(". Options")[0]
    presets = core("disk.presets")
    assert set(re.findall(r"`([a-z0-9-]+)`", listed)) == set(presets.own_presets())


def shape(value):
    """Keys and types; for lists, those of the first entry."""
    if isinstance(value, dict):
        return {name: shape(each) for name, each in value.items()}
    if isinstance(value, list):
        return [shape(value[0])] if value else []
    return type(value)


def contains(whole, part):
    if isinstance(part, dict):
        return all(name in whole and contains(whole[name], part[name]) for name in part)
    if isinstance(part, list):
        return isinstance(whole, list) and (not whole or not part or contains(whole[0], part[0]))
    return whole in (part, int, float) if part in (int, float) else whole == part


def test_json(main, capsys):
    shown = json.loads(PAGE.partition("```json\n")[2].partition("```")[0])
    assert main(["weight", "in.glb", "-o", "out.glb", "--json", "-"]) == 0
    written = json.loads(capsys.readouterr().out)
    for name in ("generator", "schema", "version", "command"):
        assert written[name] == shown[name], name
    found, wanted = shape(written), shape(shown)
    del wanted["files"][0]["characters"][0]["control_bones"]["Root"]
    assert contains(found, wanted)
    assert main(["weight", "in.glb", "missing.glb", "-o", "x/", "-q"]) == 1
    Path("broken.glb").write_bytes(b"glTF")
    assert main(["weight", "broken.glb", "-o", "x.glb", "--json", "-"]) == 1
    (entry,) = json.loads(capsys.readouterr().out)["files"]
    assert isinstance(entry["error"], str) and "characters" not in entry


def test_findings(core):
    """Every kind is in the table once."""
    table = PAGE.partition("## How to read findings")[2]
    named = re.findall(r"`([A-Z_]+)`", table)
    assert sorted(named) == sorted(core("features.check.kinds").KIND_OF)
    levels = core("features.check.findings").LEVELS
    assert all(f"`{name}`" in table for name in levels)


def test_pictures(main, tmp_path):
    """The commands of this section work, and so do those that give the page to an assistant."""
    section = PAGE.partition("## Pictures")[2].partition("## ")[0]
    lines = re.findall(r"^araplbs (.+)$", section, re.MULTILINE)
    assert len(lines) == 2
    for line in lines:
        assert main([*shlex.split(line), "-q"]) == 0
    assert {"out.png", "findings.png"} <= {path.name for path in tmp_path.iterdir()}


@pytest.mark.skipif(os.name == "nt", reason="the lines are for a POSIX shell")
def test_the_skill_is_put_where_assistants_look(tmp_path):
    block = PAGE.partition("for example:\n\n```\n")[2].partition("```")[0]
    assert ".claude" in block
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python").symlink_to(sys.executable)
    path = {"PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    subprocess.run(["sh", "-ec", block], cwd=tmp_path, env=environment() | path, check=True)
    assert (tmp_path / ".claude/skills/araplbs/SKILL.md").read_text("utf-8") == SKILL


def test_exit_codes(main):
    table = PAGE.partition("## Exit codes")[2].partition("## ")[0]
    assert re.findall(r"^\| (\d) \|", table, re.MULTILINE) == ["0", "1", "2", "3"]
    assert main(["weight"]) == 2
    assert main(["check", "in.glb", "--fail-on", "low", "-q"]) in (0, 3)


def test_settings_of_an_assistant():
    (block,) = [b for b in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL) if "mcpServers" in b]
    server = json.loads(block)["mcpServers"]["araplbs"]
    assert server == {"command": "python", "args": ["-m", "araplbs.mcp"]}


def test_version():
    assert f'"version": "{araplbs.__version__}"' in PAGE
