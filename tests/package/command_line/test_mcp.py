"""The tools of the MCP server, without the package mcp: each is a command in a process of its own.
tests/farm/test_mcp.py tests the server."""

import subprocess
import sys

import araplbs
import pytest
from gltf_files import plain
from paths import environment


@pytest.fixture
def calls(core, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", environment()["PYTHONPATH"])
    plain().write(tmp_path / "in.glb")
    return core("mcp.calls")


def test_weight_check_and_repair(calls, tmp_path):
    done = calls.weigh("in.glb", "out.glb", {"max_influences": 2, "symmetric": False})
    assert done["exit_code"] == 0 and done["schema"] == 1 and done["messages"] == []
    (character,) = done["files"][0]["characters"]
    assert character["most_influences"] == 2 and character["options"]["symmetric"] is False
    found = calls.check("out.glb", "high", {})
    assert found["exit_code"] == 0 and found["findings_as_severe"] is False
    assert "findings" in found["files"][0]["characters"][0]
    done = calls.repair("out.glb", "repaired.glb", ["SPECKLE"], {})
    assert done["exit_code"] == 0 and (tmp_path / "repaired.glb").exists()


def test_findings_as_severe(calls):
    codes = {level: calls.check("in.glb", level, {}) for level in ("low", "never")}
    assert codes["never"]["exit_code"] == 0
    low = codes["low"]
    assert low["findings_as_severe"] == bool(low["files"][0]["characters"][0]["findings"])


def test_compare(calls, tmp_path):
    done = calls.compare("in.glb", "page", ["present", "ours"])
    assert done["exit_code"] == 0 and (tmp_path / done["page"]).exists()
    assert done["report"]["characters"] or done["report"]


def test_what_fails(calls, tmp_path):
    """A failure is an answer with a message, not an exception."""
    done = calls.weigh("in.glb", "in.glb", {})
    assert done["exit_code"] == 2 and "would replace an input" in done["messages"][0]
    done = calls.weigh("in.glb", "out.glb", {"swing": 500})
    assert done["exit_code"] == 2 and "must be from 0 to 180 degrees" in done["messages"][0]
    done = calls.weigh("missing.glb", "out.glb", {})
    assert done["exit_code"] == 2 and done["messages"] == ["missing.glb: no such file"]
    (tmp_path / "bad.glb").write_bytes(b"glTF")
    done = calls.weigh("bad.glb", "out.glb", {})
    assert done["exit_code"] == 1 and done["files"][0]["error"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("https://example.org/in.glb", "out.glb", {}), "only files on this machine"),
        (("in.glb", "ftp://example.org/out.glb", {}), "only files on this machine"),
        (("//server/share/in.glb", "out.glb", {}), "only files on this machine"),
        (("\\\\server\\share\\in.glb", "out.glb", {}), "only files on this machine"),
        (("--help", "out.glb", {}), "'--help' is not a file path"),
        (("in.glb", "", {}), "'' is not a file path"),
        (("in.fbx", "out.glb", {}), "must be a .glb, .gltf, .vrm or .blend file"),
        (("in.glb", "out.glb", {"output": "other.glb"}), "'output' is not an option of the tool"),
        (("in.glb", "out.glb", {"in_place": True}), "'in_place' is not an option of the tool"),
        (("in.glb", "out.glb", {"a b=c": 1}), "'a b=c' is not an option of the tool"),
    ],
)
def test_refused(calls, tmp_path, arguments, words):
    with pytest.raises(araplbs.Refused, match=words.replace("\\", ".")):
        calls.weigh(*arguments)
    assert [path.name for path in tmp_path.iterdir()] == ["in.glb"]


def test_blend_files_need_blender(calls, monkeypatch):
    monkeypatch.setattr(calls.importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(araplbs.Refused, match="need Blender as a Python module: pip install bpy"):
        calls.weigh("in.blend", "out.blend", {})


def server(*words, code=None):
    start = ["-m", "araplbs.mcp"] if code is None else ["-c", code]
    return subprocess.run(
        [sys.executable, *start, *words],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env=environment(),
    )


def test_without_the_package():
    """One sentence, and everything that does not need the package."""
    code = (
        "import sys; sys.modules['mcp'] = None; from araplbs.mcp.server import main; "
        "sys.exit(main([]))"
    )
    done = server(code=code)
    assert done.returncode == 1 and done.stdout == "" and done.stderr.count("\n") == 1
    assert "The package mcp is missing: pip install 'araplbs[mcp]'" in done.stderr


def test_help_and_wrong_arguments():
    done = server("--help")
    assert done.returncode == 0 and '"mcpServers"' in done.stdout
    done = server("--port", "80")
    assert done.returncode == 2 and "unrecognized arguments: --port 80" in done.stderr


def test_instructions(core):
    text = core("mcp.server").skill()
    assert text.startswith("# For scripts and agents") and "name: araplbs" not in text
