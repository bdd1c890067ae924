"""Bleeding weights are found across air but not across flesh, and are rated by their effect in
poses."""

import numpy as np
import pytest
from flawed_creature import N, become, bleeding


def severities(subject):
    return [f.severity for f in subject.findings()[0] if f.kind == "BLEEDING"]


def test_as_bad_as_what_it_does(subject):
    """If joints hardly rotate, skin of another finger hardly moves."""
    bleeding(subject)
    usual = max(severities(subject))
    subject.options = {"pose_count": 12, "swing": 0.05, "twist": 0.0}
    assert usual > 0.33 > 0.2 > max(severities(subject), default=0)


def plate(thickness, across=17):
    """A closed box of 1 by 1 whose faces are grids: (vertices, triangles)."""
    steps = np.arange(across)
    i, j = (c.ravel() for c in np.meshgrid(steps, steps, indexing="ij"))
    flat = np.column_stack([i, j]) / (across - 1)
    sheets = [np.column_stack([flat, np.full(len(flat), z)]) for z in (0, thickness)]
    corner = (steps[:-1, None] * across + steps[:-1]).ravel()
    square = np.concatenate(
        [corner[:, None] + [0, across, across + 1], corner[:, None] + [0, across + 1, 1]]
    )
    top = square + len(flat)
    rim = np.concatenate([steps[:-1], steps[:-1] * across + across - 1,
                          (across - 1) * across + steps[:0:-1], steps[:0:-1] * across])  # fmt: skip
    after = np.roll(rim, -1)
    below = np.column_stack([after, rim, rim + len(flat)])
    above = np.column_stack([after + len(flat), after, rim + len(flat)])
    return np.concatenate(sheets), np.concatenate([square[:, ::-1], top, below, above])


@pytest.mark.parametrize("inside_out", [False, True])
def test_through_flesh_there_is_no_gap(subject, inside_out):
    """A bone on one side of a plate also moves some of the other side."""
    vertices, triangles = plate(0.03)
    place = np.array([1.3, -0.5, 1.3])
    become(subject, vertices + place, triangles[:, ::-1] if inside_out else triangles)
    subject.weights[:] = 0
    subject.weights[:, N("hand.L")] = 1
    near = np.linalg.norm(vertices[:, :2] - 0.5, axis=1) < 0.1
    top = vertices[:, 2] > 0.01
    subject.give(near & top, "front.L")
    subject.give(near & ~top, "front.L", 0.4)
    assert severities(subject) == []


def test_distances_are_from_the_largest_part_of_the_core(subject):
    """If a bone has much weight on both sides of a plate, like a lip's bone, the skin around the
    smaller region is not across a gap either."""
    vertices, triangles = plate(0.03, 33)
    become(subject, vertices + np.array([1.3, -0.5, 1.3]), triangles)
    subject.weights[:] = 0
    subject.weights[:, N("hand.L")] = 1
    x, top = vertices[:, 0], vertices[:, 2] > 0.01
    subject.give(top & (x < 0.51), "front.L")
    subject.give(~top & (x > 0.55) & (x < 0.58), "front.L", 0.45)
    subject.give(~top & (x > 0.58) & (x < 0.7), "front.L", 0.6)
    assert severities(subject) == []


def test_between_plates_there_is(subject):
    """Two such plates that are joined at one end: the paths lead through air."""
    vertices, triangles = plate(0.03)
    bent = vertices.copy()
    x, z = vertices[:, 0] - 0.5, vertices[:, 2]
    radius = 0.05 - z  # the middle is bent to a half circle, the ends lie above each other
    angle = np.clip(x / 0.05, -np.pi / 2, np.pi / 2)
    beyond = np.abs(x) - 0.05 * np.pi / 2
    bent[:, 0] = radius * np.cos(angle) - np.maximum(beyond, 0)
    bent[:, 2] = radius * np.sin(angle)
    become(subject, bent + np.array([1.6, -0.5, 1.35]), triangles)
    subject.weights[:] = 0
    subject.weights[:, N("hand.L")] = 1
    inner = (vertices[:, 2] > 0.01) & (np.abs(vertices[:, 1] - 0.5) < 0.2)
    subject.give(inner & (x > 0.35), "front.L")
    subject.give(inner & (x < -0.35), "front.L", 0.4)
    assert max(severities(subject)) > 0.33
