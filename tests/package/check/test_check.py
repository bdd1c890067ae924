"""Check Weights: each kind of finding on a creature with just that fault, and not on the creature
without faults."""

import json

import araplbs
import numpy as np
import pytest
from flawed_creature import FLAWS, OF_MESH, N, asymmetry, bleeding, speckle


def test_every_kind_has_a_flaw(core):
    assert set(FLAWS) == set(core("features.check.kinds").KIND_OF)
    assert set(OF_MESH) == core("features.check.kinds").OF_MESH


def test_sound(subject):
    """The solver's weights of a creature without faults have no relevant findings."""
    findings, _problem = subject.findings()
    assert [f.words for f in findings if f.severity >= 0.33] == []


@pytest.mark.parametrize("kind", FLAWS)
def test_flaw(subject, kind):
    """The fault is found and named at its place. Without it, there is no finding of this kind."""
    before, _problem = subject.findings()
    assert [f.words for f in before if f.kind == kind] == []
    bone, vertices = FLAWS[kind](subject)
    findings, problem = subject.findings()
    found = [f for f in findings if f.kind == kind]
    assert found
    if bone:
        found = [f for f in found if f.bone == N(bone)]
        assert found and f"'{bone}'" in found[0].words
    if vertices is not None:
        hit = np.intersect1d(np.concatenate([f.vertices for f in found]), vertices)
        assert len(hit) >= 0.3 * min(len(vertices), len(found[0].vertices))
    assert all(0 < f.severity <= 1 for f in findings)
    assert [f.severity for f in findings] == sorted((f.severity for f in findings), reverse=True)
    plain = core_json(subject, findings, problem)
    assert json.loads(json.dumps(plain)) == plain
    keys = "kind level severity mesh bone others vertices value words"
    assert set(keys.split()) == set(plain[0])


def test_what_two_checks_share(core, subject):
    """Mesh data shared with the check of other weights changes nothing: for a mesh with shells and
    every fault of the weights, the findings equal the findings of a separate check."""
    check, inspected = core("features.check.check"), core("features.check.inspected")
    rows, options = (
        core("model.sparse_weights"),
        core("model.options").Options(pose_count=12),
    )
    FLAWS["INNER_SHELL"](subject)
    first, problem = rows.sparse_of(subject.weights), subject.problem
    bleeding(subject)
    speckle(subject)
    poses = core("character.pose_sets").pose_set(problem, options)
    look = inspected.Inspected(problem, first, poses, options)
    assert check.findings_of(look)
    area = look.measures["area"]
    second = rows.sparse_of(subject.weights)
    shared = inspected.Inspected(problem, second, poses, options, like=look)
    own = inspected.Inspected(problem, second, poses, options)
    found = [core_json(subject, check.findings_of(each), problem) for each in (shared, own)]
    assert found[0] == found[1]
    assert shared.nearest is look.nearest and shared.measures is not look.measures
    assert shared.measures["area"] == own.measures["area"] != area


def core_json(subject, findings, problem):
    return subject.core("features.check.findings").as_json(findings, problem)


def test_bone_in_the_skin(subject):
    """Skin next to a bone that lies in the skin, like the bones of facial muscles, is not a limb of
    this bone."""
    FLAWS["DRIFT"](subject)
    for ends in ("heads", "tails"):
        subject.skeleton[ends][N("hand.L")] += [0, 0.1, 0.13]
    findings, _problem = subject.findings()
    assert N("hand.L") not in {f.bone for f in findings if f.kind == "DRIFT"}


def test_bone_without_partner(subject):
    """Bones on only one side cannot be compared."""
    for k, name in enumerate(("front.L", "front.R")):
        subject.skeleton["tails"][N(name), 1] += 0.05 * k
    findings, _problem = subject.findings()
    assert "ASYMMETRY" not in {f.kind for f in findings}
    asymmetry(subject)
    findings, _problem = subject.findings()
    assert "ASYMMETRY" in {f.kind for f in findings}


def test_progress(subject):
    told = []
    subject.findings(lambda stage, fraction, energy: told.append((stage, fraction, energy)))
    fractions = [fraction for _stage, fraction, _energy in told]
    assert fractions == sorted(fractions) and fractions[0] == 0 and 0.9 < fractions[-1] < 1
    assert all(stage and energy is None for stage, _fraction, energy in told)


@pytest.mark.parametrize("name", ["nearest_points", "inspect_weights"])
def test_stopped_in_the_midst_of_the_engine(core, subject, name, monkeypatch):
    """Esc reaches work in other threads, so nobody waits for it."""
    asked = []

    def work(*_arguments, progress, **_options):
        while progress("work", 0.5):
            asked.append(name)
        raise araplbs.Cancelled

    monkeypatch.setattr(core("base.engine").engine, name, work)
    with pytest.raises(araplbs.Cancelled, match="stopped"):
        subject.findings(lambda *_told: not asked)
    assert asked


@pytest.mark.parametrize("last", [0, 1, 5])
def test_stopped(subject, last):
    told = []

    def progress(*told_of):
        told.append(told_of)
        return len(told) <= last

    with pytest.raises(araplbs.Cancelled):
        subject.findings(progress)
    assert len(told) == last + 1


def test_weights_that_are_none(subject):
    """A weight that is not a number is reported, and the rest is checked."""
    subject.weights[3, 1] = np.nan
    findings, _problem = subject.findings()
    assert findings[0].kind == "UNNORMALIZED" and findings[0].severity == 1
    assert list(findings[0].vertices) == [3]


def test_no_weights_at_all(subject):
    subject.weights[:] = 0
    findings, _problem = subject.findings()
    (found,) = [f for f in findings if f.severity >= 0.66]
    assert found.kind == "UNWEIGHTED" and len(found.vertices) == len(subject.vertices)


def test_without_triangles(subject):
    """A mesh of loose vertices has no surface."""
    subject.triangles = np.zeros((0, 3), int)
    subject.give(np.arange(20), "head")
    subject.weights[5] = 0
    findings, _problem = subject.findings()
    assert "UNWEIGHTED" in {f.kind for f in findings}


def test_same_for_all_threads(subject):
    speckle(subject)
    bleeding(subject)
    one, other = (subject.findings()[0] for _ in range(2))
    assert [f.words for f in one] == [f.words for f in other]


@pytest.mark.parametrize("sides", [(1, -1), (-1, 1)])
def test_loose_vertices_that_mirror_each_other(subject, sides):
    """No face is near the image of such a vertex, so it is compared with no vertex, in particular
    not with the last one."""
    before, _problem = subject.findings()
    size = np.ptp(subject.vertices, axis=0).max()
    far = subject.vertices.max(0) + size
    ends = [far * [side, 1, 1] for side in sides]
    subject.vertices = np.vstack([subject.vertices, ends])
    subject.weights = np.vstack([subject.weights, np.eye(len(subject.weights[0]))[:2]])
    found, _problem = subject.findings()
    kinds = [f.kind for f in before if f.kind == "ASYMMETRY"]
    assert [f.kind for f in found if f.kind == "ASYMMETRY"] == kinds
    loose = {len(subject.vertices) - 1, len(subject.vertices) - 2}
    assert not loose & {v for f in found if f.kind == "ASYMMETRY" for v in f.vertices.tolist()}
