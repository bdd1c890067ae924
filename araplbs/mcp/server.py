"""Defines the server with its tools and their descriptions for an assistant."""

from __future__ import annotations

import base64
import io
import re
import signal
import sys
import threading
from contextlib import suppress
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path
from typing import IO, Any

from ..base.child import own_input
from ..base.engine import engine
from ..base.printed import complain
from ..base.refusal import Refused
from ..cli.batch.tasks import TIMEOUT
from ..cli.errors import WRONG, WrongArguments
from ..cli.main import COMMANDS, PROGRESS
from ..cli.parser import Parser
from ..disk.files import own_folder
from . import calls
from .calls import Limits, Value

MCP = "mcp"
OLDEST = (1, 22)  # of this package: a tool can state that it failed, and return its figures
CALLS = 16  # at a time; others wait
# A character in JSON, or half of one, which has no meaning.
ESCAPED = re.compile(rb"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F]..)|.)")
MISSING = (
    "The package mcp is missing: pip install 'araplbs[mcp]'. The commands themselves do not need "
    "it: araplbs weight in.glb -o out.glb"
)
DESCRIPTION = """A Model Context Protocol server on standard input and output. An assistant's
settings:

  {"mcpServers": {"araplbs": {"command": "python", "args": ["-m", "araplbs.mcp"]}}}

Its tools are the commands of araplbs. They work on files on this machine."""
TOOLS = [name.replace("-", "_") for name, _help in COMMANDS]


def skill() -> str:
    """The text of SKILL.md, which describes how scripts and assistants use the commands."""
    text = files("araplbs").joinpath("SKILL.md").read_text("utf-8")
    return text.partition("\n---\n")[2].strip()


class Requests(io.RawIOBase):
    """The lines of the client, as the package mcp reads them. It does not answer a line with half
    of a character, which here becomes U+FFFD. left: set when the client has closed the stream."""

    def __init__(self, lines: IO[bytes]) -> None:
        self.lines, self.rest, self.left = lines, b"", threading.Event()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self.rest:
            line = self.lines.readline()
            self.rest = ESCAPED.sub(lambda found: rb"\ufffd" if found[1] else found[0], line)
            if not line:
                self.left.set()
        part, self.rest = self.rest[: len(buffer)], self.rest[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)


def refuse_old(package: str) -> None:
    """Raises Refused for a version that is too old, which may not even be importable."""
    with suppress(PackageNotFoundError):
        found = version(package)
        if tuple(map(int, found.split(".")[:2])) < OLDEST:
            oldest = ".".join(map(str, OLDEST))
            raise Refused(
                f"The package {package} {found} is too old, at least {oldest} is needed: "
                "pip install 'araplbs[mcp]'"
            )


def make_server(timeout: float = TIMEOUT, left: threading.Event | None = None) -> Any:
    """Creates the server. timeout: seconds for a call, 0 for no limit. left: set when nobody waits
    for answers anymore. Raises ModuleNotFoundError if the package mcp is missing, and Refused if it
    is too old."""
    limit = f"A call is ended after {timeout:g} s" if timeout else "A call has no time limit"
    refuse_old(MCP)
    about: dict[str, Any] = {"instructions": f"{skill()}\n\n{limit}, and writes nothing then."}
    try:
        module = import_module("mcp.server.mcpserver")
        server_type, about["version"] = module.MCPServer, engine.__version__
    except ModuleNotFoundError as error:
        if error.name == "mcp":
            raise
        module = import_module("mcp.server.fastmcp")  # before mcp 2
        server_type = module.FastMCP
    server = server_type("araplbs", **about)
    tools = Tools(timeout, left or threading.Event())
    for name in TOOLS:
        tool = getattr(tools, name)
        tool.__func__.__annotations__["context"] = module.Context  # by which the package finds it
        server.tool(structured_output=False)(tool)
    return server


