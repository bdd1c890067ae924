"""Every bone moves its own skin: responses, the rows that hold bones, and the constraints that take
precedence over these rows."""

import araplbs
import numpy as np
import pytest
import shapes
from joint_reference import vertex_areas
from reports import check_stops


def chain_of(middles, length, radius=0.5, around=16, along=40):
    """A thick tube around a chain with short bones in its middle."""
    vertices, triangles = shapes.tube(around, along, radius, height=4.0, caps=True)
    joints = np.cumsum([0, 1.5] + [length] * middles)
    joints = np.array([[0, 0, z] for z in [*joints, 4.0]])
    bones = shapes.Bones(joints[:-1], joints[1:], np.arange(middles + 2) - 1)
    return vertices, triangles, *bones


def tipped(length, radius=0.4, around=16, along=40):
    """A thick tube around a chain whose last bone is short, such as a toe, a nose, or the end of a
    tail."""
    vertices, triangles = shapes.tube(around, along, radius, height=3.0, caps=True)
    joints = np.array([[0, 0, z] for z in (0, (3 - length) / 2, 3 - length, 3)])
    return vertices, triangles, joints[:-1], joints[1:], np.arange(3) - 1


def forked(length=0.12, around=16, along=60):
    """Two tips, left and right of a root in the middle, with the symmetry between them."""
    vertices, triangles = shapes.tube(around, along, 0.4, height=6.0, caps=True)
    vertices = (vertices - (0, 0, 3))[:, [2, 0, 1]]  # along x
    x = [0.0, (3 - length) / 2, 3 - length, 3]
    ends = [(-0.3, 0.3)] + [(side * x[k], side * x[k + 1]) for side in (1, -1) for k in (1, 2)]
    heads, tails = (np.array([[e[k], 0, 0] for e in ends]) for k in (0, 1))
    bones = heads, tails, np.array([-1, 0, 1, 0, 3])
    return (vertices, triangles, *bones), ([0, 3, 4, 1, 2], [0, 0, 0], [1, 0, 0])


def solved(mesh, **options):
    return shapes.solved(araplbs.Solver(*mesh, **options))


def by_turning(mesh, solver, count=400):
    """Responses by brute force: the own skin of every bone is moved by small rotations of the bone
    and its descendants about the head, about axes on all sides across the bone, with both sets of
    weights."""
    vertices, triangles, heads, tails, parents = mesh[:5]
    initial, weights = solver.initial_weights, solver.weights
    area, out = vertex_areas(vertices, triangles), np.full(len(heads), np.nan)
    for b in range(len(heads)):
        largest = initial[:, b].max()
        own = initial[:, b] > (0.5 if largest > 0.5 else 0.5 * largest if largest > 0.05 else 2)
        if not own.any():
            continue
        below = [c for c in range(len(heads)) if b in ancestors(parents, c)]
        along = (tails[b] - heads[b]) / np.linalg.norm(tails[b] - heads[b])
        x = np.linalg.svd(along[None])[2][1]
        y = np.cross(along, x)
        whole = np.zeros(own.sum())
        for angle in np.arange(count) * np.pi / count:
            axis = np.cos(angle) * x + np.sin(angle) * y
            whole += (np.cross(axis, vertices[own] - heads[b]) ** 2).sum(1) / count
        moved = [
            (area[own] * np.sqrt(whole) * w[own][:, below].sum(1)).sum() for w in (weights, initial)
        ]
        out[b] = moved[0] / moved[1]
    return out


def ancestors(parents, bone):
    while bone >= 0:
        yield bone
        bone = parents[bone]


@pytest.mark.parametrize("response", [0.0, 0.5])
def test_responses_are_those_of_turned_bones(response):
    for mesh in (chain_of(2, 0.3), tipped(0.2), forked()[0]):
        solver = solved(mesh, response=response)
        np.testing.assert_allclose(solver.responses, by_turning(mesh, solver), rtol=1e-4)
        area = vertex_areas(*mesh[:2])
        np.testing.assert_allclose(
            solver.shares, area @ solver.weights / (area @ solver.initial_weights), rtol=1e-4
        )


@pytest.mark.parametrize("length", [0.12, 0.1, 0.07])
@pytest.mark.parametrize("seed", range(3))
def test_a_short_tip_answers(length, seed):
    """A short tip moves its skin on meshes with one level or several."""
    for size in ({}, {"around": 30, "along": 90}):
        mesh = tipped(length, **size)
        without, held = (solved(mesh, seed=seed, response=r) for r in (0, 0.6))
        assert without.responses[2] < 0.5 or without.shares[2] < 0.5
        assert held.responses[2] > 0.5 and held.responses[:2].min() > 0.5
        assert held.report["held_bones"] == [2] and held.report["held_cost"] > 0
        assert not without.report["held_bones"] and without.report["held_cost"] == 0
        assert bool(held.report["coarse_vertices"]) == bool(size)
        assert (held.weights > 0).sum(1).max() <= 4


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("length", [0.8, 0.5, 0.3, 0.2])
def test_short_bones_of_a_chain_keep_their_skin(count, length):
    mesh = chain_of(count, length)
    middle = (mesh[2] + mesh[3]) / 2
    middle[0], middle[-1] = mesh[2][0], mesh[3][-1]
    place = np.clip(mesh[0][:, None, 2], mesh[2][:, 2], mesh[3][:, 2])
    nearest = np.abs(place - mesh[0][:, None, 2]).argmin(1)
    own = np.bincount(nearest, vertex_areas(*mesh[:2]), count + 2)
    for seed in range(3):
        solver = solved(mesh, seed=seed)
        assert (vertex_areas(*mesh[:2]) @ solver.weights >= 0.25 * own).all()
        assert solver.shares[1:-1].min() > 0.45 and not solver.report["deaf_bones"]


