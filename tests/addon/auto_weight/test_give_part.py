"""The Result box lists loose parts that two bones fit. One click gives such a part to the other
bone, the next Auto-weight keeps the choice, and another click takes it back."""

import bpy
import flaws
import numpy as np
import pytest
from scenes import (
    add_armature,
    add_mesh,
    addon,
    auto_weight,
    deform_names,
    entries,
    select,
    tube_arrays,
    weights,
)
from test_cures import of_finding, of_result, press, texts
from test_outcome import at_hand

BOX = 0.12
CORNERS = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
SIDES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
GIVE = "object.araplbs_give_part"


@pytest.fixture
def limb():
    """A weighted tube with a pair of small boxes next to its middle joint."""
    points, faces = tube_arrays()
    bones = [
        ("lower", (0, 0, 0.05), (0, 0, 1.5), None),
        ("upper", (0, 0, 1.5), (0, 0, 2.95), "lower"),
    ]
    points, faces = list(points), [tuple(face) for face in faces]
    for x in (0.37, -0.37):
        first = len(points)
        points += [np.array(c) * BOX / 2 + (x, 0, 1.5) for c in CORNERS]
        faces += [tuple(first + k for k in side) for side in SIDES]
    ob, rig = add_mesh("Suit", points, faces), add_armature(bones=bones)
    auto_weight(ob, rig)
    return ob, rig


def boxes(ob, rig):
    """The bone that moves each box as a whole, or None."""
    rows, names = weights(ob, deform_names(rig)), deform_names(rig)
    found = []
    for part in (rows[-16:-8], rows[-8:]):
        bones = np.flatnonzero((part > 0.999).all(axis=0))
        found.append(names[bones[0]] if len(bones) else None)
    return found


def pins(ob):
    return [(item.kind, item.bone) for item in ob.data.araplbs.edits]


def choices(number=0):
    """The bone that the button of a part offers."""
    return [text for idname, text, _button in of_result() if idname == GIVE][number]


def test_a_click_gives_both_parts_and_another_takes_it_back(limb):
    ob, rig = limb
    before, outcome = entries(ob), at_hand()
    first = outcome.parts[0]
    assert len(outcome.parts) == 2 and texts(of_result()).count(first["others"][0]) == 1
    press(of_result(), first["others"][0])
    assert boxes(ob, rig) == [first["others"][0]] * 2 and pins(ob) == [
        ("WEIGHT", first["others"][0])
    ]
    assert at_hand() is outcome and choices() == first["bone"]
    tube = slice(0, len(ob.data.vertices) - 16)
    assert list(entries(ob))[tube] == list(before)[tube], "nothing else changes"
    press(of_result(), first["bone"])
    assert entries(ob) == before and not pins(ob) and choices() == first["others"][0]


def test_the_next_auto_weight_keeps_it(limb):
    ob, rig = limb
    part = at_hand().parts[0]
    press(of_result(), part["others"][0])
    auto_weight(ob, rig)
    assert boxes(ob, rig) == [part["others"][0]] * 2
    again = at_hand().parts[0]
    assert (again["bone"], again["others"][0], again["chosen"]) == (
        part["others"][0],
        part["bone"],
        True,
    )
    press(of_result(), again["others"][0])
    assert boxes(ob, rig) == [part["bone"]] * 2 and pins(ob) == [("WEIGHT", part["bone"])]
    press(of_result(), again["bone"])
    assert boxes(ob, rig) == [part["others"][0]] * 2 and pins(ob) == [("WEIGHT", part["others"][0])]
    auto_weight(ob, rig)
    assert boxes(ob, rig) == [part["others"][0]] * 2


def test_undo(limb):
    """One step, after which the box shows the first bone again."""
    ob, rig = limb
    bpy.ops.ed.undo_push(message="weighted")
    before, part = entries(ob), at_hand().parts[0]
    press(of_result(), part["others"][0])
    bpy.ops.ed.undo_push(message="given")
    bpy.ops.ed.undo()
    ob, rig = bpy.data.objects["Suit"], bpy.data.objects["Rig"]
    assert entries(ob) == before and not pins(ob)
    assert at_hand() and choices() == part["others"][0]
    press(of_result(), part["others"][0])
    assert boxes(ob, rig) == [part["others"][0]] * 2


def test_without_symmetry_one_part_moves(limb):
    ob, rig = limb
    auto_weight(ob, rig, symmetric=False)
    part = at_hand().parts[0]
    assert len([1 for idname, *_rest in of_result() if idname == GIVE]) == len(at_hand().parts) == 2
    press(of_result(), part["others"][0])
    assert boxes(ob, rig).count(part["others"][0]) == 1


