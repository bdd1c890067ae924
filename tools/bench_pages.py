#!/usr/bin/env python3
"""Which pages of docs/bench are of an older engine than today's.

  tools/bench_pages.py             a line for each page, the old ones first
  tools/bench_pages.py --release   exits with 1 if an old page is not in KNOWN_OLD

Every page names the engine that made it: twelve digits of a digest over the code of csrc/ and of
the package araplbs, and the commit. Comments, docstrings and blank lines do not count. A page that
is old may still be right, so a commit that changes the engine does not have to make all pages
again. A release has to know which pages are old: each is made again by the command that is printed
with it, or KNOWN_OLD gives the reason why not. EQUAL lists changes of the code that change neither
weights nor times: a page made before such a change is not old.
"""

import argparse
import ast
import hashlib
import re
import subprocess
import sys

from sources import ROOT

DOCS = ROOT / "docs/bench"
BY_HAND = {"README", "brings"}  # an index, and a summary of other pages
CODE = {"csrc": (".c", ".h", ".def"), "araplbs": (".py",)}
ENGINE = re.compile(r"engine\s+`([0-9a-f]{12})`")
ABSENT = "-"
# Why a release may have pages of an older engine: a line each, gone as soon as the page is made
# again.
OTHER = "a feature of its own; the default weights have changed since, which it does not measure"
KNOWN_OLD = {
    **dict.fromkeys(("bake", "deformers", "fewer", "only_new", "poses", "reach"), OTHER),
    **dict.fromkeys(("restore", "shapes", "spines", "travel", "wires"), OTHER),
    "farm": "memory and throughput of many files, which the engine hardly decides",
    "reference": "a free elastic surface, compared with weights of 22 November",
    "generated": "needs files that cannot be fetched again",
}
# Changes that keep every page: {digest before: (digest after, how this was shown)}.
EQUAL = {}
# Folders that a part reads and that are not in the tree; tests/bench/bench.py describes them.
FOLDERS = {"shapes": "MPFB", "generated": "GENERATED", "wild": "WILD"}

C_COMMENT = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)


def c_code(text):
    """Without comments and layout."""
    kept = C_COMMENT.sub(lambda m: m.group() if m.group().startswith('"') else " ", text)
    return " ".join(kept.split())


def python_code(text):
    """Without docstrings, blank lines and lines of comments."""
    lines = [line.rstrip() for line in text.splitlines()]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            lines[node.lineno - 1 : node.end_lineno] = [""] * (node.end_lineno - node.lineno + 1)
    return "\n".join(line for line in lines if line and not line.lstrip().startswith("#"))


def digest_of(files):
    """Of {path: text}."""
    result = hashlib.sha256()
    for path in sorted(files):
        code = python_code if path.endswith(".py") else c_code
        result.update(f"{path}\n{code(files[path])}\n".encode())
    return result.hexdigest()[:12]


def is_code(path):
    return any(
        path.startswith(f"{folder}/") and path.endswith(ends) for folder, ends in CODE.items()
    )


def digest(root=ROOT):
    """Digest of the engine in a folder."""
    paths = [path for folder in CODE for path in (root / folder).rglob("*") if path.is_file()]
    names = {path.relative_to(root).as_posix(): path for path in paths}
    return digest_of({n: p.read_text("utf-8") for n, p in names.items() if is_code(n)})


def commit():
    """(short name, date) of the checkout, or nothing outside git."""
    done = subprocess.run(
        ["git", "-C", ROOT, "log", "-1", "--format=%h %cs"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout.split() if done.returncode == 0 else []


def stamp():
    """The engine, as a page states it."""
    return f"engine `{digest()}`" + "".join(f", {each}" for each in commit())


def pages(folder=DOCS):
    """{page: digest of the engine that made it, or ABSENT}"""
    found = {}
    for path in sorted(folder.glob("*.md")):
        if path.stem not in BY_HAND:
            match = ENGINE.search(path.read_text("utf-8"))
            found[path.stem] = match.group(1) if match else ABSENT
    return found


def latest(engine, equal=None):
    """The newest engine that EQUAL declares equal to this one."""
    equal = EQUAL if equal is None else equal
    for _ in equal:
        engine = equal.get(engine, (engine,))[0]
    return engine


def old_pages(folder=DOCS, today=None, equal=None):
    today = today or digest()
    found = pages(folder)
    return {page: engine for page, engine in found.items() if latest(engine, equal) != today}


def command(page):
    """The command that makes a page again."""
    variable = FOLDERS.get(page)
    return f"make bench PART={page}" + (f" {variable}=FOLDER" if variable else "")


def broken(folder=DOCS, today=None, known=None):
    """[(page, reason)] of the pages that a release refuses."""
    known = KNOWN_OLD if known is None else known
    found, old = [], old_pages(folder, today)
    for page, engine in old.items():
        if engine == ABSENT:
            found.append((page, f"does not say which engine has made it: {command(page)}"))
        elif page not in known:
            found.append((page, f"is of engine {engine}: {command(page)}"))
    for page in known:
        if page not in old:
            found.append((page, "is in KNOWN_OLD, but the page is new or missing: remove the line"))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--release", action="store_true", help="exit with 1 for an unknown old one")
    options = parser.parse_args()
    today, every = digest(), pages()
    old = {page: engine for page, engine in every.items() if engine != today}
    print(f"engine {today}: {len(old)} of {len(every)} pages are older")
    for page in [*old, *(page for page in every if page not in old)]:
        print(f"{page:12} {every[page]:12} {KNOWN_OLD.get(page, '') if page in old else 'today'}")
    if not options.release:
        return 0
    found = broken()
    for page, what in found:
        print(f"docs/bench/{page}.md {what}")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
