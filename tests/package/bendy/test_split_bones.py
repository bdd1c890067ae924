"""Spines and stretchable-twistable bones as chains of rigid bones (paper section 1.2)."""

import araplbs
import numpy as np
import pytest
import reference
import shapes
from gltf_files import plain

RNG = np.random.default_rng(2)


def partition(u, count):
    """(k, count): pi_j of the paper, 1 at its own middle, 0 at the others, linear in between."""
    middles = (np.arange(count) + 0.5) / count
    return np.column_stack([np.interp(u, middles, e) for e in np.eye(count)])


def body():
    """A spine with a rigid bone at its end and another along it."""
    vertices = shapes.tube(6, 25)[0] + RNG.normal(0, 0.02, (150, 3))
    heads = np.array([[0, 0, 0], [0, 0, 1.6], [0, 0, 0.85]], float)
    tails = np.array([[0, 0, 1.6], [0, 0, 2], [0.5, 0, 0.85]], float)
    return vertices, heads, tails, np.array([-1, 0, 0]), shapes.random_weights(RNG, 150, 3)


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("count", [1, 2, 3, 16])
def test_weights_are_those_of_the_paper(count, given):
    vertices, heads, tails, parents, weights = body()
    u = reference.along_bone(heads[0], tails[0], vertices)
    parameters = np.full((150, 3), np.nan)
    parameters[::2, 0] = RNG.uniform(size=75)
    more = {"parameters": parameters} if given else {}
    u = np.where(np.isnan(parameters[:, 0]) | (not given), u, parameters[:, 0])
    found = araplbs.split_bones(vertices, heads, tails, parents, weights, [count, 1, 1], **more)
    expected = np.column_stack([weights[:, :1] * partition(u, count), weights[:, 1:]])
    np.testing.assert_allclose(found[3].toarray(), expected, atol=1e-15)
    assert found[4].tolist() == [0] * count + [1, 2]
    along = np.linspace(0, 1.6, count + 1)
    np.testing.assert_allclose(found[0][:, 2], [*along[:-1], 1.6, 0.85], atol=1e-15)
    np.testing.assert_array_equal(found[1][:count], [*found[0][1:count], tails[0]])
    at = int(0.85 / 1.6 * count)
    assert found[2].tolist() == [*range(-1, count - 1), count - 1, at]


def test_sparse_rows_stay_sparse_and_sorted():
    vertices, *bones, weights = body()
    weights = weights * (weights > 0.3)
    found = araplbs.split_bones(vertices, *bones, araplbs.Rows(*rows(weights), 3), [8, 1, 1])[3]
    dense = araplbs.split_bones(vertices, *bones, weights, [8, 1, 1])[3]
    for own, other in zip(found, dense, strict=True):
        np.testing.assert_array_equal(own, other)
    for i in range(150):
        assert (np.diff(found.bones[found.start[i] : found.start[i + 1]]) > 0).all()


def rows(weights):
    return shapes.rows(weights > 0, weights)


def moved(vertices, bend, u, base):
    head, tail = np.zeros(3), np.array([0, 0, 2.0])
    return np.array(
        [
            base @ reference.spine_point(head, tail, bend, at, p)
            for at, p in zip(u, vertices, strict=True)
        ]
    )


