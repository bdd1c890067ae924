"""Reads the volume requested by the options."""

import bpy
from araplbs.base.refusal import Refused
from araplbs.solvers.tet_mesh import need_for_file, need_for_inside
from araplbs.solvers.volume import Source, refuse_meshes

from ..data.opened_file import path_of


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
    path_of(options.tet_file)


def modules_folder():
    """The user's folder of Python modules, which Blender searches by default. If Blender's own
    folder is read-only, pip would install packages where Blender does not find them. Empty if
    Blender runs as a module, because Python's own paths then apply."""
    return bpy.app.binary_path and bpy.utils.user_resource("SCRIPTS", path="modules")


def read_volume(options, meshes):
    """The Source of the tets for these core Meshes. The options have passed refuse_volume(). Raises
    Refused for meshes that do not support a volume."""
    refuse_meshes(meshes, options)
    if options.volume == "INSIDE":
        return Source()
    matrix = meshes[0].matrix if options.tet_space == "OBJECT" else None
    return Source(path_of(options.tet_file), matrix)
