"""Draws the figures of a comparison: pictures of the posed character, and plots as inline SVG."""

from __future__ import annotations

import html
import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ...base.progress import Listener, Progress
from ...measures.strain_colors import STRAIN_COLORS, strain_colors
from ...reports.pictures import (
    FRONT,
    THREE_QUARTER,
    Camera,
    camera_around,
    data_uri,
    draw,
    view_axes,
)
from .judge import Outcome
from .methods import REFERENCE

if TYPE_CHECKING:
    from .compare import Comparison

VIEWS = (("Three-quarter", THREE_QUARTER), ("Front", FRONT))
AREA = 300 * 360  # size of a picture in pixels
ASPECTS = 0.62, 1.5  # width-to-height ratio

Box: TypeAlias = tuple[float, float, float, float]


def picture_size(comparison: Comparison) -> tuple[int, int]:
    """Returns a size (width, height) in pixels that suits the rest pose."""
    axes = view_axes(*FRONT, comparison.case.to_world)
    seen = comparison.case.problem.arguments["vertices"] @ axes[:2].T
    size = np.maximum(np.ptp(seen, axis=0), 1e-12)
    aspect = float(np.clip(size[0] / size[1], *ASPECTS))
    return round((AREA * aspect) ** 0.5), round((AREA / aspect) ** 0.5)


def draw_all(
    comparison: Comparison, progress: Listener | None = None, threads: int = 0
) -> dict[tuple[str, int, int], str]:
    """Draws all results, {(identifier, column, view): a picture as a data URI}, with the same
    camera for all methods."""
    progress, (width, height) = Progress.of(progress), picture_size(comparison)
    triangles = comparison.case.problem.arguments["triangles"]
    outcomes, jobs = comparison.done, []
    for column in range(len(comparison.views)):
        clouds = [o.shown[column] for o in outcomes if o.kind != REFERENCE]
        for view, (_name, angles) in enumerate(VIEWS):
            axes = view_axes(*angles, comparison.case.to_world)
            camera = camera_around(clouds, axes, width, height)
            jobs += [(outcome, column, view, camera) for outcome in outcomes]

    def picture(outcome: Outcome, column: int, _view: int, camera: Camera) -> str:
        colors = strain_colors(outcome.strain[column])
        points = outcome.shown[column].astype(float)
        return data_uri(draw(points, triangles, colors, camera))

    result = {}
    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        waiting = [pool.submit(picture, *job) for job in jobs]
        try:
            for k, ((outcome, column, view, _camera), each) in enumerate(
                zip(jobs, waiting, strict=True)
            ):
                progress.check("pictures", k / len(jobs))
                result[outcome.identifier, column, view] = each.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    return result


def legend() -> str:
    """The legend of the colors, as SVG."""
    stops = "".join(
        f'<stop offset="{100 * at:.0f}%" stop-color="rgb{color}"/>' for at, color in STRAIN_COLORS
    )
    marks = "".join(
        f'<text x="{18 + 240 * at:.0f}" y="28" text-anchor="middle">{100 * at:.0f} %</text>'
        for at in (0, 0.25, 0.5, 0.75, 1)
    )
    return (
        '<svg width="280" height="32" role="img" aria-label="Stretch from gray, none, over '
        'orange to dark, 100 % and above"><defs><linearGradient id="strain">'
        f'{stops}</linearGradient></defs><rect x="18" y="2" width="240" height="11" rx="3" '
        f'fill="url(#strain)"/>{marks}</svg>'
    )


def scatter(comparison: Comparison, kind: str) -> str | None:
    """Plots stretch against likeness in poses of this kind, as SVG; None if fewer than two methods
    have both values."""
    points: list[tuple[float, float, Outcome]] = []
    bound = None
    for outcome in comparison.done:
        strain = outcome.measures.get(kind, {}).get("surface_strain")
        if strain is None:
            continue
        if outcome.kind == REFERENCE:
            bound = 100 * strain
        elif outcome.identifier == "PRESENT":
            points.append((0.0, 100 * strain, outcome))
        elif outcome.likeness:
            points.append((outcome.likeness["l1"], 100 * strain, outcome))
    if len(points) < 2:
        return None
    plot = _Plot(max(p[0] for p in points), max(max(p[1] for p in points), bound or 0))
    drawn = plot.frame()
    if bound is not None:
        drawn += plot.bound(bound)
    return plot.svg(drawn + plot.dots(points))


