"""Compares pose weights with explicit sums; a pose of weight 2 equals the same pose given twice."""

import araplbs
import joint_rigs
import numpy as np
import pytest
import reference
import shapes
import spine_rigs
from refusals import GOOD, INF, MESH, NAN, POSES, WEIGHTS, refuse

TUBE = shapes.tube(7, 9)
OFTEN = np.array([2.0, 1.0, 3.0])
TWICE = np.array([0, 0, 1, 2, 2, 2])  # the poses as often as OFTEN says

KINDS = {
    "rigid": {},
    "spines": {"bone_kinds": spine_rigs.KINDS},
    "bendy": {"bone_kinds": ["bendy"] * 3, "bone_segments": [1, 3, 2]},
    "stretchable": {"bone_stretch": [True, False, True]},
}
SETTINGS = {
    "no bone springs": {"bone_spring_stiffness": 0.0},
    "limit": {"max_influences": 2},
    "clusters": {"rotation_clusters": 0.1},
    "coarse": {"coarsen": 40},
    "paper": {"attach": True, "neumann": True, "positivity": "penalty", "peak_stiffness": 0.0},
    "harmonic": {"harmonic": 0.1},
    "no acceleration": {"acceleration": 0},
}


def given(count=3, kind="rigid", seed=5):
    """Poses, and the bends of bones that are not rigid."""
    bones = shapes.chain(3)
    if kind == "stretchable":
        poses = araplbs.sample_poses(*bones, count, seed=seed)
        poses[:, ::2, :, 2] *= np.random.default_rng(seed).uniform(0.7, 1.4, (count, 2, 1))
        return {"poses": poses}
    if kind == "rigid":
        return {"poses": araplbs.sample_poses(*bones, count, seed=seed)}
    ranges = spine_rigs.BENT if kind == "spines" else None
    poses, bends = araplbs.sample_poses(*bones, count, seed=seed, **KINDS[kind], bone_ranges=ranges)
    return {"poses": poses, "bends": bends}


def some(arrays, which):
    return {name: array[which] for name, array in arrays.items()}


def ends(kind):
    """Bones that are not rigid need heads and tails."""
    heads, tails, _parents = shapes.chain(3)
    return {} if kind == "rigid" else {"bone_heads": heads, "bone_tails": tails}


# Energies


@pytest.mark.parametrize("kind", KINDS)
def test_energy_is_the_weighted_mean(kind, rng):
    weights = shapes.random_weights(rng, len(TUBE[0]), 3)
    arrays, more = given(kind=kind), {**KINDS[kind], **ends(kind)}
    energy, each = araplbs.energy(
        *TUBE, weights, **arrays, **more, pose_weights=OFTEN, per_vertex=True
    )
    alone = [
        araplbs.energy(*TUBE, weights, **some(arrays, [p]), **more, per_vertex=True)
        for p in range(3)
    ]
    assert energy == pytest.approx(np.average([e for e, _ in alone], weights=OFTEN), rel=1e-11)
    np.testing.assert_allclose(
        each, np.average([e for _, e in alone], axis=0, weights=OFTEN), atol=1e-12
    )


def test_energy_against_explicit_sums(rng):
    weights = shapes.random_weights(rng, len(TUBE[0]), 3)
    poses = given()["poses"]
    _, a = reference.edge_weights(*TUBE)
    sums = [reference.vertex_energies(TUBE[0], a, weights, poses[[p]]) for p in range(3)]
    energy, unit = (np.tensordot(OFTEN, part, 1).sum() for part in zip(*sums, strict=True))
    assert araplbs.energy(*TUBE, weights, poses, pose_weights=OFTEN) == pytest.approx(
        energy / unit, rel=1e-12
    )


def test_posed_energy_is_the_weighted_mean(rng):
    posed = TUBE[0] + rng.normal(0, 0.1, (3, *TUBE[0].shape))
    energy, each = araplbs.posed_energy(*TUBE, posed, pose_weights=OFTEN, per_vertex=True)
    expected, expected_each = araplbs.posed_energy(*TUBE, posed[TWICE], per_vertex=True)
    assert energy == pytest.approx(expected, rel=1e-13)
    np.testing.assert_allclose(each, expected_each, rtol=1e-12)


# Solvers


def solver(arrays, kind="rigid", mesh=TUBE, **settings):
    settings = {"pose_count": 5, "precision": "double", **KINDS[kind], **settings}
    return araplbs.Solver(*mesh, *shapes.chain(3), **arrays, **settings)


def same(one, two, atol=1e-7):
    """Equal except for rounding, which iterations amplify."""
    np.testing.assert_allclose(one.energies, two.energies, rtol=1e-7)
    np.testing.assert_allclose(one.weights, two.weights, atol=atol)
    assert one.energy == pytest.approx(two.energy, rel=1e-7)


