"""Measures what twist bones change for the limbs of characters, with our default weights, and draws
an arm that twists without and with them.

twist.py [PICTURE]     default: docs/looks/twist.png"""

import sys
from pathlib import Path

import araplbs
import numpy as np
import rigged
from araplbs.base.engine import engine
from araplbs.base.refusal import Refused
from araplbs.measures.new_twist_bones import (
    UPPER_ARM,
    missing_twist_bones,
    shared_weights,
    twist_gains,
    twisted_poses,
)
from araplbs.measures.strain_colors import strain_colors
from araplbs.model.sparse_weights import SparseWeights, dense_of
from araplbs.reports.pictures import camera_around, draw, png, strain_at_vertices, view_axes
from araplbs.skeleton.skeleton import Skeleton
from paths import ROOT

DRAWN, VIEW, TWIST = "mh_game", (15, 20), np.radians(75)
NEAR = 0.3  # of the arm: the weight of the vertices that are framed
SIZE = 520, 420  # pixels of each half
UP = np.array([0.0, 0.0, 1.0])


def read(name):
    """(vertices, triangles, our SparseWeights, Skeleton)"""
    arrays = rigged.model(name)
    points, triangles = arrays["V"].astype(float), arrays["F"].astype(np.int64)
    heads, tails = (arrays[f"bone_{end}"].astype(float) for end in ("head", "tail"))
    known = {
        "tails": tails,
        "names": list(map(str, arrays["bone_names"])),
        "deform": arrays["bone_deform"].astype(bool),
    }
    parents = arrays["bone_parent"].astype(int)
    rows = araplbs.weights(points, triangles, heads, parents, threads=1, **known).rows
    return points, triangles, SparseWeights(*rows), Skeleton.from_joints(heads, parents, **known)


def halves(points, triangles, rows, skeleton):
    """The pictures of an arm without and with twist bones, side by side."""
    bones = missing_twist_bones(skeleton, UP, (UPPER_ARM,))
    count, bone = len(skeleton.names), bones[0]
    pose = twisted_poses(skeleton, bones, bone, TWIST)[1]
    shared = shared_weights(points, rows, bones, count, 4)
    axes, posed = view_axes(*VIEW), []
    for each in (rows, shared):
        blended = (dense_of(each, count + len(bones)) @ pose.reshape(-1, 12)).reshape(-1, 3, 4)
        posed.append(np.einsum("vij,vj->vi", blended[..., :3], points) + blended[..., 3])
    near = dense_of(rows, count)[:, [bone.limb, skeleton.parents[bone.limb]]].sum(1) > NEAR
    camera = camera_around([posed[0][near]], axes, *SIZE)
    found = []
    for each in posed:
        strain = engine.surface_strain(points, triangles, each)
        colors = strain_colors(strain_at_vertices(points, triangles, strain))
        pixels = draw(each, triangles, colors, camera).astype(float)
        cover = pixels[..., 3:] / 255
        found.append((pixels[..., :3] * cover + 255 * (1 - cover)).astype(np.uint8))
    return np.concatenate(found, axis=1)


def main(picture=ROOT / "docs/looks/twist.png"):
    for name in rigged.names(()):
        character = read(name)
        try:
            bones = missing_twist_bones(character[3], UP)
        except Refused as reason:
            print(name, reason)
            continue
        gains = twist_gains(*character, bones, 4)
        print(name, {kind: f"{now / max(was, 1e-9):.2f}" for kind, (was, now) in gains.items()})
    Path(picture).write_bytes(png(halves(*read(DRAWN))))


if __name__ == "__main__":
    main(*sys.argv[1:])
