"""The methods are compared on a small character. The tests cover the registry, the evaluation, and
methods that cannot run."""

from dataclasses import replace

import araplbs
import numpy as np
import pytest
from araplbs.base.refusal import Refused
from araplbs.features.compare import methods as compare_methods
from araplbs.features.compare.arrays import case_of_arrays
from araplbs.features.compare.compare import compare
from araplbs.features.compare.judge import ANIMATION, JUDGE_SEED, RANDOM, judged_poses
from araplbs.features.compare.methods import METHODS, Method, as_sparse, find_methods
from araplbs.features.compare.options import CompareOptions
from araplbs.model.options import Options
from araplbs.skeleton.poses import sample
from compared import OPTIONS, bent, painted, tube_case
from refusals import refuse
from shapes import chain, solved, tube

QUICK = ["PRESENT", "HEAT", "OURS", "OURS_DUAL"]


@pytest.fixture(scope="module")
def compared():
    return compare(tube_case(), OPTIONS)


def test_all_methods(compared):
    assert [o.identifier for o in compared.outcomes] == [m.identifier for m in METHODS]
    assert {o.identifier for o in compared.failed} == {"BLENDER_HEAT", "BLENDER_ENVELOPE"}
    assert all(o.reason == "needs Blender" for o in compared.failed)
    for outcome in compared.done:
        assert set(outcome.measures) == {RANDOM, ANIMATION}
        assert outcome.poses[RANDOM] <= 5 and outcome.poses[ANIMATION] <= 4
        for measures in outcome.measures.values():
            assert 0 < measures["surface_strain"] < 2 and measures["closed_parts"] == 1
        assert outcome.shown.shape == (*outcome.strain.shape, 3) == (5, 252, 3)
        assert np.isfinite(outcome.strain).all()


def test_identifiers_are_unique():
    assert len({m.identifier for m in METHODS}) == len(METHODS)
    assert all(m.name and m.about for m in METHODS)


def test_measures_are_those_of_the_engine(compared):
    """Our measures, computed separately: the weights of a Solver, evaluated by
    araplbs.deformation."""
    case, ours = compared.case, compared.find("OURS")
    arguments, skeleton = case.problem.arguments, case.problem.skeleton
    solver = solved(araplbs.Solver(**case.problem.solver_arguments(Options())))
    np.testing.assert_array_equal(ours.rows.weights, solver.sparse_weights[2])
    for kind, poses in case.poses.items():
        found = araplbs.deformation(
            arguments["vertices"], arguments["triangles"], solver.sparse_weights,
            poses.transforms, skeleton.heads, skeleton.tails,
        )  # fmt: skip
        measures = ours.measures[kind]
        assert measures["surface_strain"] == found["area"]
        assert measures["limb_drift"] == found["drift"]
        assert measures["volume_change"] == found["volume"]
    assert ours.most_influences <= 4


def test_parts_make_up_the_whole(compared):
    case, outcome = compared.case, compared.find("PRESENT")
    names = [name for name, _bones in compared.parts]
    assert names == ["hip"], "one chain"
    for measures in outcome.measures.values():
        assert measures["parts"]["hip"]["surface_strain"] == pytest.approx(
            measures["surface_strain"], rel=1e-6
        )
    assert measures["parts"]["hip"]["triangles"] == len(case.problem.arguments["triangles"])


def test_likeness(compared):
    present = compared.find("PRESENT")
    assert present.likeness == {"l1": 0, "precision": 1, "recall": 1}
    assert present.seconds is None
    heat = compared.find("HEAT")
    assert 0 < heat.likeness["l1"] < 2 and 0 < heat.likeness["recall"] <= 1
    assert compared.find("OURS_DUAL").likeness is None, "a deformer is no other weights"


def test_heat_is_limited():
    case = tube_case(CompareOptions(max_influences=2, judged_poses=2))
    found = compare(case, CompareOptions(max_influences=2), methods=["heat"]).find("HEAT")
    assert found.most_influences == 2
    np.testing.assert_allclose(found.rows.sums(), 1)


