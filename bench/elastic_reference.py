"""Measures the difference between weights and a surface that no weights can produce: a free elastic
surface on the same bones.

elastic_reference.py ZIP OUTPUT_FOLDER [CHARACTER...]     (called by bench.py)

This benchmark only needs the module, not Blender."""

import sys
import time
from pathlib import Path

import araplbs
import numpy as np
from problems import DATA
from results import say, table, write_page
from yardstick import Yardstick

WAYS = {"reference": "reference", "free": "skin alone", "ours": "ours", "heat": "heat",
        "artist": "artist"}  # fmt: skip
OWN = {"ours": "reference", "heat": "from heat", "artist": "from artist"}
REFERENCES = {
    "reference": ("ours", {}), "free": ("ours", {"inside": 0.0}),
    "from heat": ("heat", {}), "from artist": ("artist", {}),
}  # fmt: skip
MEASURES = {"area": (".1f", 100), "p99": (".0f", 100), "drift": (".2f", 1), "volume": (".1f", 100)}
WITH_MIXED = ("q_eagle", "q_rat", "webxr_hand")
LARGE, EACH = 5000, 4  # larger meshes: one pose of so many
NOTE = f"""\
`araplbs.elastic_poses` moves every vertex freely. The function minimizes the strain of the
surface, the bending of one-rings and the change of their distance from the bones, while limbs
stay on their bones. The result does not come from weights and generally cannot be reproduced by
weights. Each cell lists reference / skin alone (`inside=0`: nothing preserves thickness) / ours
/ heat / artist. The poses are 24 random poses (every bone swings by up to 60 and twists by up
to 10 degrees) and up to 24 frames of the animation. `bench/yardstick.py` measures surface
strain by area and its 99th percentile, drift of limbs in radii, and the volume change of closed
meshes. *Heat* refers to the engine's initial weights and *ours* to its default weights, both
without control bones. The reference in the tables starts from our weights. *s*: time in seconds
for all poses, or for a quarter of the poses if the mesh has more than {LARGE:,} vertices.
*Above the reference*: difference in percentage points between the strain by area of a method's
weights and the strain of a reference that starts from the same weights and allows no limb to
drift farther.

The reference is not a proven bound. The result is a local minimum of a non-convex energy, for one
choice of the stiffness with which the bones hold the skin. The reference shows how much the strain
can be reduced with the same bones and without more drift. fox_soup is a triangle soup, and the rig
of human_game_engine does not fit its mesh."""


def weights_of(yardstick, model):
    """{way: weights}, and the deforming bones that are not control bones."""
    names = yardstick.heads, yardstick.tails, yardstick.parents
    mesh = yardstick.vertices, yardstick.triangles
    edges = model.get("wire_edges")
    control = araplbs.control_bones(*mesh, *names, bone_deform=yardstick.deform, edges=edges)
    deform = yardstick.deform & (control == 0)
    solver = araplbs.Solver(*mesh, *names, bone_deform=deform, edges=edges)
    ways = {"heat": solver.initial_weights}
    solver.solve()
    ways["ours"] = solver.weights
    if yardstick.artist is not None:
        ways["artist"] = model["W"]
    return ways, deform


def elastic(yardstick, model, deform, weights, poses, **options):
    return araplbs.elastic_poses(
        yardstick.vertices, yardstick.triangles, poses, yardstick.heads, yardstick.tails,
        bone_deform=deform, edges=model.get("wire_edges"), tets=model.get("T"), weights=weights,
        **options,
    )  # fmt: skip


def measure(name):
    with np.load(DATA / f"{name}.npz", allow_pickle=True) as file:
        model = dict(file)
    yardstick = Yardstick(model)
    ways, deform = weights_of(yardstick, model)
    row = {"name": name, "seconds": 0.0, "vertices": len(yardstick.vertices), "seen": {}}
    for kind, all_poses in yardstick.poses.items():
        poses = all_poses[:: EACH if row["vertices"] > LARGE else 1]
        seen = {way: yardstick.seen(yardstick.rows(w), poses) for way, w in ways.items()}
        for way, (start, options) in REFERENCES.items():
            if start not in ways:
                continue
            began = time.perf_counter()
            posed = elastic(yardstick, model, deform, ways[start], poses, **options)
            row["seconds"] += (time.perf_counter() - began) * (way == "reference")
            seen[way] = yardstick.seen_of(posed, poses)
        if name in WITH_MIXED and kind == "random":
            posed = elastic(yardstick, model, deform, None, poses, method="mixed", iterations=40)
            row["mixed"] = yardstick.seen_of(posed, poses)
        row["seen"][kind] = seen
    return row


