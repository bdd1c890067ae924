"""Creates files like those of networks: an .obj mesh and a rig in RigNet's format, for the tube in
gltf_files.py."""

import numpy as np
from gltf_files import HEADS, PARENTS, TRIANGLES, VERTICES

NAMES = [f"joint{k}" for k in range(len(HEADS))]


def predicted():
    """(n, m) weights like those of a network that only uses positions."""
    away = np.linalg.norm(VERTICES[:, None] - np.asarray(HEADS)[None], axis=2)
    weights = np.exp(-4 * away)
    weights[weights < 0.1 * weights.max(1, keepdims=True)] = 0
    return weights / weights.sum(1, keepdims=True)


def obj_text(vertices=VERTICES, triangles=TRIANGLES):
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in np.asarray(vertices, float).tolist()]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in np.asarray(triangles).tolist()]
    return "\n".join(["# made by a test", *lines, ""])


def rig_text(weights=None):
    lines = [
        f"joints {name} {x!r} {y!r} {z!r}"
        for name, (x, y, z) in zip(NAMES, np.asarray(HEADS, float).tolist(), strict=True)
    ]
    for child, parent in enumerate(np.asarray(PARENTS).tolist()):
        hangs = f"root {NAMES[child]}" if parent < 0 else f"hier {NAMES[parent]} {NAMES[child]}"
        lines.append(hangs)
    for vertex, row in enumerate([] if weights is None else weights.tolist()):
        pairs = (f"{NAMES[bone]} {weight!r}" for bone, weight in enumerate(row) if weight)
        lines.append(" ".join([f"skin {vertex}", *pairs]))
    return "\n".join([*lines, ""])


def write_rig(mesh, rig):
    mesh.write_text(obj_text())
    rig.write_text(rig_text(predicted()))
