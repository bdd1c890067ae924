"""Meshes as generators leave them, beside bone heat: what opens, and what Check Weights says.

generated_meshes.py ZIP OUTPUT_FOLDER     (bench.py calls it)"""

import sys
import time
from pathlib import Path

import araplbs
import creature
import generated
import looks
import numpy as np
import plots
import shaded
from core_modules import add_on, rows_of
from in_blender import BUILD, run_in_blender
from results import say, table, write_page

LIMIT = 900  # seconds of Blender
POSES, SEED = 40, 77  # to judge in
NOISY = 9  # cells of the creature in each direction: 180,000 triangles
SHOWN = ("split edges", "inner hull")
WAYS = ("heat", "as it is", "ours")
NOTE = f"""\
A creature of arms and fingers, and the same as generators leave it (tests/core/generated.py): a
union of voxels, a second shell 0.4 % of the size below the skin, a hull inside, all edges between
its sides split and up to 0.002 % of the size apart, crumbs beside it, noise. *heat*: Blender's
automatic weights; an asterisk where vertices got none. *as it is*: the solver without what keeps
shells and seams together. *ours*: Auto-weight with its defaults. **Opens**: by how much more than
at rest, in % of the size, in the worst of {POSES} poses that none was made in: the two sides of
split edges, and each vertex of a shell and the nearest point of what it lies on. Last, what Check
Weights names of the mesh with our weights."""


def skeleton():
    names = creature.NAMES
    return {
        "names": names,
        "heads": np.array([bone[1] for bone in creature.BONES], float),
        "tails": np.array([bone[2] for bone in creature.BONES], float),
        "parents": np.array([names.index(b[3]) if b[3] else -1 for b in creature.BONES]),
    }


def problem_of(vertices, triangles):
    own, bones = add_on("character.problem"), skeleton()
    m = len(bones["names"])
    swap = {"L": "R", "R": "L"}
    flipped = [n[:-1] + swap[n[-1]] if n[-2:-1] == "." else n for n in bones["names"]]
    whole = own.Skeleton(
        **bones,
        roll_axes=np.tile([0.0, 1.0, 0.0], (m, 1)),
        deform=np.ones(m, bool),
        limits=np.full((m, 3, 2), np.nan),
        opposite=np.array([bones["names"].index(n) for n in flipped]),
    )
    mesh = own.Mesh("Creature", vertices, triangles, np.zeros((0, 2), int), np.eye(4))
    return own.Problem([mesh], whole, symmetric=True)


def opening(problem, rows, poses):
    """By how much shells and seams open; None without any."""
    shells = add_on("character.shells")
    surface = shells.Surface(problem)
    rest, found = surface.vertices, []
    posed = araplbs.linear_skinning(rest, tuple(rows), poses.transforms)
    if surface.split:
        to = surface.split.groups
        gap = np.linalg.norm(posed - posed[:, to], axis=2)
        found.append((gap - np.linalg.norm(rest - rest[to], axis=1)).max())
    for shell in shells.find_shells(surface):
        corners, at, heights, _ = shells.nearest_on(surface, shell.host, rest[shell.vertices])
        below = np.einsum("pkci,kc->pki", posed[:, corners], at)
        gap = np.linalg.norm(posed[:, shell.vertices] - below, axis=2) - np.abs(heights)
        found.append(gap.max())
    return 100 * max(found) / surface.size if found else None


def heat_of(meshes):
    folder = BUILD / "generated"
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for k, (vertices, triangles) in enumerate(meshes.values()):
        files.append(folder / f"{k}.npz")
        np.savez(files[-1], vertices=vertices, triangles=triangles, **skeleton())
    error = run_in_blender("generated_in_blender.py", *files, limit=LIMIT)
    if error:
        sys.exit(f"bench: Blender: {error}")
    return [dict(np.load(file.with_suffix(".blender.npz"))) for file in files]


