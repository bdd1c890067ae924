"""Transfers the shape keys of a body to its clothes, and compares the result with Blender's Surface
Deform and Data Transfer.

MPFB=FOLDER shape_keys.py ZIP OUTPUT_FOLDER     (called by bench.py)"""

import sys
import time
from pathlib import Path

import araplbs
import looks
import numpy as np
import plots
import shaded
from body_shapes import Body, is_there
from core_modules import add_on
from in_blender import BUILD, run_in_blender
from results import say, table, write_page
from scipy.spatial import cKDTree
from yardstick import Surface

LIMIT = 900  # seconds of Blender
ON = 1e-4  # of the size: nearer a vertex is neither above nor below
CANDIDATES = 32  # triangles of the skin that may be the nearest
WAYS = ("Data Transfer", "Surface Deform", "ours, not lifted", "ours")
SHOWN = ("heavy man", "coat")
NOTE = f"""\
The test uses the MPFB body, with {{keys}} of its targets at full value as shape keys, and its
garments. The garments are helper meshes of the body (tights, skirt, hair), a shirt 0.4 % of the
body's size above the skin, and a coat 3 % above the skin.

- *Data Transfer*: Blender transfers the displacements as if they were weights, with *Nearest
  Face Interpolated*.
- *Surface Deform*: bound at rest, with strength 1. "fails" means that Blender cannot bind the
  garment.
- *ours*: *Transfer Shape Keys* with default settings.
- *not lifted*: *Transfer Shape Keys* without *Keep Above*.
- **Below**: of the vertices that are above the skin at rest, the percentage that is below it in a
  shape key (mean over all keys / worst key). The angle-weighted normal of the nearest of
  {CANDIDATES} triangles, or of its edge or corner, determines the side. The engine's own rule for
  the side is not used, so the check is independent of it.
- **Strain**: stretch of the triangles relative to their rest shape, as root mean square by area
  in %, averaged over the keys. The body's own keys strain the body in the same way.

Times in seconds cover all keys together."""


def side_of(vertices, triangles, points):
    """(k,) heights above the skin, negative below it, by pseudonormals (Baerentzen & Aanaes)."""
    corners = vertices[triangles]
    flat = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    flat /= np.maximum(np.linalg.norm(flat, axis=1, keepdims=True), 1e-30)
    of_vertex = np.zeros_like(vertices)
    for c in range(3):
        a, b = corners[:, (c + 1) % 3] - corners[:, c], corners[:, (c + 2) % 3] - corners[:, c]
        angle = np.arctan2(np.linalg.norm(np.cross(a, b), axis=1), (a * b).sum(1))
        np.add.at(of_vertex, triangles[:, c], angle[:, None] * flat)
    pairs = np.concatenate([np.sort(triangles[:, [c, (c + 1) % 3]], 1) for c in range(3)])
    edges, edge = np.unique(pairs, axis=0, return_inverse=True)
    of_edge = np.zeros((len(edges), 3))
    np.add.at(of_edge, edge.reshape(-1), np.tile(flat, (3, 1)))
    edge = edge.reshape(3, -1)
    _, near = cKDTree(corners.mean(1)).query(points, CANDIDATES)
    shares = add_on("features.transfer.clearance").nearest_shares(
        points[:, None], *np.moveaxis(corners[near], 2, 0)
    )
    off = points[:, None] - np.einsum("ijc,ijcx->ijx", shares, corners[near])
    best, row = np.linalg.norm(off, axis=2).argmin(1), np.arange(len(points))
    off, face, inside = off[row, best], near[row, best], shares[row, best] > 1e-9
    normal = flat[face]
    for c in range(3):
        on_edge = inside[:, c] & inside[:, (c + 1) % 3] & (inside.sum(1) == 2)
        normal[on_edge] = of_edge[edge[c]][face[on_edge]]
        corner = inside[:, c] & (inside.sum(1) == 1)
        normal[corner] = of_vertex[triangles[face[corner], c]]
    return np.sign((off * normal).sum(1)) * np.linalg.norm(off, axis=1)


def ours(body, worn, keep_above):
    options = add_on("features.transfer_shapes").ShapeOptions(keep_above=keep_above)
    start = time.perf_counter()
    found, matched, *_ = araplbs.transfer_shapes(
        body.vertices, body.triangles, body.shapes, *worn, **options.arguments()
    )
    return found, time.perf_counter() - start, matched