def test_a_torso_solved_as_a_spine_moves_like_its_many_bones():
    """Figure 14: a chain is solved as one spine. Its vertebrae then have banded weights, and the
    more bones, the closer they are to the spine."""
    mesh = shapes.tube(8, 33)
    bones = shapes.chain(1, kinds=["spine"])
    solver = araplbs.Solver(*mesh, *bones, **bones.more, pose_count=10)
    solver.solve()
    bend, base = np.array([0.9, 0.3, 0.2, 1.1]), shapes.random_rotations(RNG, 1, 1)[0, 0]
    u = reference.along_bone(bones.heads[0], bones.tails[0], mesh[0])
    smooth, errors = moved(mesh[0], bend, u, base), []
    for count in (4, 8, 16):
        *_, weights, _ = araplbs.split_bones(mesh[0], *bones, solver.weights, [count])
        assert weights.toarray().max(axis=0).min() > 0.9
        assert weights.toarray().sum(axis=1) == pytest.approx(1, abs=1e-12)
        middles = (np.arange(count) + 0.5) / count
        each = np.stack([moved(mesh[0], bend, np.full(len(u), c), base) for c in middles], 1)
        inner = (u >= middles[0]) & (u <= middles[-1])
        blend = np.einsum("nb,nbi->ni", weights.toarray(), each)
        errors.append(np.abs(blend - smooth)[inner].max())
    assert errors[0] < 0.05
    assert errors[1] < errors[0] / 3.5 and errors[2] < errors[1] / 3.5


def same(found, expected):
    for one, other in zip(found, expected, strict=True):
        values = [each.toarray() if hasattr(each, "toarray") else each for each in (one, other)]
        np.testing.assert_array_equal(*values)


@pytest.mark.parametrize("kind", [np.uint8, np.int8, np.uint64])
def test_any_kind_of_integers(kind):
    counts = np.array([120, 1, 100], kind)
    given = body()
    same(araplbs.split_bones(*given, counts), araplbs.split_bones(*given, counts.tolist()))


def test_any_unit():
    scale = 2.0**-600
    vertices, heads, tails, *more = body()
    plain = araplbs.split_bones(vertices, heads, tails, *more, [4, 1, 3])
    made = araplbs.split_bones(vertices * scale, heads * scale, tails * scale, *more, [4, 1, 3])
    same((made[0] / scale, made[1] / scale, *made[2:]), plain)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"vertices": [[0, 0]]}, r"vertices has shape \(1, 2\)"),
        ({"vertices": [[0, 0, np.nan]] * 150}, "vertices has shape .* finite"),
        ({"tails": [[0, 0, 1]]}, "tails"),
        ({"parents": [1, 0, 0]}, "cycle"),
        ({"weights": np.ones((150, 2))}, r"weights has shape \(150, 2\)"),
        ({"counts": [4, 1]}, r"counts has shape \(2,\)"),
        ({"counts": [4.0, 1, 1]}, "counts has .* float64"),
        ({"counts": [4, 1, 0]}, r"counts\[2\] is 0"),
        ({"counts": [2**62, 2**62, 2**62]}, r"counts sums to 1\d+: at most 32768 bones"),
        ({"counts": [10**9, 1, 1]}, "counts sums to 1000000002"),
        ({"parameters": np.zeros((150, 2))}, r"parameters has shape \(150, 2\)"),
        ({"parameters": np.full((150, 3), 1.5)}, "parameters has values outside"),
    ],
)
def test_refusals(changes, message):
    names = ("vertices", "heads", "tails", "parents", "weights")
    arguments = dict(zip(names, body(), strict=True)) | {"counts": [4, 1, 1]} | changes
    with pytest.raises(ValueError, match=message):
        araplbs.split_bones(**arguments)


HEIGHTS = np.array([0, 0.1, 0.3, 0.45, 0.7, 0.8, 1.1, 1.2, 1.6])


def torso():
    """Eight vertebrae of different lengths, an arm at the fifth, and a neck."""
    vertices, triangles = shapes.tube(8, 33, radius=0.3)
    z = [*HEIGHTS[:-1], 0.75, 1.6]
    heads = np.column_stack([np.zeros((10, 2)), z])
    tails = np.column_stack([np.zeros((10, 2)), [*HEIGHTS[1:], 0.75, 2]])
    heads[8, 0], tails[8, 0] = 0.1, 0.6
    return vertices, triangles, heads, tails, np.array([-1, *range(7), 4, 7])


