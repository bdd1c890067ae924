"""Bones that are none: roots, IK and pole targets, weapon slots, which importers mark as deforming.
The engine finds them by what they are; names support it."""

import re
from dataclasses import replace

import numpy as np

from .mirror_modifier import reflect
from .native_module import araplbs
from .problem import join_geometry
from .refusal import Refused
from .sparse_weights import make_sparse_weights
from .worker import work_in_steps

# Identifier, name, description of what the engine tells; the position is its code.
REASONS = (
    ("NONE", "Deforms", "It moves vertices"),
    ("ROOT", "Beside Body", "A root that the body hangs on and that lies beside it"),
    ("OUTSIDE", "No Skin", "No skin is around it"),
    ("TWIN", "Copy", "Another bone already lies there"),
    ("SERVED", "Not Needed", "Other bones serve the skin around it as well"),
)

# Words that rigs give to controls, and those that do so where they are all of the name.
CONTROL_WORDS = {
    *("ik", "ctrl", "ctl", "con", "control", "controls", "controller", "target", "targets"),
    *("pole", "slot", "handle", "weapon", "mch", "org", "effector", "fk", "tweak", "drv", "anchor"),
}
ROOT_WORDS = {"root", "master", "world", "origin"}
NEUTRAL_WORDS = {
    *("b", "bn", "bip", "bone", "joint", "jnt", "j", "l", "r", "left", "right", "node", "null"),
    *("armature", "rig", "skeleton", "character", "def", "main", "mixamorig"),
}
ENDINGS = ("slot", "target")


def is_control_name(name):
    """Whether rigs call controls so."""
    split = re.sub(r"([a-z])([A-Z])|([A-Z])([A-Z][a-z])", r"\1\3 \2\4", name)
    words = [word.lower() for word in re.findall(r"[A-Za-z]+", split)]
    if any(word in CONTROL_WORDS or word.endswith(ENDINGS) for word in words):
        return True
    roots = [word for word in words if word in ROOT_WORDS]
    return bool(roots) and all(w in ROOT_WORDS | NEUTRAL_WORDS for w in words)


def leave_out_in_steps(meshes, skeleton, threads=0):
    """(meshes, skeleton) with the control bones left out; a generator of short steps.

    Bones that were taken in stay, those that hold locked weights or that edits ask for, and
    those whose partner on the other side deforms. Raises Refused where none else is free.
    """
    control = yield from _find_in_steps(meshes, skeleton, threads)
    stays = skeleton.taken_in.copy()
    for mesh in meshes:
        stays |= _asked_for(mesh, len(stays))
    opposite = skeleton.opposite
    one_sided = skeleton.deform & skeleton.deform[opposite] & (control[opposite] == 0)
    control[stays | one_sided] = 0
    if not control.any():
        return meshes, skeleton
    left = replace(skeleton, control=control, deform=skeleton.deform & (control == 0))
    for mesh in meshes:
        if mesh.locked_bones is not None and mesh.locked_bones[left.deform].all():
            raise Refused(
                f"'{mesh.name}': only control bones are free there: take one in, or set "
                "Control Bones to Include"
            )
    return [_without_weights(mesh, left) for mesh in meshes], left


def _find_in_steps(meshes, skeleton, threads):
    wholes = [reflect(m.vertices, m.triangles, m.edges, m.reflections) for m in meshes]
    geometry = join_geometry(meshes, wholes)
    return (
        yield from work_in_steps(
            lambda progress: araplbs.control_bones(
                **geometry,
                bone_heads=skeleton.heads,
                bone_tails=skeleton.tails,
                bone_parents=skeleton.parents,
                bone_deform=skeleton.deform,
                bone_named=[is_control_name(name) for name in skeleton.names],
                progress=progress,
                threads=threads,
            )
        )
    )


def _asked_for(mesh, bones):
    """(m,) bool: bones whose weights are locked somewhere, or that shall have an influence."""
    asked = np.zeros(bones, bool)
    if mesh.locked_bones is not None:
        asked[mesh.weights.bones[mesh.weights.weights > 0]] = True
        asked &= mesh.locked_bones
    for pairs in (mesh.edits.constraints, mesh.edits.influences):
        asked[pairs.bones[pairs.values > 0]] = True
    return asked


def _without_weights(mesh, skeleton):
    """The Mesh without present weights of bones that are left out. What had no others follows the
    nearest bone."""
    rows = mesh.weights
    if rows is None or not skeleton.left_out[rows.bones].any():
        return mesh
    stays = ~skeleton.left_out[rows.bones]
    vertices, bones, weights = rows.vertices[stays], rows.bones[stays], rows.weights[stays]
    left = np.bincount(vertices, weights, rows.count)
    bare = np.flatnonzero((rows.sums() > 0) & (left <= 0))
    points = mesh.vertices[bare] @ mesh.matrix[:3, :3].T + mesh.matrix[:3, 3]
    vertices = np.concatenate([vertices, bare])
    bones = np.concatenate([bones, nearest_bones(points, skeleton)])
    weights = np.concatenate([weights, np.ones(len(bare))])
    return replace(mesh, weights=make_sparse_weights(rows.count, vertices, bones, weights))


def nearest_bones(points, skeleton):
    """(n,) the deform bone nearest to each of these points (n, 3) in armature space."""
    best, nearest = np.full(len(points), np.inf), np.zeros(len(points), int)
    for bone in np.flatnonzero(skeleton.deform):
        along = skeleton.tails[bone] - skeleton.heads[bone]
        to = points - skeleton.heads[bone]
        share = np.clip(to @ along / max(along @ along, 1e-300), 0, 1)
        distance = np.linalg.norm(to - share[:, None] * along, axis=1)
        nearest[distance < best] = bone
        best = np.minimum(best, distance)
    return nearest
