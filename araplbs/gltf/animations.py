"""Evaluates the animation curves of a glTF file at any time and converts them into poses of a
skeleton."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.arrays import Bools, Floats, Integers
from ..base.refusal import Refused
from ..skeleton.poses import Poses
from .armature import Armature, to_blender
from .file.accessors import read_floats
from .file.container import Document
from .nodes import Nodes, composed, turn_of

FRAMES_PER_SECOND = 24  # frame rate of Blender, whose frames the options count
KINDS = {"translation": "VEC3", "rotation": "VEC4", "scale": "VEC3"}
STILL = 0.01  # radians, or bone lengths: smaller differences between keys are not motion


@dataclass
class Curve:
    """The values (k, 3 or 4) of one property of a node at times (k,) in seconds."""

    node: int
    path: str
    times: np.ndarray
    values: np.ndarray
    tangents: np.ndarray | None  # (2, k, ...) in and out tangents of cubic splines
    steps: bool

    def at(self, times: Floats) -> Floats:
        """Evaluates the curve at t times, as an array (t, 3 or 4)."""
        own = self.times
        right = np.clip(np.searchsorted(own, times, side="right"), 1, max(1, len(own) - 1))
        if len(own) == 1:
            return np.repeat(self.values[:1], len(times), axis=0)
        left = right - 1
        span = own[right] - own[left]
        share = np.clip((times - own[left]) / np.where(span > 0, span, 1), 0, 1)
        if self.steps:
            return self.values[np.where(share >= 1, right, left)]
        a, b, t = self.values[left], self.values[right], share[:, None]
        if self.tangents is not None:
            out, into = (self.tangents[k][w] * span[:, None] for k, w in ((1, left), (0, right)))
            return (
                (2 * t**3 - 3 * t**2 + 1) * a
                + (t**3 - 2 * t**2 + t) * out
                + (3 * t**2 - 2 * t**3) * b
                + (t**3 - t**2) * into
            )
        return _between(a, b, t) if self.path == "rotation" else a + t * (b - a)


def _between(a: Floats, b: Floats, t: Floats) -> Floats:
    """Interpolates rotations along the shorter arc from a to b (n, 4)."""
    a, b = (q / np.maximum(np.linalg.norm(q, axis=1, keepdims=True), 1e-30) for q in (a, b))
    cos = (a * b).sum(axis=1, keepdims=True)
    b, cos = np.where(cos < 0, -b, b), np.clip(np.abs(cos), 0, 1)
    angle = np.arccos(cos)
    sin = np.sin(angle)
    near = sin < 1e-6
    safe = np.where(near, 1, sin)
    left = np.where(near, 1 - t, np.sin((1 - t) * angle) / safe)
    return left * a + np.where(near, t, np.sin(t * angle) / safe) * b


@dataclass
class Clip:
    """An animation, with its curves for each node."""

    name: str
    curves: list[Curve]

    @property
    def frames(self) -> tuple[int, int]:
        """The first and last frame, in Blender's frames."""
        times = [time for curve in self.curves for time in (curve.times[0], curve.times[-1])]
        first, last = min(times), max(times)
        return round(first * FRAMES_PER_SECOND), round(last * FRAMES_PER_SECOND)


def read_clips(document: Document, bones: Iterable[int]) -> list[Clip]:
    """Reads the animations that move at least one of these nodes. Raises Refused."""
    wanted, found = set(bones), []
    for number, animation in enumerate(document.items("animations")):
        samplers, curves = animation.get("samplers", []), []
        for channel in animation.get("channels", []):
            target = channel.get("target", {})
            node, path = target.get("node"), target.get("path")
            if path not in KINDS or node is None:
                continue
            document.item("nodes", node)
            place = channel.get("sampler")
            if not isinstance(place, int) or not 0 <= place < len(samplers):
                raise Refused(f"animation {number} refers to sampler {place!r}")
            curve = read_curve(document, node, path, samplers[place], f"animation {number}")
            if curve is not None:
                curves.append(curve)
        if any(curve.node in wanted for curve in curves):
            found.append(Clip(str(animation.get("name") or f"Animation_{number}"), curves))
    return found