def test_dual_quaternions(compared):
    case, dual = compared.case, compared.find("OURS_DUAL")
    view = compared.views[-1]
    assert view.kind == ANIMATION
    expected = araplbs.dual_quaternion_skinning(
        case.problem.arguments["vertices"],
        tuple(compared.find("OURS").rows),
        view.pose.transforms,
        bone_axes=np.stack(
            [np.tile(axis, (3, 1)) for axis in ((-1, 0, 0), (0, 0, 1), (0, 1, 0))], axis=2
        ).astype(float),
    )[0]
    np.testing.assert_allclose(dual.shown[-1], expected, atol=1e-6)
    linear = compared.find("OURS").shown[-1]
    assert np.abs(linear - dual.shown[-1]).max() > 1e-3


def test_linear_pictures_are_linear(compared):
    case, outcome = compared.case, compared.find("PRESENT")
    weights = painted(case.problem.arguments["vertices"], chain(3))
    points = case.problem.arguments["vertices"]
    transforms = compared.views[-1].pose.transforms[0]
    expected = np.einsum("vb,brc,vc->vr", weights, transforms[..., :3], points)
    expected += weights @ transforms[..., 3]
    np.testing.assert_allclose(outcome.shown[-1], expected, atol=1e-6)
    np.testing.assert_allclose(outcome.shown[0], points, atol=1e-6)


def test_random_pictures_stand_upright(compared):
    """Vertices that only follow the root bone are at their rest positions."""
    case, heat = compared.case, compared.find("PRESENT")
    alone = painted(case.problem.arguments["vertices"], chain(3))[:, 0] > 0.999
    assert alone.any() and compared.views[1].kind == RANDOM
    points = case.problem.arguments["vertices"][alone]
    np.testing.assert_allclose(heat.shown[1][alone], points, atol=1e-5)


def test_poses_are_others_than_those_of_the_methods(compared):
    skeleton = compared.case.problem.skeleton
    own, _bends = sample(skeleton, Options(pose_count=5), None)
    judged = compared.case.poses[RANDOM].transforms
    assert np.abs(own - judged).max() > 0.1
    same = replace(OPTIONS, seed=JUDGE_SEED)
    assert np.abs(judged_poses(skeleton, same).transforms - judged).max() > 0.1


def test_without_weights_and_animation():
    case = tube_case(weights=False, animation=False)
    found = compare(case, OPTIONS, methods=["present", "heat"])
    (failed,) = found.failed
    assert failed.reason == "the file has no weights for these bones"
    assert list(found.find("HEAT").measures) == [RANDOM]
    assert found.find("HEAT").likeness is None


def test_a_deformer_needs_the_weights_of_ours():
    """Our weights are solved without being requested, and do not form a row."""
    found = compare(tube_case(), OPTIONS, methods=["ours-dual"])
    assert [o.identifier for o in found.outcomes] == ["OURS_DUAL"] and not found.failed
    case = tube_case()
    case.problem.arguments["bone_deform"] = np.zeros(3, bool)  # nothing can be solved for
    found = compare(case, OPTIONS, methods=QUICK)
    assert {o.identifier for o in found.done} == {"PRESENT"}
    assert found.outcomes[-1].reason.startswith("Auto-weight (ARAP): ")


def test_the_others_go_on(monkeypatch):
    def fail(error):
        def make(work):
            raise error

        return make

    failing = [
        Method("A", "A", "a", fail(Refused("open mesh"))),
        Method("B", "B", "b", fail(ValueError("no tets"))),
        Method("C", "C", "c", fail(araplbs.SolverError("singular"))),
        Method("D", "D", "d", fail(MemoryError("too large"))),
    ]
    methods = (*failing, *find_methods(["PRESENT"]))
    monkeypatch.setattr(compare_methods, "METHODS", methods)
    found = compare(tube_case(), OPTIONS)
    reasons = ["open mesh", "no tets", "singular", "too large", None]
    assert [o.reason for o in found.outcomes] == reasons
    assert len(found.done) == 1


