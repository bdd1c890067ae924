"""Compares linear blending, dual quaternions and centers of rotation, with artists' weights, heat
weights and ours, and with our weights optimized for dual quaternions.

deformers.py ZIP OUTPUT_FOLDER [CHARACTER...]     (called by bench.py)"""

import json
import sys
import time
from pathlib import Path

import araplbs
import numpy as np
import rigged
from in_blender import BUILD, run_in_blender
from problems import DATA
from results import say, table, write_page
from yardstick import Yardstick, volume

CHARACTERS = ("cesium_man", "knight", "leap_hand", "m2m_human", "mage", "q_rat", "q_wasp")
TWIST = np.pi / 2  # of the twisting poses; the others twist by 10 degrees
SEED, POSES = 9, 24
DEFORMERS = ("linear", "dual", "centers")
WAYS = ("artist", "heat", "ours", "for it")
MEASURES = {"area": ".1f", "p99": ".0f", "volume": ".1f"}
NOTE = f"""\
Each cell lists linear blending / dual quaternions (Preserve Volume) / optimized centers of
rotation.

- *Heat* has no limit on influences.
- *Ours* has 4 influences and is optimized for linear blending.
- *For it* has 4 influences and is optimized for dual quaternions
  (`deformer="dual_quaternions"`).
- *area*: surface strain in %, root mean square by area.
- *p99*: 99th percentile of the strain over the triangles.
- *volume*: mean volume change of closed meshes, in %.

`bench/yardstick.py` measures these values without using any energy, in {POSES} random
poses not used for optimization. In the usual poses, every bone swings by up to 60 degrees and
twists by up to 10 degrees. In the twisting poses, bones twist by up to {np.degrees(TWIST):.0f}
degrees. For these poses, our weights were optimized with such twists as well."""


STAGE = """\
The table shows how much the stage for dual quaternions changes the energy (including springs), and
the solve time in seconds without and with this stage."""


SPEED = """\
## Deform With

Frames per second in Blender while all bones move, and in parentheses how many times as long a frame
takes as with the Armature modifier with Preserve Volume (`bench/nodes_in_blender.py`)."""
NODES_OF = ("knight", "m2m_human", "mh_game", "mh_base")


def solved(arguments, **settings):
    """(solver, seconds)"""
    start = time.perf_counter()
    solver = araplbs.Solver(**arguments, **settings)
    solver.solve()
    return solver, time.perf_counter() - start


def pose(yardstick, weights, poses, deformer):
    points = yardstick.vertices
    if deformer == "dual":
        return araplbs.dual_quaternion_skinning(points, weights, poses)
    centers = np.full(points.shape, np.nan)
    if deformer == "centers":
        centers = araplbs.rotation_centers(points, yardstick.triangles, weights)
    return araplbs.center_of_rotation_skinning(points, weights, poses, centers)


def judge(yardstick, posed):
    surface, area = yardstick.surface, yardstick.surface.area
    mean = np.mean([surface.strain2(points) for points in posed], axis=0)
    changes = [volume(points, yardstick.triangles) / yardstick.volume - 1 for points in posed]
    return {
        "area": float(100 * np.sqrt((mean * area).sum() / area.sum())),
        "p99": float(100 * np.percentile(np.sqrt(mean), 99)),
        "volume": float(100 * np.mean(changes)),
    }


def measure(name):
    arrays = rigged.model(name)
    yardstick, arguments = Yardstick(arrays), rigged.without_control_bones(arrays)
    arguments["bone_roll_axes"] = arrays.get("bone_roll_axis")
    bones = {k: v for k, v in arguments.items() if k.startswith("bone_")}
    more = {k: bones.pop(k) for k in ("bone_roll_axes", "bone_deform")}
    row = {"name": name, "vertices": len(yardstick.vertices), "poses": {}}
    for kind, twist in (("usual", {}), ("twisting", {"twist": TWIST})):
        poses = araplbs.sample_poses(*bones.values(), POSES, seed=SEED, **more, **twist)
        linear, row[f"{kind} seconds"] = solved(arguments, **twist)
        dual, row[f"{kind} seconds for it"] = solved(
            arguments, deformer="dual_quaternions", **twist
        )
        before = dual.energies[dual.report["stage_starts"][-1]]
        row[f"{kind} gain"] = float(dual.energies[-1] / before - 1)
        weights = {
            "heat": linear.initial_weights, "ours": linear.weights, "for it": dual.weights,
        }  # fmt: skip
        if yardstick.artist is not None:
            weights["artist"] = np.zeros_like(linear.weights)
            weights["artist"][:, yardstick.deform] = yardstick.artist
        row["poses"][kind] = {
            way: {d: judge(yardstick, pose(yardstick, w, poses, d)) for d in DEFORMERS}
            for way, w in weights.items()
        }
        centers = time.perf_counter()
        araplbs.rotation_centers(yardstick.vertices, yardstick.triangles, linear.sparse_weights)
        row["centers seconds"] = time.perf_counter() - centers
    say(row)
    return row


