"""Tests limbs whose skin is off their bones: which limbs are found, that no limb of a good
character is, what is said, and that Optimize Joints moves these limbs and no other joint."""

from dataclasses import replace

import araplbs
import numpy as np
import pytest
from araplbs.character.mesh import Mesh
from araplbs.character.problem import Problem
from araplbs.features.joints.joints import JointRun
from araplbs.features.joints.misplaced import shifted_start
from araplbs.features.joints.options import JointOptions
from araplbs.model.sparse_weights import SparseWeights, make_sparse_weights
from araplbs.reports.doubts import SHIFT, doubt_about
from araplbs.reports.notes import GIVE_BACK, result_notes
from araplbs.skeleton.bone_distances import nearest_bones
from araplbs.skeleton.limb_shift import limb_shifts, mirrored
from araplbs.skeleton.skeleton import Skeleton
from creature import BONES, NAMES, creature
from paths import DATA, shared_file, shared_names
from shapes import rows
from test_doubts import report

BODY = creature()[:2]
ARMS = ("arm.L", "arm.R")
ASIDE = np.array([0.0, 0.2, 0.15])


def skeleton():
    parents = [NAMES.index(bone[3]) if bone[3] else -1 for bone in BONES]
    heads, tails = (np.array([bone[k] for bone in BONES], float) for k in (1, 2))
    return Skeleton.from_joints(heads, parents, tails=tails, names=NAMES)


def weights_of(points, bones):
    """Each vertex follows its nearest bone."""
    nearest = nearest_bones(points, bones).astype(np.int32)
    return make_sparse_weights(len(points), np.arange(len(points)), nearest, np.ones(len(points)))


WEIGHTS = weights_of(BODY[0], skeleton())


def shifted(*limbs, by=ASIDE):
    """The skeleton, with these limbs at the wrong place. A shift toward +Y is needed to repair
    it."""
    bones = skeleton()
    heads, tails = bones.heads.copy(), bones.tails.copy()
    for first in limbs:
        for k, name in enumerate(NAMES):
            if name == first or (name[-1] == first[-1] and name != "head" and "." in name):
                heads[k] -= by
                tails[k] -= by
    return replace(bones, heads=heads, tails=tails, drawn_tails=tails)


def found_in(bones, weights=WEIGHTS):
    return {NAMES[limb.bone]: limb for limb in limb_shifts(*BODY, weights, bones)}


def test_a_good_skeleton_has_no_shifted_limb():
    assert found_in(skeleton()) == {}


@pytest.mark.parametrize("limbs", [ARMS[:1], ARMS])
def test_shifted_limbs(limbs):
    """The limb, the direction across its bones and the length are known, up to the offset of the
    good bones."""
    found = found_in(shifted(*limbs))
    assert tuple(found) == limbs
    for limb in found.values():
        np.testing.assert_allclose(limb.shift, ASIDE, atol=0.02)
        assert len(limb.bones) == 4 and not limb.shift[0]


def test_what_is_no_shift():
    """Offsets that differ from bone to bone, shifts along the bones, bones inside their skin, and
    weights of a single vertex."""
    bones = shifted(*ARMS)
    for k, name in enumerate(NAMES):
        if name.startswith(("front", "hand")):
            bones.heads[k] += 2 * ASIDE
            bones.tails[k] += 2 * ASIDE
    assert found_in(bones) == {}
    assert found_in(shifted(*ARMS, by=np.array([0.25, 0.0, 0.0]))) == {}
    assert found_in(shifted(*ARMS, by=ASIDE / 3)) == {}
    one = make_sparse_weights(*(len(BODY[0]), np.arange(1), np.ones(1, np.int32), np.ones(1)))
    assert found_in(shifted(*ARMS), one) == {}


def test_shifts_of_both_sides_are_mirror_images():
    limbs = limb_shifts(*BODY, WEIGHTS, shifted(*ARMS))
    left, right = limbs
    right = right._replace(shift=right.shift + np.array([0.01, 0, 0.01]))
    partners = np.array([NAMES.index(n.translate(str.maketrans("LR", "RL"))) for n in NAMES])
    plane = partners, np.zeros(3), np.array([1.0, 0, 0])
    first, second = mirrored([left, right], plane)
    np.testing.assert_allclose(first.shift, second.shift * (-1, 1, 1))
    (alone,) = mirrored([right], plane)
    np.testing.assert_array_equal(alone.shift, right.shift)