class _Plot:
    LEFT, TOP, WIDTH, HEIGHT = 52, 14, 430, 290

    def __init__(self, most_x: float, most_y: float) -> None:
        self.ticks_x, self.ticks_y = _ticks(most_x), _ticks(most_y)

    def x(self, value: float) -> float:
        return self.LEFT + self.WIDTH * value / self.ticks_x[-1]

    def y(self, value: float) -> float:
        return self.TOP + self.HEIGHT * (1 - value / self.ticks_y[-1])

    def frame(self) -> list[str]:
        right, bottom = self.LEFT + self.WIDTH, self.TOP + self.HEIGHT
        parts = []
        for tick in self.ticks_y:
            y = self.y(tick)
            parts.append(
                f'<line class="grid" x1="{self.LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>'
            )
            parts.append(
                f'<text class="axis" x="{self.LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">'
                f"{tick:g}</text>"
            )
        for tick in self.ticks_x:
            x = self.x(tick)
            parts.append(
                f'<text class="axis" x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">'
                f"{tick:g}</text>"
            )
        middle = self.TOP + self.HEIGHT / 2
        parts.append(
            f'<text class="axis" x="{self.LEFT + self.WIDTH / 2}" y="{bottom + 38}" '
            'text-anchor="middle">L1 to the weights in the file (0: the same)</text>'
            f'<text class="axis" transform="translate(13 {middle}) rotate(-90)" '
            'text-anchor="middle">Stretch, %</text>'
        )
        return parts

    def bound(self, value: float) -> list[str]:
        y, right = self.y(value), self.LEFT + self.WIDTH
        return [
            f'<line class="bound" x1="{self.LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>'
            f'<text class="axis" x="{self.LEFT + 4}" y="{y - 5:.1f}">elastic reference</text>'
        ]

    def dots(self, points: list[tuple[float, float, Outcome]]) -> list[str]:
        """Dots with their names, placed without overlap."""
        places = [(self.x(x), self.y(y)) for x, y, _outcome in points]
        taken = [(x - 6, y - 6, x + 6, y + 6) for x, y in places]
        parts = []
        order = sorted(range(len(points)), key=lambda k: places[k][1])
        for k in order:
            (x, y), outcome = places[k], points[k][2]
            wide = 6.3 * len(outcome.name)
            box, anchor = self._room(x, y, wide, taken)
            taken.append(box)
            at = {"start": box[0], "end": box[2], "middle": (box[0] + box[2]) / 2}[anchor]
            own = outcome.identifier.startswith("OURS")
            kind = "present" if outcome.identifier == "PRESENT" else "ours" if own else ""
            parts.append(
                f'<circle class="dot {kind}" cx="{x:.1f}" cy="{y:.1f}" r="5"/>'
                f'<text x="{at:.1f}" y="{box[3] - 3:.1f}" text-anchor="{anchor}">'
                f"{html.escape(outcome.name)}</text>"
            )
        return parts

    def _room(self, x: float, y: float, wide: float, taken: list[Box]) -> tuple[Box, str]:
        """Returns (box, anchor) of a name next to its dot, on the side where it hides least."""
        choices = []
        for lift in (0, -13, 13, -26, 26, -39, 39):
            side = 10 if abs(lift) < 20 else 4
            choices.append(((x + side, y - 8 + lift, x + side + wide, y + 8 + lift), "start"))
            choices.append(((x - side - wide, y - 8 + lift, x - side, y + 8 + lift), "end"))
        for lift in (-17, 17):
            choices.append(((x - wide / 2, y - 8 + lift, x + wide / 2, y + 8 + lift), "middle"))

        def hidden(choice: tuple[Box, str]) -> float:
            box = choice[0]
            out = max(0, self.LEFT - box[0]) + max(0, box[2] - self.LEFT - self.WIDTH - 14)
            return 20 * out + sum(_overlap(box, other) for other in taken)

        return min(choices, key=hidden)

    def svg(self, parts: list[str]) -> str:
        width, height = self.LEFT + self.WIDTH + 18, self.TOP + self.HEIGHT + 46
        return (
            f'<svg class="plot" viewBox="0 0 {width} {height}" role="img" '
            f'aria-label="Stretch against likeness">{"".join(parts)}</svg>'
        )


def _overlap(one: Box, other: Box) -> float:
    wide = min(one[2], other[2]) - max(one[0], other[0])
    tall = min(one[3], other[3]) - max(one[1], other[1])
    return max(wide, 0) * max(tall, 0)


def _ticks(most: float) -> list[float]:
    """Round numbers from 0 to at least `most`."""
    most = max(most, 1e-9)
    step = 10.0 ** np.floor(np.log10(most))
    for divide in (5, 2, 1):
        if most / (step / divide) <= 6:
            step /= divide
            break
    return [float(step * k) for k in range(int(np.ceil(most / step - 1e-9)) + 1)]
