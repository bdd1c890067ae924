"""What volume the options ask for."""

import bpy

from ..core.errors import Refused
from ..core.volume import Source


def read_volume(options, meshes):
    """The Source of the tets for these core Meshes, None for the surface alone. Raises Refused for
    what does not go with a volume."""
    if options.volume == "NONE":
        return None
    if options.start_from == "PRESENT":
        raise Refused(
            "Weights of a volume cannot start from those of the surface: start from fresh"
        )
    for mesh in meshes:
        if mesh.keeps:
            raise Refused(
                f"'{mesh.name}' keeps some of its weights (locked groups, or a selection in Weight "
                "Paint mode), which a volume cannot: set Volume to Surface Only, or unlock them"
            )
    if options.volume == "INSIDE":
        return Source()
    if not options.tet_file:
        raise Refused("Volume is File, but no file is given")
    matrix = None
    if options.tet_space == "OBJECT":
        if len(meshes) > 1:
            raise Refused(
                "A file in the space of an object belongs to one mesh, not to "
                f"{len(meshes)}: select one, or give the file in the space of the armature"
            )
        matrix = meshes[0].matrix
    return Source(bpy.path.abspath(options.tet_file), matrix)
