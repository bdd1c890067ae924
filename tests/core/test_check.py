"""Check Weights: each kind of finding on a creature that has just that flaw, and not on the sound
one."""

import json

import araplbs
import creature
import numpy as np
import pytest

N = creature.NAMES.index


class Subject:
    """The creature with weights that the solver has made, to be spoiled."""

    def __init__(self, core):
        self.core = core
        self.vertices, self.triangles, self.first = creature.creature()
        bones = creature.BONES
        names = [bone[0] for bone in bones]
        opposite = [
            names.index(n[:-1] + {"L": "R", "R": "L"}[n[-1]]) if n[-2:-1] == "." else k
            for k, n in enumerate(names)
        ]
        self.skeleton = {
            "names": names,
            "heads": np.array([bone[1] for bone in bones], float),
            "tails": np.array([bone[2] for bone in bones], float),
            "parents": np.array([names.index(b[3]) if b[3] else -1 for b in bones]),
            "roll_axes": np.tile([0.0, 1.0, 0.0], (len(bones), 1)),
            "deform": np.ones(len(bones), bool),
            "limits": np.full((len(bones), 3, 2), np.nan),
            "opposite": np.array(opposite),
        }
        self.options = {"pose_count": 12}
        self.weights = None

    @property
    def problem(self):
        own = self.core("problem")
        mesh = own.Mesh("Creature", self.vertices, self.triangles, np.zeros((0, 2), int), np.eye(4))
        return own.Problem([mesh], own.Skeleton(**self.skeleton), symmetric=True)

    def solve(self):
        options = self.core("options").Options(**self.options)
        rows = self.core("solve").solve(self.problem, options).rows
        self.weights = np.zeros((len(self.vertices), len(creature.BONES)))
        self.weights[rows.vertices, rows.bones] = rows.weights

    def findings(self, progress=None):
        rows = self.core("sparse_weights")
        vertices, bones = np.nonzero(self.weights)
        sparse = rows.make_sparse_weights(
            len(self.vertices), vertices, bones, self.weights[vertices, bones]
        )
        options = self.core("options").Options(**self.options)
        problem = self.problem
        poses = self.core("error_map").pose_set(problem, options)
        return self.core("check").check(problem, sparse, poses, options, 0, progress), problem

    def near(self, point, radius, part=0):
        """Vertices of a part within a distance of a point."""
        off = np.linalg.norm(self.vertices - np.array(point), axis=1) < radius
        own = creature.vertices_of(self.first, part)
        return own[off[own]]

    def give(self, vertices, bone, share=1.0):
        """That share of the weight to a bone."""
        self.weights[vertices] *= 1 - share
        self.weights[vertices, N(bone)] += share


@pytest.fixture(scope="module")
def solved(core):
    subject = Subject(core)
    subject.solve()
    return subject


@pytest.fixture
def subject(core, solved):
    own = Subject(core)
    own.weights = solved.weights.copy()
    return own


def stretch(s):
    """A border from one vertex to the next."""
    x = np.abs(s.vertices[:, 0])
    arm = np.flatnonzero((x > 0.5) & (x < 1.1) & (s.vertices[:, 0] > 0))
    arm = arm[arm < s.first[1]]
    s.weights[arm] = 0
    s.weights[arm, np.where(s.vertices[arm, 0] > 0.75, N("head"), N("arm.L"))] = 1
    return None, arm


def collapse(s):
    """Half of what bends one way and half of what bends the other."""
    hand = np.flatnonzero((s.vertices[:, 0] > 0.9) & (s.vertices[:, 0] < 1.3))
    hand = hand[hand < s.first[1]]
    s.weights[hand] = 0
    s.weights[hand, N("front.L")] = s.weights[hand, N("head")] = 0.5
    return None, hand


def bleeding(s):
    """One finger moves the middle of the other."""
    finger = s.near((1.75, 0.15, 1.35), 0.2)
    s.give(finger, "front.L", 0.4)
    return "front.L", finger


def drift(s):
    """A limb that goes with the bone below."""
    s.weights[:, N("arm.L")] += 0.9 * s.weights[:, N("hand.L")]
    s.weights[:, N("hand.L")] *= 0.1
    return "hand.L", s.near((1.075, 0, 1.35), 0.35)


def bone_outside(s):
    for ends in ("heads", "tails"):
        s.skeleton[ends][[N("front.L"), N("front.R")], 2] += 0.6
    return "front.L", np.flatnonzero(s.weights[:, N("front.L")] > 0.4)


def idle_bone(s):
    s.weights[:, N("hips")] += s.weights[:, N("back.R")]
    s.weights[:, N("back.R")] = 0
    return "back.R", None


def unweighted(s):
    bare = s.near((0, 0, 2.4), 0.25)
    s.weights[bare] = 0
    return None, bare


def unnormalized(s):
    half = s.near((0, 0, 2.4), 0.25)
    s.weights[half] *= 0.5
    return None, half


def speckle(s):
    one = s.near((0, -0.2, 0.5), 0.08)[:1]
    s.give(one, "head")
    return "head", one


def asymmetry(s):
    arm = s.near((0.8, 0, 1.35), 0.2)
    s.give(arm, "arm.L", 0.35)
    return None, arm


def influences(s):
    some = s.near((0, 0, 0.8), 0.3)
    for bone in ("hips", "chest", "head", "arm.L", "arm.R"):
        s.give(some, bone, 0.1)
    return None, some


def loose_part(s):
    button = creature.vertices_of(s.first, 3)
    s.weights[button] = 0
    s.give(button, "head")
    return "head", button


def intersection(s):
    """The sleeve does not know of the elbow."""
    sleeve = creature.vertices_of(s.first, 1)
    s.weights[sleeve] = 0
    s.give(sleeve, "chest")
    return None, None


FLAWS = {
    "STRETCH": stretch,
    "COLLAPSE": collapse,
    "BLEEDING": bleeding,
    "DRIFT": drift,
    "BONE_OUTSIDE": bone_outside,
    "IDLE_BONE": idle_bone,
    "UNWEIGHTED": unweighted,
    "UNNORMALIZED": unnormalized,
    "SPECKLE": speckle,
    "ASYMMETRY": asymmetry,
    "INFLUENCES": influences,
    "LOOSE_PART": loose_part,
    "INTERSECTION": intersection,
}


def test_every_kind_has_a_flaw(core):
    assert set(FLAWS) == {kind for kind, _name, _about in core("findings").KINDS}


def test_sound(subject):
    """What the solver gives a sound creature has nothing of note."""
    findings, _problem = subject.findings()
    assert [f.words for f in findings if f.severity >= 0.33] == []


@pytest.mark.parametrize("kind", FLAWS)
def test_flaw(subject, kind):
    """It is found at its place and named; without it there is nothing of the kind."""
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
    assert {"kind", "level", "severity", "mesh", "bone", "vertices", "value", "words"} == set(
        plain[0]
    )


def core_json(subject, findings, problem):
    return subject.core("findings").as_json(findings, problem)


def test_bone_without_partner(subject):
    """What only one side has cannot be compared."""
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
    """What is no number is told, and the rest is looked at."""
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
