"""Compares baking with Dem Bones (py-dem-bones): error, time and memory on the same sequences.

bake.py ZIP OUTPUT_FOLDER [CHARACTER...]     (called by bench.py)"""

import json
import subprocess
import sys
import venv
from pathlib import Path

import araplbs
import looks
import numpy as np
import plots
import scipy.sparse
import shaded
from in_blender import BUILD
from results import say, table, write_page
from rigged import model, names

PEER = "py-dem-bones"
CHARACTERS = ("cesium_man", "q_rat", "m2m_horse", "mh_game")
MOST_NEW = 3_000  # vertices: above this, the peer takes many minutes for new bones
NEW_BONES, ITERATIONS = 20, 10
FRAMES = 50, 500
PICTURED = "mh_game"
SHOWN = 0.03  # of the size: the darkest color
LIMIT = 600  # seconds for one run
FOLDER = BUILD / "bake"
NOTE = f"""\
The tables list the root mean square distance to the target as a percentage of the mesh diagonal.
Each run has its own process and uses at most 4 influences, no smoothness term and all
processors.

- *Volume*: the character's animation with the artist's weights and dual quaternions (Preserve
  Volume).
- *smooth*: the character's animation with linear blending, smoothed by Corrective Smooth (delta
  mush).
- *Given*: uses the bones of the character with their transforms, and computes the weights in
  one step.
- *New*: computes {NEW_BONES} bones from the sequence alone, in {ITERATIONS} iterations.
- *before*: the artist's weights.
- *times*: ratio of the run time of Dem Bones to ours, in total and per iteration.

Dem Bones is {PEER} from PyPI. Apart from the settings above, py-dem-bones runs with its
defaults."""


def peer_python():
    """The Python of a virtual environment with the peer, or None if it cannot be installed."""
    folder = BUILD / "dem_bones"
    python = folder / "bin/python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", PEER, "numpy"], check=False)
    found = subprocess.run([python, "-c", "import py_dem_bones"], check=False)
    return python if found.returncode == 0 else None


def blend(vertices, weights, transforms):
    points = np.column_stack([vertices, np.ones(len(vertices))])
    return np.stack([np.einsum("nb,brc,nc->nr", weights, t, points, optimize=True)
                     for t in transforms])  # fmt: skip


def frames_of(vertices, triangles, points):
    """(n, 3, 3) frames of the surface: the normal, a tangent, and the vector perpendicular to
    both."""
    a, b, c = points[triangles.T]
    normal = np.zeros_like(points)
    for corner in triangles.T:
        np.add.at(normal, corner, np.cross(b - a, c - a))
    along = np.zeros_like(points)
    for k in range(3):
        np.add.at(along, triangles[:, k], points[triangles[:, (k + 1) % 3]] - a)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True) + 1e-30
    along -= (along * normal).sum(1, keepdims=True) * normal
    along /= np.linalg.norm(along, axis=1, keepdims=True) + 1e-30
    return np.stack([normal, along, np.cross(normal, along)], axis=2)


def delta_mush(vertices, triangles, posed, rounds=10):
    """Posed points, smoothed, with the detail restored that the smoothing removes from the rest
    shape."""
    n = len(vertices)
    i, k = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]).T
    near = scipy.sparse.csr_array((np.ones(2 * len(i)), (np.r_[i, k], np.r_[k, i])), (n, n))
    near.data[:] = 1
    mean = scipy.sparse.diags_array(1 / np.maximum(near.sum(1), 1)) @ near

    def smooth(points):
        for _ in range(rounds):
            points = 0.5 * points + 0.5 * (mean @ points)
        return points

    rest = smooth(vertices)
    delta = np.einsum("nrc,nr->nc", frames_of(vertices, triangles, rest), vertices - rest)
    found = []
    for points in posed:
        soft = smooth(points)
        found.append(soft + np.einsum("nrc,nc->nr", frames_of(vertices, triangles, soft), delta))
    return np.array(found)


