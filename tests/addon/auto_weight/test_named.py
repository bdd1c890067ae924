"""Locked groups cause bones that do not move their skin, and parts that leave their place. After a
press of the button, Check Weights finds these faults, and the Result names them."""

import flaws
import numpy as np
from scenes import add_cube, auto_weight, select, tube_and_rig
from test_outcome import at_hand, in_a_window  # noqa: F401

DEAF, LEAVES = "hardly moves its skin", "leaves what it sits on"


def lock(ob, bone, vertices, weight):
    group = ob.vertex_groups.new(name=bone)
    group.add(vertices, weight, "REPLACE")
    group.lock_weight = True


def notes(what):
    return [each for each in at_hand().notes if what in str(each.text)]


def findings(kind):
    return [each for each in flaws.found().findings if each.kind == kind]


def with_box():
    tube, rig = tube_and_rig()
    return tube, add_cube("Box", (0.4, 0, 0.5), 0.2), rig


def test_a_deaf_bone():
    tube, rig = tube_and_rig()
    z = np.array([vertex.co.z for vertex in tube.data.vertices])
    lock(tube, "upper", np.flatnonzero(z > 1.9).tolist(), 0.05)
    auto_weight(tube, rig)
    (note,) = notes(DEAF)
    assert note.bones == ("upper",) and "upper" in str(note.text) and note.urgent and note.selects
    select(tube, rig)
    flaws.check()
    (found,) = findings("DEAF_BONE")
    assert flaws.found().bone(found) == "upper" and "'upper'" in found.words
    tube.vertex_groups["upper"].lock_weight = False
    auto_weight(tube, rig)
    assert not notes(DEAF)
    flaws.check()
    assert not findings("DEAF_BONE")


def test_a_part_that_leaves():
    tube, box, rig = with_box()
    lock(box, "upper", range(8), 1.0)
    auto_weight(tube, box, rig)
    (note,) = notes(LEAVES)
    ((name, vertex),) = note.places
    assert name == "Box" and vertex in range(8) and note.urgent and note.selects
    select(tube, box, rig)
    flaws.check()
    (found,) = findings("LOOSE_PART")
    assert len(found.vertices) == 8 and "'upper'" in found.words and "'lower'" in found.words


def test_a_part_that_stays():
    scene = with_box()
    auto_weight(*scene)
    assert not notes(LEAVES)
    select(*scene)
    flaws.check()
    assert not findings("LOOSE_PART")
