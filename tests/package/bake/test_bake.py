"""bake() finds the weights and, on request, the bones whose linear blending best approximates given
frames."""

import itertools

import araplbs
import numpy as np
import pytest
import shapes

MESH = shapes.tube(8, 13, radius=0.3)
V, F = MESH
N = len(V)


def moved_bones(rng, frames, bones, reach=0.5):
    """Random rigid transforms (frames, bones, 3, 4)."""
    turns = shapes.random_rotations(rng, frames, bones)
    return np.concatenate([turns, rng.uniform(-reach, reach, (frames, bones, 3, 1))], axis=3)


def skin(vertices, weights, transforms):
    """(p, n, 3) by linear blending."""
    points = np.column_stack([vertices, np.ones(len(vertices))])
    return np.einsum("nb,pbrc,nc->pnr", weights, transforms, points)


def sparse_truth(rng, vertices, bones, most):
    """Random weights with at most this many influences."""
    weights = np.zeros((vertices, bones))
    for row in weights:
        chosen = rng.choice(bones, rng.integers(1, most + 1), replace=False)
        row[chosen] = rng.uniform(0.1, 1, len(chosen))
    return weights / weights.sum(1, keepdims=True)


def dense(result, bones):
    return shapes.dense(result["weights"], bones)


def rms(vertices, weights, transforms, frames):
    off = skin(vertices, weights, transforms) - frames
    return np.sqrt((off**2).sum(2).mean())


def problem(seed=1, frames=6, bones=5, most=3, noise=0.0):
    rng = np.random.default_rng(seed)
    transforms = moved_bones(rng, frames, bones)
    truth = sparse_truth(rng, N, bones, most)
    posed = skin(V, truth, transforms) + noise * rng.normal(size=(frames, N, 3))
    return truth, transforms, posed


def best_by_brute_force(columns, target, most):
    """Least squared distance of a convex combination of at most `most` columns (k, d): the solution
    of the equality problem for each set, if it is >= 0 (the best set is among these)."""
    best = np.inf
    for size in range(1, most + 1):
        for chosen in itertools.combinations(range(len(columns)), size):
            a = columns[list(chosen)]
            system = np.zeros((size + 1, size + 1))
            system[:size, :size] = a @ a.T
            system[:size, size] = system[size, :size] = 1
            w = np.linalg.lstsq(system, np.append(a @ target, 1), rcond=None)[0][:size]
            if (w >= -1e-12).all():
                best = min(best, ((w @ a - target) ** 2).sum())
    return best


@pytest.mark.parametrize("most", [3, 4, 0])
def test_known_weights_are_found(most):
    truth, transforms, posed = problem()
    result = araplbs.bake(V, posed, transforms, max_influences=most)
    assert np.allclose(dense(result, 5), truth, atol=1e-6)
    assert result["rms"] < 1e-7 * result["size"]
    assert result["iterations"] == 1


def test_far_from_the_origin_and_in_other_units():
    truth, transforms, _ = problem()
    far = V * 1e-3 + [500.0, -300, 100]
    transforms = transforms.copy()
    transforms[..., 3] *= 1e-3
    posed = skin(far, truth, transforms)
    result = araplbs.bake(far, posed, transforms)
    assert result["rms"] < 1e-5 * result["size"]


def test_sums_are_exact_and_the_limit_is_obeyed():
    _, transforms, posed = problem(bones=7, most=7, noise=0.05)
    for most in (1, 2, 3, 4):
        result = araplbs.bake(V, posed, transforms, max_influences=most)
        start, _bones, weights = result["weights"]
        assert np.diff(start).max() <= most
        assert weights.min() > 0
        assert np.abs(np.add.reduceat(weights, start[:-1]) - 1).max() < 1e-14


def columns_of(transforms):
    """(n, bones, 3 poses) where each bone alone brings each vertex."""
    points, bones = np.column_stack([V, np.ones(N)]), transforms.shape[1]
    return np.einsum("pbrc,nc->nbpr", transforms, points).reshape(N, bones, -1)