def test_locked_groups_are_respected(limb):
    ob, rig = limb
    part, before = at_hand().parts[0], entries(ob)
    ob.vertex_groups[part["others"][0]].lock_weight = True
    with pytest.raises(
        RuntimeError, match=f"The vertex group '{part['others'][0]}' of 'Suit' is lock"
    ):
        press(of_result(), part["others"][0])
    assert entries(ob) == before and not pins(ob)
    auto_weight(ob, rig)
    assert not at_hand().parts, "nothing can be chosen"


def test_edit_mode_and_unknown_parts_are_refused(limb):
    ob, _rig = limb
    part = at_hand().parts[0]
    with pytest.raises(RuntimeError, match="There is no part 9: there are 2"):
        bpy.ops.object.araplbs_give_part(index=9)
    buttons = of_result()
    select(ob)
    bpy.ops.object.mode_set(mode="EDIT")
    with pytest.raises(RuntimeError, match="'Suit' is in Edit mode"):
        press(buttons, part["others"][0])


def test_parts_are_named_by_their_material(limb):
    ob, rig = limb
    for name in ("Skin", "Plate"):
        ob.data.materials.append(bpy.data.materials.new(name))
    for face in list(ob.data.polygons)[-6:]:
        face.material_index = 1
    named = addon("features.auto_weight.outcome").named_parts([ob], at_hand().parts)
    assert sorted(part["name"] for part in named) == ["Suit, Plate", "Suit, Skin"]
    auto_weight(ob, rig)
    assert {part["name"] for part in at_hand().parts} == {"Suit, Plate", "Suit, Skin"}


def test_check_lists_them_with_a_button(limb):
    """As in the Result, a click gives both parts to the other bone, and another takes them back."""
    ob, rig = limb
    select(ob, rig)
    flaws.check()
    found = [f for f in flaws.found().findings if f.kind == "DOUBTFUL_PART"]
    names = deform_names(rig)
    bone, other = names[found[0].bone], names[found[0].others[0]]
    assert len(found) == 2 and f"'{bone}' (or '{other}')" in found[0].words
    before = entries(ob)
    press(of_finding("DOUBTFUL_PART"), other)
    assert boxes(ob, rig) == [other] * 2 and pins(ob) == [("WEIGHT", other)]
    press(of_finding("DOUBTFUL_PART"), bone)
    assert entries(ob) == before and not pins(ob)
    with pytest.raises(RuntimeError, match="There is no bone 1: there are 1"):
        bpy.ops.object.araplbs_give_found_part(index=0, other=1)
    flaws.check(symmetric=False)
    press(of_finding("DOUBTFUL_PART"), other)
    assert boxes(ob, rig).count(other) == 1
    with pytest.raises(RuntimeError, match="There is no finding 99"):
        bpy.ops.object.araplbs_give_found_part(index=99)
    flaws.found().findings[0].kind = "SPECKLE"
    with pytest.raises(RuntimeError, match="is not about a part that two bones fit"):
        bpy.ops.object.araplbs_give_found_part(index=0)


def test_a_third_bone():
    """A box that the artist gave to the middle of three bones has a button for each of the others.
    A click on the second gives it to this bone, and the only button that remains takes it back."""
    points, faces = tube_arrays()
    bones = [
        ("lower", (0, 0, 0.05), (0, 0, 1.35), None),
        ("middle", (0, 0, 1.35), (0, 0, 1.65), "lower"),
        ("upper", (0, 0, 1.65), (0, 0, 2.95), "middle"),
    ]
    points, faces = list(points), [tuple(face) for face in faces]
    points += [np.array(c) * BOX / 2 + (0.37, 0, 1.5) for c in CORNERS]
    faces += [tuple(len(points) - 8 + k for k in side) for side in SIDES]
    ob, rig = add_mesh("Suit", points, faces), add_armature(bones=bones)
    addon("blender.data.edits").paint_edit(
        ob.data, "WEIGHT", "middle", np.arange(len(points) - 8, len(points)), 2
    )
    auto_weight(ob, rig)
    part, before = at_hand().parts[0], entries(ob)
    assert set(part["others"]) == {"lower", "upper"} and part["chosen"]
    press(of_result(), part["others"][1])
    row = weights(ob, deform_names(rig))[-8:, deform_names(rig).index(part["others"][1])]
    assert (row > 0.999).all() and pins(ob) == [("WEIGHT", part["others"][1])]
    assert [text for idname, text, _button in of_result() if idname == GIVE] == ["middle"]
    press(of_result(), "middle")
    assert entries(ob) == before and pins(ob) == [("WEIGHT", "middle")]
    select(ob, rig)
    flaws.check()
    press(of_finding("DOUBTFUL_PART"), part["others"][1])
    assert pins(ob) == [("WEIGHT", part["others"][1])]
