"""Tests the MCP server with the real package mcp, through lines of JSON-RPC over its standard input
and output, as an assistant sends them."""

import base64
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from gate import Gate
from paths import TESTS, environment

pytest.importorskip("mcp", reason="the package mcp is not installed")
sys.path.append(str(TESTS / "package"))
from gltf_files import plain

VERSION = "2025-06-18"


class Assistant:
    """A client; ask() sends a request and reads its answer."""

    def __init__(self, folder):
        self.number = 0
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "araplbs.mcp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=folder,
            env=environment(),
        )

    def send(self, **message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0"} | message) + "\n")
        self.process.stdin.flush()

    def request(self, method, **params):
        self.number += 1
        self.send(id=self.number, method=method, params=params)
        return self.number

    def answer(self, number):
        """The next answer, which must be to this request."""
        for line in self.process.stdout:
            answer = json.loads(line)
            if "id" in answer:
                assert answer["id"] == number and "error" not in answer, answer
                return answer["result"]
        raise AssertionError(self.process.stderr.read())

    def ask(self, method, **params):
        return self.answer(self.request(method, **params))

    def call(self, name, **arguments):
        return self.ask("tools/call", name=name, arguments=arguments)

    def begin(self, name, **arguments):
        return self.request("tools/call", name=name, arguments=arguments)

    def end(self):
        if not self.process.stdin.closed:
            self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()


@pytest.fixture
def gate(monkeypatch):
    with Gate() as found:
        found.hold_commands(monkeypatch)
        yield found


@pytest.fixture
def assistant(tmp_path):
    plain().write(tmp_path / "in.glb")
    found = Assistant(tmp_path)
    yield found
    found.end()
    assert found.process.returncode in (0, -signal.SIGKILL)


@pytest.fixture
def started(assistant):
    """The assistant after the handshake, and the server's description of itself."""
    about = assistant.ask(
        "initialize",
        protocolVersion=VERSION,
        capabilities={},
        clientInfo={"name": "test", "version": "1"},
    )
    assistant.send(method="notifications/initialized")
    return assistant, about


def content(result, error=False):
    assert bool(result.get("isError")) == error, result
    assert "structuredContent" not in result, "the same again"
    text = result["content"][0]["text"]
    assert len(text.encode()) <= 4000
    return json.loads(text)


def test_tools(started):
    assistant, about = started
    assert about["serverInfo"]["name"] == "araplbs"
    assert "When bone heat fails" in about["instructions"]
    assert "A call is ended after 3600 s" in about["instructions"]
    tools = {tool["name"]: tool for tool in assistant.ask("tools/list")["tools"]}
    assert set(tools) == {
        *("weight", "check", "repair", "transfer", "compare", "joints", "reduce_bones", "quantize")
    }
    for tool in tools.values():
        assert len(tool["description"]) > 80 and "context" not in tool["inputSchema"]["properties"]
        assert "input" in tool["inputSchema"]["required"]


def test_weight_and_check(started, tmp_path):
    assistant, _about = started
    options = {"max_influences": 3, "preset": "unity"}
    done = content(assistant.call("weight", input="in.glb", output="out.glb", options=options))
    assert done["exit_code"] == 0 and (tmp_path / "out.glb").exists()
    assert done["files"][0]["characters"][0]["most_influences"] <= 3
    assert json.loads(Path(done["details"]).read_text())["files"][0]["characters"]
    found = content(assistant.call("check", input="out.glb"))
    assert found["exit_code"] == 0
    done = content(assistant.call("repair", input="out.glb", output="repaired.glb"))
    assert done["exit_code"] == 0 and (tmp_path / "repaired.glb").exists()


def test_picture_and_progress(started, tmp_path):
    """The picture is part of the answer. Progress grows, and comes before the answer."""
    assistant, _about = started
    assistant.number += 1
    arguments = {"input": "in.glb", "output": "out.glb", "picture": "sheet.png"}
    params = {"name": "weight", "arguments": arguments, "_meta": {"progressToken": "p"}}
    assistant.send(id=assistant.number, method="tools/call", params=params)
    progress, result = [], None
    for line in map(json.loads, assistant.process.stdout):
        if line.get("method") == "notifications/progress":
            progress.append(line["params"]["progress"])
        if line.get("id") == assistant.number:
            result = line["result"]
            break
    done = content(result)
    image = result["content"][1]
    assert image["type"] == "image" and image["mimeType"] == "image/png"
    assert base64.b64decode(image["data"]) == (tmp_path / done["picture"]).read_bytes()
    assert progress and progress == sorted(set(progress)) and progress[-1] <= 100


def test_what_is_refused(started):
    """The assistant receives the refusal, and the server continues."""
    assistant, _about = started
    words = {"input": "https://example.org/in.glb", "output": "out.glb"}
    done = content(assistant.call("weight", **words), error=True)
    assert done["exit_code"] == 2 and "only files on this machine" in done["messages"][0]
    done = content(assistant.call("weight", input="in.glb", output="in.glb"), error=True)
    assert done["exit_code"] == 2 and "would replace an input" in done["messages"][0]
    done = content(assistant.call("weight", input="in.glb", output="\ud83d.glb"), error=True)
    assert done["exit_code"] == 2 and "is not a file path" in done["messages"][0]
    options = {"seed": "9" * 3_000_000}
    words = {"input": "in.glb", "output": "out.glb", "options": options}
    done = content(assistant.call("weight", **words), error=True)
    assert done["exit_code"] == 2 and "cannot be started" in done["messages"][0]


@pytest.fixture
def held(gate, started):
    """(assistant, the number of a call, its process, which is held before it opens its input)."""
    assistant, _about = started
    number = assistant.begin("weight", input="in.glb", output="out.glb")
    return assistant, number, gate.arrived(assistant.process)


def test_other_requests_during_a_call(held, gate, tmp_path):
    assistant, number, _child = held
    assert assistant.ask("ping") == {}
    gate.open()
    assert content(assistant.answer(number))["exit_code"] == 0
    assert (tmp_path / "out.glb").exists()


@pytest.mark.parametrize("how", ["cancelled", "closed", "killed"])
def test_call_that_nobody_waits_for(how, held, tmp_path):
    """Its process ends and writes nothing, and a server that was not killed ends in order."""
    assistant, number, child = held
    if how == "cancelled":
        assistant.send(method="notifications/cancelled", params={"requestId": number})
    elif how == "closed":
        assistant.process.stdin.close()
    else:
        assistant.process.kill()
    child.wait_until_gone()
    if how == "cancelled":  # it still works
        assistant.number += 1
        assistant.send(id=assistant.number, method="ping", params={})
        lines = map(json.loads, assistant.process.stdout)
        assert next(line for line in lines if line.get("id") == assistant.number)["result"] == {}
    assistant.end()
    assert [path.name for path in tmp_path.iterdir()] == ["in.glb"]
