"""Compares our weights of a production rig with bone heat and with the file's weights, and writes
sentences on how ours fall short. arrays: the arrays that rig_weights.py has written."""

from dataclasses import dataclass

import numpy as np
import rig_response
from beyond_strain import EVERY
from creases import Creases
from crossings import Crossings
from layers import loose_parts
from sides import Sides
from yardstick import POSES, Surface, Yardstick, normalized, random_poses, regrets

WAYS = {"heat": "heat", "ours": "ours", "file": "W"}  # and its array
NOTHING = 1e-5  # of all weight: a bone with less has none
SOME, ASLEEP = 5e-3, 0.1  # of all weight, and of the file's: less of ours, and the bone is asleep
RANDOM, SWING = 16, 35  # poses of files without actions, and degrees
MOST_WRONG = 0.1  # of the parts that the file hangs on one bone, and one: more fall short
WIDER = 0.015  # of the diagonal: gaps that are so much wider than the file's fall short
MOST_EXTRA = 0.01  # of all weight, on bones that the file leaves empty
AS_HEAT, AS_FILE = 1.05, 1.10  # strain by area; more falls short
UNSEEN = 5e-3  # strain by area: less counts as this, or one rigid character decides a mean
STILL = 0.02  # strain by area: a file with less hardly moves, and is not a measure
MOST_NAMES = 4
STRETCHED = 1.1  # times as long in a pose: a bone that is stretches the skin it has


@dataclass
class Neglected:
    """A bone that has no weight in the file but has some in ours."""

    name: str
    ours: float  # shares of all weight
    heat: float
    owner: str  # the bone that the file gives most of that skin to
    share: float


@dataclass
class Judged:
    """strain: {way: (poses, triangles with an area) or None if a vertex has no weights}.

    seen: {way: {measure of yardstick.py, and "deaf" and "wrong": value}}. Measures in poses are
    missing if a vertex has no weights, and those that need the file's weights if it has none."""

    name: str
    vertices: int
    bones: int
    poses: np.ndarray
    surface: Surface
    rows: dict  # {way: (n, deform bones)}
    strain: dict
    seen: dict
    extra: float  # share of our weight on bones that the file leaves empty
    asleep: list  # names of bones to which we give hardly any of what the file gives them
    deaf: list  # names of bones that hardly move the skin that is theirs in the file
    elsewhere: int  # of these, whose skin in the file is next to other bones
    wrong_parts: int  # loose parts that the file hangs on one bone, and that are on another
    parts: int  # that the file hangs on one bone
    gap: dict  # {"file" or "ours": how far loose parts leave what they touch, of the diagonal}
    crossing: dict  # {way: share of the area that passes through itself in a pose}
    crease: dict  # {way: share of the edges that fold sharply in a pose}
    asymmetry: dict  # {way: difference of the weights of both sides}
    animated: bool  # False: the poses are random
    neglected: list  # Neglected, those of most weight first
    stretched: float  # share of the bones near the skin that the poses stretch
    seconds: float
    heat_seconds: float
    error: str

    def area(self, way):
        """Root mean square by area over all poses, NaN without poses."""
        return self.value(way, "area")

    def value(self, way, key):
        return self.seen[way].get(key, np.nan)

    @property
    def l1(self):
        """NaN without weights in the file."""
        return self.value("ours", "l1")

    @property
    def beside_heat(self):
        """Whether heat weights every vertex, and the file has weights to compare it with."""
        return self.strain["heat"] is not None and not np.isnan(self.l1)

    def worse_than(self, way):
        """[measure] by which ours are worse."""
        return regrets(self.seen["ours"], self.seen[way])

    def ratio(self, way):
        """Our strain relative to that of this method, NaN if one of them is not known."""
        other = self.area(way)
        return max(self.area("ours"), UNSEEN) / other if other > STILL else np.nan

    @property
    def worst_ratio(self):
        found = [self.ratio(way) for way in ("heat", "file")]
        return max((each for each in found if np.isfinite(each)), default=0.0)

    def worst_pose(self):
        """The pose in which our strain exceeds the others by the most, or is highest if there are
        no others."""
        areas = {
            way: np.array([_by_area(each, self.surface.area) for each in strain])
            for way, strain in self.strain.items()
            if strain is not None
        }
        others = [areas[way] for way in ("heat", "file") if way in areas]
        return int(np.argmax(areas["ours"] - (np.min(others, axis=0) if others else 0)))


