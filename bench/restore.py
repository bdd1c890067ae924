"""Compares weights restored after remeshing with the weights that Blender's remeshers leave and
with Blender's Data Transfer.

restore.py ZIP OUTPUT_FOLDER [CHARACTER...]     (called by bench.py)"""

import sys
import time
from pathlib import Path

import looks
import numpy as np
import plots
import shaded
from core_modules import add_on, mesh_of, rows_of, skeleton_of
from in_blender import BUILD, run_in_blender
from paths import DATA
from results import say, table, write_page
from scipy.spatial import cKDTree

FOLDER = BUILD / "restore"
LIMIT = 1500  # seconds of Blender for one character
CANDIDATES = 48  # triangles that may be the nearest
CHARACTERS = (
    *("cesium_man", "m2m_horse", "q_trex", "webxr_hand", "leap_hand", "mh_game"),
    "knight",
)
CHANGES = ("voxel", "quad", "decimate", "subdivide", "join")
WAYS = ("left", "transfer", "ours")
SHOWN = ("mh_game", "voxel")
MOST_OFF = 0.5  # L1, in the last color
LIMIT_OFF = 0.05
WHY = f"""\
Distances above {LIMIT_OFF:g} arise because every method loses detail for which the new mesh has no
vertices. This happens in meshes decimated to a few hundred vertices, and where voxel remeshing or
QuadriFlow fuses fingers or toes (red in the picture). In the cases in which Data Transfer is
closer, it gives some vertices more bones than any vertex had before. With the same number of bones,
the distance of Data Transfer is as large as ours. Data Transfer needs a copy of the old mesh, and
does not handle renamed bones, corrections or locks."""
NOTE = """\
Five Blender tools change characters with their artists' weights: Voxel Remesh (150 voxels along
the diagonal), QuadriFlow (the same number of faces), Decimate to half, Subdivision Surface (one
level), and Join of all parts into one mesh in a different order. **L1**: distance to the earlier
weights, the sum over bones of |w - w before| (0 to 2), mean / 99th percentile. The distance is
measured at all vertices and triangle centers of the earlier mesh, against the weights at the
nearest point of the new mesh. Therefore, detail lost on a coarser mesh counts as well.

- *left*: the weights that remain in the vertex groups after the Blender tool has run.
- *Data Transfer*: transfer from a copy made before the change, with *Nearest Face
  Interpolated*.
- *ours*: Keep Weights and Restore Weights with default settings.

"fails" means that the tool creates no mesh, and "-" means that the character has only one part."""


def shares_at(vertices, triangles, points):
    """(corners (k, 3), shares (k, 3)) of the points of a mesh that are nearest to the given
    ones."""
    corners = vertices[triangles]
    count = min(CANDIDATES, len(triangles))
    _, near = cKDTree(corners.mean(1)).query(points, count)
    near = near.reshape(len(points), count)
    shares = add_on("features.transfer.clearance").nearest_shares(
        points[:, None], *np.moveaxis(corners[near], 2, 0)
    )
    places = np.einsum("ijc,ijcx->ijx", shares, corners[near])
    best = np.linalg.norm(points[:, None] - places, axis=2).argmin(1)
    row = np.arange(len(points))
    return triangles[near[row, best]], shares[row, best]


def normalized(weights):
    sums = weights.sum(1, keepdims=True)
    return weights / np.where(sums > 0, sums, 1)


def off(given, made, weights):
    """(n + f,) L1 at the vertices and triangle centers of the earlier mesh."""
    points = np.concatenate([given["V"], given["V"][given["F"]].mean(1)])
    before = np.concatenate([given["W"], given["W"][given["F"]].mean(1)])
    corners, shares = shares_at(made["vertices"].astype(float), made["triangles"], points)
    now = np.einsum("ic,icm->im", shares, normalized(weights)[corners])
    return np.abs(now - before).sum(1)


def ours(given, made):
    """(weights, seconds, matched)"""
    keep, work = add_on("features.restore.stored"), add_on("features.restore.restore")
    skeleton = skeleton_of(given)
    m, names = len(skeleton.names), skeleton.names
    start = time.perf_counter()
    whole = keep.Kept("Now", "Rig", given["V"], given["F"], names, rows_of(given["W"]), names,
                      skeleton.heads, skeleton.tails)  # fmt: skip
    [kept] = keep.unpack(keep.pack([whole]), "it")
    mesh = mesh_of("Now", made["vertices"], made["triangles"])
    [done] = work.restore([kept], [work.Now(mesh, {})], skeleton, work.RestoreOptions())
    seconds = time.perf_counter() - start
    dense = add_on("model.sparse_weights").dense_of(done.rows, len(done.groups))
    weights = np.zeros((len(dense), m))
    weights[:, [int(name) for name in done.groups]] = dense
    return weights, seconds, float(done.matched.mean())


