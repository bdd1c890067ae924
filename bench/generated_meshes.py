"""Compares our weights with bone heat on meshes as generators leave them: openings, and the
findings of Check Weights.

generated_meshes.py ZIP OUTPUT_FOLDER     (called by bench.py)

$GENERATED names a folder of .fbx files, each with a generated mesh and its skeleton, which are
measured as well."""

import os
import shutil
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
The test uses a creature with arms and fingers, as a clean mesh and with the defects of generated
meshes (tests/package/generated.py). The defects are a union of voxels, a second shell at 0.4 % of
the mesh size below the skin, an inner hull, split edges whose two sides are up to 0.002 % of the
mesh size apart, nearby fragments, and noise. *heat*: Blender's automatic weights, with an asterisk
if vertices have no weights. *as it is*: the solver without the links that keep shells and seams
together. *ours*: Auto-weight with default settings. **Opens**: increase in gap width over the rest
pose, as a percentage of the mesh size, in the worst of {POSES} poses that no method was optimized
for. Gaps are measured between the two sides of split edges, and between a vertex of a shell and the
nearest point of the surface below it. The last column lists what Check Weights finds on the mesh
with our weights."""

REAL = """

*bird*, *giraffe*, *tira* and *tripo_carrot* are meshes from the generators of other projects, with
skeletons predicted by UniRig (github.com/VAST-AI-Research/UniRig, examples/skeleton, MIT)."""


def skeleton():
    names = creature.NAMES
    return {
        "names": names,
        "heads": np.array([bone[1] for bone in creature.BONES], float),
        "tails": np.array([bone[2] for bone in creature.BONES], float),
        "parents": np.array([names.index(b[3]) if b[3] else -1 for b in creature.BONES]),
    }


def problem_of(vertices, triangles, bones):
    own, m = add_on("character.problem"), len(bones["names"])
    swap = {"L": "R", "R": "L"}
    flipped = [n[:-1] + swap[n[-1]] if n[-2:-1] == "." else n for n in bones["names"]]
    whole = own.Skeleton(
        **bones,
        roll_axes=np.tile([0.0, 1.0, 0.0], (m, 1)),
        deform=np.ones(m, bool),
        limits=np.full((m, 3, 2), np.nan),
        opposite=np.array(
            [bones["names"].index(n) if n in bones["names"] else k for k, n in enumerate(flipped)]
        ),
    )
    mesh = own.Mesh("Creature", vertices, triangles, np.zeros((0, 2), int), np.eye(4))
    return own.Problem([mesh], whole, symmetric=True)


def opening(problem, rows, poses):
    """The increase in the gaps of shells and seams, or None if there are no gaps."""
    shells = add_on("character.mesh_faults")
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


def heat_of(meshes, real=()):
    """{name: (vertices, triangles, bones, Blender's weights and seconds)}, including those of .fbx
    files."""
    folder = BUILD / "generated"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    files = {}
    for k, (name, (vertices, triangles)) in enumerate(meshes.items()):
        files[name] = folder / f"{k}.npz"
        np.savez(files[name], vertices=vertices, triangles=triangles, **skeleton())
    for file in real:
        files[file.stem] = Path(shutil.copy(file, folder))
    error = run_in_blender("generated_in_blender.py", *files.values(), limit=LIMIT)
    if error:
        sys.exit(f"bench: Blender: {error}")
    found = {}
    for name, file in files.items():
        given = dict(np.load(file.with_suffix(".npz")))
        bones = {key: given[key] for key in ("heads", "tails", "parents")}
        bones["names"] = list(map(str, given["names"]))
        heat = dict(np.load(file.with_suffix(".blender.npz")))
        found[name] = given["vertices"], given["triangles"], bones, heat
    return found


def measure(name, vertices, triangles, bones, heat):
    problem = problem_of(vertices, triangles, bones)
    options, judged = (
        add_on("model.options").Options(**more)
        for more in ({}, {"pose_count": POSES, "seed": SEED})
    )
    poses = add_on("character.pose_sets").pose_set(problem, judged)
    start = time.perf_counter()
    rows = add_on("solvers.solve").solve(problem, options).rows
    seconds = time.perf_counter() - start
    plain = araplbs.Solver(**problem.solver_arguments(options))
    plain.solve()
    ways = {
        "heat": rows_of(heat["weights"]),
        "as it is": add_on("model.sparse_weights").SparseWeights(*plain.sparse_weights),
        "ours": rows,
    }
    kinds = add_on("features.check.kinds").OF_MESH
    checked = add_on("model.options").Options(pose_count=12)
    few = add_on("character.pose_sets").pose_set(problem, checked)
    findings = add_on("features.check.check").check(problem, rows, few, checked)
    row = {
        "name": name,
        "triangles": len(triangles),
        "bare": int((heat["weights"].sum(axis=1) <= 0).sum()),
        "opens": {way: opening(problem, each, poses) for way, each in ways.items()},
        "same": all(map(np.array_equal, rows, ways["as it is"])),
        "seconds": {"heat": float(heat["seconds"]), "ours": seconds},
        "says": "; ".join(f.words for f in findings if f.kind in kinds) or "-",
    }
    say(row)
    posed = {
        way: araplbs.linear_skinning(vertices, tuple(each), poses.transforms[:1])[0]
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
            looks.draw(panel, points, faces, colors, camera, f"{name}: {title}")
    fig.savefig(output / "generated.png", dpi=80)


def percent(value):
    return "-" if value is None else f"{value:.3f}"


def main(_zip_path, output):
    output = Path(output)
    meshes = {name: make() for name, make in generated.SET.items()}
    meshes["noise"] = generated.noisy(times=NOISY)
    real = sorted(Path(os.environ["GENERATED"]).glob("*.fbx")) if "GENERATED" in os.environ else []
    rows, posed = [], {}
    for name, given in heat_of(meshes, real).items():
        row, posed[name] = measure(name, *given)
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
    note = NOTE + REAL if real else NOTE
    write_page(output, "generated", "Generated meshes", note, table(head, lines), said,
               pictures=["generated.png"], rows=rows)  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
