"""Compares automatic methods from the literature (nearest bones, BoneGlow and biharmonic weights)
with dense formulas, and tests guarantees for all methods."""

import araplbs
import numpy as np
import pytest
import reference
import scipy.sparse
import shapes
from reference import distances
from refusals import GOOD, changed, refuse, row, table
from scipy.sparse.csgraph import dijkstra
from shared_data import Character

METHODS = ("heat", "nearest", "boneglow", "bbw", "biharmonic")
ALL = {"max_influences": 0, "min_weight": 0.0}
BARE = {"coarsen": 0, "pose_count": 1, "pruning": (1, 1.0, 0.0), "heat_floor": 0}
CORE = 0.85  # of surface_handles.c


def automatic(mesh, bones, method, **more):
    more = {"bone_deform": bones.deform, **more}
    return shapes.dense(araplbs.baseline_weights(*mesh, *bones, method=method, **more), len(bones))


def shaken_tube(rng, around=8, along=17):
    mesh = shapes.tube(around, along)
    mesh[0][:] += rng.normal(size=mesh[0].shape) * 0.01
    return mesh


def to_solver(mesh, bones):
    """Coordinates in the solver's units."""
    points, _, diagonal = reference.normalize_to_solver(mesh[0], np.zeros((1, len(bones), 3, 4)))
    center = (mesh[0].min(0) + mesh[0].max(0)) / 2
    return points, *((ends - center) / diagonal for ends in (bones.heads, bones.tails))


def edge_graph(points, triangles):
    pairs = np.unique(np.sort(shapes.sides(triangles), 1), axis=0)
    length = np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1)
    return pairs, scipy.sparse.coo_array((length, pairs.T), (len(points),) * 2).tocsr()


def cores(points, triangles, heads, tails):
    """{vertex: bone} of the handles if the nearest bone is visible from every vertex, by shortest
    paths within each cell."""
    distance = distances(points, heads, tails)
    near = distance <= distance.min(1, keepdims=True) + 1e-6  # visibility.c
    label = np.where(near.sum(1) == 1, distance.argmin(1), -1)
    pairs, _ = edge_graph(points, triangles)
    found = {}
    for bone in range(len(heads)):
        mine = label == bone
        edges, lengths = [], []
        for i, k in pairs:  # the last vertex is what is outside the cell
            length = np.linalg.norm(points[i] - points[k])
            if mine[i] and mine[k]:
                edges.append((i, k))
                lengths.append(length)
            for a, b in ((i, k), (k, i)):
                if mine[a] and not mine[b]:
                    edges.append((a, len(points)))
                    lengths.append(length if label[b] < 0 else length / 2)
        graph = scipy.sparse.lil_array((len(points) + 1,) * 2)
        for (i, k), length in zip(edges, lengths, strict=True):
            graph[i, k] = min(graph[i, k] or np.inf, length)
        depth = dijkstra(graph.tocsr(), directed=False, indices=len(points))[:-1]
        for i in np.flatnonzero(mine & (depth >= CORE * depth[mine].max())):
            found[int(i)] = bone
    return found


def operator(points, triangles):
    stiff = reference.laplacian(points, triangles)
    mass, _ = reference.edge_weights(points, triangles)
    return stiff @ np.diag(1 / mass) @ stiff


def normalized(weights):
    weights = np.maximum(weights, 0)
    return weights / weights.sum(1, keepdims=True)


# ---- Each method and its formula ----


def test_nearest_bones():
    mesh, bones = shapes.tube(8, 25), shapes.tree()
    found = automatic(mesh, bones, "nearest", **ALL)
    assert ((found == 0) | (found == 1)).all() and (found.sum(1) == 1).all()
    # Only vertices with an unambiguous nearest bone count here; test_heat.py tests gaps and bones
    # that do not deform.
    distance = distances(mesh[0], bones.heads, bones.tails)
    distance[:, ~bones.deform] = np.inf
    trunk = mesh[0][:, 2] < 1.6
    nearest = distance[trunk].min(1)
    np.testing.assert_allclose(
        np.take_along_axis(distance[trunk], found[trunk].argmax(1)[:, None], 1)[:, 0], nearest,
        atol=1e-9,
    )  # fmt: skip