def cell(row, kind, way, key):
    found = row["poses"][kind].get(way)
    numbers = [found[d][key] for d in DEFORMERS] if found else [np.nan]
    return " / ".join("-" if np.isnan(x) else f"{x:{MEASURES[key]}}" for x in numbers)


def strain_table(rows, kind, key):
    head = (f"{key} %", *WAYS)
    return table(
        head, ([row["name"], *(cell(row, kind, way, key) for way in WAYS)] for row in rows)
    )


def gain_table(rows):
    head = ("", "vertices", "energy", "s", "twisting: energy", "s", "centers: s")
    cells = []
    for row in rows:
        line = [row["name"], f"{row['vertices']:,}"]
        for kind in ("usual", "twisting"):
            seconds, longer = row[f"{kind} seconds"], row[f"{kind} seconds for it"]
            line += [f"{100 * row[f'{kind} gain']:+.1f} %", f"{seconds:.1f} / {longer:.1f}"]
        cells.append([*line, f"{row['centers seconds']:.2f}"])
    return table(head, cells)


def nodes_block():
    """The speed of the node groups of Deform With, or None before Blender 5.2."""
    output = BUILD / "nodes.json"
    files = [DATA / f"{name}.blend" for name in NODES_OF]
    error = run_in_blender("nodes_in_blender.py", output, *filter(Path.exists, files), limit=600)
    rows = [] if error else json.loads(output.read_text())
    if not rows:
        return None
    names = ("dual quaternions", "centers", "stretchable-twistable bones")
    head = ("", "vertices", "bones", "Armature modifier", *names)
    cells = []
    for row in rows:
        line = [row["name"], f"{row['vertices']:,}", row["bones"], f"{1000 / row['armature']:.0f}"]
        for name in ("dual", "centers", "twists"):
            line.append(f"{1000 / row[name]:.0f} ({row[name] / row['armature']:.1f})")
        cells.append(line)
    return f"{SPEED}\n\n{table(head, cells)}"


def ratio(rows, kind, ours, other, key="area"):
    """Geometric mean over the characters of the ratio of one (way, deformer) to another."""
    known = [row["poses"][kind] for row in rows if {ours[0], other[0]} <= row["poses"][kind].keys()]
    ratios = [np.log(k[ours[0]][ours[1]][key] / k[other[0]][other[1]][key]) for k in known]
    return float(np.exp(np.mean(ratios))) if ratios else np.nan


def summary(rows):
    lines = []
    for kind, text in (("usual", "In the usual poses"), ("twisting", "In the twisting poses")):
        dual = ratio(rows, kind, ("ours", "dual"), ("ours", "linear"))
        centers = ratio(rows, kind, ("ours", "centers"), ("ours", "linear"))
        gained = ratio(rows, kind, ("for it", "dual"), ("ours", "dual"))
        highest = ratio(rows, kind, ("for it", "dual"), ("ours", "dual"), "p99")
        lines.append(
            f"{text}, the strain (area) of our weights is {dual:.2f} times as high with dual "
            f"quaternions as with linear blending, and {centers:.2f} times as high with centers "
            f"of rotation (geometric means over the characters). Optimizing the weights for dual "
            f"quaternions multiplies the strain with dual quaternions by {gained:.3f} and its p99 "
            f"by {highest:.3f}."
        )
    return "\n\n".join(lines)


def main(_zip_path, output, *names):
    rows = [measure(name) for name in rigged.names(names or CHARACTERS)]
    blocks = [NOTE, summary(rows), STAGE, gain_table(rows)]
    for kind, title in (
        ("usual", "Twists up to 10 degrees"),
        ("twisting", "Twists up to 90 degrees"),
    ):
        blocks.append(f"## {title}")
        blocks += [strain_table(rows, kind, key) for key in MEASURES]
    blocks += filter(None, [nodes_block()])
    write_page(Path(output), "deformers", "Deformers", *blocks, rows=rows)


if __name__ == "__main__":
    main(*sys.argv[1:])
