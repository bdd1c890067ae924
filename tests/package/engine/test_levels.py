"""The coarser mesh on which meshes with many vertices are solved first."""

import araplbs
import numpy as np
import pytest
import shapes
from guarantees import check_report, check_weights
from reports import check_stops

TUBE = shapes.tube(24, 60, caps=True)
BONES = shapes.chain(4)


def start(mesh=TUBE, bones=BONES, coarsen=600, **settings):
    return shapes.solver(mesh, bones, coarsen=coarsen, **settings)


def neighbors(triangles):
    return {frozenset(e) for e in shapes.sides(triangles).tolist()}


def test_clusters_are_small_and_joined():
    solver = start()
    inside = solver._inside
    cluster, weld = inside["cluster"], inside["weld"]
    sizes = np.bincount(cluster)
    assert sizes.min() >= 1
    assert 2 <= sizes.mean() <= sizes.max() <= 4
    edges = neighbors(weld[TUBE[1]])
    for k in range(len(sizes)):
        members = np.nonzero(cluster == k)[0]
        near = [v for v in members if all(u == v or frozenset((u, v)) in edges for u in members)]
        assert near  # one of them, the seed, touches all others


def test_clusters_keep_parts_apart():
    tubes = shapes.join(TUBE, (TUBE[0] + [0.3, 0, 0], TUBE[1]), shapes.box((0.1,) * 3, (0, 0, 1)))
    inside = start(tubes)._inside
    of_part = [set(inside["cluster"][inside["part"] == p]) for p in range(3)]
    assert not of_part[0] & of_part[1]
    assert len(of_part[2]) == 8  # a part of few vertices keeps them


def mail(count):
    """Loose plates of 4 x 5 vertices around the bones."""
    u, v = (each.ravel() for each in np.mgrid[:5, :4])
    corner = (np.arange(4)[:, None] * 4 + np.arange(3)).ravel()
    faces = [np.column_stack([corner, corner + a, corner + b]) for a, b in ((4, 5), (5, 1))]
    turn = np.arange(count) * 2.4
    angle = turn[:, None] + 0.05 * v
    height = np.linspace(0.1, 1.9, count)[:, None] + 0.02 * u
    points = np.stack([0.3 * np.cos(angle), 0.3 * np.sin(angle), height], -1)
    own = 20 * np.arange(count)[:, None, None]
    return points.reshape(-1, 3), (own + np.concatenate(faces)).reshape(-1, 3)


def test_thousands_of_small_parts_lose_vertices_too():
    few, many = start(mail(400), coarsen=1000), start(mail(450), coarsen=1000)
    assert few.report["coarse_vertices"] == 0
    assert 450 * 5 <= many.report["coarse_vertices"] < len(mail(450)[0]) / 2
    inside = many._inside
    part_of = np.zeros(many.report["coarse_vertices"], int)
    part_of[inside["cluster"]] = inside["part"]
    assert (part_of[inside["cluster"]] == inside["part"]).all()
    direct = start(mail(450), coarsen=0)
    for solver in (direct, many):
        solver.solve()
        check_weights(solver, 4, len(mail(450)[0]))
    assert many.report["energy_after"] < 1.3 * direct.report["energy_after"]


@pytest.mark.parametrize("limit", [0, 2, 4])
def test_as_good_as_without(limit):
    """The weights are as good in poses not used for optimization. In the end, nothing of the coarse
    mesh remains."""
    poses = araplbs.sample_poses(*BONES, 60, seed=99)
    settings = {"max_influences": limit}
    direct, levels = start(coarsen=0, **settings), start(**settings)
    for solver in (direct, levels):
        solver.solve()
        check_weights(solver, limit, len(TUBE[0]))
    report = check_report(levels, TUBE[0], BONES)
    assert direct.report["coarse_vertices"] == 0
    assert 150 < report["coarse_vertices"] < len(TUBE[0]) / 2
    assert "cluster" not in levels._inside
    given = {"poses": poses, "pose_count": 0, "start_from_weights": True, "max_influences": 0}
    mine, theirs = (
        start(coarsen=0, weights=s.weights, **given).energies[0] for s in (levels, direct)
    )
    assert mine < 1.05 * theirs
    assert len(levels.energies) == 1 + report["iterations"] + len(report["stage_starts"])


def test_levels_nest():
    fine = shapes.tube(48, 200)
    solver = shapes.solved(start(fine, coarsen=300))
    assert solver.report["coarse_vertices"] < 600
    check_weights(solver, 4)


@pytest.mark.parametrize("symmetry", [None, ([0, 1, 2, 3], (0, 0, 0), (1, 0, 0))])
def test_what_is_held_stays_held(symmetry):
    """Each held cluster passes its rows to one vertex, through all levels."""
    solver = start(
        shapes.tube(48, 100),
        coarsen=300,
        symmetry=symmetry,
        peak_stiffness=0.01,
        bone_spring_stiffness=0,
    )
    held = solver.report["peak_rows"]
    solver.solve()
    assert solver.report["peak_rows"] == held > 0
    assert solver.weights.max(0).min() > 0.5