def load(name):
    model = dict(np.load(DATA / f"{name}.npz", allow_pickle=True))
    given = {key: model[key] for key in ("F", "bone_head", "bone_tail", "bone_parent")}
    given["V"] = model["V"].astype(np.float32).astype(float)
    given["W"] = normalized(model["W"].astype(float))
    given["parts"] = model["part_id"]
    given["start"] = model.get("polys_offsets", np.arange(0, 3 * len(model["F"]) + 1, 3))
    given["faces"] = model.get("polys_verts", model["F"].ravel())
    return given


def changed(name, given):
    """{change: arrays} of the results from Blender."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for old in FOLDER.glob(f"{name}.*npz"):
        old.unlink()
    file = FOLDER / f"{name}.npz"
    np.savez(
        file, vertices=given["V"], faces_start=given["start"], faces=given["faces"],
        weights=given["W"], parts=given["parts"],
    )  # fmt: skip
    error = run_in_blender("restore_in_blender.py", file, limit=LIMIT)
    if error:
        say(f"bench: {name}: Blender: {error}")
    found = {}
    for change in CHANGES:
        path = file.with_suffix(f".{change}.npz")
        if path.exists():
            found[change] = dict(np.load(path))
    return found


def measure(name):
    """[row of each change], and (given, made, {way: weights}) of the change shown in the
    picture."""
    given = load(name)
    made, rows, shown = changed(name, given), [], None
    several = len(np.unique(given["parts"])) > 1
    for change in CHANGES:
        row = {"name": name, "change": change, "vertices": None}
        rows.append(row)
        if change not in made:
            row["why"] = "fails" if change != "join" or several else "-"
            continue
        each = made[change]
        mine, seconds, matched = ours(given, each)
        weights = {"left": each["left"], "transfer": each["transfer"], "ours": mine}
        row |= {"vertices": len(each["vertices"]), "matched": matched, "seconds": seconds,
                "transfer_seconds": float(each["seconds"])}  # fmt: skip
        for way, own in weights.items():
            if not own.any():
                row[way] = None
                continue
            found = off(given, each, own)
            row[way] = float(found.mean()), float(np.percentile(found, 99))
            row[f"{way} influences"] = int((own > 1e-4).sum(1).max())
        row["influences"] = int((given["W"] > 1e-4).sum(1).max())
        say(name, change, row)
        if (name, change) == SHOWN:
            shown = given, each, weights
    return rows, shown


def draw(shown, output):
    given, made, weights = shown
    titles = {"transfer": "Data Transfer", "ours": "Restore Weights"}
    fig, panels = plots.figure(len(titles), 11, 7)
    camera = shaded.view(-60, 10)
    for panel, (way, title) in zip(panels[0], titles.items(), strict=True):
        far = off(given, made, weights[way])
        colors = far[len(given["V"]) :] / MOST_OFF * looks.MOST_STRAIN
        looks.draw(panel, given["V"], given["F"], colors, camera, f"{title}: L1 {far.mean():.3f}")
    fig.savefig(output / "restore.png")


def tables(rows):
    def cell(row, way):
        if row["vertices"] is None:
            return row["why"]
        return f"{row[way][0]:.3f} / {row[way][1]:.2f}" if row[way] else "nothing"

    out = []
    for change in CHANGES:
        own = [row for row in rows if row["change"] == change]
        lines = [
            (row["name"], f"{row['vertices']:,}" if row["vertices"] else "",
             *(cell(row, way) for way in WAYS),
             *((f"{100 * row['matched']:.1f}", f"{row['transfer_seconds']:.2f}",
                f"{row['seconds']:.2f}", row["influences"], row.get("transfer influences", ""),
                row["ours influences"]) if row["vertices"] else [""] * 6))
            for row in own
        ]  # fmt: skip
        head = ("character", "vertices now", "left", "Data Transfer", "ours", "match %",
                "s, Data Transfer", "s, ours", "influences before", "Data Transfer's",
                "ours'")  # fmt: skip
        out += [f"## {change.capitalize()}: L1, mean / 99 %", table(head, lines)]
    return out


def main(_zip_path, output, *names):
    output = Path(output)
    if not DATA.is_dir():
        say(f"bench: restore: no {DATA}: skipped")
        return
    rows, shown = [], None
    for name in names or CHARACTERS:
        own, picture = measure(name)
        rows += own
        shown = shown or picture
    output.mkdir(parents=True, exist_ok=True)
    done = [row for row in rows if row["vertices"]]
    worst = max(done, key=lambda row: row["ours"][0])
    below = sum(row["ours"][0] < LIMIT_OFF for row in done)
    summary = (
        f"Our distance is below {LIMIT_OFF:g} in {below} of {len(done)} cases. The largest "
        f"distance is {worst['ours'][0]:.3f} ({worst['name']}, {worst['change']})."
    )
    if shown:
        draw(shown, output)
    write_page(
        output, "restore", "Weights restored after a remesh", NOTE, summary, WHY, *tables(rows),
        pictures=["restore.png"] if shown else (), rows=rows,
    )  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
