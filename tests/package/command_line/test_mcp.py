"""The tools of the MCP server, without the package mcp: each is a command in a process of its own.
tests/farm/test_mcp.py tests the server."""

import inspect
import io
import json
import os
import re
import subprocess
import sys

import araplbs
import numpy as np
import pytest
from gate import Gate
from gltf_files import TRIANGLES, VERTICES, Glb, plain
from paths import ROOT, environment


@pytest.fixture
def calls(core, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", environment()["PYTHONPATH"])
    plain().write(tmp_path / "in.glb")
    return core("mcp.calls")


def weigh(calls, source, target, options, *limits):
    return calls.call("weight", source, [], options, *(limits or [calls.Limits()]), target)


def test_weight_check_and_repair(calls, tmp_path):
    done = weigh(calls, "in.glb", "out.glb", {"max_influences": 2, "symmetric": False})
    assert done["exit_code"] == 0 and done["messages"] == []
    (character,) = done["files"][0]["characters"]
    assert character["most_influences"] == 2 and "options" not in character
    whole = json.loads((tmp_path / done["details"]).read_text())
    assert whole["schema"] == 1
    assert whole["files"][0]["characters"][0]["options"]["symmetric"] is False
    found = calls.call("check", "out.glb", ["--fail-on", "high"])
    assert found["exit_code"] == 0
    assert "findings" in found["files"][0]["characters"][0]
    words = calls.repeated("kind", ["speckle", "bleeding"])
    done = calls.call("repair", "out.glb", words, target="repaired.glb")
    assert done["exit_code"] == 0 and (tmp_path / "repaired.glb").exists()


def test_findings_count_their_vertices(calls, tmp_path):
    done = calls.call("check", "in.glb", ["--fail-on", "low"])
    assert done["exit_code"] == 3
    whole = json.loads((tmp_path / done["details"]).read_text())["files"][0]["characters"][0]
    for brief, full in zip(
        done["files"][0]["characters"][0]["findings"], whole["findings"], strict=True
    ):
        assert brief["vertices"] == len(full["vertices"])


@pytest.fixture
def spoiled(tmp_path):
    """A file with many findings: a tube that follows its joints at random, with long names."""
    glb = plain(weights="<f4")
    place = glb.place_of(glb.json["meshes"][0]["primitives"][0]["attributes"]["JOINTS_0"])
    follows = np.random.default_rng(0).integers(0, 5, len(VERTICES), np.uint8)
    glb.blob[place : place + 4 * len(follows) : 4] = follows.tobytes()
    for node in glb.json["nodes"][:5]:
        node["name"] += " of a chain with a long name" * 12
    mesh = glb.mesh(glb.primitive(TRIANGLES, (0.01, 0, 0)), name="other")
    glb.node(mesh=mesh, skin=0, name="other")
    glb.json["meshes"][0]["name"] = "tube"
    return str(glb.write(tmp_path / "spoiled.glb"))


def test_answers_of_all_commands(core, calls, spoiled, tmp_path):
    """Each succeeds, in at most 4 kB."""
    methods = ["--method=present", "--method=ours"]
    words = {"transfer": ["--source=tube", "--target=other"], "compare": methods}
    options = {"reduce-bones": {"bones": 3}}
    for command, _help in core("cli.main").COMMANDS:
        target = {"check": "", "compare": "page"}.get(command, f"{command}.glb")
        more = words.get(command, []), options.get(command, {})
        done = calls.call(command, spoiled, *more, target=target)
        assert done["exit_code"] in (0, 3) and (tmp_path / target).exists(), done
        assert len(calls.as_text(done).encode()) <= 4000, command
        assert command != "check" or len(json.dumps(done)) > 4000, "nothing to shorten"


def test_compare(calls, tmp_path):
    words = calls.repeated("method", ["present", "ours"])
    done = calls.call("compare", "in.glb", words, target="page")
    assert done["exit_code"] == 0 and (tmp_path / done["page"]).exists()
    (character,) = done["characters"]
    assert [each["identifier"] for each in character["methods"]] == ["PRESENT", "OURS"]
    assert character["methods"][1]["surface_strain"] > 0
    assert (tmp_path / done["details"]).name == "report.json"


def test_pictures_and_progress(calls, tmp_path):
    heard = []
    limits = calls.Limits(on_line=heard.append)
    done = calls.call("check", "in.glb", [], {}, limits, picture="sheet.png")
    assert done["picture"] == "sheet.png" and done["exit_code"] == 0
    assert (tmp_path / "sheet.png").read_bytes().startswith(b"\x89PNG")
    assert any(re.fullmatch(r"progress: \d+ % pictures\n", line) for line in heard)
    assert done["messages"] == [], "without the progress"
    done = calls.call("check", "in.glb", [], {"swing": 500}, picture="other.png")
    assert done["exit_code"] == 2 and "picture" not in done


def test_answers_are_short(calls):
    """An answer has at most 4 kB and says what is missing."""
    finding = {"kind": "STRETCH", "vertices": 12, "words": "ü" * 500, "value": 0.123456789}
    report = {
        "findings": [finding] * 300,
        "control_bones": {f"bone {k}": "Moves no skin" for k in range(500)},
        "warnings": ["w" * 1000] * 40,
    }
    names = [f"/a/long/folder/{k}.glb" for k in range(3)]
    files = [{"input": name, "output": name, "characters": [report] * 4} for name in names]
    answer = {"exit_code": 3, "messages": ["m"] * 20, "details": "d" * 600, "files": files}
    text = calls.as_text(answer)
    assert len(text.encode()) <= 4000
    found = json.loads(text)
    assert found["details"] == "d" * 600 and found["exit_code"] == 3
    one = {"exit_code": 0, "files": [{"characters": [report | {"warnings": []}]}]}
    (character,) = json.loads(calls.as_text(one))["files"][0]["characters"]
    assert character["findings"][-1].endswith(" more")
    assert character["control_bones"]["..."].endswith(" more")
    small = {"exit_code": 0, "files": [{"characters": [{"findings": [{"value": 0.5}] * 10}]}]}
    assert json.loads(calls.as_text(small)) == small


def test_what_fails(calls, tmp_path):
    """A failure is an answer with a message, not an exception."""
    done = weigh(calls, "in.glb", "in.glb", {})
    assert done["exit_code"] == 2 and "would replace an input" in done["messages"][0]
    done = weigh(calls, "in.glb", "out.glb", {"swing": 500})
    assert done["exit_code"] == 2 and "must be from 0 to 180 degrees" in done["messages"][0]
    done = weigh(calls, "missing.glb", "out.glb", {})
    assert done["exit_code"] == 2 and done["messages"] == ["missing.glb: no such file"]
    (tmp_path / "bad.glb").write_bytes(b"glTF")
    done = weigh(calls, "bad.glb", "out.glb", {})
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
        (("in.fbx", "out.glb", {}), "must be a .glb, .gltf, .vrm, USD or .blend file"),
        (("in.glb", "out.glb", {"output": "other.glb"}), "'output' is not an option of the tool"),
        (("in.glb", "out.glb", {"picture": "x.png"}), "'picture' is not an option of the tool"),
        (
            ("in.glb", "out.glb", {"from": "ftp://example.org/a"}),
            "only files on this machine",
        ),
        (("in.glb", "out.glb", {"in_place": True}), "'in_place' is not an option of the tool"),
        (("in.glb", "out.glb", {"a b=c": 1}), "'a b=c' is not an option of the tool"),
    ],
)
def test_refused(calls, tmp_path, arguments, words):
    with pytest.raises(araplbs.Refused, match=words.replace("\\", ".")):
        weigh(calls, *arguments)
    assert [path.name for path in tmp_path.iterdir()] == ["in.glb"]


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("/", "/: is a folder; specify the file to write"),
        ("new/", "new/: is a folder"),
        (".", ".: is a folder"),
        ("\udc80.glb", r"'\\udc80.glb' is not a file path"),
        ("\ufffd.glb", "is not a file path"),
        ("~/new.glb", "is not a file path"),  # a shell would name another folder
    ],
)
def test_outputs_that_are_no_files(calls, tmp_path, output, words):
    with pytest.raises(araplbs.Refused, match=words):
        weigh(calls, "in.glb", output, {})
    assert [path.name for path in tmp_path.iterdir()] == ["in.glb"]


