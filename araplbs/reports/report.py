"""Creates the report of a weighting: a JSON-compatible dictionary for programs, and lines for the
user."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base.arrays import Integers
from ..base.engine import engine
from ..base.extent import taken_as_one
from ..base.sentence import Sentence, counted, joined, names_in_line
from ..character.control_bones import REASONS
from ..character.problem import Problem
from ..measures.deformation import in_words
from ..measures.doubtful_parts import as_entries
from ..model.options import Options
from ..model.sparse_weights import SparseWeights
from ..skeleton.bone_distances import has_skin
from ..skeleton.chain_ends import marked_ends
from ..skeleton.poses import BONE_BY_BONE, BY_CONTROLS, FURTHER
from ..solvers.solve import Solution
from .doubts import MUCH, doubt_about, torn_off
from .notes import bare_bones
from .stretched import where_stretched
from .warning_lines import (
    choice_lines,
    deformer_lines,
    far_lines,
    heat_lines,
    reach_lines,
    size_lines,
    unseen_lines,
    worse_lines,
)

FAR_OUTSIDE = 0.02  # share of the mesh size; a larger distance outside the tets causes a warning
PINNED_BADLY = 0.01  # share of a weight; a larger error of pinned weights causes a warning

SLOW = (
    "OpenBLAS gives wrong results on this processor. These weights are correct: they were "
    "computed by plain loops, which take longer. Please report it (Report a Problem)"
)

# Entries of the engine's report that stay as they are, and those with indices of bones.
COPIED = (
    "welded parts linked_parts links deforming_bones poses iterations energy_before energy_after "
    "most_influences mean_influences symmetric_bones unknowns damping collapsed_triangles "
    "far_vertices rigid_parts found_rigid_parts"
)
ANSWERS = ("held_bones", "deaf_bones", "skinless_bones", "inner_bones")


def make_report(
    problem: Problem,
    solution: Solution,
    options: Options,
    armature: str,
    written: Sequence[dict[str, Any] | None] | None = None,
) -> dict[str, Any]:
    """The report of a solved problem.

    deformation: {"before", "after"}: visible measures of the initial weights and of the result over
        all poses given and at most 24 random ones, see measures/deformation.py.
    energy_before, energy_after: the relative values of the energy that is minimized.
    symmetric: share of the vertices, including images of Mirror modifiers, with equal weights on
        both sides.
    deformers: if Blender does not deform linearly, the objects with Preserve Volume and those with
        envelopes, and the resulting deformation and energies (as in the paper, of the surface
        alone, in the same poses); otherwise None.
    volume: data about the tets, if there are any; symmetric is then a share of the tets' vertices.
        It includes pinned_error, the maximum error of pinned weights on the surface, or None.
    rigid: the rigid parts, each with one of its vertices, its number of vertices and the bone that
        moves it most.
    doubtful_parts: loose parts that another bone fits about as well, the most doubtful first, each
        with one of its vertices, its number of vertices, a name, its bone, the other bone, a third
        bone or None, how well the other bone fits relative to the bone, the index of the mirrored
        part or -1, and whether the artist has chosen the bone.
    held_together: {"shells", "closed_edges"}: the parts that took the weights of the surface they
        lie on, and the edges between two sides that were solved as one.
    twist_bones: the bones that took their weights from limbs; see skeleton/twist_bones.py.
    far_vertices: vertices so far from all others that the engine ignores their faces and edges.
    far_from_bones: objects with vertices so far from all bones that this is probably unintentional;
        see extent.py for both.
    taken_as_one: vertices that were welded to vertices at other positions, if there are many.
    control_bones: the excluded bones and the reasons: {bone: sentence in REASONS}.
    bone_directions: the source of the bones: TAILS, LENGTHS (tails whose lengths are wrong by one
        factor) or JOINTS.
    misfit: {"scale", "turn": [axis, degrees], "shift"}, the change that would make the skeleton fit
        the meshes; None if it fits, see skeleton/misfit.py.
    limb_shifts: [{"bone", "shift", "bones"}] of limbs whose skin is off their bones according
        to the earlier weights; see skeleton/limb_shift.py.
    torn_off: bones at the end of a limb that have another parent, such as feet on a root.
    stretched: the places of stretch, if it is far higher than with good weights, otherwise None:
        {"parts", "torn_off"}, the loose parts with most of the stretch, each as {"object",
        "vertex"}, and the bones in torn_off at which most of it is; see stretched.py.
    tails_aside: whether bones were read from tails that miss the joints of most children.
    posed_by: for a rig with controls, the deform bones grouped by how the random poses move them:
        {one of WAYS: names}; otherwise None.
    control_evidence: further reasons for excluding bones, in words: {bone: "IK target, name"}.
    above_limit: vertices with more influences than requested, due to locked groups.
    idle_bones: deform bones that move nothing; idle_in_skin: the idle bones that lie in skin.
    held_bones: bones that would move too little of their own skin and are held to it; held_cost:
        the approximate share of the energy that holding them causes.
    deaf_bones: bones that still move little of their skin.
    skinless_bones: bones without skin; inner_bones: bones that move only the part around them.
    objects: for each mesh, its vertices, influences and, once written, changed entries.
    linear_algebra: "OpenBLAS", or "plain loops" if OpenBLAS computes wrongly on this processor.
    """
    facts = solution.report
    return {
        "armature": armature,
        "objects": [
            {"name": name, "vertices": size, **(done or {})}
            for name, size, done in zip(
                problem.names, problem.sizes, written or [None] * len(problem.names), strict=True
            )
        ],
        "linear_algebra": engine.linear_algebra,
        "vertices": sum(problem.sizes),
        "seconds": solution.seconds,
        "triangles": len(problem.arguments["triangles"]),
        "symmetric": facts["symmetric_vertices"] / facts["vertices"],
        **{key: facts[key] for key in COPIED.split()},
        "above_limit": count_above(problem, solution.rows, options.max_influences),
        **_of_bones(problem, solution),
        **_of_parts(problem, facts),
        "taken_as_one": 0
        if facts.get("volume")
        else taken_as_one(problem.arguments["vertices"], facts["welded"]),
        **_of_fit(problem, solution, options),
        "posed_by": problem.posed_by,
        "deformation": facts["deformation"],
        "deformers": facts.get("deformers"),
        "stage_seconds": dict(facts["seconds"]),
        "volume": facts.get("volume"),
        "options": options.as_dict(),
    }


def _of_bones(problem: Problem, solution: Solution) -> dict[str, Any]:
    """The entries about bones, by name."""
    facts, skeleton = solution.report, problem.skeleton
    bones = skeleton.names
    return {
        "idle_bones": [bones[b] for b in facts["idle_bones"]],
        "idle_in_skin": [bones[b] for b in idle_in_skin(problem, solution.rows, facts)],
        **{key: [bones[b] for b in facts.get(key, ())] for key in ANSWERS},
        "held_cost": facts.get("held_cost", 0.0),
        "twist_bones": [bones[twist.bone] for twist in problem.shared_twist_bones],
        "control_bones": {
            bones[b]: REASONS[skeleton.control[b]][2] for b in skeleton.left_out.nonzero()[0]
        },
        "control_evidence": {bones[b]: words for b, words in skeleton.evidence.items() if words},
        "chain_ends": marked_ends(skeleton),
        "bone_directions": skeleton.directions,
        "tails_aside": skeleton.directions == "TAILS" and not skeleton.as_drawn.tree.drawn,
    }


def _of_parts(problem: Problem, facts: dict[str, Any]) -> dict[str, Any]:
    """The entries about parts of the meshes, each with one of its vertices."""
    bones, parts = problem.skeleton.names, facts.get("doubtful_parts")
    return {
        "held_together": dict(facts.get("held_together", {})),
        "unseen_parts": [
            {"object": name, "vertex": vertex, "size": part["size"], "rigid": bool(part["rigid"])}
            for part in facts["unseen_parts"]
            for name, vertex in [problem.place(part["vertex"])]
        ],
        "rigid": [
            {"object": name, "vertex": place, "size": size, "bone": bones[bone]}
            for vertex, size, bone in facts.get("rigid_bones", ())
            for name, place in [problem.place(vertex)]
        ],
        "doubtful_parts": as_entries(problem, parts) if parts else [],
        "far_from_bones": problem.far_from_bones(),
    }


def _of_fit(problem: Problem, solution: Solution, options: Options) -> dict[str, Any]:
    """The entries about bones that do not fit the mesh, or that poses tear off."""
    bones, torn, misfit = problem.skeleton.names, torn_off(problem.skeleton), problem.misfit()
    strain = solution.report["deformation"]["after"]["surface_strain"]
    return {
        "misfit": misfit and misfit.as_entry(),
        "limb_shifts": [
            {
                "bone": bones[limb.bone],
                "shift": limb.shift.tolist(),
                "bones": [bones[b] for b in limb.bones],
            }
            for limb in problem.limb_shifts()
        ],
        "torn_off": [bones[b] for b in torn],
        "stretched": where_stretched(problem, solution, options, torn)
        if strain is not None and strain > MUCH
        else None,
    }


def summary(report: dict[str, Any]) -> Sentence:
    """A one-line summary for the user."""
    meshes, meshes_text, symmetric, volume = len(report["objects"]), "", "", ""
    if meshes > 1:
        meshes_text = joined(["", Sentence("of {meshes} meshes", meshes=meshes)], " ")
    if report["symmetric"]:  # rounded down, so 100 % means all
        share = int(100 * report["symmetric"])
        symmetric = joined(["", Sentence("symmetric: {symmetric} %", symmetric=share)], ", ")
    tets = report["volume"] and report["volume"]["tets"]
    if tets:
        volume = joined(["", Sentence("through {tets} tets", tets=f"{tets:,}")], ", ")
    had_weights = report["options"]["start_from"] == "PRESENT"
    return Sentence(
        "{vertices} vertices{where}, {deforming_bones} bones: {deformation} in {seconds} s, at "
        "most {most_influences} influences ({mean_influences} on average){symmetric}{volume}",
        vertices=f"{report['vertices']:,}",
        where=meshes_text,
        deforming_bones=report["deforming_bones"],
        deformation=in_words(report["deformation"], had_weights),
        seconds=f"{report['seconds']:.1f}",
        most_influences=report["most_influences"],
        mean_influences=f"{report['mean_influences']:.1f}",
        symmetric=symmetric,
        volume=volume,
    )


def summary_of_new(report: dict[str, Any]) -> Sentence:
    """The summary for a weighting of new vertices only."""
    new, around = report["new_vertices"], report["vertices"] - report["new_vertices"]
    return Sentence(
        "{which}, solved with {around} around, which stay unchanged: {deformation} there in "
        "{seconds} s",
        which=counted(new, "1 new vertex", "{count} new vertices"),
        around=f"{around:,}",
        deformation=in_words(report["deformation"], seen=False),
        seconds=f"{report['seconds']:.1f}",
    )


def notes(report: dict[str, Any] | None) -> list[Sentence]:
    """Lines about decisions made for the rigger."""
    excluded = report["control_bones"] if report else {}
    lines = []
    if report:
        lines = heat_lines(report) + _direction_lines(report)
        lines += _rigid_line(report) + _posed_line(report) + _shells_line(report)
        lines += _twist_line(report)
        if report["options"].get("symmetric") and not report["symmetric_bones"]:
            lines.append(Sentence("Symmetric has no effect: the bones have no mirror plane"))
        lines += unseen_lines(report, rigid=True)
    for identifier, _name, description in REASONS:
        names = [bone for bone, why in excluded.items() if why in (identifier, description)]
        if names:
            reason = Sentence(description[0].lower() + description[1:])
            line = "Control bones left out ({reason}): {names}"
            lines.append(Sentence(line, reason=reason, names=names_in_line(names)))
    lines += choice_lines(report)
    named = set(bare_bones(report)) if report else set()
    skinless = [n for n in report["idle_bones"] if n not in named] if report else []
    if skinless:
        which = counted(
            len(skinless),
            "1 deform bone has no skin of its own",
            "{count} deform bones have no skin of their own",
        )
        lines.append(joined([which, names_in_line(skinless)], ": "))
    return lines


def idle_in_skin(problem: Problem, rows: SparseWeights, engine: dict[str, Any]) -> Integers:
    """Bones that move nothing although each is the nearest bone to some skin."""
    idle = np.array(engine["idle_bones"], int)
    return idle[has_skin(problem.arguments["vertices"], rows, problem.skeleton, idle)]


def count_above(problem: Problem, rows: SparseWeights, most: int) -> int:
    """The number of solved vertices with more than `most` weights above 0; 0: no limit."""
    counts = np.bincount(rows.vertices[rows.weights > 0], minlength=rows.count)
    locked = problem.arguments.get("locked_vertices")
    if locked is not None and len(locked) == rows.count:
        counts[locked] = 0
    return int((counts > most).sum()) if most else 0


def _direction_lines(report: dict[str, Any]) -> list[Sentence]:
    lines = {
        "JOINTS": "Bones run from joint to joint, because importers left their tails pointing "
        "elsewhere",
        "LENGTHS": "Bones are shortened or lengthened to reach their joints, because all "
        "lengths were off by the same factor",
    }
    if report["options"].get("bone_directions") == "JOINTS":
        lines["JOINTS"] = "Bones run from joint to joint, as requested"
    line = lines.get(report.get("bone_directions"))
    return [Sentence(line)] if line else []


def _rigid_line(report: dict[str, Any]) -> list[Sentence]:
    count, automatic = report["rigid_parts"], report["found_rigid_parts"]
    if not count:
        return []
    line = counted(count, "1 rigid part", "{count} rigid parts")
    if automatic:
        which = Sentence("all") if automatic == count else str(automatic)
        line = joined([line, Sentence("{value} found automatically", value=which)], ", ")
    bones = Counter(part["bone"] for part in report["rigid"]).most_common()
    names = [bone if parts == 1 else f"{bone} ({parts})" for bone, parts in bones]
    return [
        Sentence("{line}: on {where}", line=line, where=names_in_line(names)) if names else line
    ]


def _shells_line(report: dict[str, Any]) -> list[Sentence]:
    shells = report.get("held_together", {}).get("shells", 0)
    several = "{count} shells have the weights of the surfaces that they lie on"
    one = "1 shell has the weights of the surface that it lies on"
    return [counted(shells, one, several)] if shells else []


def _twist_line(report: dict[str, Any]) -> list[Sentence]:
    names = report.get("twist_bones", ())
    one, several = (
        "1 twist bone shares a limb's weights",
        "{count} twist bones share limbs' weights",
    )
    line = counted(len(names), one, several)
    return [joined([line, names_in_line(names)], ": ")] if names else []


def _posed_line(report: dict[str, Any]) -> list[Sentence]:
    posed_by = report["posed_by"]
    if not posed_by:
        return []
    count, hidden, single = len(posed_by[BY_CONTROLS]), posed_by[FURTHER], posed_by[BONE_BY_BONE]
    parts = [Sentence("Bones posed through the rig: {posed_by}", posed_by=count)]
    if hidden:
        parts.append(Sentence("by hidden controls: {posed_by}", posed_by=len(hidden)))
    if single:
        names = names_in_line(single)
        parts.append(Sentence("bone by bone: {alone} ({alone2})", alone=len(single), alone2=names))
    return [joined(parts, ", ")]


def warnings(report: dict[str, Any] | None) -> list[Sentence]:
    """Lines about points that a rigger should check, the most important last."""
    if not report:
        return []
    lines = [Sentence(SLOW)] if report.get("linear_algebra", "OpenBLAS") != "OpenBLAS" else []
    lines += deformer_lines(report)
    lines += size_lines(report)
    if report["above_limit"]:
        count, most = report["above_limit"], report["options"]["max_influences"]
        lines.append(
            Sentence(
                "{which} more than {named}, because of locked vertex groups",
                which=counted(count, "1 vertex has", "{count} vertices have"),
                named=counted(most, "1 influence", "{count} influences"),
            )
        )
    if report["volume"] and report["volume"]["farthest"] > FAR_OUTSIDE:
        lines.append(
            Sentence(
                "vertices lie outside the tets, by up to {farthest} % of the mesh size",
                farthest=f"{100 * report['volume']['farthest']:.0f}",
            )
        )
    if report["volume"] and (report["volume"]["pinned_error"] or 0) > PINNED_BADLY:
        lines.append(
            Sentence(
                "pinned weights are off by up to {pinned_error}: with tets, they apply "
                "only at the corners, as a mean of the vertices at each corner",
                pinned_error=f"{report['volume']['pinned_error']:.2f}",
            )
        )
    idle = bare_bones(report)
    if idle:
        which = counted(len(idle), "1 deform bone moves", "{count} deform bones move")
        line = "{which} no vertex, although there is skin nearby: {idle}"
        lines.append(Sentence(line, which=which, idle=names_in_line(idle)))
    lines += unseen_lines(report, rigid=False)
    lines += far_lines(report)
    lines += reach_lines(report)
    lines += worse_lines(report)
    doubt = doubt_about(report)
    return lines + ([doubt.line] if doubt else [])
