"""Tests the repair of a finding of each kind, and that all other data stays unchanged."""

from dataclasses import replace
from types import SimpleNamespace

import araplbs
import numpy as np
import pytest
from araplbs.model.sparse_weights import dense_of, make_sparse_weights
from creature import NAMES
from flawed_creature import FLAWS, OF_MESH

BEYOND = "BONE_OUTSIDE"
NOT_BY_WEIGHTS = (BEYOND, "DOUBTFUL_PART")
# The skin that the flaw has spoiled is only a part of what such a joint needs.
HARD = {"COLLAPSE", "DRIFT", "INTERSECTION"}


def sparse(subject):
    """Includes negative weights and those that are not numbers."""
    vertices, bones = np.nonzero(subject.weights)
    return make_sparse_weights(
        len(subject.vertices), vertices, bones, subject.weights[vertices, bones]
    )


def repair_input(subject, refusal=None, **mesh_facts):
    """araplbs.features.repair.repair.RepairInput of the creature with its present weights."""
    core, own = subject.core, subject.core("character.problem")
    checking = core("model.options").Options(**subject.options)
    skeleton = own.Skeleton(**subject.skeleton)
    mesh = own.Mesh(
        "Creature",
        subject.vertices,
        subject.triangles,
        np.zeros((0, 2), int),
        np.eye(4),
        weights=sparse(subject),
        **mesh_facts,
    )
    problem = own.Problem([mesh], skeleton, symmetric=True)
    return core("features.repair.repair").RepairInput(
        problem,
        [mesh],
        [refusal],
        core("character.pose_sets").pose_set(problem, checking),
        checking,
        skeleton,
        None,
        core("model.options").Options(),
    )


def test_cloth_out_of_reach(subject, core, monkeypatch):
    """A finding that cannot be repaired does not stop the repair of the others."""
    repair, refused = core("features.repair.repair"), core("base.refusal").Refused

    def out_of_reach(*_given):
        raise refused("no vertex of the target is within reach")

    FLAWS["INTERSECTION"](subject)
    monkeypatch.setattr(repair, "transfer", out_of_reach)
    done, _before = repaired(subject, "INTERSECTION")
    assert done.outcomes and {each.result for each in done.outcomes} == {"UNCHANGED"}


def repaired(subject, kind, **facts):
    """The core.repair.Repaired, and the findings before."""
    given = repair_input(subject, **facts)
    problem, poses, options = given.problem, given.poses, given.checking
    before = subject.core("features.check.check").check(
        problem, problem.present(given.meshes), poses, options
    )
    done = subject.core("features.repair.repair").repair(
        given, lambda finding: finding.kind == kind, before
    )
    return done, before


def dense(rows):
    return dense_of(rows, len(NAMES))


def worst(findings, kind):
    return max((f.severity for f in findings if f.kind == kind), default=0.0)


@pytest.mark.parametrize(
    "kind", [kind for kind in FLAWS if kind not in (*NOT_BY_WEIGHTS, *OF_MESH)]
)
def test_repaired(subject, kind):
    FLAWS[kind](subject)
    done, before = repaired(subject, kind)
    assert worst(before, kind) > 0
    assert worst(done.findings, kind) < (0.9 if kind in HARD else 0.5) * worst(before, kind)
    after, (changed,) = dense(done.weights[0]), done.changed
    np.testing.assert_array_equal(after[~changed], subject.weights[~changed])
    assert changed.any() and not changed.all()
    assert np.abs(after[changed].sum(1) - 1).max() < 1e-6
    assert {each.finding.kind for each in done.outcomes} == {kind}
    assert "UNCHANGED" not in {each.result for each in done.outcomes} or kind in HARD


def test_weights_that_are_split_are_joined_again(subject):
    given = repair_input(subject)
    rows = given.problem.present(given.meshes)
    again = given.problem.join(given.problem.split(rows))
    for one, other in zip(rows, again, strict=True):
        np.testing.assert_array_equal(one, other)


def test_what_no_weights_repair(subject):
    FLAWS[BEYOND](subject)
    done, before = repaired(subject, BEYOND)
    assert not done.changed[0].any()
    np.testing.assert_array_equal(dense(done.weights[0]), subject.weights)
    assert len(done.findings) == len(before)
    assert done.outcomes and all(
        each.result == "UNCHANGED" and "Optimize Joints" in each.words for each in done.outcomes
    )


def test_bleeding_bone_goes(subject):
    bone, vertices = FLAWS["BLEEDING"](subject)
    done, _before = repaired(subject, "BLEEDING")
    assert not dense(done.weights[0])[vertices, NAMES.index(bone)].any()


def test_a_limb_leaves_the_skin_of_another(subject):
    """With all that hangs on the bone."""
    points = subject.vertices
    vertices = np.flatnonzero((points[:, 0] > -0.15) & (points[:, 2] < 0.75))
    subject.give(vertices, "hand.L", 0.7)
    subject.give(vertices, "back.L", 0.1)
    done, before = repaired(subject, "OVERREACH")
    (finding,) = (each for each in before if each.kind == "OVERREACH")
    assert finding.bone == NAMES.index("hand.L") and finding.others == (NAMES.index("hips"),)
    chain = [NAMES.index(name) for name in ("hand.L", "back.L", "front.L")]
    assert not dense(done.weights[0])[vertices][:, chain].any()


def test_loose_part_goes_with_what_it_sits_on(subject):
    _bone, button = FLAWS["LOOSE_PART"](subject)
    done, _before = repaired(subject, "LOOSE_PART")
    of_button = dense(done.weights[0])[button].mean(0)
    assert of_button[NAMES.index("chest")] + of_button[NAMES.index("hips")] > 0.9


