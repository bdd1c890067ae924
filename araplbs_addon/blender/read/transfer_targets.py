"""Finds the source and target meshes of a transfer, by selection or by names in a file."""

from dataclasses import dataclass, field

import bpy
from araplbs.base.refusal import Refused
from araplbs.reports.report import names_in_line

from ..data.binding import armature_modifier, armature_of
from ..data.mesh_shape import refuse_absolute
from .read_mesh import refuse_edited, refuse_mesh

SEPARATOR = "\n"  # of names


@dataclass
class TransferTargets:
    armature: bpy.types.Object
    sources: list[bpy.types.Object]
    meshes: list[bpy.types.Object]
    skipped: list[str] = field(default_factory=list)  # messages for the user


def find_transfer_targets(context, sources="AUTOMATIC"):
    """The TransferTargets of the operator. Raises Refused with the required user action."""
    meshes = _selected_meshes(context)
    if sources == "WEIGHTED":
        giving = [ob for ob in meshes if _is_weighted(ob) and not _earlier_sources(ob, meshes)]
        if not giving:
            raise Refused("No selected mesh has weights for the bones of an armature")
    else:
        active = context.active_object
        if not active or active.type != "MESH":
            raise Refused("Make the mesh with the weights the active object")
        giving = [active] if sources == "ACTIVE" else _sources_among(meshes, active)
    taking = [ob for ob in meshes if ob not in giving]
    if not taking:
        names = names_in_line([f"'{ob.name_full}'" for ob in giving])
        if not any(map(_is_weighted, giving)):
            raise Refused(f"Also select the mesh with the weights, in addition to {names}")
        raise Refused(f"Also select the meshes to weight, in addition to {names}")
    return make_transfer_targets(giving, taking)


def _sources_among(meshes, active):
    """The meshes from which the active mesh got its weights, so that a second transfer has the same
    direction. Otherwise, the active mesh. If it has no weights, and only one other mesh has, that
    one must be the intended source."""
    earlier = _earlier_sources(active, meshes)
    if earlier or _is_weighted(active):
        return earlier or [active]
    weighted = [ob for ob in meshes if _is_weighted(ob)]
    return weighted if len(weighted) == 1 else [active]


def _earlier_sources(ob, meshes):
    """The meshes, among these, whose weights were last transferred to this one."""
    names = ob.data.araplbs.transferred_from.split(SEPARATOR)
    return [each for each in meshes if each.name_full in names and _is_weighted(each)]


def _mark_of(sources):
    return SEPARATOR.join(ob.name_full for ob in sources)


def is_again(targets):
    """Whether all target meshes were already targets of a transfer from these sources."""
    mark = _mark_of(targets.sources)
    return all(ob.data.araplbs.transferred_from == mark for ob in targets.meshes)


def remember_direction(sources, meshes):
    """Marks the meshes as targets of a transfer from the sources, which no longer are their
    targets."""
    mark = _mark_of(sources)
    for ob in meshes:
        ob.data.araplbs.transferred_from = mark
    for ob in sources:
        names = ob.data.araplbs.transferred_from.split(SEPARATOR)
        if not ob.data.library and any(each.name_full in names for each in meshes):
            ob.data.araplbs.transferred_from = ""


def _is_weighted(ob):
    """Whether a mesh has a nonempty vertex group of a deform bone."""
    armature = armature_of(ob)
    bones = {bone.name for bone in armature.data.bones if bone.use_deform} if armature else ()
    groups = {group.index for group in ob.vertex_groups if group.name in bones}
    return bool(groups) and any(
        element.group in groups and element.weight > 0
        for vertex in ob.data.vertices
        for element in vertex.groups
    )


def _selected_meshes(context):
    if context.mode != "OBJECT":
        raise Refused("Available only in Object mode")
    meshes = [ob for ob in context.selected_objects if ob.type == "MESH"]
    refuse_edited(context.active_object, *meshes)
    return meshes


def find_transfer_in_file(arguments, view_layer):
    """Returns the [TransferTargets] of the command line, found by names."""
    return [make_transfer_targets(*_named(view_layer, arguments.source, arguments.target))]


