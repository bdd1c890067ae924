"""Measures how much the skin of limbs stretches in twists: with random poses that do not twist
limbs, with those that do, and with twist bones.

twist_limbs.py ZIP FOLDER [CHARACTER...]"""

import sys
from dataclasses import replace
from pathlib import Path

import araplbs
import numpy as np
import rigged
import yardstick
from araplbs.model.sparse_weights import SparseWeights, dense_of
from araplbs.skeleton.skeleton import Skeleton
from araplbs.skeleton.twist_bones import find_twist_bones, twisted
from results import say, table, write_page

# A body with clothes, a bare low-poly man, a ranger in parts, a low-poly animal and a
# horse with thick legs.
CHARACTERS = ("mh_game", "cesium_man", "ranger", "q_rat", "m2m_horse")
TWISTS, SWING, FRAMES = (30, 60, 90), 120, 24
HALFWAY, LONG = 0.5, 0.3  # position and length of a twist bone, as shares of the limb's length
NEAR = 0.35  # share of the limb's length: distance of judged triangles from the limb
UPPER, FORE = ("arm", "leg"), "wrist"
WAYS = ("without", "default", "as others", "shared")
NOTE = f"""\
Each cell is the surface strain in %, root mean square by area, of the triangles within
{NEAR:.0%} of a limb's length of the limb.

- *without*: `limb_twist=0`, so random poses twist limbs by no more than 10 degrees.
- *default*: our default options.
- *as others*, *shared*: the rig has a twist bone halfway along each upper arm, thigh and forearm.
  It turns by half of the twist. *As others*: the twist bones have names that do not tell, and are
  weighted like other bones. *Shared*: they are recognized, and take weight from their limbs.

The poses twist each shoulder, hip or wrist of a pair by an angle, or swing each shoulder and hip by
{SWING} degrees about eight axes. No weights are optimized for these poses. *Animation*: up to
{FRAMES} frames of the character's own animation, and the whole surface."""


def turn(axis, angle):
    return yardstick.rotation(axis, np.radians(angle))


def limb_places(skeleton):
    """[(kind, bone that turns, axis, root, end, limb bone)] of all limbs."""
    found, which = [], skeleton.deform & ~skeleton.left_out
    ground = skeleton.heads[which][:, 2].min()
    height = np.ptp(skeleton.heads[which][:, 2])
    for limb in skeleton.limbs:
        if len(limb.bones) < 2 or len(limb.joints) < 3:
            continue
        kind = UPPER[int(limb.end[2] < ground + 0.25 * height)]
        for name, bone, k, turned in (
            (kind, limb.bones[0], 0, limb.bones[0]),
            (FORE, limb.bones[1], 1, limb.feet[0] if limb.feet else -1),
        ):
            if name == FORE and (
                kind == "leg" or turned < 0 or skeleton.parents[turned] != limb.bones[1]
            ):
                continue
            root, end = limb.joints[k : k + 2]
            found.append((name, turned, end - root, root, end, bone))
    return found


def with_halfway_bones(skeleton, places, word):
    """The skeleton with a bone halfway along each limb."""
    heads, tails = list(skeleton.heads), list(skeleton.tails)
    parents, names = list(skeleton.parents), list(skeleton.names)
    for _kind, _bone, way, root, _end, limb in places:
        heads.append(root + HALFWAY * way)
        tails.append(root + (HALFWAY + LONG) * way)
        parents.append(limb)
        names.append(f"{skeleton.names[limb]} {word}")
    deform = np.append(skeleton.deform, np.ones(len(places), bool))
    return Skeleton.from_joints(heads, parents, tails=tails, names=names, deform=deform)


def solved(points, triangles, skeleton, **options):
    """Dense weights (n, bones) and the skeleton."""
    known = {"tails": skeleton.tails, "names": skeleton.names, "deform": skeleton.deform}
    found = araplbs.weights(points, triangles, skeleton.heads, skeleton.parents, **known, **options)
    return dense_of(SparseWeights(*found.rows), len(skeleton.names))


def posed_sets(skeleton, places, kind, angle):
    """(p, bones, 4, 4): the limbs of a kind twist, both ways."""
    sets = []
    for sign in (-1, 1):
        turns = np.tile(np.eye(3), (len(skeleton.heads), 1, 1))
        for name, bone, way, *_rest in places:
            if name == kind:
                turns[bone] = turn(way, sign * angle)
        sets.append(yardstick.chained(skeleton.heads, skeleton.parents, turns))
    return np.array(sets)


def swings(skeleton, places, kind):
    sets = []
    for k in range(8):
        turns = np.tile(np.eye(3), (len(skeleton.heads), 1, 1))
        for name, bone, way, *_rest in places:
            if name == kind:
                across = np.cross(way, (0.3, 0.5, 0.8))
                turns[bone] = turn(turn(way, 45 * k) @ across, SWING)
        sets.append(yardstick.chained(skeleton.heads, skeleton.parents, turns))
    return np.array(sets)


