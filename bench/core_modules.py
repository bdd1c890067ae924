"""Provides modules of the package araplbs, which do not need Blender."""

import importlib
import sys

import numpy as np
from in_blender import ROOT

sys.path.append(str(ROOT))


def add_on(name):
    """The module araplbs.NAME."""
    return importlib.import_module(f"araplbs.{name}")


def rows_of(dense):
    """SparseWeights of (n, m)."""
    vertices, bones = np.nonzero(dense)
    make = add_on("model.sparse_weights").make_sparse_weights
    return make(len(dense), vertices, bones, dense[vertices, bones])
