"""Draws a sheet with pictures of a character: findings at rest, the worst poses and named poses.
All weights, such as those before and after, are in the same columns, one set below another.

The colors are those of strain_colors(). Lines lead from the worst places to the names of the bones
that move them, each with the stretch there. The worst poses are chosen from random poses: first the
pose with the most strain, then poses that strain other places more. Needs neither Blender nor a
display. Two sets of weights at 13,000 vertices, with the search for findings, take one processor
2.3 s while others use the machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..base.arrays import Array, Floats, Integers
from ..base.extent import triangle_areas, triangle_normals, vertex_normals
from ..base.progress import Listener, Progress
from ..body.acts import between
from ..body.body import Body, find_body
from ..body.named_poses import named_poses
from ..character.pose_sets import checked_poses
from ..character.problem import Problem
from ..measures.strain_colors import FULL_SCALE, strain_colors
from ..model.options import Options
from ..model.sparse_weights import SparseWeights
from ..skeleton.body_parts import strongest_bones
from ..skeleton.poses import Poses, no_poses, spread
from .lettering import Color, draw_lines, letter_width, write
from .pictures import (
    Camera,
    camera_around,
    draw,
    posed_strain,
    strain_at_vertices,
    turned_back,
    view_toward,
)

POSES = 12  # random poses that are examined
WORST = 3  # of them shown
LARGE = 4, 388, 330  # pictures side by side, and the pixels of each
SMALL = 7, 220, 240  # for more than two sets of weights
SIDES = 50  # pixels on both sides that only names use
GAP, LINE, TOP = 4, 18, 42  # pixels between pictures, of a line of text, and of the title
SMALL_TEXT = 9  # pixels of a capital
PLACES = 3  # names in a picture
LEAST_NAMED = 0.15  # strain; lower strain is not named
LISTED = 10  # findings
TURN, ABOVE = -35.0, 12.0  # degrees, of views of the whole character
TURNS = (-35.0, 35.0, 145.0, -145.0)  # views from which the worst one is chosen
CLOSE = 1.25  # times the box of the vertices that a pose shows
LETTERS = 18  # of a bone's name; longer names are shortened in the middle
PAPER, INK, FAINT = (250, 250, 248), (40, 44, 52), (130, 134, 142)
PLAIN = (205, 208, 213)
MARKS = {"high": (214, 30, 36), "medium": (240, 128, 44), "low": (214, 168, 20)}


@dataclass(frozen=True)
class Mark:
    """A finding. level: in MARKS. name: a few words. vertices: of the Problem."""

    level: str
    name: str
    words: str
    vertices: Integers


@dataclass(frozen=True)
class Shown:
    """A set of weights. name: "before" or "after", empty for a single one. marks: its findings, the
    worst first; None if they were not sought."""

    name: str
    rows: SparseWeights
    marks: Sequence[Mark] | None = None


@dataclass
class _Column:
    """A pose with a picture for each set of weights. colors (n, 3): of the vertices. places:
    [(vertex, text)]. near: the vertices to look at."""

    title: str
    points: list[Floats]
    colors: list[Floats]
    places: list[list[tuple[int, str]]]
    captions: list[str]
    axes: Floats
    near: Integers


def sheet(
    title: str,
    problem: Problem,
    sets: Sequence[Shown],
    options: Options,
    up: Floats | None = None,
    threads: int = 0,
    progress: Listener | None = None,
) -> Array | None:
    """The pixels of the sheet, (height, width, 3) uint8; None if there is no surface. up (3,): the
    upward direction in the space of the mesh, by default Z. Raises araplbs.Cancelled when progress
    (a Listener) stops it."""
    progress = Progress.of(progress)
    if not len(problem.arguments["triangles"]):
        return None
    look = _Look(problem, sets, np.array([0.0, 0, 1]) if up is None else up, threads)
    columns = [look.findings()] if any(each.marks is not None for each in sets) else []
    poses, names, around = _poses(look, options)
    progress.check("pictures", 0.1)
    columns += [
        look.column(name, poses[k : k + 1], bones)
        for k, (name, bones) in enumerate(zip(names, around, strict=True))
    ]
    across, width, height = LARGE if len(sets) < 3 else SMALL
    lines = _listed(sets, (across * width) // letter_width(10))
    bands = [columns[k : k + across] for k in range(0, len(columns), across)]
    tall = LINE + len(sets) * (height + GAP) + GAP
    shape = TOP + len(bands) * tall + LINE * len(lines) + GAP, GAP + across * (width + GAP), 3
    canvas = np.full(shape, PAPER, np.uint8)
    write(canvas, title, 2 * GAP, 10, 14)
    _scale(canvas)
    for number, column in enumerate(columns):
        left = GAP + number % across * (width + GAP)
        top = TOP + number // across * tall
        write(canvas, column.title, left + GAP, top, 11)
        camera = look.camera(column, width, height)
        for k in range(len(sets)):
            progress.check("pictures", 0.1 + 0.9 * (number + k / len(sets)) / len(columns))
            at = top + LINE + k * (height + GAP)
            look.draw(canvas[at : at + height, left : left + width], column, k, camera)
    for k, (color, first, rest) in enumerate(lines):
        at = TOP + len(bands) * tall + k * LINE
        write(canvas, first, 2 * GAP, at, 10, color)
        write(canvas, rest, 2 * GAP + (len(first) + 1) * letter_width(10), at, 10)
    return canvas


def _scale(canvas: Array) -> None:
    """The legend of the colors, in the upper right corner."""
    left, width = canvas.shape[1] - 330, 200
    colors = strain_colors(np.linspace(0, FULL_SCALE, width))
    canvas[10:24, left : left + width] = colors
    write(canvas, "0 %", left - 32, 12, SMALL_TEXT, FAINT)
    text = f"{100 * FULL_SCALE:.0f} % stretch"
    write(canvas, text, left + width + 6, 12, SMALL_TEXT, FAINT)


def _listed(sets: Sequence[Shown], letters: int) -> list[tuple[Color, str, str]]:
    """The lines below the pictures: the findings of the last set, (color, colored text, text)."""
    marks = sets[-1].marks
    if marks is None:
        return []
    lines = [
        (MARKS[mark.level], f"{k + 1} {mark.level}:", _shortened(mark.words, letters - 14))
        for k, mark in enumerate(marks[:LISTED])
    ]
    if len(marks) > LISTED:
        lines.append((FAINT, f"and {len(marks) - LISTED} more findings", ""))
    which = f" {sets[-1].name}" if sets[-1].name else ""
    return lines or [(FAINT, f"No findings{which}", "")]


def _shortened(text: str, most: int) -> str:
    half = (most - 2) // 2
    return text if len(text) <= most else f"{text[:half]}..{text[-half:]}"


def _poses(look: _Look, options: Options) -> tuple[Poses, list[str], list[tuple[int, ...]]]:
    """Returns (poses, names, bones to look at): the worst random poses, then poses with names."""
    problem, skeleton = look.problem, look.problem.skeleton
    poses = checked_poses(problem, options)
    poses = poses[spread(len(poses), POSES)] if len(poses) else no_poses(skeleton)
    worst = look.worst(poses)
    names = [f"Worst pose {k + 1}" for k in range(len(worst))]
    named = named_poses(skeleton.tree, look.body, skeleton.heads, skeleton.parents, look.up)
    transforms = [poses.transforms[worst], *(each.transforms[None] for each in named)]
    found = Poses(np.concatenate(transforms), None)
    return found, names + [n.name for n in named], [()] * len(worst) + [n.around for n in named]


class _Look:
    """A character with sets of weights, and the directions from which it is seen."""

    def __init__(self, problem: Problem, sets: Sequence[Shown], up: Floats, threads: int) -> None:
        self.problem, self.sets, self.up, self.threads = problem, sets, up, threads
        self.points, self.triangles = (problem.arguments[k] for k in ("vertices", "triangles"))
        skeleton = problem.skeleton
        self.body: Body | None = find_body(skeleton.tree, skeleton.tree.chains(), up)
        if self.body is not None:
            self.to_world = np.array([self.body.left, -self.body.forward, up])
        else:
            self.to_world = between(up, np.array([0.0, 0, 1]))
        self.area = triangle_areas(self.points, self.triangles)

    def _posed(self, rows: SparseWeights, pose: Poses) -> tuple[Floats, Floats]:
        return posed_strain(self.problem, rows, pose, self.threads)

    def worst(self, poses: Poses) -> list[int]:
        """At most WORST of the poses. Each adds the most strain to those before it. The two sides
        count as one, so a pose and its mirror image add nothing to each other."""
        skeleton = self.problem.skeleton
        bones = np.minimum(np.arange(len(skeleton.names)), skeleton.other_side)
        strongest = strongest_bones(self.sets[-1].rows, np.zeros(len(self.points), np.int64))
        sides = bones[strongest[self.triangles[:, 0]]]
        sums = np.zeros((len(poses), len(bones)))
        for k in range(len(poses)):
            for each in self.sets:
                squares = self.area * self._posed(each.rows, poses[k : k + 1])[1] ** 2
                sums[k] = np.maximum(sums[k], np.bincount(sides, squares, len(bones)))
        chosen: list[int] = []
        covered = np.zeros(len(bones))
        while len(chosen) < min(WORST, len(poses)):
            gains = np.maximum(sums - covered, 0).sum(axis=1)
            gains[chosen] = -1
            chosen.append(int(gains.argmax()))
            covered = np.maximum(covered, sums[chosen[-1]])
        return chosen

    def findings(self) -> _Column:
        """The character at rest, with the places of findings."""
        colors, places, captions, facing = [], [], [], np.zeros(3)
        normals = vertex_normals(self.points, self.triangles)
        for each in self.sets:
            color, labels = np.tile(np.array(PLAIN, float), (len(self.points), 1)), []
            for number, mark in reversed([*enumerate(each.marks or ())]):
                color[mark.vertices] = MARKS[mark.level]
                facing += normals[mark.vertices].sum(axis=0)
                if len(mark.vertices) and number < LISTED:
                    middle = self.points[mark.vertices].mean(axis=0)
                    distances = np.linalg.norm(self.points[mark.vertices] - middle, axis=1)
                    text = f"{number + 1} {_shortened(mark.name, LETTERS)}"
                    labels.append((int(mark.vertices[distances.argmin()]), text))
            colors.append(color)
            places.append(labels[::-1])
            captions.append(f"{len(each.marks or ())} findings")
        count, ids = len(self.sets), np.arange(len(self.points))
        axes = self._axes(facing)
        return _Column("Findings", [self.points] * count, colors, places, captions, axes, ids)

    def column(self, name: str, pose: Poses, around: tuple[int, ...]) -> _Column:
        """One pose. around: the bones to look at, all if empty."""
        posed = [self._posed(each.rows, pose) for each in self.sets]
        strains = [strain_at_vertices(self.points, self.triangles, each) for _p, each in posed]
        points = [turned_back(self.problem.skeleton, pose, each) for each, _strain in posed]
        near = self._near(around)
        toward = np.zeros(3)
        if name.startswith("Worst") or around:
            for each, (_p, strain) in zip(points, posed, strict=True):
                shown = np.isin(self.triangles[:, 0], near) if around else slice(None)
                normals = triangle_normals(each, self.triangles)
                toward += (normals * strain[:, None])[shown].sum(axis=0)
        places = [
            self._places(each.rows, strain, near)
            for each, strain in zip(self.sets, strains, strict=True)
        ]
        colors = [strain_colors(each) for each in strains]
        means = [np.sqrt(self.area @ each**2 / self.area.sum()) for _p, each in posed]
        captions = [f"{100 * mean:.0f} % stretch" for mean in means]
        return _Column(name, points, colors, places, captions, self._axes(toward), near)

    def _near(self, around: tuple[int, ...]) -> Integers:
        """The vertices that one of these bones moves most in the last weights."""
        rows = self.sets[-1].rows
        share = np.bincount(
            rows.vertices, rows.weights * np.isin(rows.bones, around), len(self.points)
        )
        near = np.flatnonzero(share > 0.5)
        return near if len(near) else np.arange(len(self.points))

    def _axes(self, toward: Floats) -> Floats:
        """The view axes, from the front or, if `toward` is not 0, from a side that it points to."""
        turns = TURNS if toward.any() else (TURN,)
        return view_toward(toward, turns, ABOVE, self.to_world)

    def _places(self, rows: SparseWeights, strain: Floats, near: Integers) -> list[tuple[int, str]]:
        """The places with the most strain, [(vertex, name of the bone and strain)]."""
        strains = np.nan_to_num(strain)
        mask = np.isin(rows.vertices, near)
        vertices, bones, weights = rows.vertices[mask], rows.bones[mask], rows.weights[mask]
        names = self.problem.skeleton.names
        sums = np.bincount(bones, weights * strains[vertices] ** 2, len(names))
        places = []
        for bone in np.argsort(-sums, kind="stable")[:PLACES].tolist():
            entries = np.flatnonzero(bones == bone)
            if not len(entries):
                continue
            stretch = weights[entries] * strains[vertices[entries]]
            vertex = int(vertices[entries[stretch.argmax()]])
            if strains[vertex] >= LEAST_NAMED:
                name = _shortened(names[bone], LETTERS)
                places.append((vertex, f"{name} {100 * strains[vertex]:.0f} %"))
        return places

    def camera(self, column: _Column, width: int, height: int) -> Camera:
        frames = [points[column.near] for points in column.points]
        if len(column.near) < len(self.points):
            frames = [each.mean(axis=0) + CLOSE * (each - each.mean(axis=0)) for each in frames]
        sides = SIDES if len(self.sets) < 3 else 0
        camera = camera_around(frames, column.axes, width - 2 * sides, height, 0.1)
        return replace(camera, width=width)

    def draw(self, cell: Array, column: _Column, k: int, camera: Camera) -> None:
        """Draws one set of weights into its cell, with the names of its worst places."""
        picture = draw(column.points[k], self.triangles, column.colors[k], camera)
        cover = picture[..., 3:].astype(np.float32) / 255
        cell[:] = np.round(cell * (1 - cover) + picture[..., :3] * cover)
        name, text = self.sets[k].name, column.captions[k]
        if name:
            letters = cell.shape[1] // letter_width(SMALL_TEXT) - len(text) - 3
            text = f"{_shortened(name, letters)}: {text}"
        _write_on_paper(cell, text, GAP, GAP, FAINT)
        if column.places[k] and len(self.sets) < 3:
            vertices, texts = zip(*column.places[k], strict=True)
            _label(cell, camera.project(column.points[k][list(vertices)])[0], texts)


def _label(cell: Array, points: Floats, texts: Sequence[str]) -> None:
    """Writes texts at the nearer side of the cell, with lines to their points (k, 2), in pixels."""
    height, width = cell.shape[:2]
    is_inside: Any = ((points >= 0) & (points < [width, height])).all(axis=1)
    for right in (False, True):
        top = LINE + 6
        for k in np.argsort(points[:, 1]).tolist():
            if not is_inside[k] or (points[k, 0] > width / 2) != right:
                continue
            width_of_text = len(texts[k]) * letter_width(SMALL_TEXT)
            top = min(max(top, round(points[k, 1]) - 6), height - LINE)
            left = width - width_of_text - GAP if right else GAP
            start = [left - 3 if right else left + width_of_text + 2, top + 5]
            draw_lines(cell, np.array([start, points[k]]), INK, 1.0)
            _write_on_paper(cell, texts[k], left, top, INK)
            top += LINE


def _write_on_paper(cell: Array, text: str, left: int, top: int, color: Color) -> None:
    """Writes a text on a patch that lets little of the picture through."""
    wide = len(text) * letter_width(SMALL_TEXT)
    patch = cell[max(top - 3, 0) : top + 14, max(left - 2, 0) : left + wide + 2]
    patch[:] = np.round(patch * 0.25 + np.array(PAPER) * 0.75)
    write(cell, text, left, top, SMALL_TEXT, color)