@pytest.mark.parametrize("name", shared_names(DATA, "*.npz"))
def test_characters_of_artists(name):
    """Artists' bones lie off the center as well, but no limb is shifted."""
    with np.load(shared_file(DATA, f"{name}.npz"), allow_pickle=True) as data:
        parents, names = data["bone_parent"], data["bone_names"].tolist()
        deform = data["bone_deform"].astype(bool) if "bone_deform" in data else None
        bones = Skeleton.from_joints(
            data["bone_head"], parents, tails=data["bone_tail"], names=names, deform=deform
        )
        dense = data["W"]
        weights = SparseWeights(*rows(dense > 0, dense))
        assert limb_shifts(data["V"].astype(float), data["F"], weights, bones) == []


def run_of(bones, locks=None, **options):
    mesh = Mesh("Body", *BODY, np.zeros((0, 2), np.int32), np.eye(4), weights=WEIGHTS)
    options = JointOptions(pose_count=6, iterations=2, joint_iterations=2, **options)
    problem = Problem([mesh], bones, None, symmetric=True)
    locks = np.zeros((len(NAMES), 2), bool) if locks is None else locks
    return JointRun(problem, [mesh], options, locks, np.ones(len(NAMES)), 1)


def test_joints_of_shifted_limbs_move_and_all_others_stay():
    wrong, good = shifted(*ARMS), skeleton()
    run = run_of(wrong)
    assert [NAMES[bone] for bone in run.start.bones] == list(ARMS) and run.start.shifted
    solution = run.solve()
    sided = np.array(["." in name for name in NAMES])
    for new, old, right in (
        (solution.skeleton.heads, wrong.heads, good.heads),
        (solution.skeleton.tails, wrong.tails, good.tails),
    ):
        np.testing.assert_allclose(new[sided], right[sided], atol=0.02)
        np.testing.assert_array_equal(new[~sided], old[~sided])
    assert solution.problem.limb_shifts() == []


def test_limits():
    """Locked limbs stay, and a limb moves no farther than Max Shift allows its first bone."""
    locks = np.zeros((len(NAMES), 2), bool)
    locks[NAMES.index("front.L"), 1] = True
    run = run_of(shifted(*ARMS), locks)
    assert [NAMES[bone] for bone in run.start.bones] == ["arm.R"]
    wrong = shifted(*ARMS)
    limbs, free = limb_shifts(*BODY, WEIGHTS, wrong), np.zeros((len(NAMES), 2), bool)
    start = shifted_start(wrong, limbs, free, 0.05)
    moved = np.linalg.norm(start.skeleton.heads - wrong.heads, axis=1)
    assert moved.max() == pytest.approx(0.05 * 0.6)
    assert shifted_start(wrong, limbs, ~free, 0.5) is None


def test_the_cause_is_named():
    """The shift is named instead of other causes, in warnings and in the notes of a result."""
    wrong = shifted(*ARMS)
    found = araplbs.weights(
        *BODY,
        wrong.heads,
        wrong.parents,
        tails=wrong.tails,
        names=NAMES,
        start=WEIGHTS,
        bone_directions="tails",
        pose_count=4,
        iterations=1,
    )
    assert [limb["bone"] for limb in found.report["limb_shifts"]] == list(ARMS)
    line = found.lines[-2]
    assert line.startswith("Warning: The skin of arm.L and its children is 0.2"), line
    assert "off its bones, toward +Y (also arm.R)" in line and "Optimize Joints" in line
    left = {"bone": "hand.L", "shift": [0.0, -0.02, 0.0], "bones": ["hand.L", "front.L"]}
    told = report(0.9, limb_shifts=[left])
    doubt = doubt_about(told)
    assert doubt.remedy == SHIFT and doubt.bones == ("hand.L", "front.L")
    assert doubt.note == "1 limb is off its bones" and doubt.why == "By 0.02 units toward -Y"
    notes = result_notes(told, lost=("front.L",))
    assert [note.remedy for note in notes[:2]] == [SHIFT, GIVE_BACK]
    assert notes[1].why == "The limb is off its bones"
    lost = {"lost": ("front.L",)}
    assert result_notes(report(0.1), **lost)[0].why == "Other bones move this skin now"
    better = result_notes(report(0.1), **lost, fit_better=["front.L"])[0]
    assert better.why == "Other bones fit this skin better"
