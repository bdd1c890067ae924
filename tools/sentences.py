#!/usr/bin/env python3
"""Draws sentences at random from everything that people read, for a review of the language.

The draw is the same for the same seed and tree. Each kind of text contributes the same number of
sentences: pages for users, pages for developers, decisions, benchmark pages, the interface, the
Python reference, heads and messages of the package, and heads of C files.

usage: sentences.py SEED [COUNT]     80 sentences, with file and line
"""

import ast
import random
import re
import sys
from functools import cache

from sources import ROOT
from words import C_TEXT, STARS

KINDS = {
    "start": (
        "README.md", "CHANGELOG.md", "docs/manual/first_minutes.md", "docs/manual/install.md",
    ),
    "manual": ("docs/manual/*.md",),
    "developers": (
        "CONTRIBUTING.md", "ARCHITECTURE.md", "SECURITY.md", "csrc/README.md", "docs/*.md",
        "examples/*.md",
    ),
    "decisions": ("docs/decisions/*.md",),
    "bench": ("docs/bench/*.md", "docs/live/*.md"),
    "interface": ("araplbs_addon/**/*.py",),
    "stubs": ("araplbs/**/*.pyi", "araplbs/api/*.py", "araplbs/blender/*.py"),
    "package": ("araplbs/**/*.py",),
    "heads": ("csrc/**/*.c", "csrc/**/*.h"),
}  # fmt: skip
LEAST_WORDS = 5
ENDS = re.compile(r"(?<=[.?!])[\"')*]*\s+(?=[\"'(*`\[]*[A-Z0-9{])")
MARK = re.compile(r"\A(?:[-*]|\d+\.)\s+")
BLOCKS = re.compile(r"\n\s*\n|\n\s*(?:[-*]|\d+\.)\s+")


def sentences_of_page(text):
    """Yield (line, sentence) of a page, and (line, cell) of its tables."""
    text = re.sub(r"(?ms)^```.*?^```", lambda code: "\n" * code[0].count("\n"), text)
    text = re.sub(r"(?m)^#+ .*$|^!\[.*$|^<!--.*$", "", text)
    text = re.sub(r"\]\([^)\s]*\)", "]", text)
    yield from _of_rows(text)
    yield from _of_prose(re.sub(r"(?m)^\s*\|.*$", "", text))


def _of_rows(text):
    for number, row in enumerate(text.splitlines(), 1):
        if row.lstrip().startswith("|"):
            for cell in row.strip(" |").split(" | "):
                yield from ((number, each) for each in ENDS.split(cell.strip()))


def _of_prose(text, line=1):
    start = 0
    for gap in [*BLOCKS.finditer(text), None]:
        end = gap.start() if gap else len(text)
        block = text[start:end]
        at = line + text.count("\n", 0, start)
        for each in ENDS.split(MARK.sub("", block.strip())):
            found = block.find(each)
            yield at + block.count("\n", 0, max(found, 0)), " ".join(each.split())
        start = gap.end() if gap else end


def sentences_of_python(text, with_docstrings=False):
    """Yield the sentences of the head and the strings of a file, and of all docstrings on
    request."""
    tree = ast.parse(text)
    skipped = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            skipped.update(id(part) for part in ast.walk(node) if part is not node)
        elif isinstance(node, ast.ClassDef | ast.FunctionDef) and not with_docstrings:
            skipped.update(id(each.value) for each in node.body if isinstance(each, ast.Expr))
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from _of_prose(node.value, node.lineno)
        elif isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else "{}" for part in node.values]
            yield from _of_prose("".join(parts), node.lineno)


def sentences_of_head(text):
    """Yield the sentences of the comment that opens a C file."""
    for found in C_TEXT.finditer(text):
        if found[0].startswith("/*") and text.count("\n", 0, found.start()) < 3:
            yield from _of_prose(STARS.sub("", found[0]).rstrip("*/ \n"))


def is_sentence(text):
    """Return whether a text is a sentence. Names, code and markup have fewer stand-alone words."""
    words = re.findall(r"(?<!\S)[(*`'\"]*[A-Za-z][a-z']+[)*`'\",;:.]*(?!\S)", text)
    return len(words) >= LEAST_WORDS and not re.match(r"[|%<.:]|usage:|>>>", text)


@cache
def sentences():
    """Return {kind: [(place, sentence)]}, with each file in the first kind that names it."""
    read, found = set(), {}
    for kind, patterns in KINDS.items():
        found[kind] = []
        for path in sorted({path for pattern in patterns for path in ROOT.glob(pattern)}):
            if path in read or "languages" in path.parts:
                continue
            read.add(path)
            where, text = path.relative_to(ROOT).as_posix(), path.read_text("utf-8")
            if path.suffix in {".py", ".pyi"}:
                every = sentences_of_python(text, with_docstrings=kind == "stubs")
            else:
                every = (sentences_of_page if path.suffix == ".md" else sentences_of_head)(text)
            for line, text in every:
                if is_sentence(text):
                    found[kind].append((f"{where}:{line}", text))
    return found


def draw(seed, count=80):
    """Return [(kind, place, sentence)], `count` of them, from the kinds in turn."""
    chance = random.Random(seed)
    every = {kind: sorted(set(texts)) for kind, texts in sentences().items()}
    for texts in every.values():
        chance.shuffle(texts)
    kinds = list(every)
    return [
        (kinds[i % len(kinds)], *every[kinds[i % len(kinds)]][i // len(kinds)])
        for i in range(count)
    ]


def main(seed, count="80"):
    for number, (kind, place, text) in enumerate(draw(int(seed), int(count)), 1):
        print(f"{number:3} {kind:10} {place}\n    {text}")


if __name__ == "__main__":
    main(*sys.argv[1:])
