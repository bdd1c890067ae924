"""Skinning weights that keep characters in shape when posed.

Importing this package loads nothing: the engine, araplbs._engine, is loaded when one of its names
is first used, and so are the rooms, each a folder here (ARCHITECTURE.md). All of it needs NumPy,
and nothing of it Blender.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._engine import (
        SETTINGS,
        Cancelled,
        Deformation,
        InputError,
        JointSolver,
        Solver,
        SolverError,
        __version__,
        automatic_weights,
        bake,
        bone_directions,
        center_of_rotation_skinning,
        control_bones,
        deformation,
        diffuse_parameters,
        dual_quaternion_skinning,
        elastic_poses,
        embed,
        energy,
        forward_kinematics,
        inspect_weights,
        inverse_kinematics,
        linear_algebra,
        linear_skinning,
        match_surfaces,
        mixed_elasticity,
        nearest_points,
        nearest_rotations,
        optimize_joints,
        posed_energy,
        prune,
        reach_chains,
        rotation_centers,
        sample_poses,
        simd,
        surface_strain,
        transfer_shapes,
        transfer_weights,
    )
    from ._engine import BoneKind as BoneKind  # for annotations: the engine itself lacks these
    from ._engine import Floats as Floats
    from ._engine import InitialWeights as InitialWeights
    from ._engine import Rows as Rows

__all__ = [
    "SETTINGS",
    "Cancelled",
    "Deformation",
    "InputError",
    "JointSolver",
    "Solver",
    "SolverError",
    "__version__",
    "automatic_weights",
    "bake",
    "bone_directions",
    "center_of_rotation_skinning",
    "control_bones",
    "deformation",
    "diffuse_parameters",
    "dual_quaternion_skinning",
    "elastic_poses",
    "embed",
    "energy",
    "forward_kinematics",
    "inspect_weights",
    "inverse_kinematics",
    "linear_algebra",
    "linear_skinning",
    "match_surfaces",
    "mixed_elasticity",
    "nearest_points",
    "nearest_rotations",
    "optimize_joints",
    "posed_energy",
    "prune",
    "reach_chains",
    "rotation_centers",
    "sample_poses",
    "simd",
    "surface_strain",
    "transfer_shapes",
    "transfer_weights",
]


def __getattr__(name: str) -> "Any":
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .base.engine import load

    return getattr(load(), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
