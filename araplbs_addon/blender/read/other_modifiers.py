"""Creates messages about modifiers that deform a mesh in addition to its bones (cages, lattices,
other armatures), and about Armature modifier settings that reduce the effect of its weights."""

from araplbs.base.refusal import Refused
from araplbs.reports.report import names_in_line

from ..data.binding import armature_modifier, deform_nodes, is_deformed_by
from ..data.rest_transforms import deforming_armatures

CARRIERS = {  # modifiers that make a mesh follow another object: its kind and property
    "LATTICE": ("lattice", "object"),
    "MESH_DEFORM": ("Mesh Deform cage", "object"),
    "SURFACE_DEFORM": ("Surface Deform target", "target"),
}
SHAPERS = {"CAST", "CURVE", "DISPLACE", "HOOK", "LAPLACIANDEFORM", "SHRINKWRAP", "SIMPLE_DEFORM"}
SHAPERS |= {"SMOOTH", "WARP", *CARRIERS}  # modifiers that move vertices

MAKES_VERTICES = {
    *("ARRAY", "BEVEL", "BOOLEAN", "BUILD", "DECIMATE", "EDGE_SPLIT", "EXPLODE", "MASK", "MIRROR"),
    *("MULTIRES", "REMESH", "SCREW", "SKIN", "SOLIDIFY", "SUBSURF", "TRIANGULATE", "WELD"),
    *("WIREFRAME", "VOLUME_TO_MESH", "PARTICLE_INSTANCE", "PARTICLE_SYSTEM"),
}


def refuse_carried(ob, armature):
    """Raises Refused for a mesh that is not bound to the armature but follows its bones through an
    object that is bound. Binding the mesh as well would move it twice."""
    if is_deformed_by(ob, armature):
        return
    for modifier in filter(_works, ob.modifiers):
        carrier = _carrier(modifier)
        if carrier and armature in deforming_armatures(carrier):
            raise Refused(
                f"'{ob.name}' follows the bones through the {CARRIERS[modifier.type][0]} "
                f"'{carrier.name}': weight that object instead"
            )


def other_modifiers(ob, armature):
    """Messages about other deformations of a mesh that the weights do not take into account."""
    own, lines = armature_modifier(ob, armature), []
    if own and not _works(own) and not deform_nodes(ob):
        lines.append(f"The Armature modifier '{own.name}' of '{ob.name}' is switched off")
    if own and own.vertex_group in ob.vertex_groups:
        lines.append(
            f"The Armature modifier of '{ob.name}' is limited to its vertex group "
            f"'{own.vertex_group}': if that is not 1, the weights have less effect"
        )
    before = own is not None
    for modifier in ob.modifiers:
        if modifier == own:
            before = False
        elif _works(modifier):
            lines += _line(ob, armature, modifier, before)
    return lines


def _line(ob, armature, modifier, before):
    """The message about one modifier: [] or [sentence]."""
    if modifier.type == "ARMATURE":
        return _armature_line(ob, armature, modifier.object)
    carrier = _carrier(modifier)
    if carrier and deforming_armatures(carrier):
        what = CARRIERS[modifier.type][0]
        return [f"'{ob.name}' also follows the {what} '{carrier.name}', which bones deform"]
    if before and modifier.type in SHAPERS and _has_target(modifier):
        return [
            f"'{ob.name}' was weighted without '{modifier.name}', which comes before the "
            "Armature modifier"
        ]
    return []


def _armature_line(ob, armature, other):
    if other in (None, armature):
        return []
    ours = {bone.name for bone in armature.data.bones if bone.use_deform}
    shared = sorted(ours & {bone.name for bone in other.data.bones if bone.use_deform})
    line = f"The armature '{other.name}' also deforms '{ob.name}'"
    if shared:
        line += f", with the same weights for bones of the same name: {names_in_line(shared)}"
    return [line]


def _works(modifier):
    seen = modifier.show_viewport or modifier.show_render
    return seen and getattr(modifier, "is_bound", True)


def _carrier(modifier):
    """The object that a mesh follows through this modifier, or None."""
    return getattr(modifier, CARRIERS[modifier.type][1]) if modifier.type in CARRIERS else None


def _has_target(modifier):
    """Whether the modifier has its target. A modifier that needs another object has no effect
    without one."""
    needed = {"CURVE": "object", "HOOK": "object", "SHRINKWRAP": "target", "LATTICE": "object"}
    name = needed.get(modifier.type)
    return name is None or getattr(modifier, name) is not None
