"""Tests the MCP server with the real package mcp, through lines of JSON-RPC over its standard input
and output, as an assistant sends them."""

import json
import subprocess
import sys

import pytest
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

    def ask(self, method, **params):
        self.number += 1
        self.send(id=self.number, method=method, params=params)
        for line in self.process.stdout:
            answer = json.loads(line)
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]
        raise AssertionError(self.process.stderr.read())

    def call(self, name, **arguments):
        return self.ask("tools/call", name=name, arguments=arguments)

    def end(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()


@pytest.fixture
def assistant(tmp_path):
    plain().write(tmp_path / "in.glb")
    found = Assistant(tmp_path)
    yield found
    found.end()
    assert found.process.returncode == 0


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


def content(result):
    assert not result.get("isError"), result
    return result.get("structuredContent") or json.loads(result["content"][0]["text"])


def test_tools(started):
    assistant, about = started
    assert about["serverInfo"]["name"] == "araplbs"
    assert "When bone heat fails" in about["instructions"]
    tools = {tool["name"]: tool for tool in assistant.ask("tools/list")["tools"]}
    assert set(tools) == {"weight", "check", "repair", "compare"}
    for tool in tools.values():
        assert len(tool["description"]) > 80 and "input" in tool["inputSchema"]["required"]


def test_weight_and_check(started, tmp_path):
    assistant, _about = started
    options = {"max_influences": 3, "preset": "unity"}
    done = content(assistant.call("weight", input="in.glb", output="out.glb", options=options))
    assert done["exit_code"] == 0 and (tmp_path / "out.glb").exists()
    assert done["files"][0]["characters"][0]["options"]["max_influences"] == 3
    found = content(assistant.call("check", input="out.glb"))
    assert found["exit_code"] == 0 and found["findings_as_severe"] is False
    done = content(assistant.call("repair", input="out.glb", output="repaired.glb"))
    assert done["exit_code"] == 0 and (tmp_path / "repaired.glb").exists()


def test_what_is_refused(started):
    """The assistant receives the refusal, and the server continues."""
    assistant, _about = started
    words = {"input": "https://example.org/in.glb", "output": "out.glb"}
    done = content(assistant.call("weight", **words))
    assert done["exit_code"] == 2 and "only files on this machine" in done["messages"][0]
    done = content(assistant.call("weight", input="in.glb", output="in.glb"))
    assert done["exit_code"] == 2 and "would replace an input" in done["messages"][0]


def test_compare(started, tmp_path):
    assistant, _about = started
    words = {"input": "in.glb", "output": "page", "methods": ["present", "ours"]}
    done = content(assistant.call("compare", **words))
    assert done["exit_code"] == 0 and (tmp_path / done["page"]).exists()