def test_symmetric_weights_stay_symmetric(subject):
    """Both sides have the same fault, and one side is repaired."""
    FLAWS["SPECKLE"](subject)
    done, _before = repaired(subject, "SPECKLE")
    assert worst(done.findings, "ASYMMETRY") == 0


def test_locked_bones(subject):
    FLAWS["UNNORMALIZED"](subject)
    locked = np.arange(len(NAMES)) == NAMES.index("head")
    done, _before = repaired(subject, "UNNORMALIZED", locked_bones=locked)
    after = dense(done.weights[0])
    np.testing.assert_array_equal(after[:, locked], subject.weights[:, locked])


def test_locked_vertices(subject):
    _bone, bare = FLAWS["UNWEIGHTED"](subject)
    locked = np.isin(np.arange(len(subject.vertices)), bare[::2])
    done, _before = repaired(subject, "UNWEIGHTED", locked_vertices=locked)
    after = dense(done.weights[0])
    assert not after[bare[::2]].any() and (after[bare[1::2]].sum(1) > 0.99).all()
    np.testing.assert_array_equal(after[locked], subject.weights[locked])


def test_mesh_that_cannot_be_changed(subject):
    FLAWS["UNWEIGHTED"](subject)
    done, _before = repaired(subject, "UNWEIGHTED", refusal="it is linked")
    assert not done.changed[0].any()
    assert [each.words for each in done.outcomes] == ["it is linked"]


def test_weights_that_are_no_numbers(subject):
    some = subject.near((0, 0, 2.4), 0.25)
    bone = subject.weights[some].argmin(1)
    subject.weights[some, bone] = -0.2
    subject.weights[some[0], bone[0]] = np.nan
    done, before = repaired(subject, "UNNORMALIZED")
    assert worst(before, "UNNORMALIZED") == 1 and worst(done.findings, "UNNORMALIZED") == 0
    assert (dense(done.weights[0])[some] >= 0).all()


def test_worse_weights_are_taken_back(subject, monkeypatch):
    """The repair is taken back if the solver makes the weights worse."""
    bone, vertices = FLAWS["SPECKLE"](subject)
    module, rows = subject.core("features.repair.repair"), subject.core("model.sparse_weights")

    def spoil(problem, _options, _threads, _progress):
        given = problem.arguments["weights"]
        new = np.flatnonzero(~problem.arguments["locked_vertices"])
        bones = np.full(len(new), NAMES.index("hand.L"))
        spoiled = rows.make_sparse_weights(given.count, new, bones, np.ones(len(new)))
        return SimpleNamespace(rows=spoiled)

    monkeypatch.setattr(module, "solve_new", spoil)
    done, before = repaired(subject, "SPECKLE")
    assert bone and not done.changed[0].any()
    np.testing.assert_array_equal(dense(done.weights[0]), subject.weights)
    assert len(done.findings) == len(before)
    assert "the old ones were kept" in done.outcomes[0].words
    assert done.outcomes[0].result == "UNCHANGED" and len(vertices) == 1


@pytest.mark.parametrize("kind", ["DEAF_BONE", "STRETCH"])
def test_the_result_never_becomes_worse(subject, kind):
    """Where a weighting was measured, a repair that costs stretch is taken back; other weights may
    stretch more so that skin follows its bone, or a part what it sits on."""
    FLAWS[kind](subject)
    core, given = subject.core, repair_input(subject)
    measured = core("character.pose_sets").measured_poses(given.problem, given.checking)
    repair, costs = core("features.repair.repair").repair, kind != "STRETCH"
    free, strict = (
        repair(each, lambda finding: finding.kind == kind)
        for each in (given, replace(given, measured=measured))
    )
    assert {each.result for each in free.outcomes} & {"REPAIRED", "BETTER"}
    assert {each.result for each in strict.outcomes} == (
        {"UNCHANGED"} if costs else {each.result for each in free.outcomes}
    )
    assert (free.measures["stretch"] > strict.measures["stretch"]) == costs
    assert costs == (not strict.changed[0].any())
    assert not costs or "would stretch more" in strict.outcomes[0].words


def test_cancelled(subject):
    FLAWS["UNWEIGHTED"](subject)
    given = repair_input(subject)
    fractions = []

    def told(_stage, fraction, _energy):
        fractions.append(fraction)
        return fraction < 0.5

    with pytest.raises(araplbs.Cancelled):
        subject.core("features.repair.repair").repair(given, lambda _finding: True, progress=told)
    assert fractions == sorted(fractions)


def test_report_of_a_repair(core):
    rows, finding = core("features.repair.repair"), core("features.check.findings").Finding
    problem = SimpleNamespace(names=["Body"], skeleton=SimpleNamespace(names=["arm"]))
    found = finding("STRETCH", 0.9, 0, 0, np.array([3, 4]), 2.0, "it stretches")
    outcome = rows.Outcome(found, "UNCHANGED", 0.12345, "It is locked")
    repaired = rows.Repaired([], [], [found], [outcome])
    options = core("model.options").Options()
    report = core("features.repair.report").repair_report(
        "Rig", problem, repaired, [{"name": "Body"}], 0.0, options
    )
    (each,) = report["repairs"]
    assert (each["kind"], each["bone"], each["vertices"]) == ("STRETCH", "arm", [3, 4])
    assert (each["result"], each["severity_now"], each["why"]) == (
        "UNCHANGED",
        0.123,
        outcome.words,
    )
    assert report["findings"][0]["words"] == "it stretches" and report["seconds"] > 0
    assert report["objects"] == [{"name": "Body"}] and report["options"] == options.as_dict()
