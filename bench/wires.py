"""Evaluates meshes that consist only of edges: a creature, and hair on a bar.

wires.py ZIP OUTPUT_FOLDER     (called by bench.py)"""

import sys
from pathlib import Path

import araplbs
import numpy as np
import plots
from results import table, write_page
from test_wires import NO_FACES, creature, nearest, strands

UNSEEN = 100
NOTE = f"""\
The test computes weights for meshes without faces, with default settings. The table lists the
mean stretch (root of the ARAP energy with the wire edges of the paper's section 6, in %) in
{UNSEEN} random poses not used for optimization, and the longest edge in these poses relative to
its rest length. *Nearest*: every vertex follows its nearest bone. *Firmness* keeps the limbs of
the creature on their bones, but increases the stretch of the edges. The picture shows the rest
pose and three of the poses from the front, with heat weights (gray) and ours (blue) over the
bones (orange)."""


def blend(vertices, weights, poses):
    """(p, n, 3)"""
    each = np.einsum("pbij,nj->pnbi", poses[..., :3], vertices) + poses[:, None, :, :, 3]
    return np.einsum("nb,pnbi->pni", weights, each)


def measure(name, vertices, edges, bones):
    """(table row, weights by name, poses)."""
    solver = araplbs.Solver(vertices, NO_FACES, *bones, edges=edges)
    soft = araplbs.Solver(vertices, NO_FACES, *bones, edges=edges, bone_spring_stiffness=0)
    solver.solve()
    soft.solve()
    weights = {
        "nearest": np.eye(len(bones))[nearest(vertices, bones).argmin(1)],
        "heat": solver.initial_weights,
        "ours": solver.weights,
        "soft": soft.weights,
    }
    poses = araplbs.sample_poses(*bones, UNSEEN, seed=20_180_101)
    row = [name, f"{len(vertices):,}", len(bones)]
    for each in weights.values():
        posed = blend(vertices, each, poses)
        length = lambda p: np.linalg.norm(p[..., edges[:, 0], :] - p[..., edges[:, 1], :], axis=-1)  # noqa: E731
        energy = araplbs.posed_energy(vertices, NO_FACES, posed, edges=edges)
        row.append(f"{100 * np.sqrt(energy):.1f}, {(length(posed) / length(vertices)).max():.2f}")
    return row, weights, poses


def draw_lines(axes, points, edges, **look):
    x, z = points[edges][..., 0].T, points[edges][..., 2].T
    axes.plot(x, z, solid_capstyle="round", **look)


def draw(characters, output):
    fig, axes = plots.plt.subplots(len(characters), 4, figsize=(12, 3 * len(characters)))
    for row, (vertices, edges, bones, weights, poses) in zip(axes, characters, strict=True):
        bone_edges = np.arange(2 * len(bones)).reshape(-1, 2)
        ends = np.stack([bones.heads, bones.tails], 1)
        for panel, which in zip(row, (None, 0, 2, 4), strict=True):
            panel.set_aspect("equal")
            panel.axis("off")
            pose = np.tile(np.eye(3, 4), (len(bones), 1, 1)) if which is None else poses[which]
            at = np.einsum("mij,mkj->mki", pose[..., :3], ends) + pose[:, None, :, 3]
            draw_lines(
                panel, at.reshape(-1, 3), bone_edges, color=plots.ORANGE, linewidth=4, alpha=0.5
            )
            looks = [("ours", plots.BLUE)]
            for kind, color in looks if which is None else [("heat", plots.GRAY), *looks]:
                posed = blend(vertices, weights[kind], pose[None])[0]
                draw_lines(panel, posed, edges, color=color, linewidth=1.5)
    return plots.save(fig, output, "wires.png")


def main(_zip_path, output):
    rows, characters = [], []
    for name, (vertices, edges, bones) in (("creature", creature(24)), ("hair", strands(60))):
        row, weights, poses = measure(name, vertices, edges, bones)
        rows.append(row)
        characters.append((vertices, edges, bones, weights, poses))
    head = (
        *("mesh", "vertices", "bones", "nearest: stretch, longest"), "heat", "ours", "*Firmness* 0"
    )  # fmt: skip
    picture = draw(characters, Path(output))
    write_page(Path(output), "wires", "Wires", NOTE, table(head, rows), pictures=[picture])


if __name__ == "__main__":
    main(*sys.argv[1:])
