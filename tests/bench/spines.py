"""Rigid bones beside stretchable-twistable bones and spines: a twisted cylinder (the candy
wrapper), a bent tail, a stretched arm.

spines.py ZIP OUTPUT_FOLDER     (bench.py calls it)"""

import sys
from pathlib import Path

import araplbs
import numpy as np
from results import table, write_page

NOTE = """\
Tubes of {n:,} vertices, 2 m long and 0.6 m across, with the weights that the solver finds for 20
poses; the numbers are those of the posed meshes, whatever the bones are. ARAP energy: the mean
squared error of edges against those of one-rings that turn rigidly. Reached: how far the last ring
moves against the first in the last pose, of what the bones do; weights can save energy by doing
less. Thinnest: the least distance from the axis over that at rest, in poses that do not bend it.
Longest edge: over its length at rest; of the hand, in its outer half."""
POSES = 20
RADIUS, LENGTH, AROUND = 0.3, 2.0, 24


def tube(along=49):
    around = AROUND
    angle = np.arange(around * along) % around * 2 * np.pi / around
    z = np.repeat(np.linspace(0, LENGTH, along), around)
    i = np.arange(around * (along - 1))
    k = i // around * around + (i + 1) % around
    triangles = np.concatenate(
        [np.column_stack([i, k, k + around]), np.column_stack([i, k + around, i + around])]
    )
    return np.column_stack([RADIUS * np.cos(angle), RADIUS * np.sin(angle), z]), triangles


VERTICES, TRIANGLES = tube()


def chain(count):
    joints = np.column_stack([np.zeros((count + 1, 2)), np.linspace(0, LENGTH, count + 1)])
    return joints[:-1], joints[1:], np.arange(count) - 1


def turned(axis, angle):
    x, y, z = axis
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def solve(bones, poses, kinds=None, bends=None):
    """The posed mesh (poses, n, 3)."""
    solver = araplbs.Solver(
        VERTICES, TRIANGLES, *bones, bone_kinds=kinds, poses=poses, bends=bends, pose_count=0
    )
    solver.solve()
    each = np.einsum("pbij,nj->pnbi", poses[..., :3], VERTICES) + poses[:, None, :, :, 3]
    inside = solver._inside
    middle = (VERTICES.min(0) + VERTICES.max(0)) / 2
    spines = [b for b, kind in enumerate(kinds or ()) if kind != "rigid"]
    for k, b in enumerate(spines):
        points = inside["spine_point"][:, k] * inside["diagonal"] + middle
        each[:, :, b] = points.transpose(1, 0, 2)
    return np.einsum("nb,pnbi->pni", solver.weights, each)


def measure(posed):
    """ARAP energy, longest edge, that of the hand, thinnest place."""
    corners = VERTICES[TRIANGLES]
    sides = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = np.linalg.norm(sides, axis=1) / 6
    i, k = np.concatenate([TRIANGLES[:, [a, b]] for a in range(3) for b in range(3) if a != b]).T
    weight = np.tile(area, 6)
    rest = VERTICES[k] - VERTICES[i]
    hand = VERTICES[i, 2] > 0.75 * LENGTH
    energy = unit = longest = hand_longest = 0
    for points in posed:
        edge = points[k] - points[i]
        covariance = np.zeros((len(VERTICES), 3, 3))
        np.add.at(covariance, i, weight[:, None, None] * edge[:, :, None] * rest[:, None])
        rotation = araplbs.nearest_rotations(covariance)[i]
        rigid = np.einsum("eij,ej->ei", rotation, rest)
        energy += weight @ np.sum((edge - rigid) ** 2, axis=1)
        unit += weight @ np.sum(rest**2, axis=1)
        stretch = np.linalg.norm(edge, axis=1) / np.linalg.norm(rest, axis=1)
        longest, hand_longest = max(longest, stretch.max()), max(hand_longest, stretch[hand].max())
    thinnest = np.linalg.norm(posed[..., :2], axis=-1).min() / RADIUS
    return energy / unit, longest, hand_longest, thinnest