def in_blender(body, clothes):
    folder = BUILD / "shapes"
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for name, (vertices, triangles) in clothes.items():
        files.append(folder / f"{name}.npz")
        np.savez(
            files[-1], body=body.vertices, body_triangles=body.triangles, shapes=body.shapes,
            mesh=vertices, triangles=triangles,
        )  # fmt: skip
    error = run_in_blender("shape_keys_in_blender.py", *files, limit=LIMIT)
    if error:
        sys.exit(f"bench: Blender: {error}")
    made = [dict(np.load(file.with_suffix(".blender.npz"))) for file in files]
    return dict(zip(clothes, made, strict=True))


def measure(body, name, worn, made):
    """{"name", "vertices", "matched", "above", "ways": {way: (below, worst, strain, seconds)}}, and
    the shapes of each way."""
    found = {
        "Data Transfer": (made["transfer"], float(made["transfer_seconds"])),
        "Surface Deform": (made["deform"], float(made["deform_seconds"])),
    }
    plain, seconds, matched = ours(body, worn, False)
    found["ours, not lifted"] = plain, seconds
    found["ours"] = ours(body, worn, True)[:2]
    above = side_of(body.vertices, body.triangles, worn[0]) > ON * body.size
    surface = Surface(*worn)
    row = {"name": name, "vertices": len(worn[0]), "matched": 100 * matched.mean(),
           "above": int(above.sum()), "ways": {}}  # fmt: skip
    for way, (shapes, seconds) in found.items():
        if not np.isfinite(shapes).all():
            row["ways"][way] = None
            continue
        below, strain = [], []
        for skin, shape in zip(body.shapes, shapes, strict=True):
            heights = side_of(skin, body.triangles, shape[above])
            below.append(100 * np.mean(heights < 0))
            strain.append(strain_of(surface, shape))
        row["ways"][way] = (np.mean(below), np.max(below), np.mean(strain), seconds)
    say(name, row["ways"])
    return row, {way: shapes for way, (shapes, _) in found.items()}


def strain_of(surface, shape):
    return 100 * np.sqrt(np.average(surface.strain2(shape), weights=surface.area))


def draw(body, clothes, shapes, output):
    key, name = SHOWN
    at, ways = body.names.index(key), [way for way in WAYS if np.isfinite(shapes[name][way]).all()]
    fig, panels = plots.figure(1 + len(ways), 12, 6)
    camera = shaded.view(-60, 5)
    pictures = [("at rest", body.vertices, clothes[name][0])]
    pictures += [(way, body.shapes[at], shapes[name][way][at]) for way in ways]
    for panel, (title, skin, worn) in zip(panels[0], pictures, strict=True):
        triangles = np.concatenate([body.triangles, clothes[name][1] + len(skin)])
        colors = np.repeat([0.0, np.nan], [len(body.triangles), len(clothes[name][1])])
        looks.draw(panel, np.concatenate([skin, worn]), triangles, colors, camera, title)
    fig.savefig(output / "shapes.png")


def main(_zip_path, output):
    output = Path(output)
    if not is_there():
        say("bench: shapes: $MPFB names no folder with 3dobjs/base.obj and targets: skipped")
        return
    body = Body()
    clothes = body.clothes()
    made = in_blender(body, clothes)
    rows, shapes = [], {}
    for name, worn in clothes.items():
        row, shapes[name] = measure(body, name, worn, made[name])
        rows.append(row)
    tables = []
    for title, pick in (
        ("Below the skin, %: mean / worst key", lambda m: f"{m[0]:.2f} / {m[1]:.2f}"),
        ("Strain, %", lambda m: f"{m[2]:.1f}"),
        ("Seconds", lambda m: f"{m[3]:.2f}"),
    ):
        lines = [
            (row["name"], f"{row['vertices']:,}", f"{row['above']:,}", f"{row['matched']:.0f}",
             *(pick(row["ways"][way]) if row["ways"][way] else "fails" for way in WAYS))
            for row in rows
        ]  # fmt: skip
        tables += [f"## {title}", table(("worn", "vertices", "above", "match %", *WAYS), lines)]
    output.mkdir(parents=True, exist_ok=True)
    draw(body, clothes, shapes, output)
    write_page(output, "shapes", "Transferred shape keys", NOTE.format(keys=len(body.names)),
               *tables, pictures=["shapes.png"], rows=rows)  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
