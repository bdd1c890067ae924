"""Checks each sentence of the Result box about a character by means that do not use our energy:
yardstick.py on the file's own frames, the weights of the file, and rig_response.py.

A Statement is true or untrue; sentences that cannot be checked are left out. Two kinds are not
sentences: facts that a box with gains must not omit."""

import json
from dataclasses import dataclass

import numpy as np
import rig_response
from rig_judge import NOTHING, judge
from yardstick import normalized

MARGIN = 0.05  # of a measure: smaller changes depend on the choice of poses
SURE = 0.10  # of the number of problems, which differs more from a measure
OWN, MOST_OWN = rig_response.OWN, rig_response.LEAST_OWN
ALONE = 0.9  # mean weight of the bone of a part that follows one
STIFF = 0.02  # maximum difference between weights of a rigid part
TORN = 0.6  # strain by area: poses in which the other weights strain more are not a measure
HEARD = 0.5  # of the way by the file's weights: a bone that moves its skin so far does answer


@dataclass
class Statement:
    """kind: in KINDS; says: the words of the box; so: whether it is true; why: the evidence against
    it."""

    kind: str
    says: str
    so: bool
    why: str = ""


KINDS = {
    "stretch": "the stretch of the surface in random poses became less, or more",
    "actions": "the stretch in the file's own actions became less, or more",
    "problems": "there are fewer visible problems, or more",
    "heat": "the stretch is less, or more, than with bone heat",
    "bare": "a bone has no skin",
    "deaf": "a bone hardly moves its skin",
    "control": "a bone only controls the rig, or was left out though it had skin",
    "alone": "a part follows one bone",
    "rigid": "a part is rigid",
    "above": "vertices have more influences than asked for",
    "silence: bone": "bones that no longer move their skin are named",
    "silence: gap": "parts that leave what they touch are named, or counted as problems",
}


def statements(name, arrays):
    """([Statement], the Judged)"""
    said = json.loads(str(arrays["said"]))
    judged, over, afresh = judge(name, arrays), said["over_file"], said["afresh"]
    found = []
    posed = judge(name, arrays | {"anim": arrays["anim"][:0]})
    if "error" not in over:
        found += [*_gains(judged, posed, over), *_bones(arrays, over), *_parts(arrays, over)]
        found += _silence(judged, arrays, over)
    if "error" not in afresh:
        found += _heat(judged, posed, afresh)
    return found, judged


def _gains(judged, posed, said):
    """posed: judged in random poses. Numbers about the file's actions, if the box has any, are
    checked on the file's frames, and numbers about random poses in random poses."""
    facts = said["facts"]
    if "actions" in facts:
        if _is_measure(judged, "file"):
            before, after = facts["actions"]
            says = f"stretch in actions {100 * before:.1f} -> {100 * after:.1f} %"
            yield _direction("actions", says, after / before, judged, "file")
        judged = posed
    if not _is_measure(judged, "file") or _poses_differ(judged, said):
        return
    before, after = facts["stretch"]
    if before and after is not None:
        says = f"stretch {100 * before:.1f} -> {100 * after:.1f} %"
        yield _direction("stretch", says, after / before, judged, "file")
    before, after = facts.get("problems", (None, None))
    if before is not None and before != after:
        worse = [judged.ratio("file"), *_ratios(judged)]
        all_say = min(worse) > 1 + SURE or max(worse) < 1 - SURE
        says = f"{before} -> {after} visible problems"
        if all_say:
            yield _direction("problems", says, (after + 1) / (before + 1), judged, "file", SURE)
        else:
            yield Statement("problems", says, True)


def _poses_differ(judged, said):
    """Random poses of controls cannot be checked, because the yardstick rotates every bone
    freely."""
    return not judged.animated and said.get("through_rig", False)


def _is_measure(judged, way):
    """Whether the poses are suitable for a check, that is, the character moves, and these weights
    do not tear it."""
    return np.isfinite(judged.ratio(way)) and judged.area(way) <= TORN


def _ratios(judged):
    """Ratios of measures other than the stretch: the worst 1 % of faces, creases, intersections."""
    folds = [(each["ours"], each["file"]) for each in (judged.crease, judged.crossing)]
    pairs = [(judged.value("ours", "p99"), judged.value("file", "p99")), *folds]
    return [ours / them for ours, them in pairs if np.isfinite(ours) and them > 1e-4]


def _direction(kind, says, change, judged, way, margin=MARGIN):
    """A Statement that a value has become smaller (change < 1) or larger than with these
    weights."""
    real = judged.ratio(way)
    so = not (change < 1 < real / (1 + margin) or change > 1 > real / (1 - margin))
    where = "its own frames" if judged.animated else "random poses"
    whose = "the file's" if way == "file" else "bone heat's"
    return Statement(kind, says, so, f"{real:.2f} of {whose} in {where}")


