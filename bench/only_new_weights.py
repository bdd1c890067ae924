"""Runs Auto-weight on a character, then Weight Only What Is New on patches of the character without
weights:

only_new_weights.py ZIP CHARACTER.blend RESULT.json      in a headless Blender"""

import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "demo"))

import bpy
import compare
import numpy as np

COUNTS = (10, 100, 1000)
PLACES = 3
REPEATS = 2  # the fastest counts


def timed(operator, **options):
    start = time.perf_counter()
    assert operator("EXEC_DEFAULT", **options) == {"FINISHED"}
    return time.perf_counter() - start


def dense_weights(ob, bones):
    index = {g.index: bones.index(g.name) for g in ob.vertex_groups if g.name in bones}
    dense = np.zeros((len(ob.data.vertices), len(bones)))
    for vertex in ob.data.vertices:
        for element in vertex.groups:
            dense[vertex.index, index[element.group]] = element.weight
    return dense


def patch(edges, start, count):
    """(n,) bool: about `count` vertices around one, by rings, or its whole part if that is
    smaller."""
    near = np.zeros(edges.max() + 1, bool)
    near[start] = True
    while near.sum() < count:
        more = near.copy()
        more[edges[near[edges].any(1)]] = True
        if more.sum() == near.sum():
            break
        near = more
    return near


def measure(ob, edges, bones, new):
    """A row: the run time, and the resulting weights."""
    before, fastest = dense_weights(ob, bones), np.inf
    for _ in range(REPEATS):
        for group in ob.vertex_groups:
            group.remove(np.flatnonzero(new).tolist())
        fastest = min(fastest, timed(bpy.ops.object.araplbs_new_vertices))
    after = dense_weights(ob, bones)
    assert np.array_equal(after[~new], before[~new])
    crosses, inside = new[edges[:, 0]] != new[edges[:, 1]], new[edges].all(1)

    def jump(dense, which):
        return float(np.abs(np.diff(dense[edges[which]], axis=1)).sum(2).mean())

    return {
        "new": int(new.sum()),
        "seconds": fastest,
        "off": float(np.abs(after - before)[new].sum(1).mean()),
        "seam": [jump(before, crosses), jump(after, crosses)],
        "inside": [jump(before, inside), jump(after, inside)],
    }


def main(zip_path, blend, result):
    compare.install_extension(zip_path)
    rig, meshes = compare.open_largest(blend)
    ob = max(meshes, key=lambda mesh: len(mesh.data.vertices))
    compare.select(rig, [ob])
    whole = min(timed(bpy.ops.object.araplbs_auto_weight) for _ in range(REPEATS))
    bones = [bone.name for bone in rig.data.bones if bone.use_deform]
    count_all = len(ob.data.vertices)
    edges = np.array([tuple(edge.vertices) for edge in ob.data.edges])
    rng, rows = np.random.default_rng(1), []
    for count in COUNTS:
        for _ in range(PLACES):
            new = patch(edges, rng.integers(count_all), count)
            new = np.pad(new, (0, count_all - len(new)))
            if 2 * new.sum() < count_all and (new[edges[:, 0]] != new[edges[:, 1]]).any():
                rows.append(measure(ob, edges, bones, new))
    found = {"vertices": count_all, "seconds": whole, "rows": rows}
    Path(result).write_text(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[sys.argv.index("--") + 1 :])
