"""No test uses a clock. A test waits for an event, or holds unfinished work at a gate (gate.py). A
test about time counts work instead, or a page of docs/bench measures the time. Only patience.py
uses a clock, to end tests that hang."""

import ast
import re

import pytest
from paths import ROOT
from patience import HANGS

TESTS = ROOT / "tests"
FILES = [
    path
    for path in sorted(TESTS.rglob("*.py"))
    if path.name not in {"patience.py", "test_clocks.py"}
]
CLOCKS = {
    *("sleep", "monotonic", "perf_counter", "process_time", "thread_time", "time_ns"),
    *("monotonic_ns", "perf_counter_ns", "Timer", "alarm", "setitimer"),
}
# A limit that only ends what hangs, and 0: the others get the processor, or one look.
LAST_RESORTS = {"HANGS", "3 * HANGS", "0"}
# Code that may use a clock, and the reason.
EXCEPTIONS = {
    "package/engine/test_progress.py": "those of a report are compared with those of the call",
    "package/command_line/test_outputs.py": "files get an age",
    "package/check/test_gaps.py": "seconds of the processor, measured against a loop beside it",
    "tools/test_window_guard.py": "as window/guard.py",
    "package/gaps.py": "as test_gaps.py; `make bench PART=heard`",
    "package/fuzzing.py": "how long `make fuzz` is to go on; seconds of the processor",
    "package/fuzzing_functions.py": "as fuzzing.py",
    "package/fuzzing_ended.py": "the moment at which a call is ended",
    "package/command_line/test_farm_process.py": "the time limit of endless work is what is tested",
    "window/guard.py": "whether the threads of a test that may hang use the processor",
    "window/run_in_gui.py": "the seconds of each test in the results",
}


WAITS = {"wait", "join", "settimeout", "dump_traceback_later"}


def clocks(text):
    """Lines that read a clock, wait for seconds, or limit a wait to some seconds."""
    return [
        (node.lineno, ast.unparse(node))
        for node in ast.walk(ast.parse(text))
        if (isinstance(node, ast.Call) and is_clock(node))
        or (isinstance(node, ast.keyword) and is_limit(node))
        or (isinstance(node, ast.Yield) and isinstance(getattr(node.value, "value", None), float))
    ]  # where a test of the window says `yield 0.5`, it waits for seconds


def is_clock(call):
    last = getattr(call.func, "attr", getattr(call.func, "id", None))
    if last not in CLOCKS | WAITS | {"time"}:  # most calls, which need not be unparsed
        return False
    name, first = ast.unparse(call.func), ast.unparse(call.args[0]) if call.args else ""
    looks = name == "time.time" or (last in CLOCKS and first != "0")
    return looks or (last in WAITS and first[:1].isdigit())


def is_limit(keyword):
    return keyword.arg == "timeout" and (
        ast.unparse(keyword.value) not in LAST_RESORTS | {"timeout"}
    )


def name_of(path):
    return path.relative_to(TESTS).as_posix()


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_no_test_asks_the_clock(path):
    found = clocks(path.read_text("utf-8"))
    if name_of(path) in EXCEPTIONS:
        assert found, "no exception any more: take it from the list"
    else:
        assert found == []


def test_exceptions_are_files():
    assert set(EXCEPTIONS) <= {name_of(path) for path in FILES}


@pytest.mark.parametrize(
    "line",
    [
        *("time.sleep(0.1)", "end = time.monotonic() + 5", "start = time.perf_counter()"),
        *("process.wait(120)", "process.communicate(timeout=60)", "thread.join(1.5)"),
        *("time.time() < end", "perf_counter()", "done = run(x, timeout=PATIENCE)"),
        *("timer = threading.Timer(0.2, stop)", "signal.alarm(1)"),
    ],
)
def test_what_is_found(line):
    assert clocks(line)
    assert clocks(f"def test():\n    {line}\n    yield")


def test_a_wait_for_seconds_in_a_window_is_found():
    assert clocks("def test(ui):\n    yield 0.5") and not clocks("def test(ui):\n    yield 5")


@pytest.mark.parametrize(
    "line", ["process.wait()", "x(timeout=HANGS)", "time.sleep(0)", "wait_until(look)", "a.wait(b)"]
)
def test_what_may_be(line):
    assert clocks(line) == []


def test_only_what_hangs_is_given_up():
    """The limits of tests/run.sh and pytest's limits for a single test fit together. A test is
    stopped before its run, and several tests that hang are named before the 90 minutes of a hosted
    machine are over."""
    script = (TESTS / "run.sh").read_text("utf-8")
    assert "sleep" not in script and not re.search(r"\btimeout\b", script)
    settings = (ROOT / "pyproject.toml").read_text("utf-8")
    one = int(re.search(r"faulthandler_timeout = (\d+)", settings)[1])
    run = 60 * int(re.search(r"^SILENCE=\${SILENCE:-(\d+)}$", script, flags=re.MULTILINE)[1])
    assert one == 3 * HANGS and one < run <= 1800
