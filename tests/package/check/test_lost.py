"""Finds bones that have lost the skin that they moved before."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from paths import ROOT


def judge(name):
    """A module of the benchmark."""
    sys.path.append(str(ROOT / "bench"))
    return pytest.importorskip(name)


HEADS = np.array([(0.0, 0, z) for z in range(4)])
PARENTS = np.array([-1, 0, 1, 2])


def subject(core, points):
    skeleton = SimpleNamespace(
        names=["a", "b", "c", "d"], heads=HEADS, tails=HEADS + np.array((0, 0, 1)), parents=PARENTS
    )
    return SimpleNamespace(arguments={"vertices": points}, skeleton=skeleton)


@pytest.fixture
def chain(core):
    """(problem, rows of weights from a dense array, skin of each of four bones in a line)."""
    angle = np.linspace(0, 2 * np.pi, 6, endpoint=False)
    ring = np.column_stack([np.cos(angle), np.sin(angle), 0 * angle])
    points = np.concatenate([ring + np.array((0, 0, z + 0.5)) for z in range(4)])
    rows = core("model.sparse_weights").sparse_of
    return subject(core, points), rows, np.repeat(np.eye(4), 6, axis=0)


def test_a_leaf_that_its_parent_has_taken(core, chain):
    lost = core("features.check.lost").lost_bones
    problem, rows, own = chain
    taken = own.copy()
    taken[18:, 3], taken[18:, 2] = 0, 1
    assert lost(problem, rows(own), rows(own)) == []
    assert lost(problem, rows(own), rows(taken)) == [3]
    assert lost(problem, rows(taken), rows(own)) == [], "what is given moves more"


def test_what_hangs_on_a_bone_moves_with_it(core, chain):
    """Skin that a child takes still follows the parent."""
    lost = core("features.check.lost").lost_bones
    problem, rows, own = chain
    passed = own.copy()
    passed[6:12, 1], passed[6:12, 2] = 0, 1
    assert lost(problem, rows(own), rows(passed)) == []


def test_a_share_is_enough(core, chain):
    lost = core("features.check.lost").lost_bones
    problem, rows, own = chain
    for share, expected in ((0.3, []), (0.2, [3])):
        blended = own.copy()
        blended[18:, 3], blended[18:, 2] = share, 1 - share
        assert lost(problem, rows(own), rows(blended)) == expected


def test_a_few_vertices_are_no_skin(core, chain):
    lost = core("features.check.lost").lost_bones
    problem, rows, own = chain
    few, none = own.copy(), own.copy()
    few[18:21], none[18:] = (0, 0, 1, 0), (0, 0, 1, 0)
    assert lost(problem, rows(few), rows(none)) == []


def test_as_the_judge_of_the_benchmark_has_it(core, chain):
    """The result is compared with bench/rig_response.py, which shares no code with the
    package."""
    lost, rng = core("features.check.lost").lost_bones, np.random.default_rng(3)
    rig_response = judge("rig_response")
    problem, rows, own = chain
    skeleton, points = problem.skeleton, problem.arguments["vertices"]
    for _ in range(20):
        new = rng.dirichlet([0.15] * 4, len(own))
        bones = skeleton.heads, skeleton.tails, skeleton.parents
        assert lost(problem, rows(own), rows(new)) == rig_response.deaf_bones(
            points, *bones, new, own
        )


def limbs(core, chain):
    """Triangles over the rings of the chain, whose third bone is a limb beside the fourth."""
    problem, rows, own = chain
    around = np.arange(6)
    below, up = (np.array([around + 6 * k for k in range(3)]) + off for off in (0, 6))
    after = np.roll(around, -1)
    problem.arguments["triangles"] = np.concatenate(
        [np.column_stack([a, b[after], b]) for a, b in zip(below, up, strict=True)]
        + [np.column_stack([a, a[after], b[after]]) for a, b in zip(below, up, strict=True)]
    )
    problem.skeleton.parents = np.array([-1, 0, 0, 0])
    return problem, rows, own, core("features.check.lost").reaching_bones


def test_a_limb_that_moves_skin_of_another(core, chain):
    problem, rows, own, reaching = limbs(core, chain)
    pulled = own.copy()
    pulled[18:, 2], pulled[18:, 3] = 0.6, 0.4
    assert reaching(problem, rows(own), rows(own)) == []
    assert reaching(problem, rows(own), rows(pulled)) == [(2, 3)]
    bare = own.copy()
    bare[18:] = 0
    assert reaching(problem, rows(bare), rows(pulled)) == [], "nobody moved this skin"
    slightly = 0.9 * own + 0.1 * pulled
    assert reaching(problem, rows(own), rows(slightly)) == []
    problem.skeleton.parents = np.array([-1, 0, 0, 2])
    assert reaching(problem, rows(own), rows(pulled)) == [], "its child moved this skin"
    problem.skeleton.parents = np.array([-1, 0, 3, 0])
    assert reaching(problem, rows(own), rows(pulled)) == [(2, 3)], "its parent did"
    problem.arguments["triangles"] = np.zeros((0, 3), int)
    assert reaching(problem, rows(own), rows(pulled)) == [], "without a surface"


def test_a_body_is_no_limb(core, chain):
    """Almost all skin belonged to the first bone, and hardly any to the third."""
    problem, rows, own, reaching = limbs(core, chain)
    whole = np.tile([1.0, 0, 0, 0], (24, 1))
    assert reaching(problem, rows(whole), rows(own)) == []
    pulled = own.copy()
    pulled[:6, 0], pulled[6:12, 0], pulled[6:12, 1] = 1, 1, 0
    assert reaching(problem, rows(own), rows(pulled)) == [], "an ancestor"


def test_as_the_judge_of_the_benchmark_has_overreach(core, chain):
    """What is reported lies within the overreach of bench/yardstick.py."""
    yardstick = judge("yardstick")
    problem, rows, own, reaching = limbs(core, chain)
    areas = core("base.extent").vertex_areas(*problem.arguments.values())
    rng, told = np.random.default_rng(5), 0
    np.testing.assert_allclose(areas, yardstick.vertex_areas(*problem.arguments.values()))
    for _ in range(20):
        new = rng.dirichlet([0.15] * 4, len(own))
        over = yardstick.overreach(new, own, problem.skeleton.parents, areas)
        found = reaching(problem, rows(own), rows(new))
        told += len(found)
        assert over > 0.01 * len(found) * 0.25
    assert told


def test_with_lost_names_both(core, chain):
    problem, rows, own, _reaching = limbs(core, chain)
    with_lost = core("features.check.lost").with_lost
    pulled, none = own.copy(), own.copy()
    pulled[18:, 2], pulled[18:, 3] = 0.6, 0.4
    none[18:] = (0, 0, 1, 0)
    compared = {"file": {}, "worse": False}
    found = with_lost(compared, problem, rows(own), rows(pulled))
    assert found == {"file": {}, "worse": False, "lost": [], "reaching": {"c": "d"}}
    (line,) = core("reports.warning_lines").reach_lines({"compared": found})
    assert line == "'c' moves skin that 'd' moved before"
    found = with_lost(compared, problem, rows(own), rows(none))
    assert found["lost"] == ["d"] and found["reaching"] == {}, "said once"
    assert core("reports.warning_lines").reach_lines({}) == []


def test_bones_without_length(core, chain):
    lost = core("features.check.lost").lost_bones
    problem, rows, own = chain
    problem.skeleton.tails = problem.skeleton.heads
    none = own.copy()
    none[18:] = (0, 0, 1, 0)
    assert lost(problem, rows(own), rows(none)) == [3]


def test_given_back(core, chain):
    """The bone gets back all skin that was its own, and half of the skin where it had a quarter.
    The number of influences does not grow."""
    of = core("features.check.lost")
    problem, rows, own = chain
    before, after = own.copy(), own.copy()
    before[12] = (0, 0, 0.75, 0.25)
    after[18:] = (0, 0, 1, 0)
    after[12] = (0, 0.5, 0.5, 0)
    lost, locked = np.array([False, False, False, True]), np.zeros(4, bool)
    assert of.lost_bones(problem, rows(before), rows(after)) == [3]
    found, where = of.given_back(rows(before), rows(after), lost, locked)
    assert np.flatnonzero(where).tolist() == [12, *range(18, 24)]
    dense = np.zeros_like(own)
    dense[found.vertices, found.bones] = found.weights
    np.testing.assert_array_equal(dense[18:], before[18:])
    np.testing.assert_array_equal(dense[:12], after[:12])
    assert (dense[12] > 0).sum() == 2 and dense[12, 2] == dense[12].max(), "two at most, as before"
    np.testing.assert_allclose(dense.sum(1), 1)
    assert of.lost_bones(problem, rows(before), found) == []
    locked[1] = True  # since the weights were made: its half of vertex 12 is not free
    after[20] = (0, 0.7, 0.3, 0)
    found, where = of.given_back(rows(before), rows(after), lost, locked)
    dense = core("model.sparse_weights").dense_of(found, 4)
    np.testing.assert_array_equal(dense[:, 1], after[:, 1])
    np.testing.assert_allclose(dense.sum(1), 1)
    assert dense[20, 3] == pytest.approx(0.3)
    assert not of.given_back(rows(before), rows(after), lost, lost)[1].any(), "it is locked"


def test_sums_other_than_one(core, chain):
    """Blender scales weights to a sum of 1, and so does this function."""
    lost = core("features.check.lost").lost_bones
    problem, rows, own = chain
    none = own.copy()
    none[18:] = (0, 0, 1, 0)
    assert lost(problem, rows(0.4 * own), rows(none)) == [3]
    assert lost(problem, rows(own), rows(0.1 * own)) == []


def test_what_bones_still_move(core, chain):
    """Half of the former motion is a sufficient response."""
    responses = core("features.check.lost").responses
    problem, rows, own = chain
    for share, responsive, lost in (
        (0.6, [0, 1, 2, 3], []),
        (0.4, [0, 1, 2], []),
        (0.1, [0, 1, 2], [3]),
    ):
        blended = own.copy()
        blended[18:, 3], blended[18:, 2] = share, 1 - share
        found = responses(problem, rows(own), rows(blended))
        assert found.owners == [0, 1, 2, 3] and (found.responsive, found.lost) == (responsive, lost)
