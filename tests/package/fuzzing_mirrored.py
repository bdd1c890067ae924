"""Generates random bodies that, like characters, are their own mirror images: with loose parts on
one side or both, wires, bones with and without mirrored partners, and rigid parts with and without
mirror images."""

import numpy as np
import shapes

IMAGE = np.array([-1.0, 1.0, 1.0])


def halves(rng):
    """One side of the plane: (vertices, triangles, whether it has an image)."""
    around, along = map(int, rng.integers(3, 9, 2))
    size = 10.0 ** rng.uniform(-1, 0.3)
    body = shapes.tube(around, along, rng.uniform(0.05, 0.5))
    if rng.random() < 0.3:
        body = shapes.sphere(*map(int, rng.integers(3, 8, 2)))
    parts = [(body[0] + [rng.choice([0, 0.3, 0.6, 2.0]), 0, 0], body[1], True)]
    for _ in range(int(rng.integers(0, 4))):
        at = rng.normal(size=3) * size
        at[0] = abs(at[0]) * (rng.random() < 0.8)  # some lie across the plane
        parts.append((*shapes.box(rng.uniform(0.02, 0.6, 3), at), rng.random() < 0.7))
    return parts


def make_mesh(rng):
    """vertices, triangles, edges or None, and (n,) the part of each vertex; a part and its image
    have different numbers."""
    meshes, numbers = [], []
    for vertices, triangles, both in halves(rng):
        meshes.append((vertices, triangles))
        if both:
            meshes.append((vertices * IMAGE, np.asarray(triangles)[:, ::-1]))
    for number, (vertices, _triangles) in enumerate(meshes):
        numbers.append(np.full(len(vertices), number))
    vertices, triangles = shapes.join(*meshes)
    vertices = np.array(vertices, float)
    n = len(vertices)
    if rng.random() < 0.3:  # sculpted
        vertices += rng.normal(size=vertices.shape) * 10.0 ** rng.uniform(-9, -1)
    edges = rng.integers(0, n, (int(rng.integers(1, 9)), 2)) if rng.random() < 0.3 else None
    if rng.random() < 0.2:  # strands without a face
        count = int(rng.integers(2, 9))
        ends = rng.normal(size=3), rng.normal(size=3)
        strand = np.linspace(*ends, count)
        first = n + np.arange(count - 1)
        strands = np.column_stack([first, first + 1])
        edges = strands if edges is None else np.concatenate([edges, strands])
        vertices = np.concatenate([vertices, strand])
        numbers.append(np.full(count, len(meshes)))
    return vertices, triangles, edges, np.concatenate(numbers)


def make_bones(rng, vertices):
    """Bones on the plane, pairs, and bones without a partner; (Bones, partners)."""
    heads, tails, parents, partners = [], [], [], []

    def add(head, tail, parent, partner):
        heads.append(head)
        tails.append(tail)
        parents.append(parent)
        partners.append(partner)
        return len(heads) - 1

    middle = -1
    for k in range(int(rng.integers(1, 4))):
        middle = add([0, 0, 0.7 * k], [0, 0, 0.7 * k + 0.6], middle, k)
    for _ in range(int(rng.integers(0, 4))):
        head, tail = vertices[rng.integers(0, len(vertices), 2)] + rng.normal(size=(2, 3)) * 0.1
        first = len(heads)
        add(head, tail, middle, first + 1)
        add(head * IMAGE, tail * IMAGE, middle, first)
        if rng.random() < 0.3:
            partners[first] = partners[first + 1] = -1
    for _ in range(int(rng.integers(0, 3))):
        head, tail = vertices[rng.integers(0, len(vertices), 2)]
        add(head, tail, int(rng.integers(-1, len(heads))), -1)
    bones = shapes.Bones(np.array(heads, float), np.array(tails, float), np.array(parents))
    return bones, np.array(partners)


def make_rigid(rng, part):
    """(n,) labels: whole parts, several as one, or some of their vertices; -1 is free."""
    label = np.full(len(part), -1)
    for number in range(part.max() + 1):
        if rng.random() < 0.5:
            label[part == number] = number if rng.random() < 0.7 else 0
    if rng.random() < 0.3:
        label[rng.random(len(part)) < 0.3] = -1
    return label.astype(np.int32)


def make(rng):
    """Arguments of a Solver."""
    vertices, triangles, edges, part = make_mesh(rng)
    bones, partners = make_bones(rng, vertices)
    scale = 10.0 ** rng.uniform(-9, 9) if rng.random() < 0.2 else 1.0
    arguments = {
        "vertices": vertices * scale,
        "triangles": triangles,
        "edges": edges,
        "tets": None,
        "bone_heads": bones.heads * scale,
        "bone_tails": bones.tails * scale,
        "bone_parents": bones.parents,
        "bone_deform": None,
        "symmetry": (partners, np.zeros(3), np.eye(3)[0]),
    }
    if rng.random() < 0.5:
        arguments["rigid_parts"] = make_rigid(rng, part)
    return arguments
