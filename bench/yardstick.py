"""Measures the visible quality of weights in plain NumPy. The code depends neither on an energy nor
on araplbs.

The measures use linear blend skinning with normalized rows, in POSES random poses and in as many
frames of the character's animation:

    area    root of the area-weighted mean, over triangles and poses, of the squared strain
            (s1 - 1)^2 + (s2 - 1)^2, with s1 and s2 the singular values of the map that takes the
            triangle at rest to the posed one
    p99     99th percentile over the triangles of the root mean square strain over poses
    peak    largest value over the triangles, which shows a spike that area and p99 hide
    drift   of the limbs: the distance between the center of the vertices around the middle of a
            bone and the position to which the bone moves that center, in radii of the limb; root
            mean square over poses, mean over the bones that a limb encloses
    median_drift, astray  of the same limbs: the median, and the share of the limbs that drift by
            more than a quarter of their radius. A few tiny limbs can decide the mean
    volume  mean relative change of the enclosed volume, of closed meshes
    l1      mean over vertices of sum |w - w of the artist|: from 0 to 2
    core    mean weight of a bone where the artist gives it more than 0.9, mean over bones
    influences  above 0.001 per vertex
    over    overreach: mean weight by area that chains (a bone with all its descendants) have on
            skin to which the artist gives less than 2 % of the chain, summed over the chains that
            have 1 to 90 % of the skin. Skin that goes along with a wrong limb does not stretch
    below, through   of the vertices that lie on another part of the mesh (as clothes do), the share
            that ends below it; of those that lie under a part, the share that comes through: see
            layers.py; means over poses, only of Yardstick.crossed

Values are shares, not percentages, and NaN if there is nothing to measure."""

from functools import cached_property

import numpy as np
from layers import Layers

POSES, SEED, SWING, TWIST = 24, 5, 60, 10  # degrees
ASTRAY = 0.25  # radii
FOREIGN = 0.02  # weight of a chain with the artist; with less, the skin is not the chain's
CHAINS = 0.01, 0.9  # shares of the skin of the chains that are judged: no more than a limb
# A regret: worse than a rival by this factor and by more than the floor of the measure.
REGRET = 1.05
FLOORS = {
    "area": 3e-3, "p99": 1e-2, "median_drift": 0.02, "volume": 5e-3, "deaf": 0.5, "wrong": 0.5,
}  # fmt: skip
LEAST_ALTITUDE = 1e-4  # of a triangle, of its longest edge: below, it is left out


def normalized(weights):
    sums = weights.sum(1, keepdims=True)
    return np.where(sums > 0, weights / np.where(sums > 0, sums, 1), 0)


def skin(vertices, weights, transforms):
    """(n, 3) vertices posed by (bones, 4, 4) transforms."""
    blended = (weights @ transforms[:, :3].reshape(len(transforms), 12)).reshape(-1, 3, 4)
    return np.einsum("vij,vj->vi", blended[..., :3], vertices) + blended[..., 3]


def rotation(axis, angle):
    x, y, z = axis / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def parents_first(parents):
    def depth(bone):
        return 0 if parents[bone] < 0 else 1 + depth(parents[bone])

    return sorted(range(len(parents)), key=depth)


def chained(heads, parents, turns):
    """(bones, 4, 4) transforms of bones that rotate by (bones, 3, 3) about their heads, after their
    parents."""
    transforms = np.zeros((len(heads), 4, 4))
    for bone in parents_first(parents):
        own = np.eye(4)
        own[:3, :3], own[:3, 3] = turns[bone], heads[bone] - turns[bone] @ heads[bone]
        above = transforms[parents[bone]] if parents[bone] >= 0 else np.eye(4)
        transforms[bone] = above @ own
    return transforms


def random_poses(heads, tails, parents, count=POSES, swing=SWING):
    """(count, bones, 4, 4): every bone swings, by at most `swing` degrees, and twists."""
    rng = np.random.default_rng(SEED)
    swing, twist = np.radians([swing, TWIST])
    poses = []
    for _ in range(count):
        turns = np.zeros((len(heads), 3, 3))
        for bone in parents_first(parents):
            along = tails[bone] - heads[bone]
            along = along / max(np.linalg.norm(along), 1e-9)
            across = rng.normal(size=3)
            across -= across @ along * along
            first = rotation(across, rng.uniform(-swing, swing))
            turns[bone] = first @ rotation(along, rng.uniform(-twist, twist))
        poses.append(chained(heads, parents, turns))
    return np.array(poses)