def test_weights_on_the_way():
    """The weights are complete at any time, even while only the coarse mesh is solved."""
    solver = start()
    first = solver.initial_weights
    np.testing.assert_allclose(first.sum(1), 1, atol=1e-12)
    while not solver.done:
        check_weights(solver, 0, len(TUBE[0]))
        np.testing.assert_allclose(solver.raw_weights.sum(1), 1, atol=1e-9)
        solver.iterate(1)
    np.testing.assert_array_equal(solver.initial_weights, first)


def test_locks_and_constraints(rng):
    weights = shapes.random_weights(rng, len(TUBE[0]), len(BONES))
    vertices = rng.uniform(size=len(TUBE[0])) < 0.3
    bones = np.arange(len(BONES)) == 1
    solver = shapes.solved(start(weights=weights, locked_vertices=vertices, locked_bones=bones))
    np.testing.assert_array_equal(solver.weights[vertices], weights[vertices])
    np.testing.assert_array_equal(solver.weights[:, bones], weights[:, bones])
    np.testing.assert_allclose(solver.weights.sum(1), 1, atol=1e-12)
    held = [700]
    before = shapes.solved(start())
    after = shapes.solved(start(constraints=(held, [0], [1.0]), constraint_strength=1e6))
    assert before.weights[held, 0] < 0.5
    assert after.weights[held, 0] > 0.9


def test_from_given_weights(rng):
    """The result is as good as without levels. Locked vertices stay bit-identical, and requested
    weights apply."""
    poses = araplbs.sample_poses(*BONES, 60, seed=99)
    weights = 0.5 * start().initial_weights + 0.5 / len(BONES)
    locked = TUBE[0][:, 2] < np.median(TUBE[0][:, 2])
    given = {"weights": weights, "start_from_weights": True, "locked_vertices": locked}
    wish = {"constraints": ([1000], [0], [0.7]), "constraint_strength": 1e6}
    settings = {**given, "expansion_rounds": 1, **wish}
    direct, levels = start(**settings), start(coarsen_given=True, **settings)
    assert direct.report["coarse_vertices"] == 0 < levels.report["coarse_vertices"]
    for solver in (direct, levels):
        solver.solve()
        np.testing.assert_array_equal(solver.weights[locked], weights[locked])
        np.testing.assert_allclose(solver.weights.sum(1), 1, atol=1e-12)
        assert abs(solver.weights[1000, 0] - 0.7) < 0.05
    judged = {"poses": poses, "pose_count": 0, "start_from_weights": True, "max_influences": 0}
    mine, theirs = (start(weights=s.weights, **judged).energies[0] for s in (levels, direct))
    assert mine < 1.02 * theirs
    again = shapes.solved(start(coarsen_given=True, threads=3, **settings))
    np.testing.assert_array_equal(again.weights, levels.weights)


def test_given_start_is_not_fresh():
    """Vertices that differ only in their start weights stay in separate clusters."""
    left = (TUBE[0][:, 0] < 0) * 1.0
    weights = np.column_stack([left, 1 - left, *np.zeros((len(BONES) - 2, len(left)))])
    solver = start(weights=weights, start_from_weights=True, coarsen_given=True)
    assert solver.report["coarse_vertices"] > 0
    assert (solver.initial_weights[:, 2:] == 0).all()


def test_cancelled_and_continued():
    check_stops(lambda progress: start(progress=progress), every=3)


def test_islands_are_those_of_the_mesh():
    """A distant island is reported with its own vertices, not with those of the coarse mesh."""
    count = len(TUBE[0])
    far = shapes.sphere(20, 20, 0.2, at=(9, 9, 9))
    inner = BONES.moved(0.8 * np.eye(3), (0, 0, 0.2))
    solver = shapes.solved(start(shapes.join(TUBE, far), inner, link_parts=False))
    (island,) = solver.report["unseen_parts"]
    assert island == {"vertex": count, "size": len(far[0]), "rigid": True}
    assert (np.abs(solver.weights[count:] - solver.weights[count]) < 1e-6).all()


def with_spike(mesh, triangle, rings=40, step=0.02):
    """A triangle of the mesh, extended to a spike of triangular rings."""
    points, triangles = mesh
    corners = triangles[triangle]
    out = np.cross(*(points[corners[1:]] - points[corners[0]]))
    out /= np.linalg.norm(out)
    center = points[corners].mean(0)
    ring = center + 0.1 * (points[corners] - center)
    more = [ring + step * (k + 1) * out for k in range(rings)]
    count, faces = len(points), [np.delete(triangles, triangle, axis=0)]
    below = corners
    for k in range(rings):
        above = count + 3 * k + np.arange(3)
        for a, b in ((0, 1), (1, 2), (2, 0)):
            faces.append([[below[a], below[b], above[b]], [below[a], above[b], above[a]]])
        below = above
    faces.append(below[None])
    return np.concatenate([points, *more]), np.concatenate(faces)