def test_a_character_without_a_surface(calls, tmp_path):
    """Its picture is missing in words, and an earlier picture is not shown as its own."""
    glb = Glb()
    glb.bind({"attributes": glb.attributes(), "mode": 0}, glb.joints())
    glb.write(tmp_path / "points.glb")
    assert "picture" in calls.call("check", "in.glb", picture="out.png")
    done = calls.call("check", "points.glb", picture="out.png")
    assert done["exit_code"] == 0 and "picture" not in done
    (said,) = done["files"][0]["warnings"]
    assert done["messages"] == [f"points.glb: warning: {said}"] and "no surface" in said


@pytest.mark.parametrize("picture", ["new/", "new", "."])
def test_pictures_that_are_no_files(calls, tmp_path, picture):
    """The server shows the file, so its name is known."""
    with pytest.raises(araplbs.Refused, match=re.escape(f"{picture}: is a folder")):
        calls.call("check", "in.glb", picture=picture)
    assert [path.name for path in tmp_path.iterdir()] == ["in.glb"]


@pytest.mark.parametrize("name", ["a\0", "a\ud800"])
def test_arguments_that_are_no_text(calls, name):
    words = calls.repeated("source", [name])
    with pytest.raises(araplbs.Refused, match=r"'--source=a\\.* is not an option of the tool"):
        calls.call("transfer", "in.glb", words, target="out.glb")


