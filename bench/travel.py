"""Compares our transfer of weights to clothes and levels of detail with Blender's Data Transfer and
with robust weight transfer as published.

travel.py ZIP OUTPUT_FOLDER [CHARACTER...]     (called by bench.py)"""

import sys
import time
from pathlib import Path

import araplbs
import garments
import looks
import numpy as np
import plots
import shaded
from core_modules import add_on, mesh_of, rows_of, skeleton_of
from in_blender import BUILD, run_in_blender
from results import say, table, write_page
from scipy.spatial import cKDTree
from yardstick import Surface, chained, normalized, random_poses, rotation, skin

FOLDER = BUILD / "travel"
LIMIT = 900  # seconds for all transfers in Blender
NEAR = 0.02  # of the size: vertices this close above the skin count
ON = 1e-4  # of the size: nearer vertices are neither above nor below
CANDIDATES = 16  # triangles of the skin that a vertex may be above
FRAMES = 12
REPEATS = 3
RATIOS = (0.5, 0.25)
# The pose of the picture: axis and degrees.
SHOWN = {
    "thigh_l": ((1.0, 0, 0), -60), "calf_l": ((1.0, 0, 0), 65), "spine_02": ((0, 0, 1.0), 20),
    "upperarm_l": ((0, 1.0, 0), -55), "upperarm_r": ((1.0, 0, 0), -50),
}  # fmt: skip
WAYS = ("Blender", "published", "taken", "refined")
NOTE = f"""\
Each garment receives the weights of the body below it.

- *Blender*: Data Transfer, *Nearest Face Interpolated*.
- *published*: robust weight transfer (Abdrashitov et al. 2023) with its published limits, 0.05
  of the garment's diagonal and 30 degrees, one-sided.
- *taken*: our transfer without *Refine*.
- *refined*: our transfer with the operator's default settings.
- **Below**: percentage of the vertices at most {NEAR:g} of the body's size above the skin at
  rest that are below the skin in a pose. The percentage is computed over all vertices and poses:
  the 24 random poses of the yardstick, and {FRAMES} frames of the character's animation if it
  has one. A vertex is compared with the {CANDIDATES} skin triangles that are nearest at rest,
  so intersections with other limbs do not count.
- **Strain**: strain of the garment's surface, as measured by the yardstick, in %.

Times are the engine's run times in seconds or, for Data Transfer, the operator's run times."""
LOD_NOTE = """\
Blender's Decimate modifier creates the levels of detail of mh_game, which receive their weights
from LOD0. The table lists distances between the posed surfaces, from the vertices of each
surface to the other surface, in thousandths of the body's size, as the mean and the maximum
over all poses."""


def dense_of(rows, bones):
    rows_type = add_on("model.sparse_weights")
    return rows_type.dense_of(rows_type.SparseWeights(*rows), bones)


def own(garment, **options):
    """(weights, Transferred, seconds) of the add-on's own transfer."""
    transfer, empty = (
        add_on("features.transfer.transfer"),
        add_on("model.sparse_weights").empty_sparse_weights,
    )
    skeleton = skeleton_of(garment.model)
    body = mesh_of("Body", *garment.body, rows_of(garment.body_weights))
    target = mesh_of(garment.name, *garment.mesh, empty(len(garment.mesh[0])))
    options = transfer.TransferOptions(**options)
    start = time.perf_counter()
    [done] = transfer.transfer(transfer.Source([body], skeleton), [target], skeleton, options)
    seconds = time.perf_counter() - start
    return dense_of(done.rows, len(skeleton.names)), done, seconds


def published(garment):
    sizes = [np.linalg.norm(np.ptp(v, axis=0)) for v in (garment.mesh[0], garment.body[0])]
    start = time.perf_counter()
    rows, *_ = araplbs.transfer_weights(
        *garment.body, garment.body_weights, *garment.mesh, distance=0.05 * sizes[0] / sizes[1]
    )
    seconds = time.perf_counter() - start
    return dense_of(rows, garment.body_weights.shape[1]), seconds


def poses_of(model):
    """{kind: (poses, bones, 4, 4)}"""
    parents = model["bone_parent"].astype(int)
    found = {"random": random_poses(model["bone_head"], model["bone_tail"], parents)}
    if "anim" in model and model["anim"].size:
        frames = np.linspace(0, len(model["anim"]) - 1, FRAMES).astype(int)
        found["animation"] = model["anim"][frames]
    return found