def read_curve(
    document: Document, node: int, path: str, sampler: dict[str, Any], what: str
) -> Curve | None:
    times = read_floats(document, sampler.get("input"), "SCALAR").ravel()
    values = read_floats(document, sampler.get("output"), KINDS[path])
    way = sampler.get("interpolation", "LINEAR")
    if way not in ("LINEAR", "STEP", "CUBICSPLINE"):
        raise Refused(f"{what} has the interpolation {way!r}")
    tangents = None
    if way == "CUBICSPLINE":
        if len(values) != 3 * len(times):
            raise Refused(f"{what} has {len(values)} values of a spline at {len(times)} times")
        tangents, values = np.stack([values[0::3], values[2::3]]), values[1::3]
    if not len(times):
        return None
    if len(values) != len(times):
        raise Refused(f"{what} has {len(values)} values at {len(times)} times")
    if (np.diff(times) < 0).any():
        raise Refused(f"{what} has times that decrease")
    return Curve(node, path, times, values, tangents, way == "STEP")


def clip_poses(nodes: Nodes, armature: Armature, clip: Clip, times: Floats) -> Floats:
    """Returns the bone transforms from rest, (t, m, 3, 4), in Blender's axes."""
    count = len(times)
    curves = {(curve.node, curve.path): curve for curve in clip.curves}
    known: dict[int, Floats] = {}
    to_rest = np.linalg.inv(armature.rest)
    found = np.zeros((count, len(armature.bones), 4, 4))
    for bone, node in enumerate(armature.bones):
        up = nodes.parents[node]
        above = known.get(up)
        local = _local(nodes, curves, node, times)
        known[node] = local if above is None else above @ local
        found[:, bone] = known[node] @ to_rest[bone]
    return np.ascontiguousarray(to_blender(found)[:, :, :3])


def _local(nodes: Nodes, curves: dict[tuple[int, str], Curve], node: int, times: Floats) -> Floats:
    """Returns the transforms in the space of the parent, (t, 4, 4)."""
    if not any((node, path) in curves for path in KINDS):
        return np.repeat(nodes.local(node)[None], len(times), axis=0)
    move, turn, scale = (np.repeat(each[None], len(times), axis=0) for each in nodes.place(node))
    if (node, "translation") in curves:
        move = curves[node, "translation"].at(times)
    if (node, "rotation") in curves:
        turn = turn_of(curves[node, "rotation"].at(times))
    if (node, "scale") in curves:
        scale = curves[node, "scale"].at(times)
    return composed(move, turn, scale)


def poses_of(nodes: Nodes, armature: Armature, clips: Sequence[Clip], most: int) -> Poses:
    """Returns at most this many Poses, evenly spread over all frames of these animations in
    sequence."""
    ranges = [clip.frames for clip in clips]
    parts: list[Floats] = [np.zeros((0, len(armature.bones), 3, 4))]
    for clip, (first, last), count in zip(clips, ranges, _shares(most, ranges), strict=True):
        if count:
            picks = np.linspace(first, last, min(count, last - first + 1)).round()
            times = np.unique(picks) / FRAMES_PER_SECOND
            parts.append(clip_poses(nodes, armature, clip, times))
    transforms = np.concatenate(parts)
    if not np.isfinite(transforms).all():
        raise Refused("has non-finite poses in its animations")
    return Poses(transforms, np.zeros((len(transforms), 0, 3, 4)))


def _shares(most: int, ranges: Sequence[tuple[int, int]]) -> list[int]:
    lengths = np.array([max(1, last - first + 1) for first, last in ranges], int)
    if not len(lengths):
        return []
    picks = np.unique(np.linspace(0, lengths.sum() - 1, min(most, lengths.sum())).round())
    clip: Integers = np.searchsorted(np.cumsum(lengths), picks, side="right")
    return np.bincount(clip, minlength=len(lengths)).tolist()


def own_motion(nodes: Nodes, armature: Armature, clips: Sequence[Clip]) -> tuple[Bools, Floats]:
    """Returns ((m,) bool: bones that rotate, move or scale by themselves in an animation; (m,) the
    largest displacement of each bone from its rest position along one coordinate). Motion is
    expressed as keys of Blender's bones would express it."""
    places, m = armature.places, len(armature.bones)
    turned, away = np.zeros(m, bool), np.zeros(m)
    lengths = np.linalg.norm(armature.skeleton.tails - armature.skeleton.heads, axis=1)
    for clip in clips:
        for curve in clip.curves:
            bone = places.get(curve.node)
            if bone is None:
                continue
            values, unit = curve.values, 1.0
            if curve.path == "rotation":  # q and -q are the same rotation
                values = np.abs(values)
            if curve.path == "translation":
                up = armature.skeleton.parents[bone]
                above = np.eye(4) if up < 0 else armature.rest[up]
                local = np.linalg.inv(above) @ armature.rest[bone]
                values, unit = (values - local[:3, 3]) @ local[:3, :3], lengths[bone]
                away[bone] = max(away[bone], np.abs(values).max())
            turned[bone] |= bool(np.ptp(values, axis=0).max() > STILL * unit)
    return turned, away