def test_gram_of_more_columns_than_a_tile():
    """Bit-identical for any number of threads."""
    poses = np.random.default_rng(3).normal(size=(3, 600, 3, 4))
    found = []
    for threads in (1, 3):
        s = araplbs.Solver(
            *TUBE, *shapes.chain(600), poses=poses, pose_weights=OFTEN, pose_count=0,
            bone_spring_stiffness=0.0, threads=threads,
        )  # fmt: skip
        found.append(s._inside["gram"])
    transform = s._inside["transform"]
    expected = np.einsum("p,pbki,pckj->bcij", OFTEN, transform, transform, optimize=True)
    np.testing.assert_allclose(found[0], expected, rtol=1e-10, atol=1e-10)
    assert (found[0] == found[1]).all()
    assert (found[0] == found[0].transpose(1, 0, 3, 2)).all()


def test_gram_and_right_side_are_dense_sums():
    poses = given()["poses"]
    s = solver({"poses": poses}, pose_weights=OFTEN, bone_spring_stiffness=0.0, edge_power=0.0,
    link_parts=False,
               pose_count=2, peak_stiffness=0.0, max_influences=0, expansion_rounds=0)  # fmt: skip
    s.iterate(1)
    inside = s._inside
    often = np.concatenate([[1, 1], OFTEN])
    transform = inside["transform"]
    np.testing.assert_allclose(
        inside["gram"],
        np.einsum("p,pbki,pckj->bcij", often, transform, transform),
        rtol=1e-12, atol=1e-12,
    )  # fmt: skip
    a, weights = reference.edge_matrix(inside), s.raw_weights
    quadratics = [
        reference.Quadratic(inside["points"], a, weights, transform[[p]]) for p in range(5)
    ]
    assert len(inside["bone"]) == weights.size, "every bone moves every vertex"

    def differences(entries):  # each pose is shifted, which no row that sums to 1 feels
        rows = np.reshape(entries, weights.shape)
        return rows - rows.mean(1, keepdims=True)

    each = list(zip(often, quadratics, strict=True))
    right = sum(w * q.right_side for w, q in each)
    product = sum(w * q.design.T @ (q.design @ weights.ravel()) for w, q in each)
    for name, dense in (("right_side", right), ("product", product)):
        np.testing.assert_allclose(differences(inside[name]), differences(dense), atol=1e-11)


@pytest.mark.parametrize("kind", KINDS)
def test_weight_two_is_the_pose_twice(kind):
    arrays = given(kind=kind)
    weighted = solver(arrays, kind, pose_weights=OFTEN)
    twice = solver(some(arrays, TWICE), kind)
    weighted.solve(), twice.solve()
    same(weighted, twice)
    once = shapes.solved(solver(arrays, kind))
    assert np.abs(once.weights - weighted.weights).max() > 1e-4, "weights do nothing"


@pytest.mark.parametrize("name", SETTINGS)
def test_weight_two_is_the_pose_twice_whatever_the_settings(name):
    mesh = shapes.tube(10, 21) if name == "coarse" else TUBE
    arrays = given()
    weighted = solver(arrays, mesh=mesh, pose_weights=OFTEN, **SETTINGS[name])
    twice = solver(some(arrays, TWICE), mesh=mesh, **SETTINGS[name])
    weighted.solve(), twice.solve()
    same(weighted, twice)
    assert bool(weighted.report["coarse_vertices"]) == (name == "coarse")
    assert weighted.report["poses"] == 8


def test_in_single_precision():
    arrays = given(40)
    often = np.tile([1.0, 0.5, 4.0, 2.5], 10)
    single = solver(arrays, pose_weights=often, precision="single")
    double = solver(arrays, pose_weights=often)
    single.solve(), double.solve()
    assert single.energy == pytest.approx(double.energy, rel=1e-3)
    np.testing.assert_allclose(single.weights, double.weights, atol=0.02)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("factor", [1e-6, 8.0, 1e5])
