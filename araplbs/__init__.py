"""Skinning weights that keep characters in shape when posed.

weights() computes weights from arrays in one call, load_gltf() reads a .glb, .gltf or .vrm file,
and load_usd() a USD file. The other names belong to the engine and serve programs that need only
parts of it. Its central class is Solver. Constants: __version__ is the version of the package;
SETTINGS holds the type, default, range and meaning of each solver setting, as {"Solver": {name:
{...}}, "JointSolver": {name: {...}}}; simd names the instruction set that the engine uses on this
machine ("avx512", "avx2" or "portable"); linear_algebra is "OpenBLAS", or "plain loops" if OpenBLAS
computes wrongly on this processor.

Arrays are NumPy arrays or anything convertible to them, for n vertices, f triangles, m bones and p
poses. Coordinates and transforms share one space and unit. Every error raises an exception whose
message names the argument and its value.

Importing this package loads no further modules. The engine, araplbs._engine, and the subpackages
(ARCHITECTURE.md) are loaded when one of their names is first used. The package requires NumPy but
not Blender."""

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
        bake,
        baseline_weights,
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
        mesh_extent,
        mixed_elasticity,
        nearest_points,
        nearest_rotations,
        optimize_joints,
        part_doubts,
        posed_energy,
        prune,
        reach_chains,
        rotation_centers,
        sample_poses,
        simd,
        skin_owners,
        surface_strain,
        transfer_shapes,
        transfer_weights,
    )
    from ._engine import BoneKind as BoneKind  # for annotations: not in the engine
    from ._engine import Floats as Floats
    from ._engine import InitialWeights as InitialWeights
    from .api.gltf import GltfCharacter, GltfFile, load_gltf, save_gltf
    from .api.picture import picture
    from .api.rows import Rows
    from .api.split_bones import spine_weights, split_bones
    from .api.usd import UsdCharacter, UsdFile, load_usd
    from .api.weights import Weights, weights
    from .base.refusal import Refused
    from .skeleton.skeleton import Skeleton

# Names that the engine lacks, and their modules. Most programs use these first.
_PLACES = {
    "weights": ".api.weights",
    "Weights": ".api.weights",
    "Rows": ".api.rows",
    "Skeleton": ".skeleton.skeleton",
    "load_gltf": ".api.gltf",
    "save_gltf": ".api.gltf",
    "GltfFile": ".api.gltf",
    "GltfCharacter": ".api.gltf",
    "load_usd": ".api.usd",
    "UsdFile": ".api.usd",
    "UsdCharacter": ".api.usd",
    "picture": ".api.picture",
    "spine_weights": ".api.split_bones",
    "split_bones": ".api.split_bones",
    "Refused": ".base.refusal",
}

__all__ = [
    "SETTINGS",
    "Cancelled",
    "Deformation",
    "GltfCharacter",
    "GltfFile",
    "InputError",
    "JointSolver",
    "Refused",
    "Rows",
    "Skeleton",
    "Solver",
    "SolverError",
    "UsdCharacter",
    "UsdFile",
    "Weights",
    "__version__",
    "bake",
    "baseline_weights",
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
    "load_gltf",
    "load_usd",
    "match_surfaces",
    "mesh_extent",
    "mixed_elasticity",
    "nearest_points",
    "nearest_rotations",
    "optimize_joints",
    "part_doubts",
    "picture",
    "posed_energy",
    "prune",
    "reach_chains",
    "rotation_centers",
    "sample_poses",
    "save_gltf",
    "simd",
    "skin_owners",
    "spine_weights",
    "split_bones",
    "surface_strain",
    "transfer_shapes",
    "transfer_weights",
    "weights",
]


def __getattr__(name: str) -> "Any":
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in _PLACES:
        from importlib import import_module

        return getattr(import_module(_PLACES[name], __name__), name)
    from .base.engine import load

    return getattr(load(), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