def test_nearest_bones_need_not_be_seen():
    """A wall lies between vertices and bone, but the paper's indicative function does not require
    visibility."""
    tube, wall = shapes.tube(8, 9), shapes.tube(8, 2, radius=0.3, height=0.5)
    bones = shapes.Bones(
        np.array([[0, 0, 0], [0.34, 0, 0.0]]), np.array([[0, 0, 2], [0.34, 0, 2.0]]),
        np.array([-1, -1]),
    )  # fmt: skip
    mesh = shapes.join(tube, wall)
    found = automatic(mesh, bones, "nearest")
    distance = distances(mesh[0], bones.heads, bones.tails)
    np.testing.assert_array_equal(found.argmax(1), distance.argmin(1))
    assert found[:, 1].any()


def glow(points, triangles, heads, tails, samples):
    """(n, bones) light of all bones, unobstructed, by midpoints over sin(alpha), and the upper
    bound for each."""
    normals = np.zeros_like(points)
    for t in triangles:
        p, q, r = points[t]
        normals[t] += np.cross(q - p, r - p)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    light, bound = np.zeros((2, len(points), len(heads)))
    for b, (head, tail) in enumerate(zip(heads, tails, strict=True)):
        along = (tail - head) / np.linalg.norm(tail - head)
        for i, p in enumerate(points):
            start, stop = (head - p) @ along, (tail - p) @ along
            foot = head - start * along
            height = np.linalg.norm(foot - p)
            ends = np.array([start, stop]) / np.hypot([start, stop], height)
            step = np.diff(ends)[0] / samples
            sine = ends[0] + (np.arange(samples) + 0.5) * step
            line = foot + np.outer(height * sine / np.sqrt(1 - sine**2), along) - p
            cosine = np.abs(line @ normals[i]) / np.linalg.norm(line, axis=1)
            light[i, b] = cosine.sum() * step / height
            bound[i, b] = np.diff(ends)[0] / height
    return light, bound


def without_dim(light, bound):
    """Bones by their bound, the brightest first, until one could add less than 5 %."""
    kept = np.zeros_like(light)
    for i in range(len(light)):
        for b in np.argsort(-bound[i], kind="stable"):
            if bound[i, b] <= 0.05 * kept[i].sum():
                break
            kept[i, b] = light[i, b]
    return kept


def diffused(points, triangles, shares, nearest):
    mass, _ = reference.edge_weights(points, triangles)
    source = mass / nearest**2
    matrix = reference.laplacian(points, triangles) + np.diag(source)
    return normalized(np.linalg.solve(matrix, source[:, None] * shares))


@pytest.mark.parametrize("count", [1, 2, 5])
def test_boneglow_against_a_dense_solve(count, rng):
    """Inside an open tube, all of every bone is visible from every vertex."""
    mesh, bones = shapes.tube(8, 13), shapes.chain(count)
    mesh[0][:] *= 1 + 0.05 * rng.normal(size=(len(mesh[0]), 1)) * [1, 1, 0]
    points, heads, tails = to_solver(mesh, bones)
    found = automatic(mesh, bones, "boneglow", **ALL)
    nearest = distances(points, heads, tails).min(1)
    light, bound = glow(points, mesh[1], heads, tails, 6)
    expected = diffused(points, mesh[1], normalized(without_dim(light, bound)), nearest)
    np.testing.assert_allclose(found, expected, atol=1e-9)
    fine = diffused(
        points, mesh[1], normalized(glow(points, mesh[1], heads, tails, 4000)[0]), nearest
    )
    np.testing.assert_allclose(found, fine, atol=0.01)


def test_walls_keep_the_light_off():
    """A bone next to a closed body lights only its own side of it, and heat spreads the rest."""
    mesh = shapes.tube(16, 21, caps=True)
    inner = shapes.chain(1)
    bones = shapes.Bones(
        np.array([inner.heads[0] + [0, 0, 0.1], [0.5, 0, 0.1]]),
        np.array([inner.tails[0] - [0, 0, 0.1], [0.5, 0, 1.9]]), np.array([-1, -1]),
    )  # fmt: skip
    found = automatic(mesh, bones, "boneglow", **ALL)
    near, far = mesh[0][:, 0] > 0.15, mesh[0][:, 0] < -0.15
    assert found[near, 1].min() > 1.5 * found[far, 1].max()