def test_the_unit_of_weights_does_not_matter(kind, factor):
    """Without random poses, whose weight is 1."""
    arrays = given(6, kind)
    often = np.array([1, 2, 1, 5, 3, 1.0])
    one = solver(arrays, kind, pose_count=0, pose_weights=often)
    other = solver(arrays, kind, pose_count=0, pose_weights=factor * often)
    one.solve(), other.solve()
    same(one, other, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_weight_one_changes_no_bit(kind):
    arrays = given(kind=kind)
    plain, ones = solver(arrays, kind), solver(arrays, kind, pose_weights=np.ones(3))
    plain.solve(), ones.solve()
    np.testing.assert_array_equal(plain.weights, ones.weights)
    np.testing.assert_array_equal(plain.energies, ones.energies)


@pytest.mark.parametrize("kind", KINDS)
def test_weight_zero_is_no_pose(kind):
    arrays = given(kind=kind)
    zero = solver(arrays, kind, pose_weights=[1, 0, 1])
    without = solver(some(arrays, [0, 2]), kind)
    zero.solve(), without.solve()
    same(zero, without)


# Joints


TREES = joint_rigs.two_trees()
ROUND = shapes.tube(9, 14, 0.75, 2.0)
WIDE = ROUND[0] * [1.6, 0.5, 1] + [0.5, 0, 0], ROUND[1]  # around both
RIGS = {
    "chain": (joint_rigs.moved(joint_rigs.BONES, 1, [0.15, 0, 0]), joint_rigs.ARM, {}),
    "trees": (TREES[0], TREES[1], {"bone_spring_stiffness": 0.0}),
    "trees in one mesh": (
        TREES[0],
        WIDE,
        {"bone_spring_stiffness": 0.0, "component_stiffness": 1.0},
    ),
    "bone_spring_stiffness": (
        joint_rigs.moved(joint_rigs.BONES, 2, [0, 0.1, 0]),
        joint_rigs.ARM,
        {"bone_spring_stiffness": 12.0},
    ),
    "spines": (joint_rigs.moved(spine_rigs.rig(), 1, [0.1, 0, 0]), shapes.tube(7, 11), {}),
}


@pytest.mark.parametrize("rig", RIGS)
@pytest.mark.parametrize("method", ["alternate", "together"])
def test_joints_with_weight_two_are_those_of_the_pose_twice(rig, method):
    bones, mesh, settings = RIGS[rig]
    sampled = araplbs.sample_poses(*bones, 3, seed=5, **bones.more)
    spines = bones.kinds is not None
    arrays = {"poses": sampled[0], "bends": sampled[1]} if spines else {"poses": sampled}
    settings = {"method": method, "iterations": 3, "pose_count": 4, **settings}
    weighted = joint_rigs.solver(bones, mesh, **arrays, pose_weights=OFTEN, **settings)
    twice = joint_rigs.solver(bones, mesh, **some(arrays, TWICE), **settings)
    plain = joint_rigs.solver(bones, mesh, **arrays, **settings)
    weighted.solve(), twice.solve(), plain.solve()
    np.testing.assert_allclose(weighted.energies, twice.energies, rtol=2e-4)
    off = np.abs(weighted.heads - twice.heads).max()  # round-off, through all iterations
    assert off < 1e-4
    assert np.abs(weighted.heads - plain.heads).max() > 3 * off, "weights do nothing"


# Refusals


def call_of(name):
    if name in ("Solver", "JointSolver"):
        return {**GOOD, "poses": POSES}
    mesh = {"vertices": MESH[0], "triangles": MESH[1]}
    if name == "energy":
        return {**mesh, "weights": WEIGHTS, "poses": POSES}
    return {**mesh, "posed": MESH[0][None].repeat(2, 0)}


BAD = {
    "negative": (r"pose_weights\[1\] is -1: must be 0, or from 1e-06 to 1e\+06", [1, -1.0]),
    "not a number": (r"pose_weights\[0\] is nan: must", [NAN, 1]),
    "infinite": (r"pose_weights\[1\] is inf: must", [1, INF]),
    "too large": (r"pose_weights\[0\] is 1e\+07: must", [1e7, 1]),
    "too small": (r"pose_weights\[0\] is 1e-07: must", [1e-7, 1]),
    "too many": (r"pose_weights has shape \(3,\), expected \(2,\)", [1, 1, 1]),
    "too few": (r"pose_weights has shape \(1,\), expected \(2,\)", [1]),
    "a column": (r"pose_weights has shape \(2, 1\), expected \(", [[1], [1]]),
}


@pytest.mark.parametrize("function", ["Solver", "JointSolver", "energy", "posed_energy"])
@pytest.mark.parametrize("what", BAD)
def test_bad_weights(function, what):
    pattern, value = BAD[what]
    call = getattr(araplbs, function)
    refuse(ValueError, pattern, call, **call_of(function), pose_weights=value)
    call(**call_of(function), pose_weights=[2, 0.0])


@pytest.mark.parametrize("function", ["Solver", "energy", "posed_energy"])
def test_something_must_count(function):
    more = {"pose_count": 0} if function == "Solver" else {}
    pattern = "pose_weights are all 0: no pose counts"
    call = getattr(araplbs, function)
    refuse(ValueError, pattern, call, **call_of(function), **more, pose_weights=[0, 0])


def test_random_poses_count_where_no_other_does():
    araplbs.Solver(**call_of("Solver"), pose_weights=[0, 0])


@pytest.mark.parametrize("function", ["Solver", "JointSolver"])
def test_weights_need_poses(function):
    call = getattr(araplbs, function)
    refuse(ValueError, r"pose_weights has shape \(2,\), expected \(0,\)", call, **GOOD,
           pose_weights=[1, 1])  # fmt: skip


def test_no_numbers():
    call = {**call_of("Solver"), "pose_weights": ["a", "b"]}
    with pytest.raises((TypeError, ValueError), match="pose_weights"):
        araplbs.Solver(**call)
