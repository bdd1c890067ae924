"""Detects weights that are probably unusable, and finds the likely cause.

A character whose bones were misread is weighted without an error, and the only symptom is stretch
in poses. The stretch is therefore compared with the stretch of good weights, which was measured on
86 files in random poses of up to 60 degrees. In results that agree with the weights in the files,
stretch is at most 0.48 (in hands, whose joints are close together). If bone tails point sideways,
it is at most 0.31. Random poses tear off bones at the end of a limb that have another parent, such
as feet on a root. No weights can prevent this tearing, so such rigs reach 1.15.

Stretch does not reveal bones that move the wrong skin. However, holding a bone to its own skin
increases the energy (held_cost). In 58 good results, the increase is below 2 % of the energy. If
two bones share the same skin, for example if one lies inside the part of another, the increase is
from 4 to 22 %. In connected skin, a large increase proves nothing, because vertebrae and short tail
bones share their skin. A good result for a dog has an increase of 19 %. If a held bone still hardly
moves its skin, a smaller increase is sufficient evidence, because in good results no such bone
increases the energy at all.

Bones that hardly move their skin may not increase the energy. Good results have at most 2 of them,
or 4 of 65, while a robot whose plates are on other bones has 6 of 44.

A skeleton that does not fit the mesh, and limbs off their bones, are known before solving and
explain everything else. They are therefore named first.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..base.extent import size_of
from ..base.sentence import Sentence, counted, joined, names_in_line
from ..character.control_bones import REASONS
from ..skeleton.skeleton import Skeleton, hanging
from .last_lines import stretch_of

MUCH, MUCH_ASIDE = 0.6, 0.33  # excessive stretch, and the limit if tails miss the joints
MUCH_TORN, SOME_TORN = 1.5, 2  # limit with this many bones that random poses tear off
HELD_AT_A_PRICE, IN_VAIN = 0.03, 0.01  # shares of the energy; second: bone still hardly moves
UNRESPONSIVE, OF_BONES = 4, 0.12  # bones that hardly move skin: minimum number and share
USUAL_SWING = 1.05  # radians: larger poses stretch more, so no doubt is raised
BY_ROLE = {  # reasons for excluding a bone that need no second check
    each
    for identifier, _name, words in REASONS
    if identifier in ("ROOT", "OUTSIDE", "LEAF")
    for each in (identifier, words)
}

AT_ONCE = 64  # bones whose distances to all others are computed together
NEAR, FAR = 0.5, 0.05  # shares of the distance to the parent, and of the skeleton size

# Remedies.
JOINTS, TAILS, CONTROL, BONES, PARENT = "JOINTS", "TAILS", "CONTROL", "BONES", "PARENT"
FIT, SHIFT = "FIT", "SHIFT"  # the skeleton to the mesh; limbs to their skin
RIGID = "RIGID"  # parts keep their shape


class Doubt(NamedTuple):
    """note: a few words; line: a sentence with the remedy; why: the likely cause; remedy: one of
    the above, or ""."""

    note: Sentence
    line: Sentence
    why: Sentence
    remedy: str = ""
    bones: tuple[str, ...] = ()
    places: tuple[tuple[str, int], ...] = ()  # (object, vertex) of loose parts


def doubt_about(report: dict[str, Any]) -> Doubt | None:
    """The Doubt about a report of weights, or None."""
    fit = _misfit(report) or _shifted(report)
    if fit:
        return fit
    stretch = stretch_of(report)
    if stretch is None or report["options"].get("swing", USUAL_SWING) > USUAL_SWING:
        return _held(report)
    torn = report.get("torn_off", ())
    cause = report.get("stretched") or {"parts": [], "torn_off": torn}
    limit = MUCH_TORN if len(torn) >= SOME_TORN and not cause["parts"] else MUCH
    if stretch <= (MUCH_ASIDE if report.get("tails_aside") else limit):
        return _held(report)
    return _high_stretch(report, stretch, cause)


class _Cause(NamedTuple):
    """Texts of a Doubt about high stretch. one, several: how many bones or parts are concerned,
    {which} in the other texts. {much}: the sentence about the stretch."""

    note: str
    line: str
    why: str
    remedy: str = ""
    one: str = ""
    several: str = ""


ASIDE = _Cause(
    "High stretch: tails miss the joints",
    "{much}. Bone tails miss their joints, as is common after an import: set Bone Directions to "
    "Joints",
    "Importers often leave tails that point sideways",
    JOINTS,
)
READ = _Cause(
    "High stretch: bones read from joints",
    "{much}. The bones were read from their joints: if their tails are correct, set Bone "
    "Directions to Tails",
    "Their tails may have been correct",
    TAILS,
)
LOOSE = _Cause(
    "High stretch: {which}",
    "{much}. Most of it is in loose parts: {which}. Make them rigid if they should keep their "
    "shape, such as props",
    "Several bones move a part that is not connected to the rest",
    RIGID,
    "1 loose part stretches",
    "{count} loose parts stretch",
)
TORN = _Cause(
    "High stretch: {which} to the wrong bone",
    "{much}. {which} to a bone away from the joint, so poses tear the skin there: {torn}. Use the "
    "bone at the joint as the parent",
    "Poses tear the skin at their joint",
    PARENT,
    "1 bone is parented",
    "{count} bones are parented",
)
EXCLUDED = _Cause(
    "High stretch: {which} left out",
    "{much}. {which} treated as controls and left out: if this is wrong, set Control Bones to "
    "Include",
    "They may not be control bones",
    CONTROL,
    "1 bone was",
    "{count} bones were",
)
IDLE = _Cause(
    "High stretch: {which} nothing",
    "{much}. {which} nothing although there is skin nearby: check the bones against the mesh",
    "They may lie outside their part",
    BONES,
    "1 bone moves",
    "{count} bones move",
)
UNKNOWN = _Cause(
    "High stretch: check the joints",
    "{much}. The most likely cause is a joint outside the part that it bends: check the bones "
    "against the mesh",
    "A joint may lie outside its part",
)


def _high_stretch(report: dict[str, Any], stretch: float, cause: dict[str, Any]) -> Doubt:
    """The Doubt about high stretch. cause: the entry "stretched" of the report."""
    value = f"{100 * stretch:.0f}"
    line = "The surface stretches by {value} % in poses, far more than with good weights"
    torn, idle = tuple(cause["torn_off"]), tuple(report["idle_in_skin"])
    places = tuple((part["object"], part["vertex"]) for part in cause["parts"])
    excluded = [bone for bone, why in report["control_bones"].items() if why not in BY_ROLE]
    if report.get("tails_aside"):
        texts = ASIDE
    elif report.get("bone_directions", TAILS) != TAILS:
        texts = READ
    else:
        found = ((LOOSE, places), (TORN, torn), (EXCLUDED, excluded), (IDLE, idle))
        texts = next((texts for texts, things in found if things), UNKNOWN)
    bones = {PARENT: torn, BONES: idle}.get(texts.remedy, ())
    things = {RIGID: places, CONTROL: excluded}.get(texts.remedy, bones)
    which = counted(len(things), texts.one, texts.several)
    much = Sentence(line, value=value)
    return Doubt(
        Sentence(texts.note, which=which),
        Sentence(texts.line, much=much, which=which, torn=names_in_line(torn)),
        Sentence(texts.why),
        texts.remedy,
        bones,
        places if texts is LOOSE else (),
    )


def _misfit(report: dict[str, Any]) -> Doubt | None:
    """The Doubt about a skeleton that does not fit its meshes."""
    misfit = report.get("misfit")
    if not misfit:
        return None
    scale, turn, shift = misfit["scale"], misfit["turn"], misfit["shift"]
    parts, cures = [], []
    if scale != 1 and shift is not None:
        parts = [Sentence("has another size and place than the mesh")]
        cures = [Sentence("the mesh was probably normalized alone; use the same scale for both")]
        shift = None
    elif scale != 1:
        sizes = "is {ratio} times larger than the mesh"
        if scale > 1:
            sizes = "is {ratio} times smaller than the mesh"
        parts = [Sentence(sizes, ratio=f"{max(scale, 1 / scale):.3g}")]
        cures = [Sentence("apply the scale, or use the same unit for both")]
    if turn:
        words = "faces the other way" if turn == ["Z", 180] else "is turned about {axis}"
        words = "has another axis up" if turn[0] != "Z" and turn[1] != 180 else words
        parts.append(Sentence(words, axis=turn[0]))
        cure = "turn it by {degrees} degrees about {axis}"
        cures.append(Sentence(cure, axis=turn[0], degrees=turn[1]))
    if shift is not None:
        parts.append(Sentence("is away from the mesh"))
        cures.append(Sentence("move it by {way}", way=", ".join(f"{x:.3g}" for x in shift)))
    mistakes = joined(parts, " and ")
    return Doubt(
        Sentence("The skeleton does not fit"),
        Sentence("The skeleton {what}: {cure}", what=mistakes, cure=joined(cures, ", ")),
        Sentence("It {what}", what=mistakes),
        FIT,
    )


def _shifted(report: dict[str, Any]) -> Doubt | None:
    """The Doubt about limbs whose skin is off their bones."""
    limbs = report.get("limb_shifts")
    if not limbs:
        return None
    limb_shift = limbs[0]
    length = f"{np.linalg.norm(limb_shift['shift']):.2g}"
    offset = {"length": length, "axis": toward(limb_shift["shift"])}
    line = "The skin of {bone} and its children is {length} units off its bones, toward {axis}"
    sentence = Sentence(line, bone=limb_shift["bone"], **offset)
    if len(limbs) > 1:
        other_limbs = names_in_line([limb["bone"] for limb in limbs[1:]])
        sentence = joined([sentence, Sentence("(also {others})", others=other_limbs)], " ")
    cure = "{sentence}. Move these bones to their skin, for example with Optimize Joints"
    return Doubt(
        counted(len(limbs), "1 limb is off its bones", "{count} limbs are off their bones"),
        Sentence(cure, sentence=sentence),
        Sentence("By {length} units toward {axis}", **offset),
        SHIFT,
        tuple(bone for limb in limbs for bone in limb["bones"]),
    )


def toward(way: Sequence[float]) -> str:
    """The axis nearest to a direction, such as "-Y"."""
    axis = int(np.abs(way).argmax())
    return ("-" if way[axis] < 0 else "+") + "XYZ"[axis]


def _held(report: dict[str, Any]) -> Doubt | None:
    """The Doubt about bones that are held to their skin at an energy cost."""
    cost, held = report.get("held_cost", 0.0), tuple(report.get("held_bones", ()))
    if report.get("parts") == 1:
        held = ()
    if cost <= HELD_AT_A_PRICE:
        unresponsive = set(report.get("deaf_bones", ()))
        held = tuple(bone for bone in held if cost > IN_VAIN and bone in unresponsive)
    if not held:
        return _unresponsive(report)
    count = counted(len(held), "1 bone shares", "{count} bones share")
    return Doubt(
        Sentence("{which} skin with others", which=count),
        Sentence(
            "{which} skin with others, which fit it better: {held}. Most likely, a bone lies in "
            "a part of another bone: check the bone positions, or make loose parts rigid on the "
            "bones that should move them",
            which=count,
            held=names_in_line(held),
        ),
        Sentence("A bone may lie inside a part that belongs to another bone"),
        BONES,
        held,
    )


def _unresponsive(report: dict[str, Any]) -> Doubt | None:
    """The Doubt about bones that hardly move their skin, if there are many."""
    bones, count = tuple(report.get("deaf_bones", ())), report.get("deforming_bones", 0)
    if len(bones) < UNRESPONSIVE or not len(bones) > OF_BONES * count:
        return None
    text = Sentence("{deaf} of {count} bones hardly move their skin", deaf=len(bones), count=count)
    return Doubt(
        text,
        Sentence(
            "{many}: {bones}. Most likely, other bones move the parts around them: check the "
            "bone positions, or make loose parts rigid on the bones that should move them",
            many=text,
            bones=names_in_line(bones),
        ),
        Sentence("Other bones may move the parts around them"),
        BONES,
        bones,
    )


def torn_off(skeleton: Skeleton) -> list[int]:
    """Deform bones that begin close to another bone but have a distant parent."""
    deform = np.flatnonzero(skeleton.deform)
    size = max(size_of(np.vstack([skeleton.heads[deform], skeleton.tails[deform]])), 1e-30)
    parents = skeleton.deform_ancestors[deform]
    heads, has_parent = skeleton.heads[deform], parents >= 0
    parent_index = np.searchsorted(deform, np.where(has_parent, parents, deform))
    descendants = hanging(skeleton.parents)[np.ix_(deform, deform)].T
    ends = np.stack([heads, skeleton.tails[deform]])
    bones: list[int] = []
    for block in np.array_split(np.arange(len(deform)), 1 + len(deform) // AT_ONCE):
        gaps = np.linalg.norm(ends - heads[block, None, None], axis=-1).min(axis=1)
        gaps[descendants[block]] = np.inf
        nearest = gaps.min(axis=1, initial=np.inf)
        to_parent = np.where(
            has_parent[block], gaps[np.arange(len(block)), parent_index[block]], np.inf
        )
        torn = nearest < FAR * size
        torn &= np.minimum(to_parent, size) > np.maximum(FAR * size, nearest / NEAR)
        bones += deform[block[torn]].tolist()
    return bones


def bone_at_joint(skeleton: Skeleton, bone: int, torn: Collection[int] = ()) -> int | None:
    """The deform bone with an end nearest to the head of `bone`, excluding descendants of `bone`.
    torn: bones to ignore, because they are torn off themselves."""
    candidates = np.flatnonzero(skeleton.deform & ~hanging(skeleton.parents)[:, bone])
    candidates = np.setdiff1d(candidates, list(torn))
    ends = np.stack([skeleton.heads[candidates], skeleton.tails[candidates]])
    distances = np.linalg.norm(ends - skeleton.heads[bone], axis=-1).min(axis=0)
    return int(candidates[distances.argmin()]) if len(candidates) else None
