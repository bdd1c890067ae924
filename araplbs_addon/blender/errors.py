"""The errors of a mesh object with its present weights, for colours and selection."""

import numpy as np

from ..core.error_map import pose_set, vertex_errors
from ..core.errors import Refused
from ..core.options import Options
from ..core.problem import Problem
from .binding import armature_of
from .read_armature import read_armature
from .read_mesh import present_weights, read_mesh, refuse_mesh


def present_pose(armature):
    """(1, m, 3, 4) the pose that the armature is in, from rest, in its own space."""
    pose = [
        np.array(armature.pose.bones[b.name].matrix) @ np.linalg.inv(np.array(b.matrix_local))
        for b in armature.data.bones
    ]
    return np.array(pose)[None, :, :3]


def read_weighted(ob, view_layer):
    """(armature, Problem, Rows) of a mesh with its present weights. Raises Refused."""
    armature = armature_of(ob)
    if not armature:
        raise Refused(f"'{ob.name}' has no armature")
    refuse_mesh(ob)
    skeleton = read_armature(armature, True)
    nothing = np.zeros(len(skeleton.names), bool)
    mesh = read_mesh(ob, armature, skeleton, view_layer, False, nothing)
    mesh.reflections = []  # only what is there can be coloured or selected
    return armature, Problem([mesh], skeleton), present_weights(ob, skeleton)


def object_errors(ob, view_layer, current_pose, options=None, threads=0):
    """(n,) errors of the vertices of an object, see core/error_map.py. current_pose: in the pose
    that its armature is in, else over the pose set. Raises Refused."""
    armature, problem, rows = read_weighted(ob, view_layer)
    poses = present_pose(armature) if current_pose else pose_set(problem, options or Options())
    return vertex_errors(problem, rows, poses, threads)