@pytest.mark.parametrize("noise", [0.02, 0.5])
def test_weights_are_the_best_there_are(noise):
    """Without a limit, the weights are as good as the result of brute force over all sets of
    bones."""
    _, transforms, posed = problem(bones=5, most=5, noise=noise)
    result = araplbs.bake(V, posed, transforms, max_influences=0)
    columns, target = columns_of(transforms), posed.transpose(1, 0, 2).reshape(N, -1)
    for i in range(0, N, 5):
        least = best_by_brute_force(columns[i], target[i], 5)
        assert result["vertex_error"][i] ** 2 * len(posed) <= least * (1 + 1e-6) + 1e-12


def test_weights_at_the_limit_are_near_the_best():
    """The choice of influences is a combinatorial problem; nearly all vertices get the best set."""
    _, transforms, posed = problem(bones=6, most=5, noise=0.1)
    result = araplbs.bake(V, posed, transforms, max_influences=2)
    columns, target = columns_of(transforms), posed.transpose(1, 0, 2).reshape(N, -1)
    least = np.array([best_by_brute_force(columns[i], target[i], 2) for i in range(N)])
    found = result["vertex_error"] ** 2 * len(posed)
    assert (found >= least * (1 - 1e-6)).all()
    assert (found <= least * (1 + 1e-6)).mean() > 0.95
    assert found.sum() < 1.01 * least.sum()


def test_errors_are_those_of_the_result():
    _, transforms, posed = problem(noise=0.1)
    result = araplbs.bake(V, posed, transforms)
    off = np.linalg.norm(skin(V, dense(result, 5), result["transforms"]) - posed, axis=2)
    assert np.isclose(result["rms"], np.sqrt((off**2).mean()), rtol=1e-9)
    assert np.isclose(result["max"], off.max(), rtol=1e-9)
    assert off[result["worst"]] == pytest.approx(off.max())
    assert np.allclose(result["vertex_error"], np.sqrt((off**2).mean(0)), rtol=1e-9)
    assert np.isclose(result["size"], np.linalg.norm(np.ptp(V, axis=0)))
    assert np.isclose(result["history"][-1], result["rms"], rtol=1e-4)
    assert np.array_equal(result["transforms"], transforms)


def test_given_weights_are_measured():
    """iterations=0; unweighted vertices stay at rest, as in Blender."""
    truth, transforms, posed = problem()
    given = truth.copy()
    given[:4] = 0
    result = araplbs.bake(V, posed, transforms, weights=given * 2, iterations=0)
    expected = skin(V, given, transforms)
    expected[:, :4] = V[:4]
    off = np.linalg.norm(expected - posed, axis=2)
    assert np.allclose(result["vertex_error"], np.sqrt((off**2).mean(0)), atol=1e-9)
    assert result["iterations"] == 0 and len(result["history"]) == 0


def test_rows_may_name_bones_in_any_order():
    truth, transforms, posed = problem(frames=4)
    start, bone, values = shapes.rows(truth > 0, truth)
    turned = np.concatenate([np.arange(a, b)[::-1] for a, b in itertools.pairwise(start)])
    found = [
        dense(araplbs.bake(V, posed, transforms, weights=rows, iterations=0), 5)
        for rows in ((start, bone, values), (start, bone[turned], values[turned]))
    ]
    np.testing.assert_allclose(*found, rtol=0, atol=1e-15)


def best_beside_locked(found, transforms, posed, locked, i):
    """Least squared distance of a vertex: its open weights sum to what its locked ones leave."""
    columns, target = columns_of(transforms)[i], posed[:, i].ravel()
    kept = np.where(locked, found[i], 0)
    rest = 1 - kept.sum()
    if rest <= 1e-12:
        return ((kept @ columns / kept.sum() - target) ** 2).sum()
    return best_by_brute_force(rest * columns[~locked], target - kept @ columns, len(columns))