def test_light_does_not_ask_how_faces_turn(rng):
    vertices, triangles = shaken_tube(rng)
    bones = shapes.chain(3)
    one = automatic((vertices, triangles), bones, "boneglow")
    other = automatic((vertices, triangles[:, ::-1]), bones, "boneglow")
    np.testing.assert_allclose(one, other, atol=1e-12)


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("method", ["bbw", "biharmonic"])
def test_biharmonic_weights_against_a_dense_program(method, count, rng):
    """On a surface, handles are found by shortest paths, and the quadratic program covers all
    vertices."""
    mesh, bones = shaken_tube(rng), shapes.chain(count)
    points, heads, tails = to_solver(mesh, bones)
    handles = cores(points, mesh[1], heads, tails)
    assert {handles[i] for i in handles} == set(range(count)) and len(handles) < len(points)
    q = operator(points, mesh[1])
    solve = reference.bounded_biharmonic if method == "bbw" else reference.biharmonic
    expected = solve(q, handles, count)
    free = expected[np.setdiff1d(np.arange(len(points)), list(handles))]
    if method == "bbw":
        assert (free == 0).any() == (count == 3)  # the bounds matter
    else:
        assert (free.min() < -0.01) == (count == 3)
        np.testing.assert_allclose(expected.sum(1), 1, atol=1e-6)
    found = automatic(mesh, bones, method, **ALL)
    np.testing.assert_allclose(found, normalized(expected), atol=2e-3 if method == "bbw" else 1e-6)
    assert all(found[i, b] == 1 for i, b in handles.items())


# ---- Handles of surfaces ----


def test_bones_side_by_side_leave_room():
    """A sheet over two bones: strips around both, with weights that fade between them."""
    x, z = np.meshgrid(np.linspace(-0.5, 0.5, 21), np.linspace(0, 2, 31), indexing="ij")
    vertices = np.column_stack([x.ravel(), np.full(x.size, 0.05), z.ravel()])
    index = np.arange(x.size).reshape(x.shape)
    a, b, c, d = index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]
    triangles = np.concatenate(
        [np.column_stack([u.ravel() for u in t]) for t in ((a, b, c), (a, c, d))]
    )
    bones = shapes.Bones(
        np.array([[-0.25, 0, 0], [0.25, 0, 0.0]]), np.array([[-0.25, 0, 2], [0.25, 0, 2.0]]),
        np.array([-1, -1]),
    )  # fmt: skip
    for method in ("bbw", "biharmonic"):
        found = automatic((vertices, triangles), bones, method, **ALL)
        row = found[np.abs(vertices[:, 2] - 1) < 1e-9][:, 1]
        assert (np.diff(row) > -1e-3).all()
        assert row[0] == 0 and row[-1] == 1 and abs(row[10] - 0.5) < 0.01
        assert np.abs(np.diff(row)).max() < 0.25


def test_twins_share_and_tiny_bones_get_their_place():
    """Two coincident bones have equal weights. A bone far smaller than a face still moves skin."""
    mesh = shapes.tube(8, 33)
    joints = np.array([[0, 0, 0], [0, 0, 0.99], [0, 0, 1.01], [0, 0, 2.0]])
    heads, tails = joints[[0, 0, 1, 2]], joints[[1, 1, 2, 3]]
    bones = shapes.Bones(heads, tails, np.array([-1, -1, 0, 2]))
    for method in ("bbw", "biharmonic"):
        found = automatic(mesh, bones, method, **ALL)
        np.testing.assert_allclose(found[:, 0], found[:, 1], atol=1e-9)
        assert found[:, 0].max() == pytest.approx(0.5) and found[:, 2].max() > 0.5


def test_hidden_vertices_are_no_handles():
    """The near side of another limb is nearest to a bone that is not visible from there."""
    one, other = shapes.tube(12, 21), shapes.tube(12, 21)
    other = other[0] + [0.42, 0, 0], other[1]
    bones = shapes.Bones(
        np.array([[0.15, 0, 0], [0.75, 0, 0.0]]), np.array([[0.15, 0, 2], [0.75, 0, 2.0]]),
        np.array([-1, -1]),
    )  # fmt: skip
    mesh = shapes.join(one, other)
    bridge = [[0, 12 * 21, 1]]  # one mesh
    triangles = np.concatenate([mesh[1], bridge])
    found = automatic((mesh[0], triangles), bones, "nearest")
    confused = found[252:, 0] > 0  # of the second limb, nearer to the first bone
    assert confused.any()
    weights = automatic((mesh[0], triangles), bones, "bbw", **ALL)
    assert weights[252:][confused, 1].min() > 0.5


