"""Removes half of the bones, and compares recomputed weights with weights merged into parents and
with dissolved bones.

fewer.py ZIP OUTPUT_FOLDER [CHARACTER...]     (called by bench.py)"""

import sys
import time
from pathlib import Path

import araplbs
import looks
import numpy as np
import plots
import shaded
from core_modules import add_on, rows_of, skeleton_of
from paths import DATA
from results import say, table, write_page
from yardstick import Yardstick, normalized, skin

STAY = 30
POSES = 80  # poses for choosing bones and solving weights
CHARACTERS = ("sintel", "ranger", "dog", "m2m_horse", "mh_game")
WAYS = ("all", "merged", "dissolved", "ours")
SHOWN = ("mh_game", "random", 3)
MOST_OFF = 0.03  # of the size, in the last color
NOTE = f"""\
Characters with 50 to 66 deform bones and artists' weights are reduced to {STAY} bones. All
methods remove the same bones, which *Reduce Bones* chooses in {POSES} random poses.

- *all*: no bone is removed.
- *merged*: the weights of a removed bone are added to its nearest remaining ancestor, as is
  usual.
- *dissolved*: the vertex groups of removed bones are deleted, and the remaining weights are
  normalized. Vertices without another bone follow the nearest remaining ancestor.
- *ours*: the weights of the remaining bones are recomputed.

The results are evaluated in the 24 random poses of the yardstick and in 24 frames of the animation,
none of which was used for optimization. All bones are posed, but removed bones move nothing.
**Off**: root mean square distance of the vertices from their positions with all bones, as a
percentage of the character's size. **Strain**: strain of the surface relative to its rest shape, in
%, as root mean square by area / 99th percentile. A surface that moves less has less strain, so a
strain below the value in the column *all* means lost motion."""


def ancestor(parents, gone, deform, bone):
    while bone >= 0 and (gone[bone] or not deform[bone]):
        bone = parents[bone]
    return bone if bone >= 0 else int(np.flatnonzero(deform & ~gone)[0])


def by_hand(dense, parents, gone, deform):
    """{"merged", "dissolved": (n, m)}"""
    merged, dissolved = dense.copy(), dense.copy()
    for bone in np.flatnonzero(gone):
        merged[:, ancestor(parents, gone, deform, bone)] += dense[:, bone]
    merged[:, gone] = dissolved[:, gone] = 0
    empty = dissolved.sum(1) <= 1e-6
    dissolved[empty] = merged[empty]
    return {"merged": merged, "dissolved": normalized(dissolved)}


def measure(name):
    model = dict(np.load(DATA / f"{name}.npz", allow_pickle=True))
    yardstick, skeleton = Yardstick(model), skeleton_of(model)
    vertices, deform = yardstick.vertices, skeleton.deform
    dense = normalized(model["W"].astype(float) * deform)
    transforms = araplbs.sample_poses(
        skeleton.heads, skeleton.tails, skeleton.parents, POSES, bone_deform=deform, seed=0
    )
    work, start = add_on("features.reduce_bones.reduce_bones"), time.perf_counter()
    done = work.reduce_bones(
        vertices, yardstick.triangles, rows_of(dense), skeleton, transforms,
        work.ReduceBonesOptions(count=STAY),
    )  # fmt: skip
    seconds = time.perf_counter() - start
    ways = {"all": dense, **by_hand(dense, skeleton.parents, done.gone, deform)}
    ways["ours"] = add_on("model.sparse_weights").dense_of(done.rows, len(deform))
    size = np.linalg.norm(np.ptp(vertices, axis=0))
    rows, shown = [], None
    for kind, poses in yardstick.poses.items():
        row = {"name": name, "kind": kind, "before": int(deform.sum()),
               "after": int((deform & ~done.gone).sum()), "vertices": len(vertices),
               "seconds": seconds}  # fmt: skip
        where = {way: [skin(vertices, own, pose) for pose in poses] for way, own in ways.items()}
        for way in WAYS:
            gaps = [
                np.square(a - b).sum(1).mean()
                for a, b in zip(where[way], where["all"], strict=True)
            ]
            seen = yardstick.seen(ways[way][:, deform], poses)
            row[way] = (100 * np.sqrt(np.mean(gaps)) / size, 100 * seen["area"], 100 * seen["p99"])
        say(row)
        rows.append(row)
        if (name, kind) == SHOWN[:2]:
            posed = {way: points[SHOWN[2]] for way, points in where.items()}
            shown = posed, yardstick.triangles, size
    gone = [skeleton.names[bone] for bone in done.replaced_by]
    return rows, shown, gone


def draw(shown, output):
    posed, triangles, size = shown
    fig, panels = plots.figure(len(WAYS), 14, 6)
    camera = shaded.view(-60, 10)
    for panel, way in zip(panels[0], WAYS, strict=True):
        off = np.linalg.norm(posed[way] - posed["all"], axis=1)[triangles].mean(1) / size
        looks.draw(panel, posed[way], triangles, off / MOST_OFF * looks.MOST_STRAIN, camera, way)
    fig.savefig(output / "fewer.png")


def main(_zip_path, output, *names):
    output = Path(output)
    if not DATA.is_dir():
        say(f"bench: fewer: no {DATA}: skipped")
        return
    rows, shown, removed = [], None, []
    for name in names or CHARACTERS:
        own, picture, gone = measure(name)
        rows += own
        shown = shown or picture
        removed.append(f"- {name}: {', '.join(gone)}")
    output.mkdir(parents=True, exist_ok=True)
    blocks = []
    for title, pick in (
        ("Off, %", lambda m: f"{m[0]:.2f}"),
        ("Strain, %: mean / 99 %", lambda m: f"{m[1]:.1f} / {m[2]:.0f}"),
    ):
        lines = [
            (f"{row['name']}, {row['kind']}", f"{row['before']} to {row['after']}",
             f"{row['vertices']:,}", *(pick(row[way]) for way in WAYS), f"{row['seconds']:.1f}")
            for row in rows
        ]  # fmt: skip
        blocks += [f"## {title}", table(("poses", "bones", "vertices", *WAYS, "s, ours"), lines)]
    if shown:
        draw(shown, output)
    write_page(
        output, "fewer", "Half the bones", NOTE, *blocks, "## What went, in this order",
        "\n".join(removed), pictures=["fewer.png"] if shown else (), rows=rows,
    )  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
