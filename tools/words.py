"""Counts phrases that read like a translation, and fails if an area has more of them than its
ceiling allows.

Ten RULES are counted in five areas of the tree, in comments, strings and pages. A rule is a pattern
that finds most of the intended phrases, and a few sentences that are fine. Four older phrases,
WORDS, have been removed almost completely and must not return. Ceilings may only be lowered, by
anyone who rewrites some of the phrases.

usage: words.py             prints the table, and every place in an area above its ceiling
       words.py RULE        prints the places of a rule ("what", "where"...), area: file:line: text
       words.py PATH        prints every place in a file or folder
"""

import io
import re
import sys
import tokenize
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# A sentence or a part of one begins: after a mark, an empty line or a bullet. Headings and heads of
# tables are labels.
BEGINS = r"(?:\A[^\w#]*|[.;:,]\s+|\n\s*\n[^\w#|]*|\n\s*(?:[-*]+|\d+\.)\s+[^\w#|]*)"
RULES = {  # name: (what to write, pattern)
    "what": (
        "start with a noun, not with a headless what",
        BEGINS + r"[Ww]hat (?:is|are|was|has|does|it|they|a|the|lies|stays)\b(?![^.;|]*\?)",
    ),
    "where": (
        "if or when for conditions; where for places",
        r"[.;:,]\s+[Ww]here (?:it|they|there|no|that|a|the)\b",
    ),
    "fails without": (
        "fails on out-of-memory",
        r"\b[Ff]ails? (?:only )?(?:without|for want of) memory\b",
    ),
    "beside": ("next to, compared with, as well as, apart from", r"\b[Bb]eside\b"),
    "but for": ("except", r"\bbut for\b"),
    "bare": (
        "those what? the same what?",
        r"(?:\A\W*|[.;|]\s+)(?:Those\b(?= \W|\s*(?:of|that|who|which|are|is|with|in|on|at)\b)"
        r"|The same\b(?!\s+(?:[a-z]+ly\s+)?[a-z]{3,})|Of (?:these|those|them|the|all)\b)",
    ),
    "meanwhile": ("say since when: since it was read", r"\bmeanwhile\b"),
    "as it is": ("unchanged, in place", r"\bas (?:it|they) (?:is|are|was|were)\b"),
    "is no": (
        "is not a; there is no stays",
        r"(?<!\bthere )(?<!\bThere )\b(?:is|are|was|were) no (?!longer\b|more\b|\w+er\b)\w+",
    ),
    "speaks": (
        "things do not speak or hear; no whatever, anew, lest, likewise",
        r"\b(?:speaks?|hears?|heard|listens?|anew|lest|whatever|whichever|likewise|alike)\b",
    ),
}
WORDS = {  # no more than this many in csrc, and in everything else
    "the like": (r"(?i)\bthe\s+like\b", 0, 0),
    "is none": (r"\b(?:is|are)\s+none\b", 0, 2),
    "shall": (r"(?i)\bshall\b", 0, 0),
    "told": (r"(?i)\b(?:told|tells)\b", 0, 2),
}
AREAS = {  # of the ten rules together: at most so many; the first folder that fits
    "csrc": 14,
    "package": 10,
    "add-on": 8,
    "docs": 12,
    "tests": 55,
}
FOLDERS = (
    ("csrc", "csrc"), ("araplbs", "package"), ("araplbs_addon", "add-on"), ("docs", "docs"),
    ("tests", "tests"), ("bench", "tests"), ("tools", "tests"), ("demo", "tests"),
    ("examples", "docs"),
)  # fmt: skip
C_TEXT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"', re.DOTALL)
STARS = re.compile(r"(?m)^(\s*)(?:/?\*+/?|//+)")  # in a comment in C, at the beginnings of lines
CODE = re.compile(  # in a page: code, addresses of links, headings
    r"^```[\s\S]*?^```|`[^`\n]*`|\]\([^)\s]*\)|^#+ .*$", re.MULTILINE
)
EXPRESSION = re.compile(r"\{[^{}\n]*\}")  # in a string: names of variables
STRINGS = {tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
SUFFIXES = {".py", ".pyi", ".c", ".h", ".def", ".md", ".sh"}
SKIPPED = {"LICENSE", "words.py"}


def texts(path):
    """Yield (line, text) of all text for people in a file."""
    source = path.read_text("utf-8")
    if path.suffix == ".md":
        yield 1, CODE.sub(lambda code: "`" + "\n" * code[0].count("\n"), source)
    elif path.suffix in {".py", ".pyi"}:
        yield from _python_texts(source, path.parts[len(ROOT.parts)] in {"bench", "tests"})
    elif path.suffix == ".sh":
        for number, line in enumerate(source.splitlines(), 1):
            if line.lstrip().startswith("#"):
                yield number, line
    else:
        for found in C_TEXT.finditer(source):
            text = STARS.sub(lambda mark: mark[1] + " " * (len(mark[0]) - len(mark[1])), found[0])
            yield source.count("\n", 0, found.start()) + 1, text


def _python_texts(source, only_docstrings):
    """Yield the texts of a Python file. Adjacent comments form one text. Strings in tests are
    mostly data."""
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


def files():
    """Yield (area, path) of every checked file, each once."""
    seen = set()
    for folder, area in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in SUFFIXES and path not in seen:
                seen.add(path)
                yield area, path
    for path in sorted([*ROOT.glob("*.md"), *ROOT.glob("*.py")]):
        yield "docs" if path.suffix == ".md" else "tests", path


@cache
def patterns():
    words = {name: pattern for name, (pattern, *_most) in WORDS.items()}
    rules = {name: pattern for name, (_write, pattern) in RULES.items()}
    return {name: re.compile(pattern) for name, pattern in (words | rules).items()}


def find(area_files=None):
    """Return {(area, rule or word): [place]}."""
    found = {(area, name): [] for area in AREAS for name in patterns()}
    for area, path in area_files or files():
        if path.name in SKIPPED:
            continue
        for line, text in texts(path):
            for name, pattern in patterns().items():
                for each in pattern.finditer(text):
                    at = line + text.count("\n", 0, each.end())
                    around = text[max(0, each.start() - 60) : each.end() + 50]
                    around = " ".join(around.split())
                    found[area, name].append(f"{path.relative_to(ROOT)}:{at}: {around}")
    return found


def table(found):
    """Return the number of hits of each rule in each area and in total."""
    yield "".join(f"{head:>10}" for head in ("", *AREAS, "all"))
    totals = dict.fromkeys(AREAS, 0)
    for name, (write, _pattern) in RULES.items():
        row = {area: len(found[area, name]) for area in AREAS}
        totals = {area: totals[area] + row[area] for area in AREAS}
        yield (
            "".join(f"{n:>10}" for n in (name[:9], *row.values(), sum(row.values()))) + f"  {write}"
        )
    yield "".join(f"{n:>10}" for n in ("all", *totals.values(), sum(totals.values())))
    yield "".join(f"{n:>10}" for n in ("at most", *AREAS.values(), sum(AREAS.values())))


def main(wanted=None):
    found = find()
    if wanted:
        for (area, name), places in found.items():
            for place in places:
                if wanted == name or place.startswith(wanted):
                    print(f"{area}: {name}: {place}")
        return False
    print("\n".join(table(found)))
    too_many = []
    for area, most in AREAS.items():
        places = [place for name in RULES for place in found[area, name]]
        if len(places) > most:
            too_many += [f"{area}: {len(places)} hits of the ten rules, at most {most}:", *places]
    for name, (_pattern, in_csrc, in_rest) in WORDS.items():
        for areas, most in (({"csrc"}, in_csrc), (AREAS.keys() - {"csrc"}, in_rest)):
            places = [place for area in AREAS if area in areas for place in found[area, name]]
            if len(places) > most:
                too_many += [f"{name}: {len(places)}, at most {most}:", *places]
    print("\n".join(too_many))
    return bool(too_many)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