@pytest.mark.skipif(sys.platform == "win32", reason="wine starts such a process")
def test_arguments_that_are_too_long(calls):
    with pytest.raises(araplbs.Refused, match=r"have 3,000,\d+ characters, cannot be started: "):
        weigh(calls, "in.glb", "out.glb", {"seed": "9" * 3_000_000})


@pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX")
def test_a_command_that_is_killed(calls, tmp_path, monkeypatch):
    """The answer says so, because the command could not."""
    (tmp_path / "fatal.py").write_text("import os; os.kill(os.getpid(), 9)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr(calls, "OF_GLTF", "fatal")
    done = weigh(calls, "in.glb", "out.glb", {})
    assert done == {"exit_code": -9, "messages": ["the command ended with SIGKILL"]}


def test_time_limit(calls, tmp_path):
    """Nothing is written after the limit."""
    limits = calls.Limits(1e-9)
    done = weigh(calls, "in.glb", "out.glb", {}, limits)
    assert done == {"exit_code": 1, "messages": ["stopped after 1e-09 s (--timeout of the server)"]}
    assert [path.name for path in tmp_path.iterdir()] == ["in.glb"]
    assert weigh(calls, "in.glb", "out.glb", {}, calls.Limits(timeout=0))["exit_code"] == 0
    assert calls.Limits().timeout == 3600


class Withdrawn(Exception):
    pass


def test_call_that_is_withdrawn(calls, tmp_path, monkeypatch):
    """Its process has ended when the call ends, and has written nothing."""
    with Gate() as gate:
        gate.hold_commands(monkeypatch)
        at_gate = []

        def check():
            if gate.is_asked():
                at_gate.append(gate.arrived())
                raise Withdrawn

        with pytest.raises(Withdrawn):
            weigh(calls, "in.glb", "out.glb", {}, calls.Limits(check=check))
        at_gate[0].wait_until_gone()
    assert [path.name for path in tmp_path.iterdir()] == ["in.glb"]


CALL = """
from araplbs.mcp.calls import call
call("weight", "in.glb", target="out.glb")
"""


def kill_a_call(code, folder, monkeypatch):
    """Runs code with a call in another process, and kills this process while the call is at work.
    Waits until the process of the call is gone."""
    with Gate() as gate:
        gate.hold_commands(monkeypatch)
        waits = subprocess.Popen([sys.executable, "-c", code], cwd=folder)
        child = gate.arrived(waits)
        waits.kill()
        waits.wait()
        child.wait_until_gone()


def test_server_is_killed(tmp_path, calls, monkeypatch):
    """The process of a call ends with the process that waits for it, and writes nothing."""
    kill_a_call(CALL, tmp_path, monkeypatch)
    assert [path.name for path in tmp_path.iterdir()] == ["in.glb"]


@pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX")
def test_parent_that_ignores_signals(tmp_path, calls, monkeypatch):
    """The child ends although it has inherited the ignored signal."""
    ignores = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)"
    kill_a_call(ignores + CALL, tmp_path, monkeypatch)