def test_vertebrae_solved_as_one_spine_get_banded_weights():
    """Figure 14: equal to a spine in their place, divided by the paper's partition of unity."""
    vertices, triangles, heads, tails, parents = torso()
    found = araplbs.spine_weights(*torso(), range(8), pose_count=10).toarray()
    u = np.clip(vertices[:, 2] / 1.6, 0, 1)
    parameters = np.full((len(vertices), 3), np.nan)
    parameters[:, 0] = u
    solver = araplbs.Solver(
        vertices, triangles, heads[[0, 8, 9]], tails[[7, 8, 9]], [-1, 0, 0], pose_count=10,
        bone_kinds=["spine", "rigid", "rigid"], parameters=parameters,
    )  # fmt: skip
    solver.solve()
    middles = (HEIGHTS[1:] + HEIGHTS[:-1]) / 3.2
    bands = np.column_stack([np.interp(u, middles, e) for e in np.eye(8)])
    expected = np.column_stack([solver.weights[:, :1] * bands, solver.weights[:, 1:]])
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert parents[8] == 4 and found[:, :8].max(axis=0).min() > 0.5


def test_bands_follow_a_bent_chain_in_any_order_of_bones():
    """Positions are measured along the chain. Bones that do not deform stay without weights."""
    vertices, triangles, heads, tails, _ = torso()
    for points in (vertices, heads, tails):
        angle, away = points[:, 2].copy(), 1 - points[:, 0]
        points[:, 0], points[:, 2] = 1 - away * np.cos(angle), away * np.sin(angle)
    order = np.array([9, 3, 0, 1, 2, 4, 5, 6, 7, 8])
    place = np.argsort(order)
    above = np.array([-1, *range(7), 4, 7])
    parents = np.where(above[order] < 0, -1, place[above[order]])
    deform = np.ones(10, bool)
    deform[place[8]] = False
    chain = place[:8].tolist()
    found = araplbs.spine_weights(
        vertices, triangles, heads[order], tails[order], parents, chain, deform=deform, pose_count=6
    ).toarray()
    assert not found[:, place[8]].any()
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-12)
    middle = [(heads[k] + tails[k]) / 2 for k in range(8)]
    for k in range(1, 7):
        nearest = np.linalg.norm(vertices - middle[k], axis=1).argsort()[:4]
        assert (found[nearest][:, chain].argmax(axis=1) == k).all()


def test_vertebrae_of_a_file(tmp_path):
    gltf = araplbs.load_gltf(plain().write(tmp_path / "in.glb"))
    (character,) = gltf.characters
    bones = character.skeleton
    chain = [0, int(np.flatnonzero(bones.parents == 0)[0])]
    rows = araplbs.spine_weights(
        character.vertices, character.triangles, bones.heads, bones.tails, bones.parents, chain,
        pose_count=4, max_influences=3,
    )  # fmt: skip
    character.set_weights(rows)
    gltf.save(tmp_path / "out.glb")
    again = araplbs.load_gltf(tmp_path / "out.glb").characters[0].weights.toarray()
    np.testing.assert_allclose(again, rows.toarray(), atol=1 / 255)  # stored in bytes


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"chain": [0]}, "must be a list of two or more bones"),
        ({"chain": [0.0, 1.0]}, "must be a list of two or more bones"),
        ({"chain": [0, 10]}, "but there are 10 bones"),
        ({"chain": [0, 2]}, "the parent of bone 2 is not bone 0"),
        ({"chain": [0, 1], "deform": [True, False] + [True] * 8}, "bone 1 does not deform"),
        ({"chain": [0, 1], "bone_limits": None}, "does not take bone_limits"),
        ({"chain": [0, 1], "poses": None}, "does not take poses"),
        ({"chain": [0, 1], "vertices": [[0, 0]]}, r"vertices has shape \(1, 2\)"),
    ],
)
def test_refused_chains(changes, message):
    names = ("vertices", "triangles", "heads", "tails", "parents")
    with pytest.raises((ValueError, TypeError), match=message):
        araplbs.spine_weights(**dict(zip(names, torso(), strict=True)) | changes)
