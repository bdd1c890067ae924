"""Tests the sheet of a character: its pictures, names and findings, and the letters in it."""

import araplbs
import numpy as np
import pytest
from araplbs.character.mesh import Mesh
from araplbs.character.problem import Problem
from araplbs.features.check.findings import Finding
from araplbs.features.check.sheet import checked_sheet, marks_of
from araplbs.model.options import Options
from araplbs.reports.lettering import LETTERS, STROKES, draw_lines, letter_width, write
from araplbs.reports.sheet import LARGE, MARKS, SMALL, Mark, Shown, sheet
from test_worst_poses import three_bones, tube


@pytest.fixture
def problem():
    vertices, triangles, _rows = tube([1, 2])
    mesh = Mesh("tube", vertices, triangles, np.zeros((0, 2), np.int64), np.eye(4))
    return Problem([mesh], three_bones())


def reddish(pixels):
    """The number of pixels that are red, as where the surface is torn."""
    red, green = pixels[..., 0].astype(int), pixels[..., 1].astype(int)
    return int(((red - green > 50) & (green < 70)).sum())


def test_before_and_after(problem):
    """Weights that tear a tube are redder than smooth ones, and equal weights look equal."""
    options = Options(pose_count=4)
    smooth = araplbs.baseline_weights(
        *(problem.arguments[k] for k in ("vertices", "triangles")),
        *(problem.arguments[k] for k in ("bone_heads", "bone_tails", "bone_parents")),
    )
    rows = tube([1, 2])[2]
    smooth = type(rows)(*smooth)
    sets = [Shown("before", rows), Shown("after", smooth)]
    found = sheet("tube", problem, sets, options)
    height, width, three = found.shape
    assert three == 3 and width > 4 * LARGE[1]
    assert height > 2 * 2 * LARGE[2], "two bands of two pictures"
    top = 42 + 18
    before = found[top : top + LARGE[2]]
    after = found[top + LARGE[2] + 4 : top + 2 * LARGE[2]]
    assert reddish(before) > 500 > reddish(after)
    same = sheet("tube", problem, [Shown("", rows), Shown("", rows)], options)
    shift = LARGE[2] + 4
    assert (same[top : top + LARGE[2]] == same[top + shift : top + shift + LARGE[2]]).all()


def test_many_sets_are_small(problem):
    rows = tube([1, 2])[2]
    sets = [Shown(name, rows) for name in ("one", "two", "a name that is too long to be shown")]
    found = sheet("tube", problem, sets, Options(pose_count=4))
    assert found.shape[1] > 7 * SMALL[1] and found.shape[0] < 4 * SMALL[2]


def test_findings_are_marked_and_listed(problem):
    rows = tube([1, 2])[2]
    plain = sheet("tube", problem, [Shown("", rows)], Options(pose_count=4))
    mark = Mark("high", "Stretch b", "Stretch: 3 vertices at 'b'", np.arange(60))
    found = sheet("tube", problem, [Shown("", rows, [mark] * 12)], Options(pose_count=4))
    red = np.array(MARKS["high"])
    lines = found[-11 * 18 :, :, :3]
    assert (np.abs(lines - red.astype(int)).sum(axis=2) < 12).sum() > 10 * 20, "in color"
    assert reddish(found[60 : 60 + LARGE[2], : LARGE[1]]) > 500
    assert found.shape[0] > plain.shape[0]
    none = sheet("tube", problem, [Shown("", rows, [])], Options(pose_count=4))
    assert found.shape[0] - none.shape[0] == 10 * 18


def test_marks_of_findings(problem):
    """Faults of the mesh itself are not marked, because weights cannot mend them."""
    found = [
        Finding("STRETCH", 0.9, 0, 1, np.array([3, 4]), 2.0, "words"),
        Finding("UNWEIGHTED", 0.4, 0, -1, np.array([7]), 1.0, "more"),
        Finding("ISLANDS", 0.9, 0),
    ]
    stretch, bare = marks_of(found, problem)
    assert (stretch.level, stretch.name, stretch.words) == ("high", "Stretch b", "Stretch: words")
    assert stretch.vertices.tolist() == [3, 4]
    assert (bare.level, bare.name) == ("medium", "Unweighted")


def test_any_direction_is_up(problem):
    """A picture is the same if the character and `up` are turned together."""
    rows = tube([1, 2])[2]
    turn = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])  # Z becomes Y
    skeleton = three_bones()
    skeleton.heads, skeleton.tails = skeleton.heads @ turn.T, skeleton.tails @ turn.T
    vertices, triangles = (problem.arguments[k] for k in ("vertices", "triangles"))
    mesh = Mesh("tube", vertices @ turn.T, triangles, np.zeros((0, 2), np.int64), np.eye(4))
    sets = [Shown("", rows)]
    one = sheet("", problem, sets, Options(pose_count=4))
    two = sheet("", Problem([mesh], skeleton), sets, Options(pose_count=4), turn @ (0, 0, 1))
    rest = slice(60, 60 + LARGE[2])
    assert one.shape == two.shape and reddish(one[rest]) and reddish(two[rest])


def test_nothing_to_draw_and_cancelled(problem):
    rows = tube([1, 2])[2]
    with pytest.raises(araplbs.Cancelled):
        checked_sheet("", problem, [("", rows)], Options(), progress=lambda *_at: False)
    calls = []
    checked_sheet("", problem, [("", rows)], Options(), progress=lambda *at: calls.append(at[1]))
    assert calls == sorted(calls) and calls[0] >= 0 and calls[-1] <= 1
    vertices = problem.arguments["vertices"]
    none = np.zeros((0, 3), np.int64)
    mesh = Mesh("points", vertices, none, np.zeros((0, 2), np.int64), np.eye(4))
    assert sheet("", Problem([mesh], three_bones()), [Shown("", rows)], Options()) is None


def test_letters():
    """Every letter of ASCII has its own look, and others are boxes."""
    assert set(STROKES) == {chr(code) for code in range(33, 127)} and len(LETTERS) > 1000
    looks = {}
    for letter in [*STROKES, "é"]:
        canvas = np.full((24, 16, 3), 255, np.uint8)
        write(canvas, letter, 3, 3, 10)
        assert canvas.min() < 120, letter
        looks.setdefault(canvas.tobytes(), letter)
    assert len(looks) == len(STROKES) + 1
    canvas = np.full((24, 16, 3), 255, np.uint8)
    write(canvas, "W" * 5, -8, -6, 10)  # what lies outside is cut
    write(canvas, "W", 12, 20, 10)
    draw_lines(canvas, np.array([[-9.0, -9], [30, 40]]), (0, 0, 0))
    assert letter_width(20) > letter_width(10) > 5 and canvas.min() < 60
