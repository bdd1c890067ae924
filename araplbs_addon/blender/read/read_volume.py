"""Reads the volume requested by the options."""

import bpy
from araplbs.base.refusal import Refused
from araplbs.solvers.tet_mesh import need_for_file, need_for_inside
from araplbs.solvers.volume import Source


def refuse_volume(options):
    """Raises Refused for settings that a volume never supports, regardless of the meshes."""
    if options.start_from == "PRESENT":
        raise Refused(
            "Weights of a volume cannot start from those of the surface: set Start From to Fresh "
            "Weights"
        )
    if options.volume == "INSIDE":
        need_for_inside(modules_folder())
        return
    need_for_file(modules_folder())
    if not options.tet_file:
        raise Refused("Volume is set to File, but no file is specified")
    if options.tet_file.startswith("//") and not bpy.data.filepath:
        raise Refused(
            f"'{options.tet_file}' is relative to a .blend file that has not been saved: "
            "save that file, or enter the full path"
        )


def modules_folder():
    """The user's folder of Python modules, which Blender searches by default. If Blender's own
    folder is read-only, pip would install packages where Blender does not find them. Empty if
    Blender runs as a module, because Python's own paths then apply."""
    return bpy.app.binary_path and bpy.utils.user_resource("SCRIPTS", path="modules")


def read_volume(options, meshes):
    """The Source of the tets for these core Meshes. The options have passed refuse_volume(). Raises
    Refused for meshes that do not support a volume."""
    for mesh in meshes:
        if mesh.has_locks:
            raise Refused(
                f"'{mesh.name}' keeps some of its weights (locked groups, or a selection in Weight "
                "Paint mode), which a volume does not support: set Volume to Surface Only, or "
                "unlock them"
            )
        if mesh.edits.rigid and options.rigid_parts != "OFF":
            raise Refused(
                f"'{mesh.name}' has rigid parts, which a volume does not support: set Volume to "
                "Surface "
                "Only, or Rigid Parts to Off"
            )
    if options.volume == "INSIDE":
        return Source()
    matrix = None
    if options.tet_space == "OBJECT":
        if len(meshes) > 1:
            raise Refused(
                f"A file in object space belongs to one mesh, not to {len(meshes)}: select one "
                "mesh, or provide a file in armature space"
            )
        matrix = meshes[0].matrix
    return Source(bpy.path.abspath(options.tet_file), matrix)