def angle_between_ends(points):
    """Degrees that the last ring has turned against the first."""
    turns = []
    for ring in (slice(AROUND), slice(-AROUND, None)):
        now, rest = (x[ring] - x[ring].mean(0) for x in (points, VERTICES))
        turns.append(araplbs.nearest_rotations((now.T @ rest)[None])[0])
    cosine = (np.trace(turns[1] @ turns[0].T) - 1) / 2
    return np.degrees(np.arccos(np.clip(cosine, -1, 1)))


def length(points):
    return np.linalg.norm(points[-AROUND:].mean(0) - points[:AROUND].mean(0))


def shared(count, axis, angles):
    """Poses of a chain whose joints but the first, or whose only piece, share each angle."""
    turns = np.tile(np.eye(3), (len(angles), count, 1, 1))
    for p, angle in enumerate(angles):
        turns[p, 1:] = turned(axis, angle / (count - 1))
    return araplbs.forward_kinematics(*chain(count), turns)


def one(axis, angles, stretches=1):
    """Poses and bends of a single spine."""
    bends = np.zeros((len(angles), 1, 4))
    bends[:, 0, :3] = np.outer(angles, axis)
    bends[:, 0, 3] = stretches
    return np.tile(np.eye(3, 4), (len(angles), 1, 1, 1)), bends


def twisted():
    z, angles = [0, 0, 1.0], np.radians(np.linspace(-170, 170, POSES))
    yield "twisted by up to 170 degrees: 2 rigid bones", solve(chain(2), shared(2, z, angles))
    yield "... 16 rigid bones", solve(chain(16), shared(16, z, angles))
    poses, bends = one(z, angles)
    yield "... an STB", solve(chain(1), poses, ["stb"], bends)


def bent():
    x, angles = [1.0, 0, 0], np.radians(np.linspace(-150, 150, POSES))
    yield "tail bent by up to 150 degrees: 2 rigid bones", solve(chain(2), shared(2, x, angles))
    yield "... 16 rigid bones", solve(chain(16), shared(16, x, angles))
    poses, bends = one(x, angles)
    yield "... a spine", solve(chain(1), poses, ["spine"], bends)


def stretched():
    """The first of two bones, an arm, is stretched, the other, a hand, moves with its end."""
    stretches = np.linspace(0.5, 4, POSES)
    bones, poses = chain(2), np.tile(np.eye(3, 4), (POSES, 2, 1, 1))
    poses[:, 1, 2, 3] = (stretches - 1) * LENGTH / 2
    bends = np.tile([0, 0, 0, 1.0], (POSES, 2, 1))
    bends[:, 0, 3] = stretches
    yield "arm 0.5 to 4 times as long: rigid bones", solve(bones, poses)
    yield "... an STB and a rigid hand", solve(bones, poses, ["stb", "rigid"], bends)


def main(_zip_path, output):
    rows = []
    for experiment in (twisted, bent, stretched):
        for name, posed in experiment():
            energy, longest, hand, thinnest = measure(posed)
            if experiment is stretched:
                reached = f"{length(posed[-1]):.2f} of {4 * LENGTH / 2 + LENGTH / 2:.2f} m"
            else:
                asked = 170 if experiment is twisted else 150
                reached = f"{angle_between_ends(posed[-1]):.0f} of {asked} degrees"
            rows.append(
                (
                    name, f"{energy:.4f}", reached,
                    "" if experiment is bent else f"{thinnest:.3f}", f"{longest:.2f}",
                    f"{hand:.2f}" if experiment is stretched else "",
                )
            )  # fmt: skip
    head = ("poses and bones", "ARAP energy", "reached", "thinnest", "longest edge", "of the hand")
    note = NOTE.format(n=len(VERTICES))
    write_page(Path(output), "spines", "STBs and spines", note, table(head, rows))


if __name__ == "__main__":
    main(*sys.argv[1:])
