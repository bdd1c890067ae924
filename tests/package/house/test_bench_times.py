"""Sentences with times that the benchmark writes into hand-written pages, and its arguments."""

import sys
from argparse import ArgumentTypeError
from importlib import import_module

import numpy as np
import pytest
from paths import ROOT

sys.path.append(str(ROOT / "bench"))
bench, brings, worst_inputs = map(import_module, ("bench", "brings", "worst_inputs"))


def row(character, vertices, ours, heat, unweighted=0):
    blender = {"seconds": heat, "unweighted": unweighted}
    return {
        "character": character, "levels": 0, "vertices": vertices, "ours": {"seconds": ours},
        "blender": blender,
    }  # fmt: skip


@pytest.fixture
def rows():
    names = [*brings.ROWS.values(), "generated"]
    found = [row(name, 2_000, 0.2, 0.1) for name in names]
    return [*found, row("small", 500, 0.04, 0.01), row("large", 50_000, 1.5, 3.0),
            row("failed", 60_000, 2.5, 0.1, 60_000)]  # fmt: skip


SUMMARY = """\
# Gains and costs

Each cell lists the surface strain in percent ([seen.md](seen.md)). The last column has the
operator's run time in seconds on 2 cores, from an earlier run:

| character | ours | |
|---|--:|--:|
{rows}
| dog | 11.8 / 36 | 9.5 s |

- First point.
- Below 5,000 vertices it takes 0.1 seconds,
  and more above.
- Last point.

The end.
"""


@pytest.fixture
def summary():
    lines = [f"| {words} | 11.8 / 36 | 0.5 s |" for words in brings.ROWS]
    return SUMMARY.format(rows="\n".join(lines))


def changes(file):
    return brings.CHANGES[file]


def test_times_come_into_the_summary(rows, summary):
    text = brings.changed(summary, changes(brings.BRINGS), rows, 2)
    assert text.count("| 0.2 s |") == len(brings.ROWS)
    assert (
        "| dog | 11.8 / 36 | 9.5 s |\n\n- First point.\n- Below 1,000 vertices, Auto-weight" in text
    )
    assert text.endswith("as long.\n- Last point.\n\nThe end.\n")
    assert max(map(len, text.splitlines())) <= brings.WIDTH
    words = " ".join(text.split())
    assert "operator's run time in seconds on 2 processors, from [heat.md](heat.md): |" in words
    assert (
        "Auto-weight takes 0.04 seconds, 4.0 times as long as Blender's weights (medians" in words
    )
    assert " With 1,000 to 10,000 vertices, it takes 0.2 seconds, 2.0 times as long." in words
    assert " Above 10,000 vertices, it takes 1.5 to 2.5 seconds, 0.5 times as long." in words
    assert brings.changed(text, changes(brings.BRINGS), rows, 2) == text


def test_a_sentence_that_is_gone_is_missed(rows, summary, capsys):
    """The missing sentence is reported, and the others are updated."""
    other = summary.replace("- Below ", "- Under ")
    text = brings.changed(other, changes(brings.BRINGS), rows, 2)
    assert "The text with updated costs" in capsys.readouterr().out
    assert "- Under 5,000 vertices it takes 0.1 seconds," in text
    assert text.count("| 0.2 s |") == len(brings.ROWS)


def test_parts_that_are_asked_for():
    assert bench.asked_parts("seen heat") == ["seen", "heat"]
    with pytest.raises(ArgumentTypeError, match="no nonsense"):
        bench.asked_parts("seen nonsense")


def test_a_share_is_locked_or_rigid():
    points = np.random.default_rng(0).normal(size=(1_000, 3)) * [1, 2, 1]
    locked = worst_inputs.locked(points, 0.25)
    assert locked.sum() == 250
    assert points[locked, 1].max() <= points[~locked, 1].min()
    bone = np.arange(1_000) % 4
    rows = (
        2 * np.arange(1_001),
        np.column_stack([bone, 4 + bone]).ravel(),
        np.tile([0.6, 0.4], 1_000),
    )
    parts = worst_inputs.hanging(rows, 1_000, 0.75)
    assert np.array_equal(parts, np.where(bone < 3, bone, -1))
