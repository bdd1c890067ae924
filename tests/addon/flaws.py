"""Creates weights with faults at known places."""

import bpy
import numpy as np
from scenes import BONES, add_armature, add_tube, addon, auto_weight, bind, select, tube_and_rig


def near(ob, height, width=0.2):
    """Vertices of a tube near a height."""
    return [v.index for v in ob.data.vertices if abs(v.co.z - height) < width]


def weighted(**options):
    tube, rig = tube_and_rig()
    auto_weight(tube, rig, **options)
    return tube, rig


def skin_of_another_bone():
    """A bound tube and its rig, with a bone in another place to which the artist has given skin."""
    bones = [*BONES, ("prop", (0, 0, 2.0), (0, 0.2, 2.4), "middle")]
    tube, rig = add_tube(), add_armature(bones=bones)
    for low, group in enumerate(("lower", "middle", "prop")):
        own = [v.index for v in tube.data.vertices if low <= min(v.co.z, 2.99) < low + 1]
        tube.vertex_groups.new(name=group).add(own, 1.0, "REPLACE")
    bind(tube, rig)
    return tube, rig


def tails_that_point_back():
    """A tube and its rig, with bones that point back along a thin limb."""
    places = np.linspace(0, 3, 11)[:-1]
    bones = [
        (f"b{k}", (0, 0, z), (0, 0.05, z - 3), f"b{k - 1}" if k else None)
        for k, z in enumerate(places)
    ]
    tube, rig = add_tube("Tube", radius=0.25, rings=41), add_armature(bones=bones)
    return tube, rig


def halved():
    """A bound tube and its rig, both selected. Each half of the tube follows one bone, so the
    weights change abruptly."""
    tube, rig = tube_and_rig()
    for vertex in tube.data.vertices:
        name = "upper" if vertex.co.z > 1.5 else "lower"
        group = tube.vertex_groups.get(name) or tube.vertex_groups.new(name=name)
        group.add([vertex.index], 1.0, "REPLACE")
    select(tube, rig)
    return tube, rig


def remove(ob, vertices):
    for group in ob.vertex_groups:
        group.remove(vertices)


def unweighted(tube, _rig):
    remove(tube, near(tube, 1.0))
    return near(tube, 1.0)


def unnormalized(tube, _rig):
    at = near(tube, 2.0)
    for vertex in (tube.data.vertices[i] for i in at):
        for element in vertex.groups:
            element.weight *= 0.5
    return at


def speckle(tube, _rig):
    """One vertex of the lower bone follows the upper one."""
    at = near(tube, 0.5)[:1]
    remove(tube, at)
    tube.vertex_groups["upper"].add(at, 1.0, "REPLACE")
    return at


def influences(tube, _rig):
    """Groups of bones that exceed the limit of 2 influences."""
    at = near(tube, 1.5)
    for name in ("lower", "middle", "upper"):
        tube.vertex_groups[name].add(at, 1 / 3, "REPLACE")
    return at


def stretch(tube, _rig):
    """A band follows the bone at the other end."""
    at = near(tube, 0.4)
    remove(tube, at)
    tube.vertex_groups["upper"].add(at, 1.0, "REPLACE")
    return at


FLAWS = {
    "UNWEIGHTED": unweighted,
    "UNNORMALIZED": unnormalized,
    "SPECKLE": speckle,
    "INFLUENCES": influences,
    "STRETCH": stretch,
}


def flawed(*kinds, **options):
    """(tube, rig, {kind: its vertices}), both selected."""
    tube, rig = weighted(**options)
    places = {kind: FLAWS[kind](tube, rig) for kind in kinds}
    select(tube, rig)
    return tube, rig, places


def check(**options):
    return bpy.ops.object.araplbs_check("EXEC_DEFAULT", **options)


def repair(**options):
    return bpy.ops.object.araplbs_repair("EXEC_DEFAULT", **options)


def found():
    return addon("features.check.findings_list").found


def kinds_found():
    return [finding.kind for finding in found().findings]


def index_of(kind):
    return kinds_found().index(kind)


def choose(kind):
    """Selects the first finding of a kind, as a click does, and returns its index."""
    index = index_of(kind)
    bpy.context.window_manager.araplbs_check.active = index
    return index


def shown():
    return bpy.context.window_manager.araplbs_check


def selected(ob):
    flags = np.empty(len(ob.data.vertices), bool)
    ob.data.vertices.foreach_get("select", flags)
    return np.flatnonzero(flags).tolist()