@pytest.mark.parametrize("new_bones, most", [(0, 0), (2, 0), (0, 3), (2, 3)])
@pytest.mark.parametrize("chosen", [[1], [1, 3], [0, 1, 2, 3]])
def test_locks(chosen, new_bones, most):
    """Locked weights stay to the bit, and the best other weights share the rest. Rows of
    locked weights with a larger sum than 1 are played scaled to 1."""
    _, transforms, posed = problem(bones=4, most=4, noise=0.05)
    rng = np.random.default_rng(6)
    given = shapes.random_weights(rng, N, 4) * rng.uniform(0.3, 2.5, (N, 1))
    given[::9, 1], given[1::9, 1], given[2::9, [0, 2, 3]] = 0, 1, 0
    vertices, locked = np.arange(N) % 7 == 0, np.isin(np.arange(4 + new_bones), chosen)
    if locked.all():
        given[given.sum(1) < 1, 0] += 1
    result = araplbs.bake(
        V, posed, transforms, weights=given, locked_vertices=vertices, locked_bones=locked[:4],
        new_bones=new_bones, max_influences=most,
    )  # fmt: skip
    found, free = dense(result, 4 + new_bones), ~vertices
    given = np.pad(given, [(0, 0), (0, new_bones)])
    assert np.array_equal(found[vertices], given[vertices])
    assert np.array_equal(found[:, locked], given[:, locked])
    sums, counts = given[:, locked].sum(1), np.count_nonzero(given[:, locked], axis=1)
    assert not found[np.ix_(free & (sums >= 1), ~locked)].any()
    np.testing.assert_allclose(found[free].sum(1), np.maximum(sums, 1)[free], rtol=1e-14)
    played = found / found.sum(1, keepdims=True)
    assert result["rms"] == pytest.approx(rms(V, played, result["transforms"], posed), rel=1e-9)
    if most:
        assert (np.count_nonzero(found, axis=1) <= np.maximum(most, counts + 1))[free].all()
        return
    for i in np.flatnonzero(free)[::3]:
        least = best_beside_locked(found, result["transforms"], posed, locked, i)
        assert result["vertex_error"][i] ** 2 * len(posed) <= least * (1 + 1e-6) + 1e-9


@pytest.mark.parametrize("chosen", [[0], [0, 1]])
def test_new_bones_move_what_locked_weights_leave(chosen):
    """Two locked boxes share each vertex with another bone, which is found exactly."""
    vertices, _ = shapes.join(*(shapes.box((0.5, 0.4, 0.3), (2.0 * k, 0, 0)) for k in range(4)))
    transforms = moved_bones(np.random.default_rng(1), 8, 6, reach=3)
    truth = 0.6 * np.repeat(np.eye(6)[2:], 8, axis=0)
    truth[:, 0], truth[16:, 0], truth[16:, 1] = 0.4, 0, 0.4
    if len(chosen) == 1:
        truth[:, [0, 1]] = [0.4, 0]
    posed, locked = skin(vertices, truth, transforms), np.isin([0, 1], chosen)
    result = araplbs.bake(
        vertices, posed, transforms[:, :2], weights=truth[:, :2], locked_bones=locked, new_bones=4
    )
    assert result["rms"] < 1e-5 * result["size"]
    assert np.array_equal(dense(result, 6)[:, chosen], truth[:, chosen])


def test_candidates():
    _, transforms, posed = problem(most=5, noise=0.05)
    candidates = np.random.default_rng(2).uniform(size=(N, 5)) < 0.5
    candidates[:, 0] = True
    result = araplbs.bake(V, posed, transforms, candidates=candidates)
    assert not dense(result, 5)[~candidates].any()


def test_what_the_frames_do_not_decide_stays():
    """Bones that move in the same way keep their shares."""
    truth, transforms, _ = problem(bones=4, most=4)
    transforms[:, 3] = transforms[:, 2]
    posed = skin(V, truth, transforms)
    result = araplbs.bake(V, posed, transforms, weights=truth)
    assert np.allclose(dense(result, 4), truth, atol=1e-4)
    alone = araplbs.bake(V, posed, transforms)
    assert not np.allclose(dense(alone, 4), truth, atol=1e-2)