@pytest.mark.parametrize("rings", [20, 80])
def test_pieces_of_a_whole_are_no_islands(rings):
    """A thin spike breaks apart on the coarse mesh, and no bone is visible from its clusters. The
    mesh is one piece, so nothing is reported. A spike on a distant island forms one island with
    it."""
    solver = start(with_spike(TUBE, len(TUBE[1]) // 2, rings))
    assert solver.report["coarse_vertices"] > 0
    assert not shapes.solved(solver).report["unseen_parts"]
    far = with_spike(shapes.sphere(20, 20, 0.2, at=(9, 9, 9)), 380, rings)
    inner = BONES.moved(0.8 * np.eye(3), (0, 0, 0.2))
    apart = start(shapes.join(TUBE, far), inner, link_parts=False)
    assert shapes.solved(apart).report["unseen_parts"] == [
        {"vertex": len(TUBE[0]), "size": len(far[0]), "rigid": True}
    ]


@pytest.mark.parametrize(
    "settings",
    [{"attach": True}, {"neumann": True}, {"positivity": "penalty"}, {"positivity": "none"}],
)
def test_other_recipes_stay_on_the_mesh(settings):
    assert start(**settings).report["coarse_vertices"] == 0


def test_not_where_it_is_not_worth_it():
    """There is no coarser mesh with given weights, with few clusters per bone, or for parts that
    cannot be made coarser."""
    weights = np.full((len(TUBE[0]), len(BONES)), 0.25)
    assert start(weights=weights, start_from_weights=True).report["coarse_vertices"] == 0
    assert start(bones=shapes.chain(40)).report["coarse_vertices"] == 0
    assert start(shapes.soup(300)).report["coarse_vertices"] == 0


def test_many_bones_on_thousands_of_clusters():
    """Five clusters per bone are sufficient if there would otherwise be no coarser mesh."""
    long = shapes.tube(24, 700, caps=True)

    def level(bones):
        return start(long, shapes.chain(bones), initial="nearest").report["coarse_vertices"]

    most = level(500)
    assert 5 * 500 <= most < 12 * 500
    assert level(most // 4) == 0
    assert level(100) < most  # with 12 for each there is another


def transforms(solver):
    """(poses, bones, 3, 3) of the level that is solved last."""
    return solver._inside["transform"][..., :3]


def test_finer_meshes_have_fewer_random_poses():
    given = araplbs.sample_poses(*BONES, 3, seed=77)
    poses = np.concatenate([araplbs.sample_poses(*BONES, 6, **BONES.more), given])[..., :3]
    solver = start(poses=given, pose_count=10)
    assert solver.report["coarse_vertices"] and solver.report["poses"] == 13
    np.testing.assert_allclose(transforms(solver), poses, atol=1e-12)
    for share, count in ((0.0, 10), (0.3, 4), (1.0, 10)):
        assert len(transforms(start(pose_count=10, fine_poses=share))) == count


def test_a_large_coarsest_mesh_has_fewer_random_poses():
    """The energy of the initial weights is measured in the same poses."""
    for count, is_large in ((450, False), (900, True)):
        plates, settings = mail(count), {"coarsen": 1000, "pose_count": 10}
        few, all_poses = (start(plates, fine_poses=share, **settings) for share in (0.3, 1.0))
        assert (few.report["coarse_vertices"] >= 4096) == is_large
        before = [each.report["energy_before"] for each in (few, all_poses)]
        assert (before[0] != before[1]) == is_large


def test_fewer_random_poses_count_as_much_as_all():
    """Together with the caller's poses, the Gram matrix is that of 6 poses of weight 10/6 and 3
    others."""
    given = araplbs.sample_poses(*BONES, 3, seed=77)
    solver = start(poses=given, pose_count=10)
    t = solver._inside["transform"]
    each = np.r_[np.full(6, 10 / 6), np.ones(3)]
    gram = np.einsum("p,pbki,pckj->bcij", each, t, t)
    np.testing.assert_allclose(solver._inside["gram"], gram, atol=1e-9)


def test_a_mesh_without_a_coarser_one_has_all_random_poses():
    """A mesh too small for a coarser one, and one whose components move in its poses."""
    assert len(transforms(start(bones=shapes.chain(40), pose_count=10))) == 10
    up = np.array([[0, 0, 0], [0, 0, 0], [0, 0, 0.1], [0, 0, 0]])  # a gap between two chains
    apart = BONES.but(parents=np.array([-1, 0, -1, 2]), heads=BONES.heads + up)
    solver = start(bones=apart, pose_count=10)
    assert solver.report["coarse_vertices"] and len(transforms(solver)) == 10
    assert len(transforms(start(bones=apart, pose_count=10, displace_components=False))) == 6
