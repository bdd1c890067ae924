"""Transfer Weights: written and unchanged weights, refusals, the matches shown in the overlay, and
the command line."""

import math

import bpy
import deep
import numpy as np
import pytest
from command import opened, run, save
from mathutils import Matrix
from scenes import (
    add_armature,
    add_mesh,
    add_tube,
    addon,
    auto_weight,
    bind,
    choose_bones,
    entries,
    in_library,
    new_scene,
    select,
    tube_and_rig,
    two_sided_bones,
    weights,
)

NAMES = ["lower", "middle", "upper"]


def transfer(*targets, source, **options):
    select(*targets, source)
    return bpy.ops.object.araplbs_transfer("EXEC_DEFAULT", **options)


def refused(*targets, source, **options):
    return deep.refused("transfer", *targets, source, **options)


def body_and_sleeve(radius=0.33, **shape):
    """A weighted tube, and a second tube around it that is not bound yet."""
    tube, rig = tube_and_rig()
    auto_weight(tube, rig)
    sleeve = add_tube("Sleeve", radius=radius, rings=25, sides=14, caps=False, **shape)
    return tube, rig, sleeve


def test_result():
    """A sleeve over the tube gets the weights of the tube below it and is bound. The source stays
    bit-identical."""
    tube, rig, sleeve = body_and_sleeve()
    before = entries(tube)
    assert transfer(sleeve, source=tube) == {"FINISHED"}
    assert entries(tube) == before
    own, below = weights(sleeve, NAMES), weights(tube, NAMES)
    np.testing.assert_allclose(own.sum(1), 1, atol=1e-6)
    for z in np.linspace(0.2, 2.8, 9):
        a = own[np.abs([v.co.z - z for v in sleeve.data.vertices]) < 0.1].mean(0)
        b = below[np.abs([v.co.z - z for v in tube.data.vertices]) < 0.1].mean(0)
        np.testing.assert_allclose(a, b, atol=0.12)
    assert sleeve.parent == rig
    assert [m.object for m in sleeve.modifiers if m.type == "ARMATURE"] == [rig]


def test_what_is_out_of_reach_is_filled_in():
    """The sleeve stands off at the upper joint, and refining changes only this part."""
    tube, _rig, sleeve = body_and_sleeve()
    for vertex in sleeve.data.vertices:
        if 1.3 < vertex.co.z < 2.7:
            wide = 1 + 3 * math.sin((vertex.co.z - 1.3) / 1.4 * math.pi)
            vertex.co.x, vertex.co.y = wide * vertex.co.x, wide * vertex.co.y
    near = np.array([v.co.z < 1.2 for v in sleeve.data.vertices])
    transfer(sleeve, source=tube, refine=False)
    plain = weights(sleeve, NAMES)
    transfer(sleeve, source=tube)
    refined = weights(sleeve, NAMES)
    np.testing.assert_array_equal(plain[near], refined[near])
    assert np.abs(plain - refined)[~near].max() > 1e-3
    for each in (plain, refined):
        np.testing.assert_allclose(each.sum(1), 1, atol=1e-6)


def test_level_of_detail_at_the_same_place():
    """Vertices that the source also has keep its weights."""
    tube, _rig = tube_and_rig()
    rig = tube.parent
    auto_weight(tube, rig)
    lod = add_tube("LOD1", rings=10)
    transfer(lod, source=tube)
    own, given = weights(lod, NAMES), weights(tube, NAMES)
    places = {tuple(np.round(v.co, 5)): v.index for v in tube.data.vertices}
    same = [(v.index, places[at]) for v in lod.data.vertices
            if (at := tuple(np.round(v.co, 5))) in places]  # fmt: skip
    assert len(same) > 50
    mine, theirs = np.array(same).T
    np.testing.assert_allclose(own[mine], given[theirs], atol=1e-5)


def test_chosen_bones_only():
    tube, rig, sleeve = body_and_sleeve()
    group = sleeve.vertex_groups.new(name="upper")
    group.add(range(len(sleeve.data.vertices)), 0.5, "REPLACE")
    choose_bones(rig, "lower", "middle")
    transfer(sleeve, source=tube, bones="SELECTED")
    own = weights(sleeve, NAMES)
    assert (own[:, 2] == 0.5).all()
    assert own[:, 0].max() > 0.4