def shown(row, kind, way, key):
    form, factor = MEASURES[key]
    value = row["seen"][kind].get(way, {}).get(key, np.nan)
    return "-" if np.isnan(value) else f"{factor * value:{form}}"


def seen_table(rows, kind):
    known = [row for row in rows if kind in row["seen"]]
    return table(
        ["character", "area %", "p99 %", "drift", "volume %"],
        ([row["name"], *(" / ".join(shown(row, kind, way, key) for way in WAYS)
                         for key in MEASURES)] for row in known),
    )  # fmt: skip


def above(row, kind, way):
    seen = row["seen"].get(kind, {})
    return 100 * (seen[way]["area"] - seen[OWN[way]]["area"]) if way in seen else np.nan


def above_table(rows):
    kinds, ways = ("random", "animation"), ("ours", "heat", "artist")
    head = ["character", "vertices", *(f"{way}, {kind}" for kind in kinds for way in ways), "s"]
    lines = [
        [row["name"], row["vertices"],
         *(plain(above(row, kind, way)) for kind in kinds for way in ways),
         f"{row['seconds']:.1f}"]
        for row in rows
    ]  # fmt: skip
    means = [
        plain(np.nanmean([above(row, kind, way) for row in rows] or [np.nan]))
        for kind in kinds for way in ways
    ]  # fmt: skip
    return table(head, [*lines, ["mean", "", *means, ""]])


def plain(value):
    return "-" if np.isnan(value) else f"{value:.1f}"


def verdict(rows, known):
    """The number of comparisons in which the reference has less strain, and in which it has less
    drift."""
    pairs = [
        (seen[way], seen[OWN[way]])
        for row in rows for seen in row["seen"].values()
        for way in ("ours", "heat", "artist") if way in seen
    ]  # fmt: skip
    strain = sum(own["area"] > ref["area"] for own, ref in pairs)
    drift = sum(not own["drift"] < ref["drift"] for own, ref in pairs)
    return (
        f"The page covers {len(rows)} of {known} characters. The test compares weights with the "
        f"reference that starts from these weights, {len(pairs)} times. The reference has "
        f"less strain by "
        f"area in {strain} of these comparisons, and no more drift in {drift}."
    )


def mixed_table(rows):
    rows = [row for row in rows if "mixed" in row]
    lines = []
    for row in rows:
        row["seen"]["mixed"] = {"mixed": row["mixed"]}
        lines.append([row["name"], *(shown(row, "mixed", "mixed", key) for key in MEASURES)])
        del row["seen"]["mixed"]
    return table(["character", "area %", "p99 %", "drift", "volume %"], lines)


def main(output, *names):
    found = sorted(path.stem for path in DATA.glob("*.npz"))
    rows = []
    for name in [name for name in found if not names or name in names]:
        rows.append(measure(name))
        kind = "random"
        say(name, *(f"{key} " + " / ".join(shown(rows[-1], kind, w, key) for w in WAYS)
                    for key in MEASURES), f"s {rows[-1]['seconds']:.1f}")  # fmt: skip
    blocks = [NOTE, verdict(rows, len(found)), "## Above the reference", above_table(rows)]
    blocks += ["## On random poses", seen_table(rows, "random")]
    blocks += ["## On animations", seen_table(rows, "animation")]
    if any("mixed" in row for row in rows):
        blocks += ["## Automatic skinning by mixed finite elements, random poses", MIXED]
        blocks += [mixed_table(rows)]
    write_page(Path(output), "reference", "The elastic reference", *blocks, rows=rows)


MIXED = """\
`method="mixed"`: the adjoint method optimizes the rotations of 30 samples, and biharmonic
weights interpolate them. The bones pull only weakly (`hold`), so limbs drift."""

if __name__ == "__main__":
    main(*sys.argv[2:])