class Surface:
    """Triangles that have an area at rest."""

    def __init__(self, vertices, triangles):
        a, b, c = vertices[triangles].swapaxes(0, 1)
        base = np.linalg.norm(b - a, axis=1)
        x = (b - a) / np.maximum(base, 1e-300)[:, None]
        along = ((c - a) * x).sum(1)
        height = np.linalg.norm(c - a - along[:, None] * x, axis=1)
        longest = np.max([base, np.linalg.norm(c - a, axis=1), np.linalg.norm(c - b, axis=1)], 0)
        area = base * height / 2
        kept = (area > 0) & (2 * area > LEAST_ALTITUDE * longest**2)
        self.kept = kept
        self.triangles, self.area = triangles[kept], area[kept]
        self.base, self.along, self.height = base[kept], along[kept], height[kept]

    def strain2(self, posed):
        """(kept triangles,) squared strain."""
        a, b, c = posed[self.triangles].swapaxes(0, 1)
        x = (b - a) / self.base[:, None]
        y = (c - a - self.along[:, None] * x) / self.height[:, None]
        xx, yy, xy = (x * x).sum(1), (y * y).sum(1), (x * y).sum(1)
        mean, root = (xx + yy) / 2, np.sqrt(((xx - yy) / 2) ** 2 + xy**2)
        least = np.sqrt(np.maximum(mean - root, 0))
        return (np.sqrt(mean + root) - 1) ** 2 + (least - 1) ** 2


def limbs(vertices, heads, tails):
    """(bone, vertices around its middle, radius) of each bone that a limb encloses."""
    length = np.linalg.norm(tails - heads, axis=1)
    along = (tails - heads) / np.maximum(length, 1e-9)[:, None]
    places, distances = (np.empty((len(vertices), len(heads))) for _ in range(2))
    for bone, head in enumerate(heads):
        at = np.clip((vertices - head) @ along[bone], 0, length[bone])
        distances[:, bone] = np.linalg.norm(vertices - head - at[:, None] * along[bone], axis=1)
        places[:, bone] = at / max(length[bone], 1e-9)
    nearest = distances.argmin(1)
    for bone, head in enumerate(heads):
        in_middle = (places[:, bone] > 0.3) & (places[:, bone] < 0.7)
        around = np.flatnonzero((nearest == bone) & in_middle)
        if len(around) < 6:
            continue
        radius = distances[around, bone].mean()
        off = vertices[around].mean(0) - head
        off = off - along[bone] * (off @ along[bone])
        if np.linalg.norm(off) <= 0.5 * radius and radius <= 1.5 * length[bone]:
            yield bone, around, radius


def vertex_areas(vertices, triangles):
    """(n,): a third of the area of the triangles around each vertex."""
    a, b, c = vertices[triangles].swapaxes(0, 1)
    third = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 6
    return np.bincount(triangles.ravel(), np.repeat(third, 3), len(vertices))


def overreach(weights, artist, parents, areas):
    """`over`, of weights (n, bones) with a column for every bone."""
    order = parents_first(parents)[::-1]
    ours, theirs = weights.copy(), artist.copy()
    for bone in (bone for bone in order if parents[bone] >= 0):
        for chains in (ours, theirs):
            chains[:, parents[bone]] += chains[:, bone]
    areas = areas / max(areas.sum(), 1e-300)
    share = areas @ theirs
    judged = (share > CHAINS[0]) & (share < CHAINS[1])
    return float((areas @ np.where(theirs < FOREIGN, ours, 0))[judged].sum())


def regrets(own, other):
    """[measure] by which weights are worse than a rival's; each a {measure: value}."""
    both = ((key, abs(own.get(key, np.nan)), abs(other.get(key, np.nan))) for key in FLOORS)
    return [key for key, a, b in both if a > max(REGRET * b, b + FLOORS[key])]


def volume(points, triangles):
    a, b, c = points[triangles].swapaxes(0, 1)
    return np.einsum("ti,ti->", a, np.cross(b, c)) / 6


def is_closed(triangles):
    """Whether every edge has two triangles."""
    edges = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, 1:], triangles[:, ::2]]), 1)
    return (np.unique(edges, axis=0, return_counts=True)[1] == 2).all()


