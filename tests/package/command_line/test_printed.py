"""Names from untrusted files are printed without control sequences for the terminal."""

import ast

import pytest
from araplbs.base import faults
from araplbs.base.printed import complain, printable, say
from paths import python_files

EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\r\u202e\t"


def test_printable():
    assert printable("Änna 手 'b'") == "Änna 手 'b'"
    escaped = r"\x1b]0;owned\x07\x1b[2J\x9b31m"
    assert printable(EVIL + "b") == escaped + "\n    " + r"\u202e\tb"
    assert printable("a\n  saved x\n    b") == "a\n    saved x\n    b"
    assert printable("\udc80") == r"\udc80" and printable("") == ""


@pytest.mark.parametrize("way", [say, complain, lambda text: faults.sentence("x", KeyError(text))])
def test_nothing_reaches_the_terminal_raw(way, capsys):
    way(EVIL + "Anna\n  saved")
    said = "".join(capsys.readouterr())
    assert "Anna" in said and all(c == "\n" or c.isprintable() for c in said)
    assert "\n  saved" not in said.replace("\n    ", "")


# What prints numbers and texts of its own, JSON, or what the user has typed.
OWN = {"araplbs/base/printed.py", "araplbs/base/faults.py", "missing_module.py"}
OWN |= {"araplbs/farm/__main__.py"}
OWN |= {f"araplbs/cli/batch/{name}.py" for name in ("pool", "tasks")}
OWN |= {"araplbs/solvers/fill_tets.py", "araplbs/replay.py"}
# JSON, lines without control characters, help.
OWN |= {"araplbs/cli/main.py"}


def test_nothing_else_prints():
    found = set()
    for path, name in python_files():
        text = path.read_text(encoding="utf-8")
        if "print" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            called = getattr(getattr(node, "func", None), "id", None)
            if isinstance(node, ast.Call) and called == "print":
                found.add(name)
    assert found == OWN