@pytest.mark.parametrize("method", ["bbw", "biharmonic"])
def test_islands_without_a_border_are_rigid(method):
    """Parts of one cell, and a part far from all bones, which follows the nearest one."""
    body = shapes.tube(8, 21)
    hat, far = shapes.box((0.1, 0.1, 0.1), (0, 0, 2.3)), shapes.box((0.2, 0.2, 0.2), (5, 0, 0))
    mesh = shapes.join(body, hat, far)
    found = automatic(mesh, shapes.chain(2), method, link_parts=False)
    np.testing.assert_array_equal(found[168:176, 1], 1)
    np.testing.assert_array_equal(found[176:, 0], 1)


# ---- What all promise ----


def check(weights, count=4):
    assert np.isfinite(weights).all() and (weights >= 0).all()
    np.testing.assert_allclose(weights.sum(1), 1, atol=1e-12)
    assert ((weights > 0).sum(1) <= count).all()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", shapes.odd_meshes())
def test_odd_meshes(method, name):
    for bones in (shapes.chain(3), shapes.tree()):
        check(automatic(shapes.odd_meshes()[name], bones, method))
        check(automatic(shapes.odd_meshes()[name], bones, method, link_parts=False))


@pytest.mark.parametrize("method", METHODS)
def test_wires_sheets_and_slivers(method, rng):
    bones = shapes.chain(4)
    path = np.column_stack([0.1 + 0 * np.arange(40), 0 * np.arange(40), np.arange(40) / 20])
    edges = np.column_stack([np.arange(39), np.arange(39) + 1])
    weights = automatic((path, None), bones, method, edges=edges)
    check(weights)
    assert weights[0].argmax() == 0 and weights[-1].argmax() == 3
    check(automatic(shapes.moebius(), bones, method))
    vertices, triangles = shapes.tube(8, 30)
    vertices[rng.choice(len(vertices), 60, replace=False), 2] = 1.0  # slivers and flat faces
    check(automatic((vertices, triangles), bones, method))
    tiny = vertices * 1e-150, triangles
    check(automatic(tiny, bones.moved(1e-150 * np.eye(3)), method))


