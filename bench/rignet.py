"""Reads characters and weights from RigNet's result files (Xu et al. 2020), in plain NumPy.

NAME_rig.txt has a line for each of

    joints JOINT X Y Z
    root JOINT
    hier PARENT CHILD
    skin VERTEX JOINT WEIGHT [JOINT WEIGHT ...]

in any order; vertices are numbered from 0 in the order of NAME.obj. Each joint becomes a bone that
leads from the joint to the mean position of its children. A bone without children continues in the
direction of its parent."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

SUFFIX = "_rig.txt"
SHORTEST = 1e-4  # of a bone, in sizes of the skeleton: Blender deletes bones without a length
LEAF = 0.5  # length of a bone without children, in lengths of its parent's


class BadFile(Exception):
    """An invalid file: the file, the line and what is wrong with it."""


@dataclass
class Rig:
    names: list  # of the m joints
    places: np.ndarray  # (m, 3)
    parents: np.ndarray  # (m,), -1 for a root
    skin: dict  # {vertex: [(joint, weight)]}

    def weights(self, count, path):
        """(count, m); vertices without a line have no weights."""
        result = np.zeros((count, len(self.names)))
        for vertex, influences in self.skin.items():
            if vertex >= count:
                raise BadFile(f"{path}: skin of vertex {vertex}, but there are {count} vertices")
            for joint, weight in influences:
                result[vertex, joint] += weight
        return result


def lines_of(path):
    """(number, words) of each line that contains any."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.split():
            yield number, line.split()


def numbers(words, where):
    try:
        found = [float(word) for word in words]
    except ValueError as error:
        raise BadFile(f"{where}: {error}") from None
    if not np.isfinite(found).all():
        raise BadFile(f"{where}: not a finite number: {' '.join(words)}")
    return found


def read_rig(path):
    """The Rig of a file."""
    places, above, skin = {}, [], []
    for number, (kind, *words) in lines_of(path):
        where = f"{path}: line {number}"
        if kind == "joints" and len(words) == 4:
            if words[0] in places:
                raise BadFile(f"{where}: joint '{words[0]}' is there twice")
            places[words[0]] = numbers(words[1:], where)
        elif kind == "hier" and len(words) == 2:
            above.append((where, *words))
        elif kind == "skin" and len(words) >= 3 and len(words) % 2 == 1:
            skin.append((where, *words))
        elif kind != "root" or len(words) != 1:
            raise BadFile(f"{where}: not a line of joints, root, hier or skin: {kind}")
    if not places or not skin:
        raise BadFile(f"{path}: no {'skin' if places else 'joints'}")
    index = {name: joint for joint, name in enumerate(places)}

    def joint_of(name, where):
        if name not in index:
            raise BadFile(f"{where}: there is no joint '{name}'")
        return index[name]

    parents = np.full(len(index), -1)
    for where, parent, child in above:
        joint = joint_of(child, where)
        if parents[joint] >= 0:
            raise BadFile(f"{where}: joint '{child}' has two parents")
        parents[joint] = joint_of(parent, where)
    for name, joint in index.items():
        steps = 0
        while joint >= 0 and steps <= len(parents):
            joint, steps = parents[joint], steps + 1
        if joint >= 0:
            raise BadFile(f"{path}: joint '{name}' is above itself")
    return Rig(list(places), np.array(list(places.values())), parents, read_skin(skin, joint_of))


def read_skin(lines, joint_of):
    result = {}
    for where, vertex, *pairs in lines:
        if not vertex.isdecimal():
            raise BadFile(f"{where}: not a vertex: {vertex}")
        weights = numbers(pairs[1::2], where)
        if min(weights) < 0:
            raise BadFile(f"{where}: a weight below zero: {min(weights):g}")
        if int(vertex) in result:
            raise BadFile(f"{where}: vertex {vertex} is there twice")
        joints = [joint_of(name, where) for name in pairs[::2]]
        result[int(vertex)] = list(zip(joints, weights, strict=True))
    return result


def read_obj(path):
    """(vertices (n, 3), triangles (t, 3)) of the lines "v" and "f", with polygons as fans."""
    vertices, triangles = [], []
    for number, (kind, *words) in lines_of(path):
        where = f"{path}: line {number}"
        if kind == "v":
            if len(words) < 3:
                raise BadFile(f"{where}: a vertex of {len(words)} numbers")
            vertices.append(numbers(words[:3], where))
        elif kind == "f":
            corners = [word.split("/")[0] for word in words]
            if len(corners) < 3 or not all(word.isdecimal() for word in corners):
                raise BadFile(f"{where}: not a face: {' '.join(words)}")
            face = [int(word) - 1 for word in corners]
            triangles += [(face[0], b, c) for b, c in pairwise(face[1:])]
    if not vertices or not triangles:
        raise BadFile(f"{path}: no {'faces' if vertices else 'vertices'}")
    triangles = np.array(triangles)
    outside = triangles[(triangles < 0) | (triangles >= len(vertices))]
    if len(outside):
        raise BadFile(f"{path}: a face of vertex {outside[0] + 1}, of {len(vertices)}")
    return np.array(vertices), triangles


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


def model(folder, name):
    """The arrays of a character, as in ../shared/data, with the file's weights as "reference"."""
    return model_of(folder / f"{name}{SUFFIX}", folder / f"{name}.obj")


def model_of(path, obj):
    """The problem described by a rig file and a mesh file."""
    rig = read_rig(path)
    vertices, triangles = read_obj(obj)
    heads, tails = bone_ends(rig.places, rig.parents)
    return {
        "V": vertices, "F": triangles, "bone_names": np.array(rig.names), "bone_head": heads,
        "bone_tail": tails, "bone_parent": rig.parents,
        "bone_deform": np.ones(len(rig.names), bool),
        "reference": rig.weights(len(vertices), path),
    }  # fmt: skip


def weights_for(folder, name, bones, count):
    """(count, bones) weights of a file for the bones of a known character, which have the names of
    the file's joints."""
    path = folder / f"{name}{SUFFIX}"
    rig = read_rig(path)
    unknown = set(rig.names) - set(bones)
    if unknown:
        raise BadFile(f"{path}: {name} has no bone '{min(unknown)}'")
    result = np.zeros((count, len(bones)))
    result[:, [bones.index(joint) for joint in rig.names]] = rig.weights(count, path)
    return result


def names(folder):
    """Names of the results in a folder; refuses a folder without results."""
    found = sorted(path.name.removesuffix(SUFFIX) for path in folder.glob(f"*{SUFFIX}"))
    if not found:
        raise BadFile(f"no file *{SUFFIX} in {folder}")
    return found
