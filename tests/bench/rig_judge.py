"""What weights of a production rig are worth beside those of bone heat and of its file, and what
falls short, in sentences. arrays: what rig_weights.py has left."""

from dataclasses import dataclass

import numpy as np
from yardstick import POSES, Surface, normalized, skin

WAYS = {"heat": "heat", "ours": "ours", "file": "W"}  # and its array
NOTHING = 1e-5  # of all weight: a bone with less has none
SOME = 5e-3  # of all weight: a bone that the file gives as much must have some of ours
MOST_EXTRA = 0.01  # of all weight, on bones that the file leaves empty
AS_HEAT, AS_FILE = 1.05, 1.10  # strain by area; more falls short
STILL = 0.02  # strain by area: a file with less hardly moves, and is no measure
MOST_NAMES = 6
STRETCHED = (
    1.1  # times as long in a pose: a bone that is stretches the skin it has, whatever moves it
)


@dataclass
class Neglected:
    """A bone that the file leaves empty and we do not."""

    name: str
    ours: float  # shares of all weight
    heat: float
    owner: str  # the bone that the file gives most of that skin to
    share: float


@dataclass
class Judged:
    """strain: {way: (poses, triangles with an area) or None where a vertex has no weights}."""

    name: str
    vertices: int
    bones: int
    poses: np.ndarray
    surface: Surface
    rows: dict  # {way: (n, deform bones)}
    strain: dict
    extra: float  # share of our weight on bones that the file leaves empty
    lost: list  # names of bones that the file gives weight to and we none
    neglected: list  # Neglected, those of most weight first
    stretched: float  # share of the bones near the skin that the poses stretch
    seconds: float
    heat_seconds: float
    error: str

    def area(self, way):
        """Root mean square by area over all poses, NaN without poses."""
        if self.strain[way] is None or not len(self.poses):
            return np.nan
        return _by_area(self.strain[way].mean(0), self.surface.area)

    def p99(self, way):
        if self.strain[way] is None or not len(self.poses):
            return np.nan
        return float(np.percentile(np.sqrt(self.strain[way].mean(0)), 99))

    def ratio(self, way):
        """Our strain as a multiple of this way's, NaN where one of them is no measure."""
        other = self.area(way)
        return self.area("ours") / other if other > STILL else np.nan

    @property
    def worst_ratio(self):
        found = [self.ratio(way) for way in ("heat", "file")]
        return max((each for each in found if np.isfinite(each)), default=0.0)

    def worst_pose(self):
        """Where our strain is most above that of the others, or highest without others."""
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
    poses = arrays["anim"][:, deform]
    if len(poses) > POSES:
        poses = poses[np.unique(np.linspace(0, len(poses) - 1, POSES).astype(int))]
    surface = Surface(vertices, arrays["F"])
    rows = {way: normalized(arrays[key][:, deform].astype(float)) for way, key in WAYS.items()}
    strain = {way: _strain(surface, vertices, each, poses) for way, each in rows.items()}
    ours, file = (rows[way].mean(0) for way in ("ours", "file"))
    names = arrays["bone_names"][deform]
    return Judged(
        name, len(vertices), int(deform.sum()), poses, surface, rows, strain,
        extra=float(ours[file < NOTHING].sum()) if file.any() else 0.0,
        lost=[str(each) for each in names[(file >= SOME) & (ours < NOTHING)]],
        neglected=_neglected(names, rows) if file.any() else [],
        stretched=_stretched(poses, rows),
        seconds=float(arrays["seconds"]), heat_seconds=float(arrays["heat_seconds"]),
        error=str(arrays["error"]),
    )  # fmt: skip


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
    """Of the bones that anyone gives weight to, NaN without poses."""
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
    for way, most, what in (("heat", AS_HEAT, "heat's"), ("file", AS_FILE, "the file's")):
        if judged.ratio(way) > most:
            found.append(f"strain {judged.ratio(way):.2f} of {what}")
    if judged.extra > MOST_EXTRA:
        found.append(
            f"{100 * judged.extra:.1f} % of the weight on bones that the file leaves empty"
        )
    if judged.lost and not judged.error:
        more = len(judged.lost) - MOST_NAMES
        names = ", ".join(judged.lost[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
        found.append(f"no weight for {names}")
    return found


def _strain(surface, vertices, rows, poses):
    if (rows.sum(1) == 0).any():
        return None
    return np.array([surface.strain2(skin(vertices, rows, pose)) for pose in poses])


def _by_area(strain2, area):
    return float(np.sqrt((strain2 * area).sum() / area.sum()))