class Yardstick:
    """A character of ../shared/data, and the poses to judge its weights on.

    model: its arrays. poses: {"random" or "animation": (poses, bones, 4, 4)}."""

    def __init__(self, model):
        self.vertices, self.triangles = model["V"].astype(float), model["F"]
        self.heads, self.tails = model["bone_head"], model["bone_tail"]
        self.parents = model["bone_parent"].astype(int)
        self.deform = model["bone_deform"].astype(bool)
        self.surface = Surface(self.vertices, self.triangles)
        self.limbs = list(limbs(self.vertices, self.heads[self.deform], self.tails[self.deform]))
        closed = is_closed(self.triangles)
        self.volume = volume(self.vertices, self.triangles) if closed else np.nan
        has_artist = "W" in model and len(model["W"]) == len(self.vertices)
        self.artist = self.rows(model["W"]) if has_artist else None
        self.poses = {"random": random_poses(self.heads, self.tails, self.parents)}
        if "anim" in model and model["anim"].size:
            frames = np.linspace(0, len(model["anim"]) - 1, POSES).astype(int)
            self.poses["animation"] = model["anim"][np.unique(frames)]

    def rows(self, weights):
        """Normalized, with only the deforming bones."""
        return normalized(weights[:, self.deform].astype(float))

    def posed(self, rows, poses):
        """(n, 3) for each pose."""
        for pose in poses:
            yield skin(self.vertices, rows, pose[self.deform])

    def triangle_strain(self, weights, poses):
        """(triangles,) root mean square over poses, NaN for omitted triangles."""
        found = [self.surface.strain2(points) for points in self.posed(self.rows(weights), poses)]
        result = np.full(len(self.triangles), np.nan)
        result[self.surface.kept] = np.sqrt(np.mean(found, axis=0))
        return result

    def judge(self, weights):
        """{kind of poses: {measure: value}} of (vertices, bones) weights."""
        rows = self.rows(weights)
        likeness = self.likeness(rows)
        return {kind: {**self.seen(rows, poses), **likeness} for kind, poses in self.poses.items()}

    def seen(self, rows, poses):
        return self.seen_of(self.posed(rows, poses), poses)

    def seen_of(self, posed, poses):
        """Measures of points (n, 3) for each pose, computed by any method."""
        total, volumes, offsets = 0, [], []
        for pose, points in zip(poses, posed, strict=True):
            total = total + self.surface.strain2(points)
            if np.isfinite(self.volume):
                volumes.append(volume(points, self.triangles) / self.volume - 1)
            offsets.append([self.offset(points, pose[self.deform], *limb) for limb in self.limbs])
        mean = total / len(poses)
        area = self.surface.area
        drift = np.sqrt(np.mean(np.square(offsets), axis=0))
        return {
            "area": float(np.sqrt((mean * area).sum() / area.sum())),
            "p99": float(np.percentile(np.sqrt(mean), 99)),
            "peak": float(np.sqrt(mean.max())),
            "drift": float(drift.mean()) if len(drift) else np.nan,
            "median_drift": float(np.median(drift)) if len(drift) else np.nan,
            "astray": float((drift > ASTRAY).mean()) if len(drift) else np.nan,
            "volume": float(np.mean(volumes)) if volumes else np.nan,
        }

    @cached_property
    def layers(self):
        return Layers(self.vertices, self.triangles)

    def crossed(self, weights, poses):
        """{"below", "through"}; NaN if no vertex lies on or under another part."""
        if not len(self.layers.vertex):
            return {"below": np.nan, "through": np.nan}
        posed = self.posed(self.rows(weights), poses)
        means = np.mean([self.layers.crossed(points) for points in posed], axis=0)
        return dict(zip(("below", "through"), means.tolist(), strict=True))

    def offset(self, points, pose, bone, around, radius):
        taken = pose[bone, :3] @ np.append(self.vertices[around].mean(0), 1)
        return np.linalg.norm(points[around].mean(0) - taken) / radius

    def likeness(self, rows):
        used = np.unique(self.triangles)
        result = {
            "l1": np.nan,
            "core": np.nan,
            "over": np.nan,
            "influences": float((rows > 1e-3).sum(1).mean()),
            "unweighted": int((rows[used].sum(1) == 0).sum()),  # of vertices that triangles use
        }
        if self.artist is None:
            return result
        known = self.artist.sum(1) > 0.5
        if not known.any():
            return result
        own, artist = rows[known], self.artist[known]
        cores = [own[w > 0.9, bone].mean() for bone, w in enumerate(artist.T) if (w > 0.9).any()]
        result["l1"] = float(np.abs(own - artist).sum(1).mean())
        result["core"] = float(np.mean(cores)) if cores else np.nan
        whole = (self.whole(each)[known] for each in (rows, self.artist))
        areas = vertex_areas(self.vertices, self.triangles)[known]
        result["over"] = overreach(*whole, self.parents, areas)
        return result

    def whole(self, rows):
        """The rows with a column for every bone."""
        result = np.zeros((len(rows), len(self.deform)))
        result[:, self.deform] = rows
        return result