@pytest.mark.parametrize("method", METHODS)
def test_a_vertex_far_off(method):
    """The vertex is so far away that the rounding of its distance to a bone exceeds the differences
    between bones."""
    bones = shapes.chain(7)
    path = np.column_stack([np.arange(7) / 7, np.zeros(7), np.zeros(7)])
    edges = np.column_stack([np.arange(6), np.arange(6) + 1])
    for far in np.random.default_rng(2).normal(size=(40, 3)) * 3e7:
        mesh = np.concatenate([path, [far]]), None
        weights = automatic(mesh, bones, method, edges=edges, link_parts=False)
        check(weights)
        nearest = distances([far], bones.heads, bones.tails)
        if method == "nearest":
            assert nearest[0] @ weights[-1] == pytest.approx(nearest.min(), rel=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_rows_are_of_the_callers_vertices(method, rng):
    """Welded vertices have the same weights, and the order of the vertices does not matter."""
    mesh, bones = shaken_tube(rng), shapes.chain(3)
    whole = automatic(mesh, bones, method)
    vertices, triangles = shapes.split(*mesh)
    apart = automatic((vertices, triangles), bones, method)
    np.testing.assert_allclose(apart, whole[mesh[1].ravel()], atol=1e-5)
    order = rng.permutation(len(mesh[0]))
    shuffled = automatic((mesh[0][order], np.argsort(order)[mesh[1]]), bones, method)
    np.testing.assert_allclose(shuffled, whole[order], atol=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_limits_of_the_result(method):
    mesh, bones = shapes.tube(8, 41), shapes.chain(6)
    everything = automatic(mesh, bones, method, **ALL)
    check(everything, 6)
    for most in (1, 2):
        found = automatic(mesh, bones, method, max_influences=most, min_weight=0.0)
        check(found, most)
        kept = np.where(found > 0, everything, 0)
        np.testing.assert_allclose(found, kept / kept.sum(1, keepdims=True), atol=1e-12)
        dropped = np.where(found > 0, 0, everything).max(1)
        assert (np.where(found > 0, everything, 1).min(1) >= dropped).all()
    cut = automatic(mesh, bones, method, max_influences=0, min_weight=0.1)
    check(cut, 6)
    assert cut[cut > 0].min() >= 0.1


@pytest.mark.parametrize("method", METHODS)
def test_a_solver_begins_with_them(method, rng):
    mesh, bones = shaken_tube(rng), shapes.chain(3)
    solver = araplbs.Solver(*mesh, *bones, initial=method, **BARE)
    expected = automatic(mesh, bones, method, **ALL)
    np.testing.assert_allclose(solver.initial_weights, expected, atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("volume", [False, True])
def test_solves_on_from_there_on_all_levels(method, volume):
    bones = shapes.chain(3)
    if volume:
        vertices, tets = shapes.bar((3, 3, 40))
        arguments = vertices, None, *bones
        more = {"tets": tets}
    else:
        arguments, more = (*shapes.tube(16, 60), *bones), {}
    solver = araplbs.Solver(*arguments, **more, initial=method, coarsen=200, pose_count=20)
    assert solver.report["coarse_vertices"]
    solver.solve()
    assert solver.energy <= solver.energies[0]
    check(solver.weights)
    usual = shapes.solved(araplbs.Solver(*arguments, **more, coarsen=200, pose_count=20))
    assert solver.energy == pytest.approx(usual.energy, rel=0.3)


# ---- Smoother than heat ----


def roughness(vertices, triangles, weights):
    """sum_b w_b' L M^-1 L w_b."""
    corners = vertices[triangles]
    n, entries = len(vertices), []
    area = np.zeros(n)
    for c in range(3):
        i, j, k = triangles[:, c], triangles[:, (c + 1) % 3], triangles[:, (c + 2) % 3]
        u, v = corners[:, (c + 1) % 3] - corners[:, c], corners[:, (c + 2) % 3] - corners[:, c]
        double = np.linalg.norm(np.cross(u, v), axis=1)
        area += np.bincount(i, double / 6, n)
        entries += [(j, k, -0.5 * (u * v).sum(1) / double)]
    row, column, value = (np.concatenate(e) for e in zip(*entries, strict=True))
    off = scipy.sparse.coo_array((value, (row, column)), (n, n)).tocsr()
    off = off + off.T
    stiff = scipy.sparse.diags_array(-off.sum(1)) + off
    return (((stiff @ weights) ** 2) / area[:, None]).sum()


@pytest.mark.parametrize("name", ["cesium_man", "webxr_hand", "q_eagle"])
def test_biharmonic_weights_are_smoother_than_heat(name):
    character = Character(name)
    mesh, bones = (character.vertices, character.triangles), character.bones
    rough = {m: roughness(*mesh, automatic(mesh, bones, m, **ALL)) for m in METHODS}
    assert rough["bbw"] < 0.95 * rough["heat"] and rough["biharmonic"] < rough["heat"]
    assert rough["heat"] < 0.1 * rough["nearest"]


# ---- Refusals ----


test_bad_input = table(
    araplbs.baseline_weights,
    GOOD,
    row("method is 'glow': must be", method="glow"),
    row("max_influences is -1: must be", max_influences=-1),
    row("min_weight is 0.5: must be", min_weight=0.5),
    row("min_weight is nan: must be", min_weight=np.nan),
    row("has no vertices", vertices=np.zeros((0, 3)), triangles=None),
    row(r"triangles\[2, 0\] is 99", triangles=changed(GOOD["triangles"], (2, 0), 99)),
    row(r"edges\[0, 1\] is 99", edges=[[0, 99]]),
    row(r"tets\[0, 3\] is 99", tets=[[0, 1, 2, 99]]),
    row("bone_tails has shape", bone_heads=GOOD["bone_heads"][:2]),
    row("deform", bone_deform=[False] * 3),
    row("bone_parents", bone_parents=[5, 0, 1]),
    row("method", TypeError, method=3),
    row("bogus", TypeError, bogus=1),
)


@pytest.mark.parametrize("method", ["bbw", "biharmonic"])
def test_too_many_vertices_for_a_bilaplacian(method):
    vertices = np.random.default_rng(0).random((200_001, 3))
    refuse(
        ValueError, "has 200001 vertices: too many for biharmonic weights, at most 200000",
        araplbs.baseline_weights, **{**GOOD, "vertices": vertices, "triangles": None},
        method=method,
    )  # fmt: skip


def test_any_choice_of_a_solver_is_one_of_these():
    assert araplbs.SETTINGS["Solver"]["initial"]["choices"] == METHODS
    refuse(ValueError, "initial is 'glow': must be", araplbs.Solver, **GOOD, initial="glow")