def test_bones_that_answer_change_nothing():
    for mesh in (tipped(0.6), tipped(0.6, around=30, along=90), chain_of(1, 0.8)):
        with_it, without = solved(mesh), solved(mesh, response=0)
        assert not with_it.report["held_bones"]
        np.testing.assert_array_equal(with_it.weights, without.weights)
        np.testing.assert_array_equal(with_it.energies, without.energies)


def test_both_sides_are_held_alike():
    mesh, symmetry = forked()
    solver = solved(mesh, symmetry=symmetry)
    image = np.array([np.abs(mesh[0] - v * (-1, 1, 1)).sum(1).argmin() for v in mesh[0]])
    assert solver.report["held_bones"] == [2, 4]
    weights = solver.weights
    assert (weights[image][:, symmetry[0]] == weights).all()
    assert solver.responses[2] == pytest.approx(solver.responses[4], rel=1e-9)


def test_locked_weights_win():
    mesh = tipped(0.2)
    without = solved(mesh, response=0)
    tip = np.flatnonzero(without.initial_weights[:, 2] > 0.4)
    locked = np.zeros(len(mesh[0]), bool)
    locked[tip] = True
    kept = np.zeros((len(locked), 3))
    kept[:, 1] = 1
    solver = solved(mesh, weights=kept, locked_vertices=locked)
    np.testing.assert_array_equal(solver.weights[tip], kept[tip])
    columns = solved(mesh, weights=kept, locked_bones=[0, 0, 1])
    assert not columns.weights[:, 2].any() and not columns.report["held_bones"]


def test_edits_win():
    mesh = tipped(0.2)
    every = np.arange(len(mesh[0]))
    forbidden = solved(mesh, influences=(every, every * 0 + 2, every < 0))
    assert not forbidden.weights[:, 2].any() and not forbidden.report["held_bones"]
    painted = np.flatnonzero(solved(mesh).initial_weights[:, 2] > 0.3)
    nothing = painted, painted * 0 + 2, painted * 0.0
    constrained = solved(mesh, constraints=nothing)
    assert not constrained.report["held_bones"] and constrained.report["deaf_bones"] == [2]
    without = solved(mesh, constraints=nothing, response=0)
    np.testing.assert_array_equal(constrained.weights, without.weights)
    released = solved(mesh, released=(every, every * 0 + 2))
    assert not released.report["held_bones"]


def test_a_held_bone_can_be_let_go_while_weights_converge():
    mesh = tipped(0.2)
    every = np.arange(len(mesh[0]))
    solver = solved(mesh)
    assert solver.responses[2] > 0.5
    solver.edit(influences=(every, every * 0 + 2, every < 0))
    solver.solve()
    assert not solver.weights[:, 2].any()
    solver.edit()
    solver.solve()
    assert solver.responses[2] > 0.5


def ball_of_plates():
    """A core on a root with plates around it, and fins with a bone inside each, which are nearer to
    the plates than the root is; and the first vertex of the plates."""
    parts = [shapes.box((1.0, 1.0, 1.0), (0, 0, 0))]
    heads, tails = [(0, 0, -0.3)], [(0, 0, 0.3)]
    for side in (-1, 1):
        for z in (-0.6, 0, 0.6):
            heads.append((side * 0.95, 0, z))
            tails.append((side * 1.5, 0, z))
            parts.append(shapes.box((0.6, 0.15, 0.15), (side * 1.25, 0, z)))
    first = 8 * len(parts)
    for side in (-1, 1):
        for z in (-0.6, 0, 0.6):
            parts.append(shapes.box((0.1, 1.2, 0.1), (side * 0.8, 0, z)))
    bones = shapes.Bones(np.array(heads), np.array(tails), np.array([-1] + [0] * 6))
    return shapes.join(*parts), bones, first


@pytest.mark.parametrize("seed", range(3))
def test_no_plate_is_pulled_to_a_bone_beside_it(seed):
    """Most of the initial weight of the plates belongs to the bones of the fins, which have parts
    of their own. With a required response, the plates have the same rows as without it."""
    mesh, bones, first = ball_of_plates()
    held, free = (
        shapes.solve(mesh, bones, seed=seed, rigid_departure=0, response=r) for r in (0.65, 0)
    )
    assert held.initial_weights[first:, 1:].sum(1).mean() > 0.5
    assert np.abs(held.weights - free.weights)[first:].max() < 0.02
    assert held.energy < 1.01 * free.energy + 1e-6


