"""Auto-weight for scripts in Blender. bind() needs no registered add-on, selection or window. The
add-on does the work, and Blender is required only when a function of this folder is called."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from ..base.progress import Listener
from ..base.refusal import Refused

_ADDON = "araplbs_addon"  # part of the package's wheel


def bind(
    meshes: Any,
    armature: Any,
    *,
    only_new: bool = False,
    preset: str | None = None,
    threads: int = 0,
    progress: Listener | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Compute skinning weights for mesh objects and bind them to an armature. In scripts, it
    replaces bpy.ops.object.parent_set(type="ARMATURE_AUTO").

    meshes: one mesh object, or several to be weighted together. armature: the armature object. The
        objects need not be selected, active or visible. only_new: weight only vertices without
        weights.
    preset: "unity", "vrchat", "game-4"... or one of your own; options given explicitly take
        precedence.
    threads: number of threads, 0 for all processors.
    progress: called as progress(stage, fraction, energy); if it returns False, araplbs.Cancelled is
    raised.
    options: options of the panel, by name, as in araplbs.weights(): max_influences=4,
        firmness=12.0, symmetric=True, start_from="present", animation="markers"... Angles are in
        radians.

    Returns the report that --json writes for an armature. It contains "warnings" and "notes" for
    the user, the excluded "control_bones", and measures of the "deformation". A mesh without an
    Armature modifier gets one and becomes a child of the armature. Locked vertex groups keep their
    weights, and corrections saved with the mesh are applied.

    Raises araplbs.Refused if the objects cannot be weighted, with a message that names the object.
    The file then stays unchanged. Raises TypeError for arguments of other types and for unknown
    options, ValueError for values out of range, Cancelled, and SolverError if solving fails.
    """
    return _script().bind(
        meshes,
        armature,
        only_new=only_new,
        preset=preset,
        threads=threads,
        progress=progress,
        **options,
    )


def _script() -> Any:
    """Return the add-on's module for scripts, from the extension if it is enabled. Raises Refused
    outside of Blender."""
    try:
        import_module("bpy")  # imported first, because it makes Blender's other modules importable
    except ModuleNotFoundError as error:
        if error.name != "bpy":
            raise
        raise Refused(
            "This Python has no Blender: run the script with Blender, or pip install bpy. For "
            ".glb, .gltf and .vrm files, araplbs weight does not need Blender"
        ) from None
    return import_module(f"{_enabled() or _ADDON}.script")


def _enabled() -> str:
    """Return the name of the extension's package if the extension is enabled, otherwise ""."""
    for name in list(sys.modules):
        package, _dot, last = name.rpartition(".")
        if (
            last == "registration"
            and package.startswith("bl_ext.")
            and package.endswith(".araplbs")
        ):
            return package
    return ""


def main(argv: list[str]) -> int:
    """Implement `python -m araplbs.blender`, which has the commands of `blender -c araplbs`. Return
    the exit code."""
    try:
        code: int = _script().run(argv)
    except Refused as error:
        from ..base.printed import complain

        complain(f"araplbs: {error}")
        return 1
    return code
