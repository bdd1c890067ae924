"""Reads characters and weights from result files of RigNet (Xu et al. 2020), NAME_rig.txt, whose
vertices are numbered in the order of NAME.obj.

Each joint becomes a bone that leads from the joint to the mean position of its children. A bone
without children continues in the direction of its parent."""

from itertools import pairwise

import numpy as np
from araplbs.base.refusal import Refused
from araplbs.gltf.rig_text import read_rig_text
from araplbs.model.sparse_weights import dense_of

SUFFIX = "_rig.txt"
SHORTEST = 1e-4  # of a bone, in sizes of the skeleton: Blender deletes bones without a length
LEAF = 0.5  # length of a bone without children, in lengths of its parent's


def weights_of(rig, count):
    """(count, joints); vertices without a line have no weights. Raises Refused."""
    if rig.count > count:
        raise Refused(f"{rig.path} has weights for {rig.count} vertices, but the mesh has {count}")
    return dense_of(rig.rows(count), len(rig.names))


def read_obj(path):
    """(vertices (n, 3), triangles (t, 3)), with polygons as fans."""
    lines = [line.split() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    vertices = np.array([words[1:4] for words in lines if words[0] == "v"], float)
    faces = [[int(w.split("/")[0]) - 1 for w in words[1:]] for words in lines if words[0] == "f"]
    triangles = [(face[0], *pair) for face in faces for pair in pairwise(face[1:])]
    return vertices, np.array(triangles)


def bone_ends(places, parents):
    """(heads, tails) of the bones of joints."""
    shortest = SHORTEST * max(np.ptp(places, axis=0).max(), 1e-9)
    tails = np.full_like(places, np.nan)
    for joint in range(len(places)):
        children = parents == joint
        if children.any():
            tails[joint] = places[children].mean(0)
    for joint in np.flatnonzero(np.isnan(tails[:, 0])):
        above = parents[joint]
        along = places[joint] - places[above] if above >= 0 else np.array([0, 0, 2 * shortest])
        tails[joint] = places[joint] + LEAF * along
    flat = np.linalg.norm(tails - places, axis=1) < shortest
    tails[flat] = places[flat] + [0, 0, shortest]
    return places, tails


def model_of(path, obj):
    """The arrays of a character, as in ../shared/data, with the file's weights as "reference"."""
    rig = read_rig_text(path)
    vertices, triangles = read_obj(obj)
    heads, tails = bone_ends(rig.joints, rig.parents)
    return {
        "V": vertices, "F": triangles, "bone_names": np.array(rig.names), "bone_head": heads,
        "bone_tail": tails, "bone_parent": rig.parents,
        "bone_deform": np.ones(len(rig.names), bool),
        "reference": weights_of(rig, len(vertices)),
    }  # fmt: skip


def weights_for(path, bones, count):
    """(count, bones) weights of a file for the bones of a known character, which have the names of
    the file's joints."""
    rig = read_rig_text(path)
    if unknown := set(rig.names) - set(bones):
        raise Refused(f"{path}: the character has no bone '{min(unknown)}'")
    result = np.zeros((count, len(bones)))
    result[:, [bones.index(joint) for joint in rig.names]] = weights_of(rig, count)
    return result


def files_in(folder):
    """{name: path} of the results in a folder."""
    return {p.name.removesuffix(SUFFIX): p for p in sorted(folder.glob(f"*{SUFFIX}"))}
