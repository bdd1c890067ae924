"""Performs the command-line steps on an opened file that do not affect its weights, and finds files
relative to it."""

import bpy
from araplbs.base.refusal import Refused
from araplbs.reports.report import names_in_line


def leave_edit_mode(view_layer):
    """Switches meshes and armatures from Edit mode to Object mode, because Edit mode keeps its own
    data.

    Returns the arguments of enter_edit_mode(). Raises Refused if an object stays in Edit mode.
    """
    before = [ob for ob in view_layer.objects if ob.mode == "EDIT"]
    if not any(ob.type in ("MESH", "ARMATURE") for ob in before):
        return None
    active = view_layer.objects.active
    for ob in before:
        if ob.mode == "EDIT":  # switching one object may have switched the others
            view_layer.objects.active = ob
            _set_mode(ob, "OBJECT")
    view_layer.objects.active = active
    return active if active in before else before[-1], before


def enter_edit_mode(view_layer, left):
    """Returns objects to Edit mode after leave_edit_mode(). The result is [line] about objects that
    stay in Object mode."""
    if not left:
        return []
    active, objects = left
    present = view_layer.objects.active
    selected = {ob: ob.select_get(view_layer=view_layer) for ob in view_layer.objects}
    for ob in selected:
        ob.select_set(ob in objects, view_layer=view_layer)
    view_layer.objects.active = active
    lines = []
    try:
        _set_mode(active, "EDIT")
    except Refused as error:
        lines.append(f"saved in Object mode: {error}")
    for ob, state in selected.items():
        ob.select_set(state, view_layer=view_layer)
    view_layer.objects.active = present
    return lines


def _set_mode(ob, mode):
    try:
        bpy.ops.object.mode_set(mode=mode)
    except RuntimeError as error:
        raise Refused(f"'{ob.name}' stays in {ob.mode} mode: {str(error).strip()}") from None
    if ob.mode != mode:
        raise Refused(f"'{ob.name}' stays in {ob.mode} mode")


def path_of(text):
    """The file path given by an option. Raises Refused for a path relative to a .blend file that is
    not saved yet."""
    if text.startswith("//") and not bpy.data.filepath:
        raise Refused(
            f"'{text}' is relative to a .blend file that has not been saved: save that "
            "file, or enter the full path"
        )
    return bpy.path.abspath(text)


def blocked_drivers():
    """Returns [line] about scripted drivers, which Blender does not run in files that it does not
    trust."""
    if not bpy.app.autoexec_fail:
        return []
    names = []
    for data in _animated():
        for curve in data.animation_data.drivers:
            driver = curve.driver
            if driver.type == "SCRIPTED" and not (driver.is_valid or driver.is_simple_expression):
                names.append(f"'{data.name}' {curve.data_path}")
    if not names:
        return []
    return [
        "scripted drivers were not run, so driven values keep their saved state: "
        f"{names_in_line(names)} (blender --enable-autoexec -c ... runs them)"
    ]


def _animated():
    """All data in the file that can have drivers and has animation data."""
    for kind in bpy.data.bl_rna.properties:
        if kind.type != "COLLECTION" or kind.identifier == "all_ids":  # exists since 5.2
            continue
        for data in getattr(bpy.data, kind.identifier):
            for each in (data, getattr(data, "node_tree", None)):
                if each and getattr(each, "animation_data", None):
                    yield each