def heights(points, skin_points, normals, candidates):
    """(n,) how far points are above the nearest of their candidate triangles (n, k, 3), and their
    distance from it."""
    corners = skin_points[candidates]
    shares = add_on("features.transfer.clearance").nearest_shares(
        points[:, None], *np.moveaxis(corners, 2, 0)
    )
    nearest = (shares[..., None] * corners).sum(2)
    which = ((points[:, None] - nearest) ** 2).sum(-1).argmin(1)
    at = np.arange(len(points)), which
    normal = (shares[at][..., None] * normals[candidates[at]]).sum(1)
    off = points - nearest[at]
    return (off * normal).sum(1), np.linalg.norm(off, axis=1)


def measure_below(garment, ways):
    """(evaluated vertices, {kind: {way: % below}})."""
    (vertices, triangles), points = garment.body, garment.mesh[0]
    size = np.linalg.norm(np.ptp(vertices, axis=0))
    tree = cKDTree(vertices[triangles].mean(1))
    candidates = triangles[tree.query(points, CANDIDATES)[1]]
    normals = garments.vertex_normals(vertices, triangles)
    height, off = heights(points, vertices, normals, candidates)
    counts = np.flatnonzero((height > ON * size) & (off < NEAR * size))
    found = {}
    for kind, poses in poses_of(garment.model).items():
        found[kind] = dict.fromkeys(ways, 0.0)
        for pose in poses:
            posed = skin(vertices, garment.body_weights, pose)
            normals = garments.vertex_normals(posed, triangles)
            for way, weights in ways.items():
                moved = skin(points[counts], weights[counts], pose)
                below = heights(moved, posed, normals, candidates[counts])[0] < 0
                found[kind][way] += 100 * float(below.mean()) / len(poses) if len(counts) else 0.0
    return len(counts), found


def strain(garment, weights, poses):
    surface = Surface(*garment.mesh)
    total = sum(surface.strain2(skin(garment.mesh[0], weights, pose)) for pose in poses)
    return 100 * float(np.sqrt((total / len(poses) * surface.area).sum() / surface.area.sum()))