def _heat(judged, posed, said):
    """Like _gains(), for bone heat."""
    facts = said["facts"]
    pairs = [("stretch", facts["stretch"][1], facts.get("heat"), judged)]
    if facts.get("heat_actions"):
        actions = ("stretch in actions", facts["actions"][1], facts["heat_actions"], judged)
        pairs = [actions, (*pairs[0][:3], posed)]
    for what, after, heat, measured in pairs:
        if _poses_differ(measured, said):
            continue
        if heat and after is not None and _is_measure(measured, "heat"):
            says = f"{what} {100 * after:.1f} %, bone heat {100 * heat:.1f} %"
            yield _direction("heat", says, after / heat, measured, "heat")


def _weights(arrays):
    deform = arrays["bone_deform"].astype(float)
    return normalized(arrays["ours"] * deform), normalized(arrays["W"] * deform)


def _bones(arrays, said):
    names = [str(each) for each in arrays["bone_names"]]
    ours, file = _weights(arrays)
    answers = _answers(arrays)
    for note in said["notes"]:
        for bone in map(names.index, note["bones"]):
            if "without skin" in note["text"]:
                share = float(ours[:, bone].mean())
                yield Statement("bare", f"'{names[bone]}' has no skin", share < NOTHING,
                                f"it has {100 * share:.2f} % of all weight")  # fmt: skip
            elif "hardly" in note["text"] and bone in answers:
                way = answers[bone]
                yield Statement("deaf", f"'{names[bone]}' hardly moves its skin", way < HEARD,
                                f"it moves it {100 * way:.0f} % as far as the file's")  # fmt: skip
    if file.any():
        had = {bone for note in said["notes"] for bone in note["bones"]
               if "left-out" in note["text"]}  # fmt: skip
        for name in said["left_out"]:
            own = int((file[:, names.index(name)] > OWN).sum())
            if name in had:
                yield Statement("control", f"'{name}' was left out and had skin", own > 0,
                                "it owns no vertex in the file")  # fmt: skip
            else:
                yield Statement("control", f"'{name}' is a control bone", own < MOST_OWN,
                                f"it owns {own} vertices in the file")  # fmt: skip
    above = next((note["above"] for note in said["notes"] if note["above"]), 0)
    if above:
        many = bool(((ours > 0).sum(1) > above).any())
        yield Statement("above", f"vertices have more than {above}", many, "none has")


def _answers(arrays):
    """{bone: how far its skin in the file follows, relative to the file's weights}"""
    ours, file = _weights(arrays)
    if not file.any():
        return {}
    bones = (arrays[key] for key in ("bone_head", "bone_tail", "bone_parent"))
    return rig_response.responses(arrays["V"].astype(float), *bones, ours, file)


def _parts(arrays, said):
    """Statements that parts follow one bone or are rigid, as the box says. Parts that differ from
    the report's parts because of coincident corners are left out."""
    ours, _file = _weights(arrays)
    first, starts = 0, {}
    for name, size in zip(arrays["rig"][1:], _sizes(arrays), strict=True):
        starts[str(name)] = first
        first += size
    label = rig_response.loose_parts(arrays["V"].astype(float), arrays["F"])
    alone = [each for each in said["parts"] if each["rigid"]]
    for part in [*said["rigid"], *alone]:
        own = label == label[starts[part["object"]] + part["vertex"]]
        if own.sum() != part["size"]:
            continue
        place = f"the part at vertex {part['vertex']} of '{part['object']}'"
        if part in alone:
            most = float(ours[own].mean(0).max())
            yield Statement("alone", f"{place} follows one bone", most > ALONE,
                            f"mean weight of it {most:.2f}")  # fmt: skip
        else:
            apart = float(np.ptp(ours[own], axis=0).max())
            yield Statement("rigid", f"{place} is rigid", apart < STIFF,
                            f"its weights differ by {apart:.2f}")  # fmt: skip


def _sizes(arrays):
    return arrays["sizes"] if "sizes" in arrays else [len(arrays["V"])]


def _silence(judged, arrays, said):
    """Whether anything is said about bones and parts with unusable weights."""
    if np.isnan(judged.l1):
        return
    told = {name for note in said["notes"] for name in note["bones"]} | set(said["left_out"])
    names = [str(each) for each in arrays["bone_names"]]
    told |= {names[bone] for kind, _s, bone, _m in said["findings"] if kind == "DEAF_BONE"}
    for name in judged.deaf:
        yield Statement("silence: bone", "(nothing)", name in told,
                        f"'{name}' no longer moves its skin")  # fmt: skip
    ours, file = judged.gap["ours"], judged.gap["file"]
    if ours > file + 0.015:
        spoken = any(kind in {"LOOSE_PART", "INTERSECTION"} for kind, *_rest in said["findings"])
        spoken |= any("leave" in note["text"] for note in said["notes"])
        yield Statement("silence: gap", "(nothing)", spoken,
                        f"gaps of {100 * ours:.1f} %, in the file {100 * file:.1f}")  # fmt: skip