def near(points, triangles, places, kind):
    """(f,) bool: triangles near the limbs of a kind."""
    middle, found = points[triangles].mean(axis=1), np.zeros(len(triangles), bool)
    for name, _bone, way, root, _end, _limb in places:
        if name == kind:
            along = np.clip((middle - root) @ way / (way @ way), 0, 1)
            away = np.linalg.norm(middle - root - along[:, None] * way, axis=1)
            found |= away < NEAR * np.linalg.norm(way)
    return found


def cases(skeleton, places, animation):
    """[(text, kind, poses (p, bones, 4, 4))]"""
    kinds = [kind for kind in (*UPPER, FORE) if any(place[0] == kind for place in places)]
    found = [
        (f"{kind} twists {angle}", kind, posed_sets(skeleton, places, kind, angle))
        for kind in kinds
        for angle in TWISTS
    ]
    found += [
        (f"{kind} swings {SWING}", kind, swings(skeleton, places, kind))
        for kind in kinds
        if kind != FORE
    ]
    if len(animation):
        frames = np.unique(np.linspace(0, len(animation) - 1, FRAMES).astype(int))
        found.append(("animation", None, animation[frames]))
    return found


def measure(name):
    arrays = rigged.model(name)
    points, triangles = arrays["V"].astype(float), arrays["F"].astype(np.int64)
    names = list(map(str, arrays["bone_names"]))
    heads, parents = arrays["bone_head"].astype(float), arrays["bone_parent"].astype(int)
    known = {"tails": arrays["bone_tail"].astype(float), "names": names}
    skeleton = Skeleton.from_joints(
        heads, parents, deform=arrays["bone_deform"].astype(bool), **known
    )
    places = limb_places(skeleton)
    marked = with_halfway_bones(skeleton, places, "twist")
    plain = with_halfway_bones(skeleton, places, "part")
    weights = {
        "without": solved(points, triangles, skeleton, limb_twist=0.0),
        "default": solved(points, triangles, skeleton),
        "as others": solved(points, triangles, plain),
        "shared": solved(points, triangles, marked),
    }
    bones = [replace(bone, share=HALFWAY) for bone in find_twist_bones(marked)]
    surface = yardstick.Surface(points, triangles)
    row = {"name": name, "twist bones": len(bones), "deaf": {}, "strain": {}}
    for way in ("as others", "shared"):
        most = weights[way][:, len(names) :].max(axis=0)
        row["deaf"][way] = int((most < 0.5).sum())
    given = arrays.get("anim", np.zeros((0, len(names), 4, 4)))
    for text, kind, poses in cases(skeleton, places, given if given.ndim == 4 else []):
        some = (
            np.ones(len(surface.area), bool)
            if kind is None
            else near(points, surface.triangles, places, kind)
        )
        # A bone that is not there moves like its parent.
        above = marked.parents[len(names) :]
        whole = twisted(np.concatenate([poses, poses[:, above]], axis=1)[..., :3, :], bones, marked)
        strains = {}
        for way, own in weights.items():
            squares = 0
            for pose in whole if own.shape[1] > len(names) else poses[..., :3, :]:
                blended = np.einsum("vb,bij->vij", yardstick.normalized(own), pose)
                posed = np.einsum("vij,vj->vi", blended[..., :3], points) + blended[..., 3]
                squares = squares + surface.strain2(posed)
            squares = squares / len(poses)
            area = surface.area[some]
            strains[way] = 100 * float(np.sqrt(squares[some] @ area / area.sum()))
        row["strain"][text] = strains
    say(name, row["deaf"])
    return row


def strain_table(row):
    lines = [
        [text, *(f"{strains[way]:.1f}" for way in WAYS)] for text, strains in row["strain"].items()
    ]
    return table([row["name"], *WAYS], lines)


def summary(rows):
    """Geometric means over the characters, relative to the default."""
    texts = dict.fromkeys(text for row in rows for text in row["strain"])
    lines = []
    for text in texts:
        own = [row["strain"][text] for row in rows if text in row["strain"]]
        cells = [np.exp(np.mean([np.log(s[way] / s["default"]) for s in own])) for way in WAYS]
        lines.append([text, *(f"{cell:.2f}" for cell in cells)])
    return table(["relative to default", *WAYS], lines)


def deaf_line(rows):
    """A sentence about bones that lead no vertex."""
    count = sum(row["twist bones"] for row in rows)
    other, shared = (sum(row["deaf"][way] for row in rows) for way in ("as others", "shared"))
    return (
        f"Of {count} twist bones, {other} have a weight of at least one half nowhere if they are "
        f"weighted like other bones, and {shared} if they are recognized."
    )


def main(_zip_path, output, *names):
    rows = [measure(name) for name in rigged.names(names or CHARACTERS)]
    blocks = [NOTE, deaf_line(rows), summary(rows), *(strain_table(row) for row in rows)]
    write_page(Path(output), "twist", "Limbs that twist", *blocks, rows=rows)


if __name__ == "__main__":
    main(*sys.argv[1:])
