"""Counts words that slip in where a sentence is thought in another language, and fails where there
are more of them than CEILINGS allow. They only fall: whoever rewrites some lowers the number.

usage: words.py [WORD]     with a word: where it is, area:file:line: text
"""

import io
import re
import sys
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORDS = {
    "the like": re.compile(r"\bthe\s+like\b", re.IGNORECASE),
    "is none": re.compile(r"\b(?:is|are)\s+none\b"),
    "shall": re.compile(r"\bshall\b", re.IGNORECASE),
    "told": re.compile(r"\b(?:told|tells)\b", re.IGNORECASE),
}
# In comments, strings and stubs of the engine; in those of everything else, and in the documents.
CEILINGS = {
    "csrc": {"the like": 0, "is none": 0, "shall": 0, "told": 0},
    "rest": {"the like": 0, "is none": 2, "shall": 0, "told": 2},
}
C_TEXT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"', re.DOTALL)
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.DOTALL | re.MULTILINE)
EXPRESSION = re.compile(r"\{[^{}\n]*\}")  # in a string: names of variables
SKIPPED = {"LICENSE", "words.py"}


def texts(path):
    """(line, text) of all that is written for people in a file."""
    source = path.read_text("utf-8")
    if path.suffix == ".md":
        yield 1, CODE.sub(lambda code: "\n" * code[0].count("\n"), source)
    elif path.suffix in {".py", ".pyi"}:
        yield from _python_texts(source, path.parts[len(ROOT.parts)] == "tests")
    elif path.suffix == ".sh":
        for number, line in enumerate(source.splitlines(), 1):
            if line.lstrip().startswith("#"):
                yield number, line
    else:
        for found in C_TEXT.finditer(source):
            yield source.count("\n", 0, found.start()) + 1, found[0]


def _python_texts(source, only_docstrings):
    """Comments side by side are one text. Strings of tests are mostly data."""
    comments = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            if not comments or comments[-1][0] + len(comments[-1][1]) != token.start[0]:
                comments.append((token.start[0], []))
            comments[-1][1].append(token.string.lstrip("# "))
        elif token.type in STRINGS and (not only_docstrings or token.string.startswith('"""')):
            yield token.start[0], EXPRESSION.sub("", token.string)
    for line, lines in comments:
        yield line, "\n".join(lines)


STRINGS = {tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}


def files():
    """(area, path) of everything that is looked at."""
    for folder in ("csrc", "araplbs_addon", "tests", "tools", "demo", "docs", "examples"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in {".py", ".pyi", ".c", ".h", ".def", ".md", ".sh"}:
                yield "csrc" if folder == "csrc" else "rest", path
    for path in sorted([*ROOT.glob("*.md"), *ROOT.glob("*.py")]):
        yield "rest", path


def find(area_files=None):
    """{(area, word): [place]}"""
    found = {(area, word): [] for area in CEILINGS for word in WORDS}
    for area, path in area_files or files():
        if path.name in SKIPPED:
            continue
        for line, text in texts(path):
            for word, pattern in WORDS.items():
                for each in pattern.finditer(text):
                    at = line + text.count("\n", 0, each.start())
                    around = text[max(0, each.start() - 60) : each.end() + 40].replace("\n", " ")
                    found[area, word].append(f"{path.relative_to(ROOT)}:{at}: {around}")
    return found


def main(wanted=None):
    bad, found = False, find()
    for (area, word), places in found.items():
        if word == wanted:
            print("\n".join(f"{area}: {place}" for place in places))
        elif wanted is None:
            ceiling = CEILINGS[area][word]
            print(f"{area}: {word}: {len(places)} (at most {ceiling})")
            if len(places) > ceiling:
                bad = True
                print("\n".join(places))
    return bad


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
