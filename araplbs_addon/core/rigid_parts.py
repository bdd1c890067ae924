"""Parts that stay rigid: all vertices of one have the same weights. Those that are marked, and
those to which the file's artist has given the same weights."""

import numpy as np

SAME = 1e-3  # weights that differ by less are the same

# Loose parts that lose no more than this share of their rest energy if one bone moves them are
# found rigid: of q_robot, knight and mage only those that the artists made rigid. At 0.01 the hood
# of the ranger would be, too.
LOSS = 0.003


def loose_parts(mesh):
    """(n,) number of the loose part of each vertex of a Mesh; vertices at one place are one."""
    _places, own = np.unique(mesh.vertices, axis=0, return_inverse=True)
    own = own.ravel()
    corners = own[mesh.triangles]
    pairs = [corners[:, :2], corners[:, 1:], own[mesh.edges.reshape(-1, 2)]]
    first, second = np.concatenate(pairs).T
    label = np.arange(own.max() + 1 if len(own) else 0)
    while len(first):
        before = label.copy()
        low = np.minimum(label[first], label[second])
        np.minimum.at(label, label[first], low)
        np.minimum.at(label, label[second], low)
        label = label[label]
        if (label == before).all():
            break
    return np.unique(label[own], return_inverse=True)[1].ravel()


def parts_of_artist(meshes):
    """[[vertices of a part]] for each Mesh: its loose parts with the same present weights for all
    their vertices. None where all vertices of all meshes have the same: nobody has weighted it."""
    found, rows = [], []
    for mesh in meshes:
        own = []
        if mesh.weights is not None and len(mesh.vertices):
            label = loose_parts(mesh)
            order = np.argsort(label, kind="stable")
            for part in np.split(order, np.cumsum(np.bincount(label))[:-1]):
                row = _same_row(mesh.weights, part)
                rows.append(row)
                if row and len(part) > 1:
                    own.append(part)
        found.append(own)
    if all(row is not None and row == rows[0] for row in rows):
        return [[] for _mesh in meshes]
    return found


def _same_row(weights, vertices):
    """{bone: weight} of these vertices, {} where there is none, None where they differ."""
    first = None
    for vertex in vertices:
        entries = slice(weights.start[vertex], weights.start[vertex + 1])
        row = {
            int(b): float(w)
            for b, w in zip(weights.bones[entries], weights.weights[entries], strict=True)
            if w > SAME
        }
        if first is None:
            first = row
        elif row.keys() != first.keys() or any(abs(row[b] - first[b]) > SAME for b in row):
            return None
    return {b: round(w, 2) for b, w in first.items()}


def labels(problem, edits, found):
    """(vertices of the problem,) numbers for Solver(rigid_parts=...), None where there are none.

    edits: of each mesh; found: of each mesh, parts where nothing is marked. Images of a Mirror
    modifier are parts of their own, unless the part reaches the plane.
    """
    label, count = np.full(problem.first[-1], -1, np.int32), 0
    for mesh, (own, others) in enumerate(zip(edits, found, strict=True)):
        marked = np.zeros(problem.sizes[mesh], bool)
        for part in own.rigid:
            marked[part] = True
        for part in [*own.rigid, *(part for part in others if not marked[part].any())]:
            which, vertices = problem.images(mesh, part)
            copies = np.bincount(which, minlength=len(part))
            number = np.zeros(len(which), np.int32)
            if (copies == copies[0]).all():  # none is its own image
                begin = np.cumsum(copies) - copies
                order = np.argsort(which, kind="stable")
                number[order] = np.arange(len(which)) - np.repeat(begin, copies)
            label[vertices] = count + number
            count += int(number.max(initial=0)) + 1
    return label if count else None
