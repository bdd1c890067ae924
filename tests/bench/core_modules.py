"""Modules of the add-on's package `core`, which need no Blender."""

import importlib
import sys

import numpy as np
from in_blender import ROOT

sys.path.append(str(ROOT))


def add_on(name):
    """The module araplbs_addon.core.NAME."""
    return importlib.import_module(f"araplbs_addon.core.{name}")


def rows_of(dense):
    """SparseWeights of (n, m)."""
    vertices, bones = np.nonzero(dense)
    make = add_on("character.sparse_weights").make_sparse_weights
    return make(len(dense), vertices, bones, dense[vertices, bones])
