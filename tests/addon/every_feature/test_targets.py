"""The meshes that are weighted if only an armature is selected, and the text that announces them;
locked groups that hold more than the total weight."""

import bpy
import numpy as np
import pytest
from odd_scenes import exclude
from scenes import (
    add_armature,
    add_object,
    add_tube,
    addon,
    auto_weight,
    bind,
    deform_names,
    entries,
    select,
    tube_and_rig,
    weights,
)


def lines():
    targets = addon("blender.read.targets").find_targets(bpy.context, posing=True)
    return [text for text, _icon in addon("panels.main_panel").target_texts(targets)]


def test_panel_says_what_is_bound():
    tube, rig = tube_and_rig()
    select(rig)
    assert lines() == ["Rig", "Tube"]
    sleeve = add_tube("Sleeve", radius=0.35)
    bind(sleeve, rig)
    assert lines() == ["Rig", "2 meshes"]
    exclude(sleeve)
    assert lines() == ["Rig", "Tube, 1 hidden"]
    bpy.ops.object.mode_set(mode="POSE")
    assert lines() == ["Rig", "Tube, 1 hidden"]
    bpy.ops.object.mode_set(mode="OBJECT")
    select(tube, rig)
    assert lines() == ["Rig", "Tube"]


def test_all_that_is_bound_is_weighted():
    tube, rig = tube_and_rig()
    sleeve, hidden, child = (add_tube(n, radius=0.35) for n in ("Sleeve", "Hidden", "Child"))
    for ob in (sleeve, hidden):
        bind(ob, rig)
    child.parent = rig
    hidden.hide_set(True)
    auto_weight(rig)
    for ob in (tube, sleeve):
        np.testing.assert_allclose(weights(ob, deform_names(rig)).sum(1), 1, atol=1e-6)
    for ob in (hidden, child):
        assert not any(entries(ob)) and not ob.vertex_groups
    assert not child.modifiers


def test_several_armatures_alone():
    _tube, rig = tube_and_rig()
    other = add_armature("Other")
    select(rig, other)
    with pytest.raises(RuntimeError, match="No mesh is bound to 'Other'"):
        auto_weight()
    empty = add_object("Empty", None)
    select(rig, other, empty)
    with pytest.raises(RuntimeError, match="Several armatures are selected"):
        auto_weight()
    select(rig, active=other)
    assert auto_weight() == {"FINISHED"}, "what is active but not selected is not meant"


def test_what_locked_groups_force_above_the_limit(capfd):
    """Two locked groups and the bone that gets the remainder are three influences."""
    tube, rig = tube_and_rig()
    for name in ("lower", "middle"):
        group = tube.vertex_groups.new(name=name)
        group.add(range(50), 0.3, "REPLACE")
        group.lock_weight = True
    auto_weight(tube, rig, max_influences=2)
    told = "50 vertices have more than 2 influences, because of locked vertex groups"
    assert told in capfd.readouterr().out
    counts = (weights(tube, deform_names(rig)) > 0).sum(1)
    assert (counts > 2).sum() == 50


def test_what_rounding_leaves_is_no_influence(capfd):
    """Locked 32-bit weights sum to 1 except for rounding, and the rounding error is not an
    influence."""
    tube, rig = tube_and_rig()
    shares = np.random.default_rng(0).uniform(0.1, 0.9, 50).astype(np.float32)
    for name, some in (("lower", shares), ("middle", 1 - shares)):
        group = tube.vertex_groups.new(name=name)
        for vertex, share in enumerate(some):
            group.add([vertex], float(share), "REPLACE")
        group.lock_weight = True
    auto_weight(tube, rig, max_influences=2)
    assert "because of locked vertex groups" not in capfd.readouterr().out
    assert (weights(tube, deform_names(rig))[:50] > 0).sum(1).max() == 2


def test_more_than_one_in_locked_groups(capfd):
    tube, rig = tube_and_rig()
    for name in ("lower", "middle"):
        group = tube.vertex_groups.new(name=name)
        group.add(range(50), 0.8, "REPLACE")
        group.lock_weight = True
    auto_weight(tube, rig)
    told = (
        "'Tube': 50 vertices have a total weight above 1 in locked groups, which leaves no weight"
    )
    assert told in capfd.readouterr().out
    dense = weights(tube, deform_names(rig))
    np.testing.assert_allclose(dense[:50, :2], 0.8, atol=1e-7)
    assert not dense[:50, 2].any()
    np.testing.assert_allclose(dense[50:].sum(1), 1, atol=1e-6)
    tube.vertex_groups["middle"].lock_weight = False
    auto_weight(tube, rig)
    assert "more than 1" not in capfd.readouterr().out