def in_blender(all_garments):
    """Gives each garment the result of Blender's Data Transfer; returns the levels of detail."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    files = []
    for at, garment in enumerate(all_garments):
        files.append(FOLDER / f"{at}.npz")
        np.savez(
            files[-1], body=garment.body[0], body_triangles=garment.body[1],
            body_weights=garment.body_weights, mesh=garment.mesh[0], triangles=garment.mesh[1],
        )  # fmt: skip
    first = all_garments[0]
    for ratio in RATIOS:
        files.append(FOLDER / f"lod{ratio}.npz")
        np.savez(
            files[-1], body=first.body[0], body_triangles=first.body[1],
            body_weights=first.body_weights, ratio=ratio,
        )  # fmt: skip
    error = run_in_blender("data_transfer.py", *files, limit=LIMIT)
    if error:
        sys.exit(f"bench: Data Transfer: {error}")
    made = [dict(np.load(file.with_suffix(".blender.npz"))) for file in files]
    for garment, each in zip(all_garments, made, strict=False):
        garment.peers = each
    return [
        garments.Garment(f"LOD {100 * ratio:.0f} %", first.model, first.body, first.body_weights,
                         (each["mesh"], each["triangles"]), each)
        for ratio, each in zip(RATIOS, made[len(all_garments) :], strict=True)
    ]  # fmt: skip


def ways_of(garment):
    """({way: weights}, {way: seconds}, Transferred)."""
    ways, seconds = {"Blender": normalized(garment.peers["weights"])}, {}
    seconds["Blender"] = float(garment.peers["seconds"])
    ways["published"], seconds["published"] = published(garment)
    ways["taken"], _, seconds["taken"] = own(garment, refine=False)
    ways["refined"], done, seconds["refined"] = own(garment)
    return ways, seconds, done


def measure(garment):
    ways, seconds, done = ways_of(garment)
    counts, below = measure_below(garment, ways)
    strains = {
        kind: {way: strain(garment, weights, poses) for way, weights in ways.items()}
        for kind, poses in poses_of(garment.model).items()
    }
    row = {
        "name": garment.name, "vertices": len(garment.mesh[0]), "counts": counts,
        "matched": 100 * float(done.matched.mean()), "below": below, "strain": strains,
        "seconds": seconds,
    }  # fmt: skip
    say(row)
    return row, ways


def surface_distance(garment, weights):
    """(mean, largest) distance in thousandths of the size, over random poses."""
    (vertices, triangles), (points, faces) = garment.body, garment.mesh
    size, found = np.linalg.norm(np.ptp(vertices, axis=0)), []
    for pose in poses_of(garment.model)["random"][::2]:
        posed = skin(vertices, garment.body_weights, pose), triangles
        moved = skin(points, weights, pose), faces
        both = [araplbs.match_surfaces(*a, *b)[1] for a, b in ((posed, moved), (moved, posed))]
        found.append(np.concatenate(both) / size * 1000)
    return float(np.mean([each.mean() for each in found])), float(max(e.max() for e in found))


def measure_lod(garment):
    ways, seconds, _ = ways_of(garment)
    row = {
        "name": garment.name, "vertices": len(garment.mesh[0]), "seconds": seconds,
        "distance": {way: surface_distance(garment, weights) for way, weights in ways.items()},
    }  # fmt: skip
    say(row)
    return row


def measure_large(garment):
    """(vertices, seconds without Refine, with Refine, of Auto-weight) of a garment of 50,000
    vertices: the best of several runs."""
    large = garments.skirt(garment.model, 240, 208)
    large = garments.Garment("large", garment.model, garment.body, garment.body_weights, large)
    skeleton, seconds = skeleton_of(garment.model), []
    for _ in range(REPEATS):  # in turn, so other work of the machine slows all equally
        taken, refined = own(large, refine=False)[2], own(large)[2]
        start = time.perf_counter()
        araplbs.Solver(
            *large.mesh, skeleton.heads, skeleton.tails, skeleton.parents,
            bone_roll_axes=skeleton.roll_axes, bone_deform=skeleton.deform,
        ).solve()  # fmt: skip
        seconds.append((taken, refined, time.perf_counter() - start))
    return len(large.mesh[0]), *np.min(seconds, axis=0)


def shown_pose(model):
    names = [str(name) for name in model["bone_names"]]
    turns = np.tile(np.eye(3), (len(names), 1, 1))
    for bone, (axis, degrees) in SHOWN.items():
        turns[names.index(bone)] = rotation(np.array(axis), np.radians(degrees))
    return chained(model["bone_head"], model["bone_parent"].astype(int), turns)


def draw(shown, output):
    """The shirt and the skirt, posed: Data Transfer and ours."""
    fig, panels = plots.figure(2, 8, 7)
    model = shown[0][0].model
    pose = shown_pose(model)
    camera = shaded.view(-50, 5)
    for panel, way, title in zip(
        panels[0], ("Blender", "refined"), ("Data Transfer", "Transfer Weights (ARAP)"), strict=True
    ):
        garment = shown[0][0]
        points = [skin(garment.body[0], garment.body_weights, pose)]
        triangles, colors = [garment.body[1]], [np.zeros(len(garment.body[1]))]
        for garment, ways in shown:
            first = sum(map(len, points))
            points.append(skin(garment.mesh[0], ways[way], pose))
            triangles.append(garment.mesh[1] + first)
            colors.append(np.full(len(garment.mesh[1]), np.nan))
        looks.draw(panel, *map(np.concatenate, (points, triangles, colors)), camera, title)
    fig.savefig(output / "travel.png")


def cells(row, key):
    for kind, values in row[key].items():
        facts = row["name"], kind, f"{row['vertices']:,}", f"{row['counts']:,}"
        yield (*facts, f"{row['matched']:.0f}", *(f"{values[way]:.2f}" for way in WAYS))


def main(zip_path, output, *names):
    output = Path(output)
    every = list(garments.garments())
    chosen = [g for g in every if not names or g.name.split(":")[0] in names]
    lods = in_blender([every[0], *(g for g in chosen if g is not every[0])])
    rows, shown = [], []
    for garment in chosen:
        row, ways = measure(garment)
        rows.append(row)
        if garment.name.startswith("mh_game"):
            shown.append((garment, ways))
    head = ("garment", "poses", "vertices", "above", "match %", *WAYS)
    below, strains = ([each for row in rows for each in cells(row, key)] for key in
                      ("below", "strain"))  # fmt: skip
    seconds = [(row["name"], *(f"{row['seconds'][way]:.2f}" for way in WAYS)) for row in rows]
    found = [measure_lod(garment) for garment in lods]
    distances = [
        (row["name"], f"{row['vertices']:,}",
         *("{:.2f} / {:.1f}".format(*row["distance"][way]) for way in WAYS))
        for row in found
    ]  # fmt: skip
    large = measure_large(every[0])
    output.mkdir(parents=True, exist_ok=True)
    if shown:
        draw(shown, output)
    blocks = [
        NOTE, "## Below the skin, %", table(head, below), "## Strain of the garment, %",
        table(head, strains), "## Seconds", table(("garment", *WAYS), seconds),
        f"A skirt of {large[0]:,} vertices on mh_game takes {large[1]:.2f} s without Refine and "
        f"{large[2]:.2f} s with it; Auto-weight on the skirt takes {large[3]:.2f} s.",
        "## Levels of detail", LOD_NOTE, table(("level", "vertices", *WAYS), distances),
    ]  # fmt: skip
    pictures = ["travel.png"] if shown else []
    write_page(output, "travel", "Transferred weights", *blocks, pictures=pictures,
               rows=rows + found)  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
