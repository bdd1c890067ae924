"""Provides modules of the package araplbs, which do not need Blender."""

import importlib
import sys

import numpy as np
from in_blender import ROOT

sys.path.append(str(ROOT))


def add_on(name):
    """The module araplbs.NAME."""
    return importlib.import_module(f"araplbs.{name}")


def skeleton_of(model):
    """The add-on's Skeleton of a character's arrays, without limits and mirror partners."""
    m = len(model["bone_head"])
    return add_on("skeleton.skeleton").Skeleton(
        names=[str(name) for name in model.get("bone_names", range(m))],
        heads=model["bone_head"].astype(float), tails=model["bone_tail"].astype(float),
        parents=model["bone_parent"].astype(np.int32),
        roll_axes=np.nan_to_num(model.get("bone_roll_axis", np.tile([0, 0, 1.0], (m, 1)))),
        deform=model.get("bone_deform", np.ones(m)).astype(bool),
        limits=np.full((m, 3, 2), np.nan), opposite=np.arange(m),
    )  # fmt: skip


def mesh_of(name, vertices, triangles, weights=None):
    none = np.zeros((0, 2), int)
    mesh = add_on("character.mesh").Mesh
    return mesh(name, vertices.astype(float), triangles, none, np.eye(4), weights=weights)


def rows_of(dense):
    """SparseWeights of (n, m)."""
    vertices, bones = np.nonzero(dense)
    make = add_on("model.sparse_weights").make_sparse_weights
    return make(len(dense), vertices, bones, dense[vertices, bones])