def _named(view_layer, source_names, target_names):
    """Returns ([sources], [targets]), with each mesh only once."""
    meshes = [ob for ob in view_layer.objects if ob.type == "MESH"]
    objects = {ob.name_full: ob for ob in meshes}
    for name in (*source_names, *target_names):
        found = [ob for ob in meshes if ob.name == name]  # of several files
        if len(found) > 1 and name not in objects:
            names = names_in_line([f"'{ob.name_full}'" for ob in found])
            raise Refused(f"several meshes are named '{name}': use the full names {names}")
        if found:
            objects.setdefault(name, found[0])
        if name not in objects:
            raise Refused(f"no mesh '{name}' in the active scene")
        if name in source_names and name in target_names:
            raise Refused(f"'{name}' is both source and target")
    return [
        [objects[name] for name in dict.fromkeys(names)] for names in (source_names, target_names)
    ]


def make_transfer_targets(sources, meshes):
    """The TransferTargets of these meshes. Raises Refused if an armature is missing, if the meshes
    use different armatures, and for shared data."""
    armature = armature_of(sources[0])
    if not armature:
        raise Refused(f"'{sources[0].name_full}' has no armature: add an Armature modifier first")
    for ob in sources:
        other = armature_of(ob)
        if other != armature:
            which = f"by '{other.name}'" if other else "by none"
            raise Refused(
                f"'{sources[0].name_full}' is deformed by the armature '{armature.name}', "
                f"'{ob.name_full}' {which}"
            )
    for ob in meshes:
        refuse_mesh(ob)
        other = armature_of(ob)
        if other and other != armature and not armature_modifier(ob, armature):
            raise Refused(
                f"'{ob.name_full}' is deformed by the armature '{other.name}', "
                f"'{sources[0].name_full}' by '{armature.name}'"
            )
    _refuse_shared(sources, meshes, "weights")
    return TransferTargets(armature, sources, meshes)


def _refuse_shared(sources, meshes, what):
    taken = {ob.data: ob for ob in sources}
    for ob in meshes:
        if ob.data in taken:
            raise Refused(
                f"'{ob.name_full}' shares its mesh with '{taken[ob.data].name_full}', and "
                f"therefore also its {what}"
            )
        taken[ob.data] = ob


def _active_and_others(context, what):
    """Returns (source, [other selected mesh objects]). The source is the active mesh or, as the
    panel shows, the mesh from which the active one got its weights. Raises Refused if either is
    missing."""
    meshes, source = _selected_meshes(context), context.active_object
    if not source or source.type != "MESH":
        raise Refused(f"Make the mesh with the {what} the active object")
    if context.scene.araplbs.transfer.sources != "ACTIVE":
        source = (*_earlier_sources(source, meshes), source)[0]
    taking = [ob for ob in meshes if ob != source]
    if not taking:
        raise Refused(
            f"Also select the meshes that should get {what}, in addition to '{source.name_full}'"
        )
    return source, taking


@dataclass
class OneSource:
    source: bpy.types.Object  # has the weights, or the shape keys
    meshes: list[bpy.types.Object]
    skipped: list[str] = field(default_factory=list)  # messages for the user


def find_one_source_in_file(arguments, view_layer, make):
    """Returns the [OneSource] of the command line, found by names and created by `make`."""
    [source], meshes = _named(view_layer, [arguments.source], arguments.target)
    return [make(source, meshes)]


def find_shape_targets(context):
    """The OneSource of Transfer Shape Keys. Raises Refused with the required user action."""
    return make_shape_targets(*_active_and_others(context, "shape keys"))


def make_shape_targets(source, meshes):
    """The OneSource of these meshes. Raises Refused if there is nothing to transfer, and for data
    that is shared or linked."""
    keys = source.data.shape_keys
    if not keys or len(keys.key_blocks) < 2:
        raise Refused(f"'{source.name_full}' has no shape keys except the basis")
    refuse_absolute(source)
    if not source.data.polygons:
        raise Refused(f"'{source.name_full}' has no faces to transfer shapes from")
    for ob in meshes:
        refuse_mesh(ob)
        refuse_absolute(ob)
    _refuse_shared([source], meshes, "shape keys")
    return OneSource(source, meshes)


def find_copy_targets(context):
    """The OneSource of Copy Weights. Raises Refused with the required user action."""
    return make_copy_targets(*_active_and_others(context, "weights"))


def make_copy_targets(source, meshes):
    """The OneSource of these meshes. Raises Refused if there is no armature, and for data that is
    shared or linked."""
    if not armature_of(source):
        raise Refused(f"'{source.name_full}' has no armature: add an Armature modifier first")
    for ob in meshes:
        refuse_mesh(ob)
    _refuse_shared([source], meshes, "weights")
    return OneSource(source, meshes)
