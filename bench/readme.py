"""Updates the numbers of README.md, each from a page of docs/bench that a benchmark writes.

A claim is a piece of README.md that contains a number, together with the source of this number.
`fill` writes the numbers of the pages into README.md; tests/package/house/test_readme.py fails if
the numbers differ or if README.md contains a number that no claim covers.

readme.py     updates README.md from docs/bench"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README, BENCH = ROOT / "README.md", ROOT / "docs/bench"
LEFT_OUT = {"generated", "fox_soup", "human_game_engine"}  # of heat.md: not judged in seen.md
HEAT, ARTIST, OURS = 0, 1, 2  # columns and parts of cells of seen.md
HARDLY = 0.95  # of the stretch of heat, and more: little gained


def rows(page, head):
    """Cells of the table below the line that begins with `head`, by their first cell."""
    lines = (BENCH / page).read_text(encoding="utf-8").split("\n")
    start = next(k for k, line in enumerate(lines) if line.startswith(head))
    table = {}
    for line in lines[start:]:
        if line.startswith("|"):
            first, *cells = [cell.strip() for cell in line.strip("|").split("|")]
            table[first] = cells
        elif table:
            break
    return {first: cells for first, cells in table.items() if not set(first) <= set(":- ")}


def number(text):
    return float(text.strip("%* ").replace(",", ""))


def parts(cell):
    """The parts of a cell "a / b / ...": numbers, or None for a dash."""
    return [None if part.strip() == "-" else number(part) for part in cell.split(" / ")]


class Pages:
    """The data of the pages that README.md uses."""

    def __init__(self):
        self.means = rows("seen.md", "## Means")
        self.random = rows("seen.md", "## On random poses")
        self.animation = rows("seen.md", "## On animations")
        self.random.pop("character"), self.animation.pop("character")
        self.times = rows("heat.md", "## All")
        self.times.pop("character")
        self.ratios = rows("heat.md", "| vertices")

    def mean(self, name, column=OURS):
        return number(self.means[name][column])

    def stretch(self, other):
        """The stretch relative to other weights, in random poses and in animations."""
        return [two(self.mean(f"area against {other}, {kind}")) for kind in ("random", "animation")]

    def shares(self):
        """Stretch in animations relative to heat's, by character, where heat succeeds."""
        cells = {name: parts(cells[0]) for name, cells in self.animation.items()}
        return {name: c[OURS] / c[HEAT] for name, c in cells.items() if c[HEAT] is not None}

    def heat_succeeds(self, table):
        return sum(parts(cells[0])[HEAT] is not None for cells in table.values())

    def judged(self):
        """(vertices, seconds) of the characters of seen.md."""
        return [
            (number(cells[0]), number(cells[3]))
            for name, cells in self.times.items()
            if " x4" not in name and name not in LEFT_OUT
        ]

    def below_a_second(self):
        """ "all 23 of our" or "19 of our 23" characters of seen.md."""
        judged = self.judged()
        fast = sum(seconds < 1 for _vertices, seconds in judged)
        return f"all {fast} of our" if fast == len(judged) else f"{fast} of our {len(judged)}"

    def ratio(self, vertices):
        return f"{number(self.ratios[vertices][1]):.1f}"

    def fall_short(self, page):
        """(the files that fall short, all files)"""
        text = (BENCH / page).read_text(encoding="utf-8")
        return re.search(r"^(\d+) of (\d+) fall short", text, re.MULTILINE).groups()


def two(value):
    return f"{value:.2f}"


def less(value):
    """The stretch reduction in percent, as text, for the relative stretch `value`."""
    return f"{100 * (1 - value):.0f}"


def count(value):
    return f"{int(value):,}"


N = r"([\d.,]*\d)"
SHARE = r"(all \d+ of our|\d+ of our \d+)"
STRETCH = rf"\| {N} \| {N} \|"
CLAIMS = (  # (pattern of a piece of README, with a group for each number; these by the pages)
    (
        rf"stretches about {N} % less in random poses and {N} % less in animations than with "
        rf"Blender's automatic weights",
        lambda p: (
            less(p.mean("area against heat, random")), less(p.mean("area against heat, animation")),
        ),
    ),
    (
        rf": {N} means {N} % less stretch",
        lambda p: (
            two(p.mean("area against heat, random")), less(p.mean("area against heat, random")),
        ),
    ),
    *(
        (
            rf"\| {weights} {stretch} {N} \| {N} % \| {N} \| {N} % \|",
            lambda p, column=column, ways=ways: (
                *ways(p), two(p.mean("L1, painted", column)),
                f"{p.mean('over, painted %', column):.1f}",
                two(p.mean("median drift, random", column)),
                f"{p.mean('astray, random %', column):.0f}",
            ),
        )
        for weights, stretch, column, ways in (
            ("Auto-weight", r"\| 1.00 \| 1.00 \|", OURS, lambda _p: ()),
            ("Blender's automatic weights", STRETCH, HEAT, lambda p: p.stretch("heat")),
        )
    ),
    (
        rf"\| the artists' own weights {STRETCH} - \| {N} % \| - \| {N} % \|",
        lambda p: (
            *p.stretch("artist"), f"{p.mean('over, painted %', ARTIST):.1f}",
            f"{p.mean('astray, random %', ARTIST):.0f}",
        ),
    ),
    (
        rf"omits {N} of the {N} characters",
        lambda p: (len(p.random) - p.heat_succeeds(p.random), len(p.random)),
    ),
    (
        rf"less than a second on {SHARE} test characters, which have {N} to {N} vertices",
        lambda p: (
            p.below_a_second(), count(min(p.judged())[0]), count(max(p.judged())[0]),
        ),
    ),
    (
        rf"takes {N} times as long below 1,000 vertices, {N} times from 1,000 to 10,000, and {N} "
        rf"times above 10,000",
        lambda p: [p.ratio(v) for v in ("below 1,000", "1,000 to 10,000", "above 10,000")],
    ),
    (
        rf"bodies lose {N} % of their volume, against {N} %",
        lambda p: (
            f"{-p.mean('volume, random %'):.1f}", f"{-p.mean('volume, random %', HEAT):.1f}",
        ),
    ),
    (
        rf"gain over Blender's weights is {N} % or less for {N} of {N} characters, {N} of which",
        lambda p: (
            less(HARDLY), sum(share >= HARDLY for share in p.shares().values()), len(p.shares()),
            sum(share > 1 for share in p.shares().values()),
        ),
    ),
    (
        rf"{N} of {N} production rigs and {N} of {N} files of public repositories fall short",
        lambda p: (*p.fall_short("rigs.md"), *p.fall_short("wild.md")),
    ),
)  # fmt: skip


def flat(pattern):
    """The pattern with any white space in place of a space, because README.md breaks its lines
    anywhere."""
    return re.compile(pattern.replace(" ", r"\s+"))


def differences(text, pages=None):
    """[(span of a number in the text, the number according to the pages)]; ValueError if a claim
    does not occur exactly once."""
    pages = pages or Pages()
    found = []
    for pattern, values in CLAIMS:
        places = list(flat(pattern).finditer(text))
        if len(places) != 1:
            raise ValueError(f"README has {len(places)} places for: {pattern}")
        for group, value in enumerate(values(pages), 1):
            found.append((places[0].span(group), str(value)))
    return found


def filled(text, pages=None):
    """The text with the numbers of the pages."""
    for (start, end), value in sorted(differences(text, pages), reverse=True):
        text = text[:start] + value + text[end:]
    return text


def fill():
    text = README.read_text(encoding="utf-8")
    README.write_text(filled(text), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    sys.exit(fill())