def test_no_bone_is_held_without_truss_or_widenings():
    for off in (
        {"response": 0},
        {"bone_spring_stiffness": 0},
        {"expansion_rounds": 0},
        {"max_influences": 1},
    ):
        assert not solved(tipped(0.15), **off).report["held_bones"], off


def test_bones_without_skin_are_named():
    vertices, triangles, heads, tails, parents = tipped(0.6)
    far = np.array([[40.0, 0, 0]])
    bones = (np.r_[heads, far], np.r_[tails, far + 1], np.r_[parents, 0])
    report = solved((vertices, triangles, *bones)).report
    assert report["skinless_bones"] == [3] and report["deaf_bones"] == []


def test_stopped_stages_of_held_bones_go_on():
    mesh = tipped(0.2, around=12, along=20)
    check_stops(lambda told: araplbs.Solver(*mesh, progress=told), every=3)


def test_stopped_levels_of_held_bones_go_on():
    mesh = tipped(0.1, around=24, along=60)
    check_stops(lambda told: araplbs.Solver(*mesh, progress=told, coarsen=800), every=7)


@pytest.mark.parametrize("threads", [2, 5])
def test_threads_change_no_bits(threads):
    mesh = tipped(0.15, around=30, along=90)
    np.testing.assert_array_equal(
        solved(mesh, threads=threads).weights, solved(mesh, threads=1).weights
    )


def biped(radius, apart, tail, cape=False):
    """A trunk on two legs at the distance `apart` from its middle, and a root from the floor to
    `tail` between them. cape: adds a sheet behind the body, next to two bones."""
    parts = [shapes.tube(16, 12, 0.35, 1.05, caps=True)]
    parts[0] = parts[0][0] + np.array([0, 0, 0.95]), parts[0][1]
    for x in (apart, -apart):
        vertices, triangles = shapes.tube(16, 12, radius, 1.0, caps=True)
        parts.append((vertices + np.array([x, 0, 0]), triangles))
    heads = [(0, 0, 0), (0, 0, 1), (0, 0, 1.2)]
    tails = [tail, (0, 0, 1.2), (0, 0, 1.9)]
    for x in (apart, -apart):
        heads += [(x, 0, 1), (x, 0, 0.5)]
        tails += [(x, 0, 0.5), (x, 0, 0.02)]
    parents = [-1, 0, 1, 1, 3, 1, 5]
    if cape:
        y, z = np.meshgrid(np.linspace(-0.3, 0.3, 7), np.linspace(0.2, 1.8, 17), indexing="ij")
        sheet = np.column_stack([y.ravel(), np.full(y.size, 0.5), z.ravel()])
        corner = (np.arange(6)[:, None] * 17 + np.arange(16)).reshape(-1)
        faces = [(a, b, a + 1) for a, b in zip(corner, corner + 17, strict=True)]
        faces += [(a + 1, b, b + 1) for a, b in zip(corner, corner + 17, strict=True)]
        parts.append((sheet, np.array(faces)))
        heads += [(0, 0.55, 1.8), (0, 0.55, 1.0)]
        tails += [(0, 0.55, 1.0), (0, 0.55, 0.2)]
        parents += [2, 7]
    return (*shapes.join(*parts), np.array(heads), np.array(tails), np.array(parents))


@pytest.mark.parametrize("tail", [(0, 0, 1.0), (0, 0, 0.5), (0, 0.3, 0)])
@pytest.mark.parametrize(
    ("radius", "apart"), [(0.12, 0.2), (0.12, 0.16), (0.12, 0.25), (0.19, 0.2)]
)
def test_a_root_between_the_legs_is_not_held(radius, apart, tail):
    """The inner sides of the legs are nearest to the root, which sees them from outside, whereas
    their own bones see them from inside. In the mirrored mesh, the faces point inward."""
    mesh = biped(radius, apart, tail)
    assert 0 not in solved(mesh).report["held_bones"]
    inward = solved((mesh[0], mesh[1][:, ::-1], *mesh[2:]))
    assert 0 not in inward.report["held_bones"]


def test_a_root_that_meets_the_hips_has_no_leg():
    for seed in range(3):
        mesh = biped(0.12, 0.2, (0, 0, 1.0))
        weights = solved(mesh, seed=seed).weights
        assert weights[:, 0].mean() < 0.002
        assert weights[mesh[0][:, 2] < 0.9, 0].max() < 0.01


def test_bones_beside_a_sheet_keep_its_skin():
    """Bones next to a sheet keep its skin, because no other bone is inside the sheet and could move
    it."""
    for turned in (False, True):
        mesh = biped(0.12, 0.2, (0, 0, 0.5), cape=True)
        if turned:
            mesh = (mesh[0], mesh[1][:, ::-1], *mesh[2:])
        report = solved(mesh).report
        assert not {7, 8} & {*report["skinless_bones"], *report["deaf_bones"]}