def test_mix():
    """The mix uses half of the current weights, and none of them."""
    tube, _rig, sleeve = body_and_sleeve()
    transfer(sleeve, source=tube, max_influences=0)
    whole = weights(sleeve, NAMES)
    sleeve.vertex_groups.clear()
    half = np.arange(len(sleeve.data.vertices) // 2)
    sleeve.vertex_groups.new(name="upper").add(half.tolist(), 1.0, "REPLACE")
    transfer(sleeve, source=tube, mix=0.5, max_influences=0)
    own = weights(sleeve, NAMES)
    expected = whole.copy()
    expected[half] = 0.5 * whole[half] + 0.5 * np.array([0, 0, 1])
    np.testing.assert_allclose(own, expected, atol=1e-5)


@pytest.mark.parametrize("most", [1, 2])
def test_limit_of_influences(most):
    tube, _rig, sleeve = body_and_sleeve()
    transfer(sleeve, source=tube, max_influences=most)
    assert max(len(v.groups) for v in sleeve.data.vertices) <= most
    np.testing.assert_allclose(weights(sleeve, NAMES).sum(1), 1, atol=1e-6)


def test_several_sources():
    """Meshes with weights are sources, and the mesh without weights is the target."""
    tube, rig, _sleeve = body_and_sleeve()
    other = add_tube("Upper", shift=(0, 0, 3.0), length=1.0, rings=6)
    bind(other, rig)
    other.vertex_groups.new(name="upper").add(range(len(other.data.vertices)), 1.0, "REPLACE")
    long = add_tube("Long", radius=0.33, length=4.0, rings=30, caps=False)
    transfer(long, other, source=tube, sources="WEIGHTED")
    own = weights(long, NAMES)
    z = np.array([v.co.z for v in long.data.vertices])
    assert (own[z > 3.3, 2] > 0.95).all() and (own[z < 0.3, 0] > 0.9).all()


def test_matches_are_shown_and_nothing_is_written():
    tube, _rig, sleeve = body_and_sleeve()
    for vertex in sleeve.data.vertices:
        if vertex.co.z > 1.5:
            vertex.co.x += 5
    select(sleeve, tube)
    before = entries(sleeve), len(sleeve.vertex_groups)
    shown = addon("features.transfer.shown_matches").shown
    assert bpy.ops.object.araplbs_show_matches() == {"FINISHED"}
    assert (entries(sleeve), len(sleeve.vertex_groups)) == before
    [(reference, matched)] = shown
    assert reference.get() == sleeve
    z = np.array([v.co.z for v in sleeve.data.vertices])
    clear = (np.abs(z - 1.5) > 0.2) & (z > 0.1)  # of the tear, and of the edge of the cap
    np.testing.assert_array_equal(matched[clear], z[clear] < 1.5)
    bpy.ops.object.araplbs_show_matches()
    assert not shown


def test_matches_follow_the_options():
    """The matches follow the options at once, for the meshes that were read."""
    tube, _rig, sleeve = body_and_sleeve()
    select(sleeve, tube)
    module = addon("features.transfer.shown_matches")
    settings = bpy.context.scene.araplbs.transfer
    assert bpy.ops.object.araplbs_show_matches() == {"FINISHED"}
    assert module.shown[0][1].mean() > 0.9
    settings.distance = 0.0
    assert bpy.app.timers.is_registered(module.refresh_matches)
    bpy.app.timers.unregister(module.refresh_matches)
    module.refresh_matches()
    assert module.shown[0][1].mean() < 0.7
    bpy.ops.object.araplbs_show_matches()
    settings.distance = 0.05
    assert not bpy.app.timers.is_registered(module.refresh_matches)


def sources():
    return addon("blender.read.transfer_targets").find_transfer_targets(bpy.context).sources


def test_of_several_the_weighted_one_is_the_source(tmp_path):
    """The weighted mesh is the source even if another mesh is active, because clothes are often
    added to the selection last. A second transfer has the same direction, also in the saved file,
    although all meshes have weights now, and the body stays bit-identical."""
    tube, _rig, sleeve = body_and_sleeve()
    other = add_tube("Other", radius=0.35, rings=12, caps=False)
    before = entries(tube)
    select(tube, sleeve, other, active=sleeve)
    for _ in range(2):
        assert sources() == [tube]
        assert bpy.ops.object.araplbs_transfer() == {"FINISHED"}
        assert entries(tube) == before
        for ob in (sleeve, other):
            assert np.abs(weights(ob, NAMES).sum(1) - 1).max() < 1e-6
    found = opened(save(tmp_path / "saved.blend"))
    for active in (found["Sleeve"], found["Tube"]):
        bpy.context.view_layer.objects.active = active
        assert sources() == [found["Tube"]]


def test_the_user_changes_the_direction():
    """Sources: Active Object. Afterwards, Automatic has this direction for either active mesh."""
    tube, _rig, sleeve = body_and_sleeve()
    transfer(sleeve, source=tube)
    sleeve.vertex_groups["upper"].add(range(100), 1.0, "REPLACE")
    before = entries(sleeve)
    transfer(tube, source=sleeve, sources="ACTIVE")
    assert entries(sleeve) == before
    for active in (tube, sleeve):
        select(tube, sleeve, active=active)
        assert sources() == [sleeve]


def test_shape_keys_have_the_direction_of_the_weights():
    """As the panel shows. With the garment active, its keys do not replace those of the body."""
    tube, _rig, sleeve = body_and_sleeve()
    transfer(sleeve, source=tube)
    for ob, size in ((tube, 1.5), (sleeve, 4)):
        for name in ("Basis", "Fat"):
            block = ob.shape_key_add(name=name, from_mix=False)
        for point in block.data:
            point.co.x *= size
    select(tube, sleeve, active=sleeve)
    before = [tuple(point.co) for point in tube.data.shape_keys.key_blocks["Fat"].data]
    assert bpy.ops.object.araplbs_transfer_shapes() == {"FINISHED"}
    fat = {ob: ob.data.shape_keys.key_blocks["Fat"].data for ob in (tube, sleeve)}
    assert [tuple(point.co) for point in fat[tube]] == before
    assert max(abs(point.co.x) for point in fat[sleeve]) < 0.6
    bpy.context.scene.araplbs.transfer.sources = "ACTIVE"
    assert bpy.ops.object.araplbs_transfer_shapes() == {"FINISHED"}
    assert [tuple(point.co) for point in fat[tube]] != before


def test_weighted_objects_are_sources_again():
    tube, _rig, sleeve = body_and_sleeve()
    for _ in range(2):
        assert transfer(sleeve, source=tube, sources="WEIGHTED") == {"FINISHED"}
        before = entries(tube), entries(sleeve)
    transfer(tube, source=sleeve, sources="WEIGHTED")
    assert (entries(tube), entries(sleeve)) == before


def patch_on_tube():
    """A weighted tube, and a small patch on it, both with weights."""
    tube, rig, patch = body_and_sleeve(length=0.5)
    bind(patch, rig)
    patch.vertex_groups.new(name="lower").add(range(len(patch.data.vertices)), 1.0, "REPLACE")
    return tube, patch


def test_few_matches_are_refused():
    """Most of the tube matches nothing on the patch. Without Force, nothing changes."""
    tube, patch = patch_on_tube()
    message = refused(tube, source=patch)
    assert "of 192 vertices of 'Tube' match 'Sleeve'. Its weights would be replaced" in message
    assert transfer(tube, source=patch, force=True) == {"FINISHED"}
    assert np.ptp(weights(tube, NAMES)[:, 0]) == 0
    assert transfer(tube, source=patch) == {"FINISHED"}, "confirmed before"


def test_few_matches_of_a_mesh_without_weights():
    """Such a mesh has nothing to lose: a wide skirt is filled in without a question."""
    tube, patch = patch_on_tube()
    tube.vertex_groups.clear()
    assert transfer(tube, source=patch) == {"FINISHED"}
    tube, _rig, sleeve = body_and_sleeve()
    sleeve.data.transform(Matrix.Translation((0, 0, 2.9)))
    assert "Its weights would be mostly filled in" in refused(sleeve, source=tube)


def test_half_of_a_garment():
    """The images of a Mirror modifier follow the groups of the other side, even empty ones."""
    rig = add_armature(bones=two_sided_bones())
    body = add_tube("Body", length=2.4, shift=(0, 0, -1.2), radius=0.1)
    body.data.transform(Matrix.Translation((0, 0, 0.9)) @ Matrix.Rotation(math.pi / 2, 4, "Y"))
    bind(body, rig)
    auto_weight(body, rig)
    sleeve = add_tube("Sleeve", length=0.8, shift=(0, 0, 0.3), radius=0.11, caps=False)
    sleeve.data.transform(Matrix.Translation((0, 0, 0.9)) @ Matrix.Rotation(math.pi / 2, 4, "Y"))
    sleeve.modifiers.new("Mirror", "MIRROR")
    transfer(sleeve, source=body)
    assert {"arm.L", "hand.L", "arm.R", "hand.R"} <= set(sleeve.vertex_groups.keys())
    rest = evaluated_points(sleeve)
    rig.pose.bones["hand.R"].location.y = 0.5
    bpy.context.view_layer.update()
    moved = np.linalg.norm(evaluated_points(sleeve) - rest, axis=1)
    assert moved[rest[:, 0] < -0.9].min() > 0.3 and moved[rest[:, 0] > 0].max() < 1e-6


def evaluated_points(ob):
    found = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array([v.co for v in found.data.vertices])


def test_one_bone_alone():
    """The weights of the other bones stay, so there is no room for new weights of one bone. The
    message names the bones that would have to give weight."""
    tube, rig, sleeve = body_and_sleeve()
    transfer(sleeve, source=tube)
    tube.vertex_groups["upper"].add(range(60), 0.5, "REPLACE")
    choose_bones(rig, "upper")
    message = refused(sleeve, source=tube, bones="SELECTED")
    assert "leave no room for upper. Also select or unlock the bones that should give" in message
    assert message.rstrip().endswith(": lower, middle")
    choose_bones(rig, "upper", "lower")
    assert transfer(sleeve, source=tube, bones="SELECTED") == {"FINISHED"}
    assert weights(sleeve, NAMES)[:30, 2].min() > 0.2


def test_meshes_of_one_name(tmp_path, capfd):
    """A body linked from another file has the name of the garment. Messages tell the two apart."""
    tube, rig = tube_and_rig()
    auto_weight(tube, rig)
    body, _rig = in_library(tmp_path, tube, rig)
    sleeve = add_tube(radius=0.33, rings=25, sides=14, caps=False)
    assert body.name == sleeve.name == "Tube"
    assert transfer(sleeve, source=body) == {"FINISHED"}
    assert "vertices of 'Tube' match 'Tube [library.blend]'" in capfd.readouterr().out
    select(body, sleeve, active=sleeve)
    assert sources() == [body]
    assert transfer(sleeve, source=body) == {"FINISHED"}
    source = save(tmp_path / "in.blend")
    for name, code in (("Tube [library.blend]", 0), ("Tube", 1)):
        output = tmp_path / f"{code}.blend"
        arguments = ("--source", name, "--target", "Tube", "--output", output)
        assert run("transfer", source, *arguments) == code


def test_refusals():
    tube, rig, sleeve = body_and_sleeve()
    assert "Also select the meshes to weight, in addition to 'Tube'" in refused(source=tube)
    also = "Also select the mesh with the weights, in addition to 'Sleeve'"
    assert also in refused(source=sleeve)
    far = add_tube("Bare")
    assert "'Sleeve' has no armature" in refused(far, source=sleeve)
    empty = add_mesh("Empty", np.zeros((0, 3)), [])
    assert "'Empty' has no vertices" in refused(empty, sleeve, source=tube)
    far = add_tube("Far", shift=(50, 0, 0))
    message = refused(sleeve, far, source=tube)
    assert "'Far' cannot take weights from 'Tube': no vertex of the target is within" in message
    inside_out = add_tube("Inside Out", radius=0.4, caps=False)
    inside_out.data.flip_normals()
    message = refused(inside_out, source=tube, two_sided=False, distance=0.5)
    assert "'Inside Out' cannot take weights from 'Tube': no vertex of the target faces" in message
    bind(far, add_armature("Other"))
    message = refused(far, source=tube)
    assert "'Far' is deformed by the armature 'Other', 'Tube' by 'Rig'" in message
    twin = bpy.data.objects.new("Twin", tube.data)
    bpy.context.scene.collection.objects.link(twin)
    assert "'Twin' shares its mesh with 'Tube'" in refused(twin, source=tube)
    choose_bones(rig)
    assert "No deform bone of 'Rig' is selected" in refused(sleeve, source=tube, bones="SELECTED")
    for name in NAMES:
        sleeve.vertex_groups.new(name=name).lock_weight = True
    assert "the vertex groups of all deform bones are locked" in refused(sleeve, source=tube)
    assert "Make the mesh with the weights the active object" in refused(sleeve, source=rig)


def test_sources_without_weights_or_faces():
    tube, rig = tube_and_rig()
    sleeve = add_tube("Sleeve", radius=0.33)
    assert "'Tube' has no weights for the bones of 'Rig'" in refused(sleeve, source=tube)
    wire = add_mesh("Wire", np.eye(3), [], edges=[(0, 1), (1, 2)])
    bind(wire, rig)
    wire.vertex_groups.new(name="lower").add([0, 1, 2], 1.0, "REPLACE")
    assert "'Wire' has no faces to take weights from" in refused(sleeve, source=wire)
    message = refused(sleeve, tube, source=tube, sources="WEIGHTED")
    assert "No selected mesh has weights" in message
    tube.vertex_groups.new(name="lower").add([0], 1.0, "REPLACE")
    assert "'Tube' has no face with weights at all its corners" in refused(sleeve, source=tube)


def test_command_line(tmp_path, capfd):
    body_and_sleeve()
    source, output = save(tmp_path / "in.blend"), tmp_path / "out.blend"
    arguments = ("transfer", source, "--source", "Tube", "--target", "Sleeve")
    assert run(*arguments, "--output", output, "--json", tmp_path / "report.json") == 0
    assert "match Tube" in capfd.readouterr().out
    sleeve = opened(output)["Sleeve"]
    np.testing.assert_allclose(weights(sleeve, NAMES).sum(1), 1, atol=1e-6)
    assert not opened(source)["Sleeve"].vertex_groups
    for names, message in (
        (("Tube", "Hat"), "no mesh 'Hat' in the active scene"),
        (("Tube", "Tube"), "'Tube' is both source and target"),
    ):
        other = tmp_path / "other.blend"
        chosen = ("--source", names[0], "--target", names[1])
        assert run("transfer", source, *chosen, "--output", other) == 1
        assert message in capfd.readouterr().err
        assert not other.exists()
    new_scene()
    patch_on_tube()
    few = save(tmp_path / "few.blend"), "--source", "Sleeve", "--target", "Tube"
    assert run("transfer", *few, "--output", other) == 1
    assert "or use Force" in capfd.readouterr().err
    assert not other.exists()
    assert run("transfer", *few, "--output", other, "--force") == 0


def test_result_box(monkeypatch):
    """In a window, the Result shows the matches and the gains, for the garment and, while both are
    selected, also for the active body. The earlier weights can be restored."""
    monkeypatch.setattr(addon("features.transfer.operator"), "is_seen", lambda: True)
    tube, rig, sleeve = body_and_sleeve()
    bind(sleeve, rig)
    for name, part in (("lower", range(175, 350)), ("upper", range(175))):  # exchanged
        sleeve.vertex_groups.new(name=name).add(part, 1.0, "REPLACE")
    before = entries(sleeve)
    assert transfer(sleeve, source=tube) == {"FINISHED"}
    after = entries(sleeve)
    outcomes = addon("features.auto_weight.outcome")
    outcome = outcomes.outcome_at_hand(bpy.context)
    assert [each.get() for each in outcome.objects] == [sleeve]
    assert [note.text for note in outcome.notes] == [
        "1 bone has lost its skin: upper",
        "326 of 350 vertices of 'Sleeve' match 'Tube', the rest filled in",
    ]
    problems, stretch = outcome.facts["problems"], outcome.facts["stretch"]
    assert None not in (*problems, *stretch)
    assert outcome.slots["BEFORE"] and not outcome.slots["ORIGINAL"]
    bpy.ops.object.araplbs_show_weights(which="BEFORE")
    assert entries(sleeve) == before
    bpy.ops.object.araplbs_show_weights(which="AFTER")
    assert entries(sleeve) == after
    select(tube)
    assert outcomes.outcome_at_hand(bpy.context) is not outcome
    select(sleeve)
    assert outcomes.outcome_at_hand(bpy.context) is outcome
    bpy.ops.object.araplbs_keep_shown_weights(which="BEFORE")
    assert entries(sleeve) == before