def test_requests_of_a_client(core):
    """Half of a character becomes U+FFFD. All else is passed on, in pieces of any size."""
    lines = {
        rb'{"a": "\ud83d\ude00 \n \\ud83d \u00e9"}': None,
        rb'{"a": "\ud83d x"}': rb'{"a": "\ufffd x"}',
        rb'{"a": "\\\ude00\ud83d"}': rb'{"a": "\\\ufffd\ufffd"}',
        b"x" * 20_000: None,
    }
    requests = core("mcp.server").Requests(io.BytesIO(b"\n".join(lines)))
    found = io.BufferedReader(requests, 100).read()
    assert found == b"\n".join(there or here for here, there in lines.items())
    assert requests.left.is_set()


def test_tools_leave_the_server_free(core):
    """A version of the package mcp that does not use threads waits for tools that do not wait."""
    server = core("mcp.server")
    assert len(server.TOOLS) == len(core("cli.main").COMMANDS) == 8
    for name in server.TOOLS:
        assert inspect.iscoroutinefunction(getattr(server.Tools, name)), name


def test_blend_files_need_blender(calls, monkeypatch):
    monkeypatch.setattr(calls.importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(araplbs.Refused, match="need Blender as a Python module: pip install bpy"):
        weigh(calls, "in.blend", "out.blend", {})


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


def test_old_package(core, monkeypatch):
    """An older version may fail to import, so its number is read first."""
    server = core("mcp.server")
    needed = re.search(r'mcp = \["mcp>=([\d.]+)"\]', (ROOT / "pyproject.toml").read_text())[1]
    for version, good in (("1.9.4", False), ("1.21.2", False), (needed, True), ("2.0.0rc1", True)):
        monkeypatch.setattr(server, "version", lambda _package, found=version: found)
        if good:
            server.refuse_old("mcp")
            continue
        with pytest.raises(araplbs.Refused, match=f"mcp {version} is too old, at least {needed}"):
            server.refuse_old("mcp")


def test_help_and_wrong_arguments():
    done = server("--help")
    assert done.returncode == 0 and '"mcpServers"' in done.stdout
    assert "--timeout SECONDS" in done.stdout
    done = server("--port", "80")
    assert done.returncode == 2 and "unrecognized arguments: --port 80" in done.stderr
    for wrong in ("-1", "inf", "nan", "soon"):
        done = server(f"--timeout={wrong}")
        assert done.returncode == 2 and "--timeout" in done.stderr and done.stderr.count("\n") == 1


def test_instructions(core):
    text = core("mcp.server").skill()
    assert text.startswith("# For scripts and agents") and "name: araplbs" not in text


def test_part_of_a_character(calls, core):
    """The tool takes what the command takes, and its description names it."""
    words = ["--keep-bones=joint 0", "--keep-mesh=Face"]
    done = calls.call("weight", "in.glb", words, target="out.glb")
    assert done["exit_code"] == 1 and "has no skinned mesh 'Face'" in str(done)
    done = calls.call("weight", "in.glb", ["--only-bones=joint 2/"], target="out.glb")
    assert done["exit_code"] == 0
    about = core("mcp.server").Tools.weight.__doc__
    assert all(word in about for word in ("only_bones", "keep_bones", "keep_meshes", "selected"))
