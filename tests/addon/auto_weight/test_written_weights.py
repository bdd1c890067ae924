"""The changes that write_weights() makes to a mesh, entry by entry, and the data that it needs to
read."""

import bpy
import numpy as np
import pytest
from scenes import add_mesh, add_tube, addon, entries, new_scene, package

BONES = 5


@pytest.fixture
def rng():
    return np.random.default_rng(31)


def rows_of(dense):
    return package("model.sparse_weights").sparse_of(dense)


def given(rng, count, groups):
    """A mesh of vertices in a row, and its entries, {(vertex, group): weight}. A third of the
    vertices has no entries, a third has entries in some of the groups, and a third has entries in
    all groups."""
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
@pytest.mark.parametrize("least", [0, 1000], ids=["at once", "one by one"])
def test_every_entry(rng, known, locked, least, monkeypatch):
    """Groups of bones get the weights, and all other groups stay unchanged. Vertices have no
    entries, some entries, one whole weight, or quarters shared by many vertices. Groups and bones
    have different orders, one group belongs to no bone, and one bone and every fifth vertex are not
    written."""
    count, module = 60, addon("blender.write.write_weights")
    monkeypatch.setattr(module, "AT_ONCE", least)
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


def test_at_once_leaves_all_else(rng, monkeypatch):
    """Existing entries keep their places among the entries of a vertex, and new ones follow. Locks
    of groups, the active group, attributes and shape keys stay, and nothing else remains in the
    file."""
    module = addon("blender.write.write_weights")
    monkeypatch.setattr(module, "AT_ONCE", 0)
    calls, write = [], module.write_at_once
    monkeypatch.setattr(module, "write_at_once", lambda *a: calls.append(write(*a)) or calls[-1])
    new_scene()
    ob = add_tube()
    count = len(ob.data.vertices)
    for name in ("d", "other", "b", "a"):
        ob.vertex_groups.new(name=name)
    ob.vertex_groups["other"].lock_weight = True
    ob.vertex_groups.active_index = 2
    ob.vertex_groups["other"].add([0, 5], 0.25, "REPLACE")
    ob.vertex_groups["b"].add([0], 0.5, "REPLACE")
    ob.vertex_groups["d"].add([0, 1], 0.5, "REPLACE")
    for name in ("Basis", "Long"):
        ob.shape_key_add(name=name)
    layer = ob.data.attributes.new("mark", "INT", "FACE")
    layer.data.foreach_set("value", np.arange(len(ob.data.polygons)))
    kept = len(bpy.data.objects), len(bpy.data.meshes)
    dense = np.zeros((count, BONES))
    dense[:, 1] = 0.75  # b
    dense[:, 4] = 0.25  # e
    every = np.ones(BONES, bool)
    done = module.write_weights(
        ob, rows_of(dense), list("abcde"), every, every, np.ones(count, bool)
    )
    assert calls == [True] and done["new_groups"] == 2 and done["removed"] == 2
    places = {group.name: group.index for group in ob.vertex_groups}
    assert places == {"d": 0, "other": 1, "b": 2, "a": 3, "c": 4, "e": 5}
    first = [(g.group, g.weight) for g in ob.data.vertices[0].groups]
    assert first == [(1, 0.25), (2, 0.75), (5, 0.25)]
    assert [(g.group, g.weight) for g in ob.data.vertices[1].groups] == [(2, 0.75), (5, 0.25)]
    assert [g.name for g in ob.vertex_groups if g.lock_weight] == ["other"]
    assert ob.vertex_groups.active_index == 2
    assert [key.name for key in ob.data.shape_keys.key_blocks] == ["Basis", "Long"]
    marks = np.empty(len(ob.data.polygons), np.int32)
    ob.data.attributes["mark"].data.foreach_get("value", marks)
    np.testing.assert_array_equal(marks, np.arange(len(marks)))
    assert (len(bpy.data.objects), len(bpy.data.meshes)) == kept


def test_one_by_one_where_it_cannot_be_at_once(rng, monkeypatch):
    module = addon("blender.write.write_weights")
    monkeypatch.setattr(module, "AT_ONCE", 0)
    monkeypatch.setattr(module, "write_at_once", lambda *_arguments: False)
    ob, _have = given(rng, 30, ["a"])
    dense, every = rng.dirichlet(np.ones(BONES), 30), np.ones(BONES, bool)
    module.write_weights(ob, rows_of(dense), list("abcde"), every, every, np.ones(30, bool))
    expected = {(v, b): float(np.float32(dense[v, b])) for v, b in np.ndindex(30, BONES)}
    assert of(ob) == expected


def test_what_was_written_comes_back(rng):
    """A slot that has read nothing restores the written entries and leaves all others unchanged."""
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
def test_faces_edges_and_points_as_the_collections_have_them(mode):
    new_scene()
    ob = add_tube()
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode=mode)
    shape, mesh = addon("blender.data.mesh_shape"), ob.data
    assert shape.corner_vertices(mesh).tolist() == [c.vertex_index for c in mesh.loops]
    assert shape.corner_edges(mesh).tolist() == [c.edge_index for c in mesh.loops]
    assert shape.edge_vertices(mesh).tolist() == [list(e.vertices) for e in mesh.edges]
    assert shape.points_of(mesh).tolist() == [list(v.co) for v in mesh.vertices]
    triangles = addon("blender.read.read_mesh").read_topology(ob).triangles
    assert triangles.tolist() == [list(t.vertices) for t in mesh.loop_triangles]
    bpy.ops.object.mode_set(mode="OBJECT")


def test_without_groups_nothing_is_read(rng, monkeypatch):
    """Each vertex gets its entries by group, in any order of the bones."""
    module = addon("blender.write.write_weights")
    monkeypatch.setattr(module, "AT_ONCE", 0)
    monkeypatch.setattr(module, "group_entries", None)
    ob, _have = given(rng, 30, [])
    dense, every = rng.dirichlet(np.ones(BONES), 30), np.ones(BONES, bool)
    start, bones, weights = rows_of(dense)
    turned = (each.reshape(30, BONES)[:, ::-1].ravel() for each in (bones, weights))
    rows = package("model.sparse_weights").SparseWeights(start, *turned)
    done = module.write_weights(ob, rows, list("abcde"), every, every, np.ones(30, bool))
    assert done == {"changed": 30 * BONES, "removed": 0, "new_groups": BONES}
    for vertex, row in zip(ob.data.vertices, dense.astype(np.float32).tolist(), strict=True):
        assert [(g.group, g.weight) for g in vertex.groups] == list(enumerate(row))