def test_transforms_are_found():
    """Starting from slightly wrong transforms, with the weights locked, the true ones are found
    exactly."""
    truth, transforms, posed = problem(frames=5, most=3)
    rng = np.random.default_rng(8)
    off = transforms.copy()
    off[..., 3] += 0.05 * rng.normal(size=off[..., 3].shape)
    result = araplbs.bake(
        V, posed, off, weights=truth, locked_vertices=np.ones(N, bool), move_bones=True,
        iterations=300, tolerance=1e-9,
    )  # fmt: skip
    assert result["rms"] < 1e-4 * result["size"]
    turns = result["transforms"][..., :3]
    assert np.allclose(turns @ turns.transpose(0, 1, 3, 2), np.eye(3), atol=1e-12)
    assert np.allclose(result["transforms"], transforms, atol=5e-3)


def test_free_transforms_stretch_where_rigid_ones_cannot():
    rng = np.random.default_rng(4)
    truth = sparse_truth(rng, N, 3, 2)
    rigid = moved_bones(rng, 5, 3)
    stretched = rigid.copy()
    stretched[..., :3] *= rng.uniform(0.7, 1.4, (5, 3, 1, 3))
    posed = skin(V, truth, stretched)
    more = {"weights": truth, "locked_vertices": np.ones(N, bool), "move_bones": True}
    more |= {"iterations": 300, "tolerance": 1e-9}
    free = araplbs.bake(V, posed, rigid, rigid=False, **more)
    assert free["rms"] < 1e-3 * araplbs.bake(V, posed, rigid, **more)["rms"]
    assert np.allclose(free["transforms"], stretched, atol=1e-2)


@pytest.mark.parametrize("seed", range(5))
def test_bones_are_found(seed):
    """Rigid boxes that fly apart: the same number of bones finds all of them."""
    boxes = [shapes.box((0.5, 0.4, 0.3), (2.0 * k, 0, 0)) for k in range(4)]
    vertices, _ = shapes.join(*boxes)
    rng = np.random.default_rng(seed)
    transforms = moved_bones(rng, 8, 4, reach=3)
    truth = np.repeat(np.eye(4), 8, axis=0)
    posed = skin(vertices, truth, transforms)
    result = araplbs.bake(vertices, posed, new_bones=4)
    assert result["rms"] < 1e-7 * result["size"]
    found = dense(result, 4)
    assert len({tuple(row) for row in found.round(6)}) == 4
    centers = sorted(result["centers"][:, 0].round(6))
    assert np.allclose(centers, [0, 2, 4, 6], atol=1e-6)


def test_new_bones_beside_given_ones():
    _, transforms, posed = problem(bones=6, most=2, frames=10)
    few = araplbs.bake(V, posed, transforms[:, :4], max_influences=2)
    more = araplbs.bake(V, posed, transforms[:, :4], max_influences=2, new_bones=2)
    assert more["rms"] < 0.8 * few["rms"]
    assert np.array_equal(more["transforms"][:, :4], transforms[:, :4])
    assert more["transforms"].shape == (10, 6, 3, 4) and more["centers"].shape == (6, 3)


@pytest.mark.parametrize("smoothness", [0, 1e-3])
def test_the_error_never_rises(smoothness):
    _, _, posed = problem(bones=6, most=4, frames=10, noise=0.05)
    result = araplbs.bake(
        V, posed, new_bones=5, tolerance=0, iterations=15, smoothness=smoothness, triangles=F
    )
    history = result["history"]
    assert len(history) == 15
    if not smoothness:
        assert (np.diff(history) <= 1e-12).all()
    assert history[-1] < history[0]


@pytest.mark.parametrize("seed", range(4))
def test_the_history_is_that_of_shorter_runs(seed):
    """The history agrees even for large transforms that few vertices determine, whose squares
    cancel in the sums."""
    rng = np.random.default_rng(seed)
    vertices, posed = rng.normal(size=(6, 3)), rng.normal(size=(4, 6, 3))
    far = 1e5 * rng.normal(size=(4, 5, 3, 4))
    given = {"weights": rng.dirichlet(np.ones(5), 6), "locked_vertices": np.arange(6) > 0}
    given |= {"move_bones": True, "rigid": False, "damping": 0, "tolerance": 0}
    history = araplbs.bake(vertices, posed, far, iterations=4, **given)["history"]
    assert len(history) > 1
    for count in range(1, len(history) + 1):
        short = araplbs.bake(vertices, posed, far, iterations=count, **given)
        np.testing.assert_allclose(short["rms"], history[count - 1], rtol=1e-6)
    assert (np.diff(history) <= 1e-9).all()


