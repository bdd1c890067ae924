"""What write_weights() makes of a mesh, entry by entry, and what it is given and spared to read."""

import bpy
import numpy as np
import pytest
from scenes import add_mesh, add_tube, addon, entries, new_scene

BONES = 5


@pytest.fixture
def rng():
    return np.random.default_rng(31)


def rows_of(dense):
    return addon("core.character.sparse_weights").sparse_of(dense)


def given(rng, count, groups):
    """A mesh of vertices in a row, and what its entries are: {(vertex, group): weight}. A third has
    none, a third some of these groups, a third all of them."""
    new_scene()
    ob = add_mesh("Row", np.arange(3.0 * count).reshape(-1, 3), [])
    for name in groups:
        ob.vertex_groups.new(name=name)
    have = {}
    for vertex in range(count):
        for group in rng.permutation(len(groups)):
            if vertex % 3 == 2 or (vertex % 3 == 1 and rng.random() < 0.5):
                have[vertex, int(group)] = float(np.float32(rng.random()))
                ob.vertex_groups[int(group)].add([vertex], have[vertex, int(group)], "REPLACE")
    return ob, have


def of(ob):
    return {(v.index, g.group): g.weight for v in ob.data.vertices for g in v.groups}


@pytest.mark.parametrize("known", [False, True], ids=["read", "known"])
@pytest.mark.parametrize("locked", [False, True], ids=["all", "locked"])
def test_every_entry(rng, known, locked):
    """Those of bones are the weights, all others as they were: vertices without entries, with some,
    with one whole weight, with quarters that many share; groups in another order than bones, one of
    no bone, one bone and every fifth vertex not written."""
    count, module = 60, addon("blender.write.write_weights")
    ob, have = given(rng, count, ["d", "other", "b", "a"])
    dense = np.where(rng.random((count, BONES)) < 0.4, rng.random((count, BONES)), 0)
    dense[::4] = np.eye(BONES)[rng.integers(0, BONES, len(dense[::4]))]
    dense[1::4] = rng.integers(0, 3, dense[1::4].shape) / 4
    bones, vertices = np.ones(BONES, bool), np.ones(count, bool)
    if locked:
        bones[1], vertices[::5] = False, False
    more = [addon("blender.read.read_mesh").group_entries(ob.data)] if known else []
    names = list("abcde")
    done = module.write_weights(ob, rows_of(dense), names, bones, bones, vertices, *more)
    place = {name: ob.vertex_groups[name].index for name in names}
    written = {place[n] for n, on in zip(names, bones, strict=True) if on}
    expected = {k: w for k, w in have.items() if k[1] not in written or not vertices[k[0]]}
    for vertex, bone in zip(*np.nonzero(dense), strict=True):
        if bones[bone] and vertices[vertex]:
            expected[int(vertex), place[names[bone]]] = float(np.float32(dense[vertex, bone]))
    assert of(ob) == expected
    assert done == {
        "changed": sum(have.get(k) != w for k, w in expected.items()),
        "removed": len(set(have) - set(expected)),
        "new_groups": 2,
    }
    again = module.write_weights(ob, rows_of(dense), names, bones, bones, vertices)
    assert again == {"changed": 0, "removed": 0, "new_groups": 0} and of(ob) == expected


def test_what_was_written_comes_back(rng):
    """A slot that has read nothing puts back what was written, and what it leaves alone stays."""
    slots, module = addon("blender.write.weight_slots"), addon("blender.write.write_weights")
    ob, _have = given(rng, 30, ["other", "b"])
    before = slots.WeightSlot(ob)
    everything = np.ones(BONES, bool)
    arguments = rows_of(rng.dirichlet(np.ones(BONES), 30)), list("abcde"), everything, everything
    arguments = (*arguments, np.ones(30, bool))
    module.write_weights(ob, *arguments)
    after, written = entries(ob), slots.WrittenSlot(ob, *arguments)
    before.put()
    assert entries(ob) != after
    written.put()
    assert entries(ob) == after and written.filled


@pytest.mark.parametrize("mode", ["OBJECT", "EDIT"])
def test_faces_and_edges_as_the_collections_have_them(mode):
    new_scene()
    ob = add_tube()
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode=mode)
    shape, mesh = addon("blender.data.mesh_shape"), ob.data
    assert shape.corner_vertices(mesh).tolist() == [c.vertex_index for c in mesh.loops]
    assert shape.corner_edges(mesh).tolist() == [c.edge_index for c in mesh.loops]
    assert shape.edge_vertices(mesh).tolist() == [list(e.vertices) for e in mesh.edges]
    triangles = addon("blender.read.read_mesh").read_topology(ob).triangles
    assert triangles.tolist() == [list(t.vertices) for t in mesh.loop_triangles]
    bpy.ops.object.mode_set(mode="OBJECT")