def judge(name, arrays):
    deform = arrays["bone_deform"].astype(bool)
    vertices = arrays["V"].astype(float)
    whole = {way: normalized(arrays[key] * deform.astype(float)) for way, key in WAYS.items()}
    rows = {way: each[:, deform] for way, each in whole.items()}
    every, of = _poses(arrays), Yardstick(arrays)
    poses, surface = every[:, deform], of.surface
    posed = {
        way: list(of.posed(each, every)) if each.any(1).all() else None
        for way, each in rows.items()
    }
    strain = {
        way: None if points is None else np.array([surface.strain2(each) for each in points])
        for way, points in posed.items()
    }
    beside = _beside_file(arrays, vertices, whole, every)
    seen = beside.pop("seen")
    for way, points in posed.items():
        seen[way] |= of.likeness(rows[way]) | (of.seen_of(points, every) if points else {})
    ours, file = (rows[way].mean(0) for way in ("ours", "file"))
    names = arrays["bone_names"][deform]
    return Judged(
        name, len(vertices), int(deform.sum()), poses, surface, rows, strain, seen,
        extra=float(ours[file < NOTHING].sum()) if file.any() else 0.0,
        asleep=[str(each) for each in names[(file >= SOME) & (ours < ASLEEP * file)]],
        **beside,
        **_folds(vertices, arrays["F"], posed),
        asymmetry=_asymmetry(vertices, arrays, rows, strain),
        animated=len(arrays["anim"]) > 0,
        neglected=_neglected(names, rows) if file.any() else [],
        stretched=_stretched(poses, rows),
        seconds=float(arrays["seconds"]), heat_seconds=float(arrays["heat_seconds"]),
        error=str(arrays["error"]),
    )  # fmt: skip


def _poses(arrays):
    """(poses, bones, 4, 4): at most POSES of the file, or random ones."""
    poses = arrays["anim"]
    if not len(poses):
        bones = (arrays[key] for key in ("bone_head", "bone_tail", "bone_parent"))
        return random_poses(*bones, count=RANDOM, swing=SWING)
    if len(poses) > POSES:
        poses = poses[np.unique(np.linspace(0, len(poses) - 1, POSES).astype(int))]
    return poses


def _beside_file(arrays, vertices, rows, poses):
    """Measures that need the weights of the file, by the names of Judged; rows {way: (n,
    bones)}."""
    file = rows["file"]
    if not file.any():
        nothing = {"file": 0.0, "ours": 0.0}
        return {
            "deaf": [],
            "elsewhere": 0,
            "wrong_parts": 0,
            "parts": 0,
            "gap": nothing,
            "seen": {way: {} for way in rows},
        }
    parts = loose_parts(vertices, arrays["F"])
    unlike = {way: _unlike_file(arrays, vertices, parts, each, file) for way, each in rows.items()}
    deaf, on_bones = unlike["ours"]
    bones = (arrays[key] for key in ("bone_head", "bone_tail", "bone_deform"))
    pairs = rig_response.contacts(vertices, parts)
    return {
        "seen": {
            way: {"deaf": len(deaf), "wrong": _wrong(on)} for way, (deaf, on) in unlike.items()
        },
        "deaf": [str(arrays["bone_names"][bone]) for bone in deaf],
        "elsewhere": len(rig_response.with_skin_elsewhere(vertices, *bones, file, deaf)),
        "wrong_parts": _wrong(on_bones),
        "parts": len(on_bones),
        "gap": {w: rig_response.gap(vertices, rows[w], poses, pairs) for w in ("file", "ours")},
    }