class Tools:
    """The tools, with their descriptions for an assistant. context: of a call, to report its
    progress."""

    def __init__(self, timeout: float, left: threading.Event) -> None:
        from anyio import CapacityLimiter

        self._timeout, self._left, self._limiter = timeout, left, CapacityLimiter(CALLS)
        self._folder = own_folder()  # of whole reports

    async def weight(
        self,
        input: str,
        output: str,
        options: dict[str, Value] | None = None,
        only_bones: list[str] | None = None,
        keep_bones: list[str] | None = None,
        keep_meshes: list[str] | None = None,
        only_selected: str | None = None,
        picture: str = "",
        context: Any = None,
    ) -> Any:
        """Gives the skinned meshes of a character new skinning weights. Use it when bone heat
        fails, when a generated or predicted rig deforms badly, or for a skeleton without weights.

        input: a .glb, .gltf, .vrm, USD or .blend file on this machine, with a mesh and a skeleton.
        output: the file to write; it must not be the input.
        options: by the names of the panel, for example {"max_influences": 4, "symmetric": true,
            "control_bones": "leave_out", "preset": "unity"}.
        only_bones, keep_bones: joints whose weights alone change, or stay: names, patterns such as
            "*Hand*", or "LeftArm/" for a joint and all joints below it. keep_meshes: names of
            meshes that stay. only_selected: a JSON file {"mesh": [vertices]}; all others stay.
            Not for .blend files.
        picture: a .png file to write. The answer then shows the character in its worst poses and in
            named ones, before and after, with stretch in color and findings marked. Look at it.
            Not for .blend files.

        exit_code is 0 if the file was written. For each character, warnings say what to look at,
        and control_bones names the bones that were left out because they only control the rig.
        details is the file with the whole report.
        """
        part = {
            "only-bones": only_bones or [],
            "keep-bones": keep_bones or [],
            "keep-mesh": keep_meshes or [],
            "only-selected": [only_selected] if only_selected else [],
        }
        words = [f"--{name}={each}" for name, values in part.items() for each in values]
        return await self._answer(context, "weight", input, output, words, options, picture)

    async def check(
        self,
        input: str,
        fail_on: str = "high",
        options: dict[str, Value] | None = None,
        picture: str = "",
        context: Any = None,
    ) -> Any:
        """Reports faults of the weights of a file, the ten worst first. Changes nothing.

        input: a .glb, .gltf, .vrm, USD or .blend file on this machine.
        fail_on: high, medium, low or never: exit_code is 3 for a finding as severe as this.
        picture: as for weight.

        Each finding has kind, level, mesh, bone, a count of vertices, and words, a sentence for
        people. health counts all findings by level.
        """
        words = ["--fail-on", fail_on]
        return await self._answer(context, "check", input, "", words, options, picture)

    async def repair(
        self,
        input: str,
        output: str,
        kinds: list[str] | None = None,
        options: dict[str, Value] | None = None,
        picture: str = "",
        context: Any = None,
    ) -> Any:
        """Repairs the weights where check finds something, and leaves all others unchanged.

        input, output, picture: as for weight.
        kinds: repair only findings of these kinds, as check names them.
        """
        words = calls.repeated("kind", [kind.lower() for kind in kinds or []])
        return await self._answer(context, "repair", input, output, words, options, picture)

    async def transfer(
        self,
        input: str,
        output: str,
        sources: list[str],
        targets: list[str],
        options: dict[str, Value] | None = None,
        picture: str = "",
        context: Any = None,
    ) -> Any:
        """Gives clothes, hair or simplified meshes the weights of the mesh beneath.

        input, output, picture: as for weight.
        sources, targets: names of meshes with the same skeleton; targets get new weights.
        """
        words = calls.repeated("source", sources) + calls.repeated("target", targets)
        return await self._answer(context, "transfer", input, output, words, options, picture)

    async def compare(
        self,
        input: str,
        output: str,
        methods: list[str] | None = None,
        picture: str = "",
        context: Any = None,
    ) -> Any:
        """Weights a character by several methods and judges them in poses that none was optimized
        for. Takes a minute or more.

        input, picture: as for weight. output: a folder for the page, index.html.
        methods: only these; "present" are the weights in the file, "ours" those of weight.
        """
        words = calls.repeated("method", methods or [])
        return await self._answer(context, "compare", input, output, words, None, picture)

    async def joints(
        self,
        input: str,
        output: str,
        options: dict[str, Value] | None = None,
        context: Any = None,
    ) -> Any:
        """Moves joints to better positions, and weights the character with them.

        input, output: as for weight. options: for example {"anchor": 1, "also_weights": false}.
        """
        return await self._answer(context, "joints", input, output, [], options)

    async def reduce_bones(
        self,
        input: str,
        output: str,
        options: dict[str, Value] | None = None,
        context: Any = None,
    ) -> Any:
        """Computes weights for fewer bones, as for an engine with a limit.

        input, output: as for weight. options: {"bones": 30} or {"remove": "ends"}.
        """
        return await self._answer(context, "reduce-bones", input, output, [], options)

    async def quantize(
        self,
        input: str,
        output: str,
        options: dict[str, Value] | None = None,
        context: Any = None,
    ) -> Any:
        """Stores weights in 8 or 16 bits with an exact sum.

        input, output: as for weight. options: for example {"bits": 16, "platform": "mobile"}.
        """
        return await self._answer(context, "quantize", input, output, [], options)

    async def _answer(
        self,
        context: Any,
        command: str,
        input: str,
        output: str,
        words: list[str],
        options: dict[str, Value] | None,
        picture: str = "",
    ) -> Any:
        """Waits for a call in a thread, which ends the call's process if the call is cancelled. A
        failure is marked as an error, with the same entries as a success."""
        from anyio import from_thread, to_thread
        from mcp.types import CallToolResult

        latest, sent = [(0.0, "")], [0.0]  # percent, which must grow, and stage

        def on_line(line: str) -> None:
            if line.startswith(PROGRESS):
                percent, _sign, stage = line.removeprefix(PROGRESS).strip().partition(" % ")
                latest[0] = float(percent), stage

        def check() -> None:
            from_thread.check_cancelled()
            if self._left.is_set():
                raise Refused("the client has closed the connection")
            percent, stage = latest[0]
            if percent > sent[0] and context is not None:
                sent[0] = percent
                from_thread.run(context.report_progress, percent, 100.0, stage)

        limits = Limits(self._timeout, check, on_line, self._folder.name)

        def call() -> dict[str, Any]:
            return calls.call(command, input, words, options or {}, limits, output, picture)

        try:
            answer = await to_thread.run_sync(call, limiter=self._limiter)
        except Refused as error:
            answer = {"exit_code": WRONG, "messages": [str(error)]}
        content = [{"type": "text", "text": calls.as_text(answer)}]
        if "picture" in answer:
            data = base64.b64encode(Path(answer["picture"]).read_bytes()).decode()
            content.append({"type": "image", "data": data, "mimeType": "image/png"})
        failed = answer["exit_code"] not in calls.GOOD
        return CallToolResult.model_validate({"content": content, "isError": failed})


def main(argv: list[str]) -> int:
    """Returns the exit code."""
    parser = Parser(prog="python -m araplbs.mcp", description=DESCRIPTION)
    parser.add_argument(
        "--timeout",
        type=float,
        default=TIMEOUT,
        metavar="SECONDS",
        help=f"end a call after this time; 0: never (default: {TIMEOUT:g})",
    )
    try:
        timeout = parser.parse_args(argv).timeout
        if not 0 <= timeout < float("inf"):
            raise WrongArguments(f"--timeout {timeout:g}: must be 0 or more seconds")
    except WrongArguments as error:
        complain(f"araplbs: {error}")
        return WRONG
    except SystemExit:  # help was printed
        return 0
    requests = Requests(own_input())
    try:
        server = make_server(timeout, requests.left)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "mcp":
            raise
        complain(f"araplbs: {MISSING}")
        return 1
    except Refused as error:
        complain(f"araplbs: {error}")
        return 1
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # at once, as for SIGTERM
    sys.stdin = io.TextIOWrapper(io.BufferedReader(requests), encoding="utf-8")
    try:
        server.run()
    except Exception:  # of older versions of mcp, which answer although the client is gone
        if not requests.left.is_set():
            raise
    return 0
