"""The mesh of the examples: a limb, which is a tube along Z, and a chain of bones inside the
tube."""

import numpy as np


def tube(around=10, rings=25, radius=0.2, height=3.0):
    """Return (vertices, triangles) of an open tube from 0 to `height`."""
    angle = 2 * np.pi * np.arange(around) / around
    circle = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    vertices = [(x, y, z) for z in np.linspace(0, height, rings) for x, y in circle]
    triangles = []
    for ring in range(rings - 1):
        for i in range(around):
            a, b = ring * around + i, ring * around + (i + 1) % around
            triangles += [(a, b, b + around), (a, b + around, a + around)]
    return np.array(vertices), np.array(triangles)


def chain(count=3, height=3.0):
    """Return (heads, tails, parents) of consecutive bones, each the child of the previous one."""
    ends = np.linspace((0, 0, 0), (0, 0, height), count + 1)
    return ends[:-1], ends[1:], np.arange(count) - 1


def bend(heads, degrees):
    """Return (m, 3, 4) transforms from rest of a chain in which every joint turns by this angle
    about X."""
    angle, transforms = np.radians(degrees), [np.eye(4)]
    for head in heads[1:]:
        c, s = np.cos(angle), np.sin(angle)
        turn = np.array([(1, 0, 0, 0), (0, c, -s, 0), (0, s, c, 0), (0, 0, 0, 1.0)])
        there, back = np.eye(4), np.eye(4)
        there[:3, 3], back[:3, 3] = head, -head
        transforms.append(transforms[-1] @ there @ turn @ back)
    return np.array(transforms)[:, :3]
