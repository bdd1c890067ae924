"""The benchmarks find what they import: no test runs them."""

import ast
import importlib.util
import re

import pytest
from paths import ROOT

BENCH = ROOT / "bench"
SEARCHED = [BENCH] + [
    ROOT / folder
    for folder in re.findall(
        r"\$ROOT/([\w/]+)",
        re.search(r"PYTHONPATH=(\S+)", (ROOT / "tools/bench.sh").read_text("utf-8"))[1],
    )
]
OURS = {path.stem for folder in (BENCH, ROOT / "tests") for path in folder.rglob("*.py")}
FILES = sorted(BENCH.glob("*.py"))


def imports(tree):
    """(module, names) of each import."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((each.name, ()) for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module, [each.name for each in node.names]


def defined(path):
    """The names that a file binds anywhere."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).split(".")[0])
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_imports_are_found(path):
    for module, names in imports(ast.parse(path.read_text("utf-8"))):
        if module in OURS:
            files = [folder / f"{module}.py" for folder in SEARCHED]
            file = next((each for each in files if each.is_file()), None)
            assert file, f"{module} is in none of the folders that tools/bench.sh searches"
            assert set(names) <= defined(file), f"{module} lacks {set(names) - defined(file)}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_modules_of_the_package_are_found(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "add_on":
            name = getattr(node.args[0], "value", "base")
            assert importlib.util.find_spec(f"araplbs.{name}"), name
