"""The errors of a mesh object with its present weights, for colours and selection."""

import numpy as np

from ..core.error_map import pose_set, vertex_errors
from ..core.errors import Refused
from ..core.options import Options
from ..core.problem import Problem
from ..core.steps import finish
from .binding import armature_of
from .flexible_bones import curved_parameters_in_steps, random_poses_in_steps
from .read_armature import read_armature
from .read_mesh import present_weights, read_mesh, refuse_mesh
from .read_poses import present_pose


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
    problem = Problem([mesh], skeleton)
    problem.parameters = finish(
        curved_parameters_in_steps(armature, skeleton, problem.arguments["vertices"])
    )
    return armature, problem, present_weights(ob, skeleton)


def flexible_poses(armature, skeleton, options):
    """The random Poses of an armature with bones that do more than turn; else None."""
    if not skeleton.flexible:
        return None
    return finish(random_poses_in_steps(armature, skeleton, options, None))


def object_errors(ob, view_layer, current_pose, options=None, threads=0):
    """(n,) errors of the vertices of an object, see core/error_map.py. current_pose: in the pose
    that its armature is in, else over the pose set. Raises Refused."""
    options = options or Options()
    armature, problem, rows = read_weighted(ob, view_layer)
    if current_pose:
        poses = present_pose(armature, problem.skeleton, view_layer.depsgraph)
    else:
        poses = flexible_poses(armature, problem.skeleton, options) or pose_set(problem, options)
    return vertex_errors(problem, rows, poses, threads)
