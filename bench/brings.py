"""Writes the times that heat.py measured into the sentences of docs/bench/brings.md, which were
written by hand.

readme.py does the same for the times in README.md."""

import re
import textwrap

import numpy as np
from in_blender import ROOT

WIDTH = 128
BRINGS = ROOT / "docs/bench/brings.md"
ROWS = {  # of the table: the character
    "Cesium man": "cesium_man", "human with a game rig": "mh_game",
    "human with a face rig": "mh_base", "mannequin of 61 shells": "m2m_human",
    "horse": "m2m_horse", "T. rex": "q_trex", "hand (random poses)": "leap_hand",
    "knight with 139 parts (random poses)": "knight", "robot of rigid parts": "q_robot",
    "layered outfit (ranger)": "ranger", "Sintel": "sintel",
}  # fmt: skip
CLASSES = (  # vertices from, and in words
    (0, "below 1,000 vertices"), (1_000, "with 1,000 to 10,000 vertices"),
    (10_000, "above 10,000 vertices"),
)  # fmt: skip
SOURCE = "operator's run time in seconds on {processors} processors, from [heat.md](heat.md):"


def as_text(seconds):
    return f"{seconds:.1f}" if seconds >= 0.095 else f"{seconds:.2f}"


def classes(rows):
    """For each class with characters: its words, the smallest and largest seconds, and the median
    ratio to heat."""
    found = []
    ends = [low for low, _words in CLASSES[1:]] + [np.inf]
    for (low, words), high in zip(CLASSES, ends, strict=True):
        those = [row for row in rows if low <= row["vertices"] < high]
        whole = [row for row in those if not row["blender"]["unweighted"]]
        if whole:
            times = [row["ours"]["seconds"] for row in those]
            ratio = np.median([row["ours"]["seconds"] / row["blender"]["seconds"] for row in whole])
            spans = " to ".join(dict.fromkeys((as_text(min(times)), as_text(max(times)))))
            found.append((words, spans, ratio))
    return found


def pattern_of(mark):
    """Matches a paragraph or list item that begins with `mark`."""
    return rf"(?m)^{re.escape(mark)}.*(?:\n(?!- |\n).+)*"


def whole(text, mark):
    """The paragraph that begins with `mark`, in one line."""
    found = re.findall(pattern_of(mark), text)
    if len(found) != 1:
        raise ValueError(f"not one paragraph begins with {mark!r}")
    return " ".join(found[0].split())


def paragraph(text, mark, new):
    """The text, with the paragraph that begins with `mark` replaced by `new`."""
    whole(text, mark)
    indent = "  " if new.startswith("- ") else ""
    filled = textwrap.fill(
        new, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return re.sub(pattern_of(mark), lambda _found: filled, text)


def instead(text, pattern, new):
    """The text, with `new` in the only matching place."""
    changed, count = re.subn(pattern, lambda _found: new, text)
    if count != 1:
        raise ValueError(f"{count} places for {new!r}")
    return changed


def table_times(text, rows, _processors):
    """The text with an updated last column of the table in brings.md."""
    seconds = {row["character"]: row["ours"]["seconds"] for row in rows}
    for words, character in ROWS.items():
        lines = re.findall(rf"(?m)^\| {re.escape(words)} \|.*\| [\d.]+ s \|$", text)
        if len(lines) != 1 or character not in seconds:
            raise ValueError(f"not one line of the table is that of {words!r}")
        new = re.sub(r"[\d.]+ s \|$", f"{as_text(seconds[character])} s |", lines[0])
        text = text.replace(lines[0], new)
    return text


def source_of_times(text, _rows, processors):
    """The text with an updated source of the seconds in the table of brings.md."""
    mark = "Each cell lists the surface strain"
    source = instead(whole(text, mark), r"operator's run time in seconds[^:]*:",
                     SOURCE.format(processors=processors))  # fmt: skip
    return paragraph(text, mark, source)


def cost(text, rows, _processors):
    """The text with updated costs in brings.md."""
    points = [
        f"{words}, {'it' if place else 'Auto-weight'} takes {spans} seconds, "
        f"{ratio:.1f} times as long"
        + ("" if place else " as Blender's weights (medians, where Blender succeeds)")
        for place, (words, spans, ratio) in enumerate(classes(rows))
    ]
    line = " ".join(f"{each[0].upper()}{each[1:]}." for each in points)
    return paragraph(text, "- Below ", f"- {line}")


CHANGES = {BRINGS: (table_times, source_of_times, cost)}


def changed(text, changes, rows, processors):
    """The text after these changes. A change that no longer finds its place is reported and
    skipped."""
    for change in changes:
        try:
            text = change(text, rows, processors)
        except ValueError as error:
            print(f"by hand, please: {change.__doc__} ({error})", flush=True)
    return text


def fill(rows, processors):
    """Updates the page from the rows of heat.py."""
    rows = [row for row in rows if not row["levels"]]
    for file, changes in CHANGES.items():
        text = changed(file.read_text(encoding="utf-8"), changes, rows, processors)
        file.write_text(text, encoding="utf-8", newline="\n")