def attempt(python, way, name, problem, limit=LIMIT):
    """The numbers of one run, or a line that states what went wrong."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    source, target = FOLDER / f"{name}.npz", FOLDER / f"{name}.{way}.json"
    np.savez(source, **problem)
    target.unlink(missing_ok=True)
    script = Path(__file__).with_name("bake_one.py")
    command = [python, script, way, source, target]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return f"longer than {limit} s"
    if done.returncode:
        return (done.stderr.strip() or f"ended with {done.returncode}").splitlines()[-1]
    return json.loads(target.read_text())


def run(python, way, name, problem):
    """The numbers of one run, or None if it failed."""
    found = attempt(python, way, name, problem)
    if isinstance(found, str):
        say(f"{name}: {way}: {found}")
        return None
    return found


def sequences(name):
    """(kind, vertices, triangles, transforms, weights, frames) of a character."""
    arrays = model(name)
    vertices, triangles = arrays["V"].astype(float), arrays["F"]
    weights = arrays["W"] / np.maximum(arrays["W"].sum(1, keepdims=True), 1e-12)
    transforms = arrays["anim"][:, :, :3].astype(float)
    used = np.flatnonzero(arrays["bone_deform"])
    weights, transforms = weights[:, used], transforms[:, used]
    volume = araplbs.dual_quaternion_skinning(vertices, weights, transforms)
    yield "volume", vertices, triangles, transforms, weights, volume
    smooth = delta_mush(vertices, triangles, blend(vertices, weights, transforms))
    if np.isfinite(smooth).all():
        yield "smooth", vertices, triangles, transforms, weights, smooth


def compare(python, name):
    rows = []
    for kind, vertices, triangles, transforms, weights, frames in sequences(name):
        size = np.linalg.norm(np.ptp(vertices, axis=0))
        off = blend(vertices, weights, transforms) - frames
        before = np.sqrt((off**2).sum(2).mean()) / size
        common = {"vertices": vertices, "triangles": triangles, "frames": frames}
        ways = {"given": {"transforms": transforms, "iterations": 1}}
        if len(vertices) <= MOST_NEW:
            ways["new"] = {"new_bones": NEW_BONES, "iterations": ITERATIONS}
        for way, more in ways.items():
            label = f"{name}.{kind}.{way}"
            found = {"ours": run(sys.executable, "ours", label, common | more)}
            found["dem_bones"] = python and run(python, "dem_bones", label, common | more)
            rows.append({"name": name, "kind": kind, "way": way, "vertices": len(vertices),
                         "bones": weights.shape[1], "frames": len(frames),
                         "before": before if way == "given" else None, **found})  # fmt: skip
            say(rows[-1])
    return rows


def memory(python, name):
    """The peak memory by number of frames, for random poses."""
    arrays = model(name)
    vertices, triangles = arrays["V"].astype(float), arrays["F"]
    place = arrays["bone_head"], arrays["bone_tail"], arrays["bone_parent"]
    weights = arrays["W"] / np.maximum(arrays["W"].sum(1, keepdims=True), 1e-12)
    rows = []
    for count in FRAMES:
        transforms = araplbs.sample_poses(*place, count)
        FOLDER.mkdir(parents=True, exist_ok=True)
        file = FOLDER / f"frames{count}.npy"
        np.save(file, blend(vertices, weights, transforms).astype(np.float32))
        problem = {"vertices": vertices, "triangles": triangles, "transforms": transforms,
                   "iterations": 1, "path": str(file)}  # fmt: skip
        label = f"{name}.memory{count}"
        found = {"ours": run(sys.executable, "ours", label, problem)}
        found["dem_bones"] = python and run(python, "dem_bones", label, problem)
        rows.append({"name": name, "vertices": len(vertices), "frames": count, **found})
        say(rows[-1])
    return rows


def draw_errors(output, name):
    """The picture of the frame with the largest error of the artist's weights, or None without such
    a frame."""
    kind, vertices, triangles, transforms, artist, frames = next(sequences(name))
    label = f"{name}.{kind}.given"
    found = {"the artist's weights": (artist, transforms)}
    for way, title in (("ours", "ours"), ("dem_bones", "Dem Bones")):
        path = FOLDER / f"{label}.{way}.npz"
        if path.exists():
            with np.load(path) as file:
                found[title] = file["weights"], file["transforms"]
    off = np.linalg.norm(blend(vertices, artist, transforms) - frames, axis=2)
    worst = int(off.max(axis=1).argmax())
    size = np.linalg.norm(np.ptp(vertices, axis=0))
    panels = {"target": (frames[worst], np.zeros(len(vertices)))}
    for title, (weights, moves) in found.items():
        points = blend(vertices, weights, moves[worst : worst + 1])[0]
        panels[title] = points, np.linalg.norm(points - frames[worst], axis=1) / size
    fig, axes = plots.figure(len(panels), width=3.0 * len(panels), height=4.5)
    camera = shaded.view(-60, 10)
    for panel, (title, (points, error)) in zip(axes[0], panels.items(), strict=True):
        shown = looks.MOST_STRAIN * error[triangles].mean(1) / SHOWN
        title += f": {100 * error.max():.1f} %" if error.any() else ""
        looks.draw(panel, points, triangles, shown, camera, title)
    return plots.save(fig, output, "bake.png")


def cell(value, scale=100.0, form=".3f"):
    return "–" if value is None else f"{scale * value:{form}}"


def line(row):
    ours, peer = row["ours"] or {}, row["dem_bones"] or {}
    times = peer["seconds"] / ours["seconds"] if ours and peer else None
    return (
        row["name"], row["kind"], row["way"], f"{row['vertices']:,}", row["bones"], row["frames"],
        cell(row["before"]), cell(ours.get("rms")), cell(peer.get("rms")),
        cell(ours.get("max"), form=".2f"), cell(peer.get("max"), form=".2f"),
        cell(ours.get("seconds"), 1, ".2f"), cell(peer.get("seconds"), 1, ".2f"),
        cell(times, 1, ".0f"),
    )  # fmt: skip


def memory_line(row):
    ours, peer = row["ours"] or {}, row["dem_bones"] or {}
    return (
        row["name"], row["frames"], cell(ours.get("grown"), 2**-20, ".0f"),
        cell(peer.get("grown"), 2**-20, ".0f"), cell(ours.get("seconds"), 1, ".2f"),
        cell(peer.get("seconds"), 1, ".2f"),
    )  # fmt: skip


def main(_zip, output, *asked):
    python = peer_python()
    chosen = [name for name in names(asked) if asked or name in CHARACTERS]
    rows = [row for name in chosen for row in compare(python, name)]
    sizes = memory(python, CHARACTERS[0] if not asked else chosen[0])
    picture = draw_errors(Path(output), PICTURED) if PICTURED in chosen else None
    told = [
        f"The picture shows the frame of {PICTURED} (*volume*, *given*) in which the artist's "
        f"weights have the largest error. The darkest color means {100 * SHOWN:.0f} % of the size "
        "or more:"
    ]
    head = (
        *("character", "target", "bones", "vertices", "of it", "frames", "before %", "ours %"),
        *("Dem Bones %", "most: ours", "Dem Bones", "ours s", "Dem Bones s", "times"),
    )
    of_memory = ("character", "frames", "ours MiB", "Dem Bones MiB", "ours s", "Dem Bones s")
    write_page(
        Path(output), "bake", "Baked deformations", NOTE, table(head, map(line, rows)),
        "The table lists the memory that a run needs beyond the memory in use at the start, by "
            "number of frames. Our function reads the frames one by one from a file and "
            "computes weights for "
        "given bones:",
        table(of_memory, map(memory_line, sizes)), *(told if picture else ()),
        pictures=[picture] if picture else [], rows=rows + sizes,
    )  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
