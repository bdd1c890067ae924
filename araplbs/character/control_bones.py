"""Excludes deform bones that only control a rig, such as roots, IK targets, pole targets, and
weapon slots that importers flag as Deform. The engine finds them by their positions and by the
evidence that bone_evidence.py collects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ..base.arrays import Bools, Floats, Integers
from ..base.engine import engine
from ..base.refusal import Refused
from ..base.steps import Steps
from ..base.worker import work_in_steps
from ..model.sparse_weights import SparseWeights, all_entries
from ..skeleton.bone_distances import nearest_bones
from ..skeleton.bone_evidence import Motion, weigh, with_motion
from ..skeleton.bone_facts import (
    BoneFacts,
    leaf_bones,
    painted,
    points_aside,
    spanned,
    steers_end,
)
from ..skeleton.skeleton import Skeleton
from ..skeleton.twist_bones import find_twist_bones
from .coincident_bones import bones_with_parts, lesser_copies, lesser_doubles
from .mesh import Mesh
from .problem import geometry_of

# Identifier, name and description of each reason. Its index is its code. The engine returns the
# codes up to SERVED.
REASONS = (
    ("NONE", "Deforms", "It moves vertices"),
    ("ROOT", "Next to Body", "A root bone next to the body, with the body's bones as its children"),
    ("OUTSIDE", "No Skin", "No skin is around it"),
    ("TWIN", "Copy", "Another bone already lies there"),
    ("SERVED", "Not Needed", "Other bones move the skin around it just as well"),
    ("LEAF", "Leaf Bone", "An exporter added it to mark where a chain ends"),
)
SERVED, LEAF = 4, 5


def leave_out_in_steps(
    meshes: list[Mesh],
    skeleton: Skeleton,
    threads: int = 0,
    facts: BoneFacts | None = None,
    read_weights: Callable[[Bools], Sequence[SparseWeights | None]] | None = None,
    motion: Motion | None = None,
) -> Steps[tuple[list[Mesh], Skeleton]]:
    """Returns (meshes, skeleton) without the control bones, as a generator of short steps.

    facts: BoneFacts, possibly only about names. motion: a function that reads the animations, if
    the facts lack them. read_weights: returns the SparseWeights of the meshes, in their order, for
    at least these bones (m,) bool. This function is called only if weights could decide that a bone
    stays. A bone stays if the user keeps it, if it is a twist bone of a limb that stays, if it has
    locked weights or edits, or if its mirror image deforms. Raises Refused if no other bone is
    free.
    """
    facts = facts or BoneFacts(
        skeleton.names, skeleton.deform, skeleton.parents, skeleton.other_side
    )
    if motion:
        points = np.concatenate([mesh.points for mesh in meshes])
        facts = with_motion(facts, skeleton, points, motion)
        yield
    facts = replace(facts, has_parts=bones_with_parts(meshes, skeleton), spanned=spanned(skeleton))
    if not len(facts.leaf):
        facts = replace(facts, leaf=leaf_bones(skeleton))
    facts = replace(facts, steers_end=steers_end(skeleton), points_aside=points_aside(skeleton))
    sums = weigh(facts).sums
    lesser = lesser_doubles(skeleton, sums, facts.has_parts)
    lesser |= lesser_copies(skeleton, sums, facts.has_parts)
    facts = replace(facts, lesser=lesser)
    yield
    stays = skeleton.taken_in.copy()
    for mesh in meshes:
        stays |= _asked_for(mesh, len(stays))
    facts = _without_skin(facts, skeleton, stays)
    evidence = weigh(facts)
    control = yield from _find_in_steps(meshes, skeleton, threads, facts, evidence.sums)
    if read_weights and (control > 0).any():
        by_hand = _painted(meshes, skeleton, read_weights, control > 0)
        if by_hand.any():
            facts = replace(facts, painted=by_hand, lesser=facts.lesser & ~by_hand)
            facts = _without_skin(facts, skeleton, by_hand)
            evidence = weigh(facts)
            control = yield from _find_in_steps(meshes, skeleton, threads, facts, evidence.sums)
    opposite = skeleton.other_side
    one_sided = skeleton.deform & skeleton.deform[opposite] & (control[opposite] == 0)
    control[stays | one_sided] = 0
    for twist in find_twist_bones(skeleton) if control.any() else ():
        control[twist.bone] *= control[twist.limb] > 0
    if not control.any():
        return meshes, skeleton
    left = replace(
        skeleton,
        control=control,
        deform=skeleton.deform & (control == 0),
        evidence={int(bone): evidence.words(bone) for bone in np.flatnonzero(control)},
    )
    for mesh in meshes:
        if mesh.locked_bones is not None and mesh.locked_bones[left.deform].all():
            raise Refused(
                f"'{mesh.name}': all its unlocked bones are control bones: press Use Again for "
                "one, or set Control Bones to Include"
            )
    return [_without_weights(mesh, left) for mesh in meshes], left


def _without_skin(facts: BoneFacts, skeleton: Skeleton, stays: Bools) -> BoneFacts:
    """The BoneFacts, limited to leaves and end controls that need not stay and, if the rig has two
    sides, have the same role on both. The result never includes all bones."""
    other, none = skeleton.other_side, np.zeros(len(stays), bool)
    leaf, end = (each & ~stays for each in (facts.leaf, facts.steers_end))
    leaf, end = (each & (each[other] | ~skeleton.deform[other]) for each in (leaf, end))
    some = (skeleton.deform & ~leaf & ~end).any()
    return replace(facts, leaf=leaf if some else none, steers_end=end if some else none)


def _find_in_steps(
    meshes: list[Mesh], skeleton: Skeleton, threads: int, facts: BoneFacts, evidence: Floats
) -> Steps[Integers]:
    """Finds the codes of REASONS, (m,), as a generator. Leaf bones and end controls are identified
    by evidence in the file rather than by distance, because the skin at the ends of limbs is
    nearest to them."""
    control: Integers = yield from work_in_steps(
        lambda progress: engine.control_bones(
            **geometry_of(meshes),
            bone_heads=skeleton.heads,
            bone_tails=skeleton.tails,
            bone_parents=skeleton.parents,
            bone_deform=skeleton.deform & ~facts.leaf & ~facts.steers_end,
            bone_evidence=evidence,
            **skeleton.way_arguments,
            progress=progress,
            threads=threads,
        )
    )
    control[facts.steers_end] = SERVED
    control[facts.leaf] = LEAF
    return control


def _painted(
    meshes: list[Mesh],
    skeleton: Skeleton,
    read_weights: Callable[[Bools], Sequence[SparseWeights | None]],
    asked: Bools,
) -> Bools:
    found = np.zeros(len(asked), bool)
    for mesh, rows in zip(meshes, read_weights(asked), strict=True):
        if rows is not None:
            found |= painted(mesh.points, rows, skeleton, asked)
    return found


def _asked_for(mesh: Mesh, bones: int) -> Bools:
    """Returns (m,) bool: bones with weights locked in some mesh, or to which edits give an
    influence."""
    asked = np.zeros(bones, bool)
    if mesh.locked_bones is not None:
        asked[mesh.weights.bones[mesh.weights.weights > 0]] = True
        asked &= mesh.locked_bones
    for pairs in (mesh.edits.constraints, mesh.edits.influences):
        asked[pairs.bones[pairs.values > 0]] = True
    return asked


def _without_weights(mesh: Mesh, skeleton: Skeleton) -> Mesh:
    """The Mesh without current weights of excluded bones. Vertices without other weights follow the
    nearest bone."""
    rows = mesh.weights
    if rows is None or not skeleton.left_out[rows.bones].any():
        return mesh
    left = rows.of_bones(~skeleton.left_out)
    bare = np.flatnonzero((rows.sums() > 0) & (left.sums() <= 0))
    nearest = bare, nearest_bones(mesh.points[bare], skeleton), np.ones(len(bare))
    return replace(mesh, weights=all_entries(rows.count, left.columns, nearest))
