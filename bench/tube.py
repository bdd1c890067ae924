"""Shows the effect of deformers at one joint: a tube of radius 1 with smooth weights, whose two
bones meet in its middle, is twisted and bent."""

import araplbs
import bake
import numpy as np
from results import table
from yardstick import rotation

LENGTH, BLEND = 8, 1.0  # of the tube; how far from the joint weights are blended
RINGS, AROUND = 81, 48
TWISTS, BENDS = (90, 170), (60, 90, 120)  # degrees
THIN = 0.5  # of the radius: below, a candy wrapper
TOLD = f"""\
The test uses a tube of radius 1 whose weights are blended over {2 * BLEND:g} radii around the
joint. *Twisted* lists the smallest radius of the twisted tube (near 0 for a candy wrapper).
*Bent* lists the largest distance of a point from the bones, in radii (above 1 if the joint
bulges)."""


def tube():
    """(vertices, triangles, (n, 2) weights)."""
    z, angle = np.meshgrid(
        np.linspace(-LENGTH / 2, LENGTH / 2, RINGS),
        np.linspace(0, 2 * np.pi, AROUND, endpoint=False), indexing="ij",
    )  # fmt: skip
    vertices = np.column_stack([np.cos(angle).ravel(), np.sin(angle).ravel(), z.ravel()])
    ring, k = np.meshgrid(np.arange(RINGS - 1), np.arange(AROUND), indexing="ij")
    a, b = ring * AROUND + k, ring * AROUND + (k + 1) % AROUND
    triangles = np.concatenate(
        [np.stack(corners, -1).reshape(-1, 3) for corners in
         ((a, b, b + AROUND), (a, b + AROUND, a + AROUND))]
    )  # fmt: skip
    share = np.clip(vertices[:, 2] / (2 * BLEND) + 0.5, 0, 1)
    upper = share**2 * (3 - 2 * share)
    return vertices, triangles, np.column_stack([1 - upper, upper])


def poses(axis, degrees):
    """(p, 2, 3, 4): the upper bone rotates about the joint."""
    turned = [rotation(np.array(axis, float), np.radians(angle)) for angle in degrees]
    return np.array([[np.eye(3, 4), np.column_stack([turn, np.zeros(3)])] for turn in turned])


def ways(vertices, triangles, weights):
    """{name: function that returns the points for these poses}."""
    centers = araplbs.rotation_centers(vertices, triangles, weights)
    return {
        "linear": lambda moves: bake.blend(vertices, weights, moves),
        "dual quaternions": lambda moves: araplbs.dual_quaternion_skinning(
            vertices, weights, moves
        ),
        "centers of rotation": lambda moves: araplbs.center_of_rotation_skinning(
            vertices, weights, moves, centers
        ),
    }


def least_radius(points):
    return np.linalg.norm(points[:, :, :2], axis=2).min(1)


def most_off(points, moves):
    """(p,) largest distance of a point from the nearer bone."""
    found = []
    for posed, move in zip(points, moves, strict=True):
        off = np.full(len(posed), np.inf)
        for transform, side in zip(move, (-1, 1), strict=True):
            along = side * transform[:, 2]
            at = np.clip(posed @ along, 0, LENGTH / 2)
            off = np.minimum(off, np.linalg.norm(posed - at[:, None] * along, axis=1))
        found.append(off.max())
    return np.array(found)


def measure():
    """{deformer: (radii by twist, distances by bend)}."""
    twisted, bent = poses([0, 0, 1], TWISTS), poses([1, 0, 0], BENDS)
    return {
        name: (least_radius(pose(twisted)), most_off(pose(bent), bent))
        for name, pose in ways(*tube()).items()
    }


def verdicts(found):
    """A sentence for each deformer."""
    for name, (thin, off) in found.items():
        verb = "becomes" if thin[-1] < THIN else "does not become"
        yield (
            f"- {name.capitalize()}: the twisted joint {verb} a candy wrapper ({thin[-1]:.2f} of "
            f"the radius at {TWISTS[-1]}°), and the bent joint bulges by {off[-1] - 1:.2f} radii "
            f"at {BENDS[-1]}°."
        )


def blocks():
    """The blocks of a page."""
    head = ["deformer", *(f"twisted by {angle}°" for angle in TWISTS),
            *(f"bent by {angle}°" for angle in BENDS)]  # fmt: skip
    found = measure()
    lines = [[name, *(f"{x:.2f}" for x in (*thin, *off))] for name, (thin, off) in found.items()]
    return [TOLD, table(head, lines), "\n".join(verdicts(found))]
