"""Bendy bones converted to plain bones: vertex groups that remain because they are locked or have
other uses."""

import bpy
import pytest
from bendy_scenes import CHAIN, EXACT, convert, pose, posed, share, tail
from scenes import (
    addon,
    entries,
)


def test_locked_groups(capfd):
    tube, rig = tail()
    tube.vertex_groups["middle"].lock_weight = True
    pose(rig, 5)
    points, before = posed(tube), entries(tube)
    index = tube.vertex_groups["middle"].index
    kept = [[w for g, w in vertex if g == index] for vertex in before]
    convert(rig)
    out = capfd.readouterr().out
    assert "'middle' stays unchanged because its vertex group in 'Tail' is locked" in out
    assert share(points, posed(tube)) < EXACT
    assert rig.data.bones["middle"].use_deform and "middle_1" not in rig.data.bones
    index = tube.vertex_groups["middle"].index
    assert [[w for g, w in vertex if g == index] for vertex in entries(tube)] == kept
    with pytest.raises(RuntimeError, match="'Tail': the vertex group 'middle' is locked"):
        bpy.ops.object.araplbs_bendy()


def test_groups_with_other_uses_stay(capfd):
    tube, rig = tail()
    tube.modifiers.new("Smooth", "SMOOTH").vertex_group = "upper"
    hook = bpy.data.objects.new("Hook", None)
    bpy.context.scene.collection.objects.link(hook)
    copy = hook.constraints.new("COPY_LOCATION")
    copy.target, copy.subtarget = tube, "lower"
    pose(rig, 5)
    before = posed(tube)
    convert(rig)
    assert {"upper", "lower"} <= set(tube.vertex_groups.keys())
    assert "middle" not in tube.vertex_groups
    assert "the vertex group 'upper' was kept because it has other uses" in capfd.readouterr().out
    assert share(before, posed(tube)) < EXACT


def add_nodes(tube, text="", attribute="", named=""):
    """A Geometry Nodes modifier with a text input, an input from an attribute, and a Named
    Attribute in a nested node group."""
    inner = bpy.data.node_groups.new("Inner", "GeometryNodeTree")
    inner.nodes.new("GeometryNodeInputNamedAttribute").inputs["Name"].default_value = named
    tree = bpy.data.node_groups.new("Outer", "GeometryNodeTree")
    for kind in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=kind, socket_type="NodeSocketGeometry")
    number, words = (
        tree.interface.new_socket(kind, in_out="INPUT", socket_type=f"NodeSocket{kind}").identifier
        for kind in ("Float", "String")
    )
    ends = [tree.nodes.new(f"NodeGroup{kind}") for kind in ("Input", "Output")]
    tree.links.new(ends[0].outputs[0], ends[1].inputs[0])
    tree.nodes.new("GeometryNodeGroup").node_tree = inner
    modifier = tube.modifiers.new("Nodes", "NODES")
    modifier.node_group = tree
    if hasattr(modifier, "properties"):  # since 5.2
        inputs = modifier.properties.inputs
        getattr(inputs, number).type = "ATTRIBUTE"
        getattr(inputs, number).attribute_name = attribute
        getattr(inputs, words).value = text
    else:
        modifier[f"{number}_use_attribute"] = True
        modifier[f"{number}_attribute_name"] = attribute
        modifier[words] = text


@pytest.mark.parametrize("uses", ["text", "attribute", "named"])
def test_groups_that_nodes_use_stay(uses):
    tube, rig = tail()
    add_nodes(tube, **{uses: "middle"})
    pose(rig, 5)
    before = posed(tube)
    convert(rig)
    assert "middle" in tube.vertex_groups and "lower" not in tube.vertex_groups
    assert share(before, posed(tube)) < EXACT


def test_groups_in_settings_of_modifiers_stay():
    tube, rig = tail()
    for kind, settings, name, group in (
        ("CLOTH", "settings", "vertex_group_mass", "lower"),
        ("CLOTH", "collision_settings", "vertex_group_self_collisions", "upper"),
        ("SOFT_BODY", "settings", "vertex_group_goal", "middle"),
    ):
        modifier = tube.modifiers.get(kind) or tube.modifiers.new(kind, kind)
        modifier.show_viewport = False
        setattr(getattr(modifier, settings), name, group)
    convert(rig)
    assert set(CHAIN) <= set(tube.vertex_groups.keys())


def test_groups_of_particles_stay():
    tube, rig = tail()
    tube.modifiers.new("Hair", "PARTICLE_SYSTEM")
    tube.particle_systems[0].vertex_group_density = "upper"
    convert(rig)
    assert "upper" in tube.vertex_groups and "lower" not in tube.vertex_groups


def test_all_modifiers_are_looked_at():
    """No content of a modifier causes an error, and a group is kept only if a modifier uses it."""
    tube, rig = tail()
    for kind in bpy.types.Modifier.bl_rna.properties["type"].enum_items.keys():  # noqa: SIM118
        try:
            modifier = tube.modifiers.new("middle", kind)
        except (RuntimeError, TypeError):  # not of meshes
            continue
        if modifier:
            modifier.show_viewport = modifier.show_render = False
    assert len(tube.modifiers) > 40
    used = addon("blender.data.group_uses").used_groups(tube, rig)
    assert used.isdisjoint(CHAIN)