def test_what_is_read_beforehand():
    case = tube_case()
    count = len(case.problem.arguments["vertices"])
    rigid = np.zeros((count, 3))
    rigid[:, 1] = 1
    rigid[:9] = 0
    case.given = {"BLENDER_HEAT": as_sparse(rigid), "BLENDER_ENVELOPE": "no envelope"}
    case.seconds = {"BLENDER_HEAT": 0.25}
    found = compare(case, OPTIONS, methods=["blender-heat", "blender-envelope"])
    assert found.outcomes[1].reason == "no envelope"
    heat = found.outcomes[0]
    assert heat.seconds == 0.25 and heat.unweighted == 9 and heat.most_influences == 1
    assert heat.influences == pytest.approx((count - 9) / count)
    case.given["BLENDER_HEAT"] = as_sparse(np.zeros((count, 3)))
    found = compare(case, OPTIONS, methods=["blender-heat"])
    assert found.outcomes[0].reason == "it leaves all vertices without weights"


def test_progress_rises_and_names_methods():
    told = []
    compare(tube_case(), OPTIONS, 1, lambda *what: told.append(what), QUICK)
    fractions = [fraction for _stage, fraction, _energy in told]
    assert fractions == sorted(fractions) and fractions[0] >= 0 and 0.9 < fractions[-1] <= 1
    assert {stage for stage, _f, _e in told} == {m.name for m in find_methods(QUICK)}


@pytest.mark.parametrize("calls", [0, 3, 8, 15])
def test_cancelled(calls):
    left = [calls]

    def progress(_stage, _fraction, _energy):
        left[0] -= 1
        return left[0] >= 0

    with pytest.raises(araplbs.Cancelled):
        compare(tube_case(), OPTIONS, 1, progress, QUICK)
    assert left[0] == -1, "asked once more at most"


def test_same_every_time_and_with_any_threads():
    one, other = (compare(tube_case(), OPTIONS, threads, None, QUICK) for threads in (1, 2))
    for a, b in zip(one.done, other.done, strict=True):
        assert a.measures == b.measures and a.likeness == b.likeness
        np.testing.assert_array_equal(a.shown, b.shown)


def test_unknown_method():
    with pytest.raises(Refused, match="no method bone-heat; available: present, blender-heat"):
        find_methods(["bone-heat"])
    assert [m.identifier for m in find_methods(["ours", "Heat"])] == ["HEAT", "OURS"]


def test_wrong_arrays():
    vertices, triangles = tube()
    bones = chain(3)
    arguments = vertices, triangles, *bones
    wrong = {
        "bone_names has 2 rows, but there are 3 bones": {"bone_names": ["a", "b"]},
        "bone_deform has 1 rows": {"bone_deform": [True]},
        "bone_roll_axes has 2 rows": {"bone_roll_axes": np.zeros((2, 3))},
        "weights has 5 rows, but there are 72 vertices": {"weights": np.zeros((5, 3))},
        r"animation has shape \(6, 2, 4, 4\)": {"animation": bent(chain(2))},
        r"animation has shape \(1, 3\)": {"animation": np.zeros((1, 3))},
    }
    for message, each in wrong.items():
        refuse(ValueError, message, lambda each=each: case_of_arrays(*arguments, **each))
    with pytest.raises(ValueError, match="bone_parents has 2 rows"):
        case_of_arrays(vertices, triangles, bones.heads, bones.tails, [0, 1])
    with pytest.raises(ValueError, match="bone_tails has 1 rows"):
        case_of_arrays(vertices, triangles, bones.heads, bones.tails[:1], bones.parents)


def test_wrong_options():
    for name, value in (("judged_poses", 0), ("judged_frames", -1), ("max_influences", -1)):
        with pytest.raises(ValueError, match=name):
            CompareOptions(**{name: value})


def test_roll_axes_that_are_not_known():
    rolls = np.array([(0, 1.0, 0), (np.nan, 0, 0), (0, 1, 0)])
    vertices, triangles = tube()
    case = case_of_arrays(vertices, triangles, *chain(3), bone_roll_axes=rolls)
    found = case.problem.skeleton.roll_axes
    assert np.isfinite(found).all() and abs(found[1, 2]) < 1e-12
    np.testing.assert_array_equal(found[[0, 2]], rolls[[0, 2]])