def _unlike_file(arrays, vertices, parts, weights, file):
    """(bones that do not move their skin, parts on bones)"""
    bones = (arrays[key] for key in ("bone_head", "bone_tail", "bone_parent"))
    deaf = rig_response.deaf_bones(vertices, *bones, weights, file)
    return deaf, rig_response.parts_on_bones(parts, weights, file)


def _wrong(on_bones):
    return sum(weight < rig_response.HELD for _part, _bone, weight in on_bones)


def _folds(vertices, triangles, posed):
    """{"crossing" and "crease": {way: mean over some poses}}, NaN where strain is not known."""
    judges = {"crossing": Crossings(vertices, triangles), "crease": Creases(vertices, triangles)}
    found = {key: dict.fromkeys(posed, np.nan) for key in judges}
    for way in (way for way in posed if posed[way]):
        for key, judge_of in judges.items():
            shares = [judge_of.share(points) for points in posed[way][::EVERY]]
            found[key][way] = float(np.mean(shares))
    return found


def _asymmetry(vertices, arrays, rows, strain):
    deform = arrays["bone_deform"].astype(bool)
    sides = Sides(vertices, arrays["bone_head"][deform], arrays["bone_tail"][deform])
    return {
        way: sides.difference(each) if strain[way] is not None else np.nan
        for way, each in rows.items()
    }


def _neglected(names, rows):
    ours, heat, file = (rows[way] for way in ("ours", "heat", "file"))
    found = []
    for bone in np.flatnonzero((file.mean(0) < NOTHING) & (ours.mean(0) >= NOTHING)):
        skin = ours[:, bone] @ file
        owner = int(skin.argmax())
        shares = ours[:, bone].mean(), heat[:, bone].mean()
        share = skin[owner] / max(skin.sum(), 1e-300)
        found.append(Neglected(str(names[bone]), *map(float, shares), str(names[owner]), share))
    return sorted(found, key=lambda each: -each.ours)


def _stretched(poses, rows):
    """Share of stretched bones among those with weight in any of the methods, NaN without poses."""
    near = np.any([each.mean(0) >= NOTHING for each in rows.values()], axis=0)
    if not len(poses) or not near.any():
        return np.nan
    sizes = np.linalg.svd(poses[:, near, :3, :3], compute_uv=False)
    return float((np.maximum(sizes, 1 / np.maximum(sizes, 1e-9)).max((0, 2)) > STRETCHED).mean())


def falls_short(judged):
    """[sentence]"""
    found = []
    if judged.error:
        found.append("fails: " + judged.error.strip().splitlines()[0])
    elif empty := int((judged.rows["ours"].sum(1) == 0).sum()):
        found.append(f"{empty} vertices without weights")
    for way, most, what in (("heat", AS_HEAT, "heat"), ("file", AS_FILE, "the file's weights")):
        if judged.ratio(way) > most:
            found.append(f"strain is {judged.ratio(way):.2f} times the strain with {what}")
    if judged.extra > MOST_EXTRA:
        found.append(
            f"{100 * judged.extra:.1f} % of the weight is on bones that the file leaves empty"
        )
    if judged.deaf and not judged.error:
        more = len(judged.deaf) - MOST_NAMES
        names = ", ".join(judged.deaf[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
        do = "bones do not move their" if len(judged.deaf) > 1 else "bone does not move its"
        found.append(f"{len(judged.deaf)} {do} skin: {names}")
    if judged.wrong_parts > max(1, MOST_WRONG * judged.parts):
        found.append(f"{judged.wrong_parts} of {judged.parts} parts are on the wrong bone")
    if judged.gap["ours"] > judged.gap["file"] + WIDER:
        ours, file = (100 * judged.gap[way] for way in ("ours", "file"))
        found.append(f"gaps of {ours:.1f} % (file: {file:.1f} %)")
    return found


def _by_area(strain2, area):
    return float(np.sqrt((strain2 * area).sum() / area.sum()))
