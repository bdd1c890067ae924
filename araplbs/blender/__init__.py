"""Auto-weight for scripts in Blender: bind() needs no registered add-on, selection or window.
The add-on does the work; this room needs Blender only when one of its functions is called."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from ..base.progress import Listener
from ..base.refusal import Refused

_ADDON = "araplbs_addon"  # comes with the package, in its wheel


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
    """Gives mesh objects skinning weights for an armature, and binds them to it: in scripts it
    replaces bpy.ops.object.parent_set(type="ARMATURE_AUTO").

    meshes: one mesh object, or several, which are weighted together. armature: the armature object.
        Neither has to be selected, active or visible. only_new: weight only vertices without
    weights.
    preset: "unity", "vrchat", "game-4"... or one of yours; options that you give take precedence.
    threads: 0 for all processors.
    progress: called as progress(stage, fraction, energy); False stops with araplbs.Cancelled.
    options: those of the panel, by name, as in araplbs.weights(): max_influences=4, firmness=12.0,
        symmetric=True, start_from="present", animation="markers"... Angles are in radians.

    Returns the report, as --json writes it for an armature: "warnings" and "notes" for people,
    "control_bones" that were left out, "deformation" in numbers. A mesh without an Armature
    modifier gets one and becomes a child of the armature. Locked vertex groups keep their weights,
    and corrections saved with the mesh apply.

    Raises araplbs.Refused if it cannot be done, with a sentence that names the object; nothing in
    the file changes then. Raises TypeError for arguments of other types and for unknown
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
    """The add-on's module for scripts: that of the extension, if it is enabled. Raises Refused
    outside of Blender."""
    try:
        import_module("bpy")  # first: it makes Blender's other modules importable
    except ModuleNotFoundError as error:
        if error.name != "bpy":
            raise
        raise Refused(
            "There is no Blender in this Python: run the script by Blender, or pip install bpy. "
            "For .glb, .gltf and .vrm files, araplbs weight needs none"
        ) from None
    return import_module(f"{_enabled() or _ADDON}.script")


def _enabled() -> str:
    """The name of the extension's package if it is in use, otherwise ""."""
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
    """python -m araplbs.blender: the commands of blender -c araplbs; the exit code."""
    try:
        code: int = _script().run(argv)
    except Refused as error:
        from ..base.printed import complain

        complain(f"araplbs: {error}")
        return 1
    return code
