"""Computes the strain of a mesh object with its current weights, for display as colors and for
selection."""

import numpy as np
from araplbs.base.refusal import Refused
from araplbs.base.steps import finish
from araplbs.character.directions import read_directions_in_steps
from araplbs.character.pose_sets import with_random
from araplbs.character.problem import Problem
from araplbs.measures.armature_modifier import vertex_strain
from araplbs.model.options import Options
from araplbs.skeleton.skeleton import of_weighted

from ..data.binding import armature_of
from ..poses.flexible_bones import curved_parameters_in_steps
from ..poses.read_poses import present_pose
from ..rig.rig_poses import given_poses_in_steps
from .read_armature import read_armature
from .read_mesh import present_weights, read_mesh, refuse_mesh


def read_weighted(ob, view_layer, options):
    """(armature, Problem, SparseWeights) of a mesh with its current weights. Only bones that have
    weights, and bones that carry them, count as deform bones. Raises Refused."""
    armature = armature_of(ob)
    if not armature:
        raise Refused(f"'{ob.name}' has no armature")
    refuse_mesh(ob)
    skeleton = read_armature(armature, options.use_joint_limits)
    nothing = np.zeros(len(skeleton.names), bool)
    mesh = read_mesh(ob, armature, skeleton, view_layer, False, nothing)
    mesh.reflections = []  # only existing vertices can be colored or selected
    rows = present_weights(ob, skeleton)
    skeleton = of_weighted(skeleton, rows)
    skeleton = finish(read_directions_in_steps([mesh], skeleton, options.bone_directions))
    problem = Problem([mesh], skeleton, symmetric=options.symmetric)
    problem.parameters = finish(
        curved_parameters_in_steps(armature, skeleton, problem.arguments["vertices"])
    )
    return armature, problem, rows


def poses_of(armature, problem, options, view_layer):
    """The Poses that these options define, both random ones and those of the animation. Raises
    Refused."""
    given = finish(given_poses_in_steps(armature, problem.skeleton, options, view_layer))
    return with_random(problem, options, given)


def object_strain(ob, view_layer, current_pose, options=None, threads=0):
    """(n,) Surface Strain at the vertices of an object. current_pose: whether to use the current
    pose of the object's armature rather than the poses of the options. Raises Refused."""
    options = options or Options()
    armature, problem, rows = read_weighted(ob, view_layer, options)
    if current_pose:
        poses = present_pose(armature, problem.skeleton, view_layer.depsgraph)
    else:
        poses = poses_of(armature, problem, options, view_layer)
    return vertex_strain(problem, rows, poses, threads)