def measure(name, mesh, heat):
    problem = problem_of(*mesh)
    options, judged = (
        add_on("character.options").Options(**more)
        for more in ({}, {"pose_count": POSES, "seed": SEED})
    )
    poses = add_on("skeleton.poses").pose_set(problem, judged)
    start = time.perf_counter()
    rows = add_on("solvers.solve").solve(problem, options).rows
    seconds = time.perf_counter() - start
    plain = araplbs.Solver(**{**options.solver_arguments(), **problem.arguments})
    plain.solve()
    ways = {
        "heat": rows_of(heat["weights"]),
        "as it is": add_on("character.sparse_weights").SparseWeights(*plain.sparse_weights),
        "ours": rows,
    }
    kinds = add_on("checks.findings").OF_MESH
    checked = add_on("character.options").Options(pose_count=12)
    few = add_on("skeleton.poses").pose_set(problem, checked)
    findings = add_on("checks.check").check(problem, rows, few, checked)
    row = {
        "name": name,
        "triangles": len(mesh[1]),
        "bare": int((heat["weights"].sum(axis=1) <= 0).sum()),
        "opens": {way: opening(problem, each, poses) for way, each in ways.items()},
        "same": all(map(np.array_equal, rows, ways["as it is"])),
        "seconds": {"heat": float(heat["seconds"]), "ours": seconds},
        "says": "; ".join(f.words for f in findings if f.kind in kinds) or "-",
    }
    say(row)
    posed = {
        way: araplbs.linear_skinning(mesh[0], tuple(each), poses.transforms[:1])[0]
        for way, each in ways.items()
    }
    return row, posed


def draw(meshes, posed, output):
    fig, panels = plots.figure(len(SHOWN), 12, 2.6 * len(SHOWN))
    fig.clf()
    panels = fig.subplots(len(SHOWN), 1 + len(WAYS))
    camera = shaded.view(-70, 15)
    for row, name in zip(panels, SHOWN, strict=True):
        vertices, triangles = meshes[name]
        pictures = [("at rest", vertices), *posed[name].items()]
        for panel, (title, points) in zip(row, pictures, strict=True):
            faces, colors = triangles, np.zeros(len(triangles))
            if name == "inner hull":  # the front half of the body is taken away
                first = len(generated.body()[0])
                middle = vertices[faces].mean(axis=1)
                faces = faces[(faces.min(axis=1) >= first) | (middle[:, 1] > 0)]
                colors = np.where(faces.min(axis=1) >= first, np.nan, 0.0)
            looks.draw(panel, points, faces, colors, camera)
            panel.set_title(f"{name}: {title}")
            panel.autoscale_view()
            panel.set_aspect("equal")
            panel.axis("off")
    fig.savefig(output / "generated.png", dpi=80)


def percent(value):
    return "-" if value is None else f"{value:.3f}"


def main(_zip_path, output):
    output = Path(output)
    meshes = {name: make() for name, make in generated.SET.items()}
    meshes["noise"] = generated.noisy(times=NOISY)
    rows, posed = [], {}
    for (name, mesh), heat in zip(meshes.items(), heat_of(meshes), strict=True):
        row, posed[name] = measure(name, mesh, heat)
        rows.append(row)
    head = ("mesh", "triangles", *(f"opens: {way}" for way in WAYS), "s heat", "s ours")
    lines = [
        (row["name"], f"{row['triangles']:,}",
         *(percent(row["opens"][way]) + ("*" if way == "heat" and row["bare"] else "")
           for way in WAYS),
         f"{row['seconds']['heat']:.2f}", f"{row['seconds']['ours']:.2f}")
        for row in rows
    ]  # fmt: skip
    said = table(
        ("mesh", "without weights by heat", "as the solver's", "Check Weights"),
        [(r["name"], f"{r['bare']:,}", "yes" if r["same"] else "no", r["says"]) for r in rows],
    )
    output.mkdir(parents=True, exist_ok=True)
    draw(meshes, posed, output)
    write_page(output, "generated", "Meshes that were generated", NOTE, table(head, lines), said,
               pictures=["generated.png"], rows=rows)  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
