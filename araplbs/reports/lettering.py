"""Draws lines and text into pictures. Both are strokes with round ends, so no font file is needed.

A letter has a grid of 5 x 9 points: capitals reach from row 0 to row 6, small letters begin at row
2, and descenders end at row 8. A stroke covers a pixel by its distance from the center of the
pixel, so letters are smooth at any size. A letter that is not ASCII becomes a box."""

import math
from functools import cache
from typing import TypeAlias

import numpy as np

from ..base.arrays import Array, Floats

Color: TypeAlias = tuple[int, int, int]

# Letters with their strokes, which list columns and rows of points. Two spaces end a letter.
LETTERS = r"""
A 062046 1434  B 00063645443303 3342413000  C 4130100105163645  D 00062644422000  E 40000646 0333
F 400006 0333  G 41301001051636454323  H 0006 4046 0343  I 1030 2026 1636  J 4045361605
K 0006 400346  L 000646  M 0600234046  N 06004640  O 103041453616050110  P 06003041423303
Q 103041453616050110 2446  R 06003041423303 2346  S 413010010213334445361605  T 0040 2026
U 000516364540  V 002640  W 0016233640  X 0046 4006  Y 002340 2326  Z 00400646
0 103041453616050110 1432  1 112026 1636  2 01103041420646  3 0110304142334445361605 1333
4 36300444  5 400002324345361605  6 413010010516364544331304  7 004016
8 13020110304142331304051636454433  9 051636454130100102133342  a 12324346 441405163645
b 00063645433202  c 4332120305163645  d 40461605031242  e 044443321203051646  f 40302126 0232
g 421203051646 4247381807  h 0006 02324346  i 20 122226 1636  j 30 1232372818  k 0006 420446
l 102026 1636  m 0602122326 23324346  n 0602324346  o 123243453616050312  p 08023243453606
q 48421203051646  r 0602 042242  s 4212031434453606  t 10152636 0232  u 0205164642  v 022642
w 0216233642  x 0246 4206  y 0226 421808  z 02420646  ! 2024 26  " 1012 3032
# 1016 3036 0242 0444  $ 4111021333443505 2026  % 4006 0010110100 3545463635
& 4612112031320405162644  ' 2022  ( 30121436  ) 10323416  * 2125 1234 3214  + 2125 0343  , 252617
- 1434  . 26  / 4006  : 23 26  ; 23 252617  < 410345  = 0242 0444  > 014305  ? 01103041422324 26
@ 4536160501103041443432232434  [ 30101636  \ 0046  ] 10303616  ^ 022042  _ 0747  ` 1021
{ 30212213242536  | 2027  } 10212233242516  ~ 03123342
"""
STROKES = {
    letter[0]: letter[2:].split() for letter in LETTERS.strip().replace("\n", "  ").split("  ")
}
NO_LETTER = ["0040460600"]
NARROW = 0.82  # width of a column, relative to the height of a row
COLUMNS, ROWS = 5.4, 6  # of a letter with its distance from the next, and of a capital
THICK = 0.14  # of a stroke, as a share of the height of a capital


def letter_width(size: float) -> int:
    """Pixels from one letter to the next. size: the height of a capital."""
    return math.ceil(COLUMNS * NARROW * size / ROWS)


@cache
def _letter(letter: str, size: float) -> tuple[Floats, int]:
    """Returns (coverage of the pixels of a letter, pixels from its upper left corner to its
    grid)."""
    unit, margin = size / ROWS, 2
    points = [
        [(int(stroke[k]), int(stroke[k + 1])) for k in range(0, len(stroke), 2)]
        for stroke in STROKES.get(letter, NO_LETTER)
    ]
    lines = [(*a, *b) for each in points for a, b in zip(each, each[1:] or each, strict=False)]
    segments = np.array(lines, float) * unit * np.array([NARROW, 1, NARROW, 1]) + margin
    shape = math.ceil(8 * unit) + 2 * margin + 1, letter_width(size) + 2 * margin
    return _coverage(segments, max(THICK * size, 1.2), shape), margin


def _coverage(segments: Floats, width: float, shape: tuple[int, int]) -> Floats:
    """How much of each pixel these segments (k, 4) cover, (height, width), 0 to 1."""
    y, x = np.mgrid[: shape[0], : shape[1]][:, :, :, None] + 0.5
    start, way = segments[:, :2], segments[:, 2:] - segments[:, :2]
    length = np.maximum((way**2).sum(axis=1), 1e-12)
    along = ((x - start[:, 0]) * way[:, 0] + (y - start[:, 1]) * way[:, 1]) / length
    along = np.clip(along, 0, 1)
    off = np.hypot(x - start[:, 0] - along * way[:, 0], y - start[:, 1] - along * way[:, 1])
    return np.clip(width / 2 + 0.5 - off.min(axis=2), 0, 1)


def _blend(canvas: Array, cover: Floats, left: int, top: int, color: Color) -> None:
    """Covers the pixels (height, width, 3) of a canvas from this place on."""
    height, width = cover.shape
    x, y = max(left, 0), max(top, 0)
    part = canvas[y : max(top + height, 0), x : max(left + width, 0)]
    share = cover[y - top :, x - left :][: part.shape[0], : part.shape[1], None]
    part[:] = np.round(part * (1 - share) + share * np.asarray(color))


def write(
    canvas: Array,
    text: str,
    left: float,
    top: float,
    size: float = 10,
    color: Color = (40, 44, 52),
) -> None:
    """Writes a line of text. left, top: pixels of the upper left corner of its first capital."""
    for number, letter in enumerate(text):
        if letter != " ":
            cover, margin = _letter(letter, size)
            at = round(left) + number * letter_width(size) - margin
            _blend(canvas, cover, at, round(top) - margin, color)


def draw_lines(canvas: Array, points: Floats, color: Color, width: float = 1.2) -> None:
    """Draws a line through points (k, 2), in pixels."""
    low = np.floor(points.min(axis=0) - width).astype(int) - 1
    high = np.ceil(points.max(axis=0) + width).astype(int) + 2
    segments = np.hstack([points[:-1], points[1:]]) - np.tile(low, 2)
    left, top = low.tolist()
    _blend(canvas, _coverage(segments, width, (high - low)[::-1].tolist()), left, top, color)
