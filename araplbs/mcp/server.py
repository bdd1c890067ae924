"""Defines the server with its tools and their descriptions for an assistant."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import araplbs

from ..base.printed import complain
from ..base.refusal import Refused
from . import calls
from .calls import Value

MISSING = (
    "The package mcp is missing: pip install 'araplbs[mcp]'. The commands themselves do not need "
    "it: araplbs weight in.glb -o out.glb"
)
USAGE = """usage: python -m araplbs.mcp

A Model Context Protocol server on standard input and output. Settings of an assistant:

  {"mcpServers": {"araplbs": {"command": "python", "args": ["-m", "araplbs.mcp"]}}}

Its tools are weight, check, repair and compare. They work on files on this machine."""


def skill() -> str:
    """The text of SKILL.md, which describes how scripts and assistants use the commands."""
    text = Path(araplbs.__file__).with_name("SKILL.md").read_text("utf-8")
    return text.partition("\n---\n")[2].strip()


def make_server() -> Any:
    """Creates the server. Raises ModuleNotFoundError if the package mcp is missing."""
    about: dict[str, Any] = {"instructions": skill()}
    try:
        from mcp.server.mcpserver import MCPServer as Server

        about["version"] = araplbs.__version__
    except ModuleNotFoundError as error:
        if error.name == "mcp":
            raise
        from mcp.server.fastmcp import FastMCP as Server  # before mcp 2
    server = Server("araplbs", **about)
    for tool in (weight, check, repair, compare):
        server.tool()(tool)
    return server


def weight(input: str, output: str, options: dict[str, Value] | None = None) -> dict[str, Any]:
    """Gives the skinned meshes of a character new skinning weights. Use it when bone heat fails,
    when a generated or predicted rig deforms badly, or for a skeleton without weights.

    input: a .glb, .gltf, .vrm or .blend file on this machine, with a mesh and a skeleton.
    output: the file to write; it must not be the input.
    options: by the names of the panel, for example {"max_influences": 4, "symmetric": true,
        "control_bones": "leave_out", "preset": "unity"}.

    exit_code is 0 if the file was written. For each character, warnings say what to look at, and
    control_bones names the bones that were left out because they only control the rig.
    """
    return _answer(calls.weigh, input, output, options or {})


def check(
    input: str, fail_on: str = "high", options: dict[str, Value] | None = None
) -> dict[str, Any]:
    """Reports faults of the weights of a file. Changes nothing.

    input: a .glb, .gltf, .vrm or .blend file on this machine.
    fail_on: high, medium, low or never: exit_code is 3 for a finding as severe as this.

    Each finding has kind, level, mesh, bone, vertices and words, a sentence for people.
    """
    return _answer(calls.check, input, fail_on, options or {})


def repair(
    input: str,
    output: str,
    kinds: list[str] | None = None,
    options: dict[str, Value] | None = None,
) -> dict[str, Any]:
    """Repairs the weights where check finds something, and leaves all others unchanged.

    input, output: as for weight.
    kinds: repair only findings of these kinds, as check names them.
    """
    return _answer(calls.repair, input, output, kinds or [], options or {})


def compare(input: str, output: str, methods: list[str] | None = None) -> dict[str, Any]:
    """Weights a character by several methods and judges them in poses that none was optimized for.
    Takes a minute or more.

    input: as for weight. output: a folder for the page, index.html.
    methods: only these; "present" are the weights in the file, "ours" those of weight.
    """
    return _answer(calls.compare, input, output, methods or [])


def _answer(call: Callable[..., dict[str, Any]], *arguments: Any) -> dict[str, Any]:
    """Returns a refusal as a normal answer, because an assistant would not see the message of an
    exception."""
    try:
        return call(*arguments)
    except Refused as error:
        return {"exit_code": 2, "messages": [str(error)]}


def main(argv: list[str]) -> int:
    """Returns the exit code."""
    if argv in (["-h"], ["--help"]):
        print(USAGE)
        return 0
    if argv:
        complain(f"araplbs: unrecognized arguments: {' '.join(argv)}\n{USAGE}")
        return 2
    try:
        server = make_server()
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "mcp":
            raise
        complain(f"araplbs: {MISSING}")
        return 1
    server.run()
    return 0