def test_the_error_rises_by_what_the_pull_falls():
    """Many weights reproduce the frames, and damping selects the weights nearest to the given
    ones."""
    truth, transforms, posed = problem(bones=6, most=3, frames=2)
    damping = 1e-4
    options = {"weights": truth[::-1], "damping": damping, "tolerance": 0, "move_bones": True}

    def objective(count):
        found = araplbs.bake(V, posed, transforms, iterations=count, **options)
        pull = ((dense(found, 6) - truth[::-1]) ** 2).sum(1).mean()
        return (found["rms"] / found["size"]) ** 2 + damping * pull

    values = [objective(count) for count in range(1, 7)]
    assert (np.diff(values) <= 1e-9 * values[0]).all()


def test_smoothness():
    """The weights of neighbors become more similar, at the cost of some error."""
    _, transforms, posed = problem(bones=5, most=4, noise=0.1)
    rough, smooth = (
        araplbs.bake(V, posed, transforms, triangles=F, smoothness=s, iterations=30, tolerance=1e-6)
        for s in (0, 0.1)
    )
    edges = np.concatenate([F[:, [0, 1]], F[:, [1, 2]]])

    def steps(result):
        w = dense(result, 5)
        return ((w[edges[:, 0]] - w[edges[:, 1]]) ** 2).sum()

    assert steps(smooth) < 0.7 * steps(rough)
    assert smooth["rms"] > rough["rms"]
    assert smooth["iterations"] > 1


@pytest.mark.parametrize("kind", ["scaled", "mirrored", "sheared"])
@pytest.mark.parametrize("given", [True, False])
def test_rigid_bones_begin_rigid(kind, given):
    """The given transforms scale or mirror. The resulting ones only rotate and translate, and no
    rotation raises the error."""
    truth, transforms, posed = problem(seed=3)
    change = {"scaled": 1.7 * np.eye(3), "mirrored": np.diag([1, 1, -1.0])}
    change["sheared"] = np.eye(3) + np.triu(np.full((3, 3), 0.4), 1)
    bent = transforms.copy()
    bent[:, :2, :, :3] = transforms[:, :2, :, :3] @ change[kind]
    weights = {"weights": truth} if given else {}
    result = araplbs.bake(V, posed, bent, move_bones=True, iterations=8, tolerance=0.0, **weights)
    found = result["transforms"][..., :3]
    turned = np.einsum("pbij,pbkj->pbik", found, found)
    np.testing.assert_allclose(turned, np.broadcast_to(np.eye(3), turned.shape), atol=1e-6)
    assert (np.diff(result["history"]) <= 1e-7 * result["size"]).all()


class Frames:
    """A sequence that stores nothing and counts the accesses."""

    def __init__(self, posed):
        self.posed, self.asked = posed, []

    def __len__(self):
        return len(self.posed)

    def __getitem__(self, index):
        if index >= len(self.posed):
            raise IndexError(index)
        self.asked.append(index)
        return self.posed[index].astype(np.float32)


def test_frames_are_read_one_by_one_in_their_order():
    truth, transforms, posed = problem(frames=20)
    frames = Frames(posed)
    result = araplbs.bake(V, frames, transforms)
    assert frames.asked == 3 * list(range(20))
    assert np.allclose(dense(result, 5), truth, atol=1e-4)


def test_arguments_are_left_alone():
    truth, transforms, posed = problem()
    before = [a.copy() for a in (truth, transforms, posed)]
    araplbs.bake(V, posed, transforms, weights=truth, new_bones=1, move_bones=True)
    for a, b in zip((truth, transforms, posed), before, strict=True):
        assert np.array_equal(a, b)
