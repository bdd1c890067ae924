"""The report of the work: a dictionary for programs, which JSON takes, and lines for people."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import araplbs
import numpy as np

from ..base.arrays import Integers
from ..base.extent import objects_far_from_bones, taken_as_one
from ..body.chains import Tree
from ..character.control_bones import REASONS
from ..character.options import Options
from ..character.problem import Problem, Skeleton
from ..character.sparse_weights import SparseWeights
from ..measures.deformation import in_words
from ..skeleton.bone_distances import has_skin
from ..skeleton.poses import BONE_BY_BONE, BY_CONTROLS, FURTHER
from ..solvers.solve import Solution
from .doubts import doubt_about, torn_off
from .names import names_in_line
from .notes import bare_bones

MUCH_WELDED = 0.05  # of the faces: so many that vanish when vertices are merged are worth a warning
FAR_OUTSIDE = 0.02  # of the size of the mesh: so far outside of the tets is worth a warning
PINNED_BADLY = 0.01  # of a weight: pinned ones so far off are worth a warning

SLOW = (
    "OpenBLAS gives wrong results on this processor: these weights are right, computed by plain "
    "loops, which take longer. Please report it (Report a Problem)"
)

# The engine's report of the responses of bones, by index.
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
    energy_before, energy_after: the same of the energy that is minimized, relative.
    symmetric: share of the vertices, images of Mirror modifiers included, that have the same
    weights on both sides.
    deformers: where Blender deforms otherwise than linearly, which objects by Preserve Volume and
    which by envelopes, and deformation and energies (the paper's, of the surface alone, in the same
    poses) at that time; else None.
    volume: of the tets, if there are any; symmetric is then the share of their vertices.
    pinned_error in it: how far pinned weights are off on the surface, at most, or None.
    rigid: the rigid parts, by one vertex of each, its vertices and the bone that moves it most.
    far_vertices: so far off all others that the engine does not look at faces and edges there.
    far_from_bones: objects with vertices so far from all bones that they were hardly meant; see
    extent.py for both.
    taken_as_one: vertices that were welded with others apart from them, where these are many.
    control_bones: those that were left out, and why: {bone: identifier in REASONS}.
    bone_directions: the source of the bones: TAILS, LENGTHS (tails whose lengths are wrong by one
    factor) or JOINTS.
    torn_off: bones at the end of a limb that hang elsewhere, such as feet on a root.
    tails_aside: whether they were read from tails that miss the joints of most children.
    posed_by: of a rig that moves itself, the deform bones by what poses them in the random poses:
    {one of WAYS: names}; else None.
    control_evidence: why else they are left out, in words: {bone: "IK target, name"}.
    above_limit: vertices with more influences than asked for, which locked groups force.
    idle_bones: deform bones that move nothing; idle_in_skin: those of them that lie in skin.
    held_bones: those that would move too little of their own skin, and are held there, and
    held_cost, about which share of the energy that costs; deaf_bones: those that move little of it
    all the same; skinless_bones: those that have none; inner_bones: those that move the part around
    them alone.
    objects: for each mesh its vertices, influences and, once written, changed entries.
    linear_algebra: "OpenBLAS", or "plain loops" where OpenBLAS computes wrongly on this processor.
    """
    engine = solution.report
    bones = problem.skeleton.names
    taken = (
        "welded parts linked_parts links deforming_bones poses iterations energy_before "
        "energy_after most_influences mean_influences symmetric_bones unknowns damping "
        "collapsed_triangles far_vertices rigid_parts found_rigid_parts"
    )
    report = {
        "armature": armature,
        "objects": [
            {"name": name, "vertices": size, **(done or {})}
            for name, size, done in zip(
                problem.names, problem.sizes, written or [None] * len(problem.names), strict=True
            )
        ],
        "linear_algebra": araplbs.linear_algebra,
        "vertices": sum(problem.sizes),
        "seconds": solution.seconds,
        "triangles": len(problem.arguments["triangles"]),
        "symmetric": engine["symmetric_vertices"] / engine["vertices"],
        **{key: engine[key] for key in taken.split()},
        "above_limit": count_above(problem, solution.rows, options.max_influences),
        "idle_bones": [bones[b] for b in engine["idle_bones"]],
        **{key: [bones[b] for b in engine.get(key, ())] for key in ANSWERS},
        "held_cost": engine.get("held_cost", 0.0),
        "idle_in_skin": [bones[b] for b in idle_in_skin(problem, solution.rows, engine)],
        "unseen_parts": [
            {"object": name, "vertex": vertex, "size": part["size"], "rigid": bool(part["rigid"])}
            for part in engine["unseen_parts"]
            for name, vertex in [problem.place(part["vertex"])]
        ],
        "rigid": [
            {"object": name, "vertex": place, "size": size, "bone": bones[bone]}
            for vertex, size, bone in engine.get("rigid_bones", ())
            for name, place in [problem.place(vertex)]
        ],
        "far_from_bones": objects_far_from_bones(problem),
        "taken_as_one": 0
        if engine.get("volume")
        else taken_as_one(problem.arguments["vertices"], engine["welded"]),
        "control_bones": {
            bones[b]: REASONS[problem.skeleton.control[b]][0]
            for b in problem.skeleton.left_out.nonzero()[0]
        },
        "bone_directions": problem.skeleton.directions,
        "tails_aside": _tails_aside(problem.skeleton),
        "torn_off": [bones[b] for b in torn_off(problem.skeleton)],
        "posed_by": problem.posed_by,
        "control_evidence": {
            bones[b]: words for b, words in problem.skeleton.evidence.items() if words
        },
        "deformation": engine["deformation"],
        "deformers": engine.get("deformers"),
        "stage_seconds": dict(engine["seconds"]),
        "volume": engine.get("volume"),
        "options": options.as_dict(),
    }
    return report


def summary(report: dict[str, Any]) -> str:
    """One line for people."""
    meshes = len(report["objects"])
    where = f" of {meshes} meshes" if meshes > 1 else ""
    # Rounded down: 100 % is all.
    symmetric = f", symmetric: {int(100 * report['symmetric'])} %" if report["symmetric"] else ""
    tets = report["volume"] and report["volume"]["tets"]
    volume = f", through {tets:,} tets" if tets else ""
    seen = report["options"]["start_from"] == "PRESENT"
    return (
        f"{report['vertices']:,} vertices{where}, {report['deforming_bones']} bones: "
        f"{in_words(report['deformation'], seen)} in {report['seconds']:.1f} s, at most "
        f"{report['most_influences']} influences ({report['mean_influences']:.1f} on average)"
        f"{symmetric}{volume}"
    )


def summary_of_new(report: dict[str, Any]) -> str:
    """The same where only what is new was weighted."""
    new, around = report["new_vertices"], report["vertices"] - report["new_vertices"]
    which = "1 new vertex" if new == 1 else f"{new:,} new vertices"
    return (
        f"{which}, solved with {around:,} around, which stay: "
        f"{in_words(report['deformation'], seen=False)} there in {report['seconds']:.1f} s"
    )


def notes(report: dict[str, Any] | None) -> list[str]:
    """Lines about what was decided for the rigger."""
    found = report["control_bones"] if report else {}
    lines = []
    if report:
        lines = _direction_lines(report) + _rigid_line(report) + _posed_line(report)
        whole = "follows its nearest bone as a whole", "follow their nearest bones as a whole"
        lines += _unseen_lines(report, True, *whole)
    for identifier, _name, description in REASONS:
        names = [bone for bone, why in found.items() if why == identifier]
        if names:
            reason = description[0].lower() + description[1:]
            lines.append(f"Control bones left out, {reason}: {names_in_line(names)}")
    bare = [n for n in report["idle_bones"] if n not in bare_bones(report)] if report else []
    if bare:
        which = "1 deform bone has no skin of its own"
        if len(bare) > 1:
            which = f"{len(bare)} deform bones have no skin of their own"
        lines.append(f"{which}: {names_in_line(bare)}")
    return lines


def _tails_aside(skeleton: Skeleton) -> bool:
    tree = Tree(skeleton.heads, skeleton.drawn_tails, skeleton.parents, skeleton.deform)
    return skeleton.directions == "TAILS" and not tree.drawn


def idle_in_skin(problem: Problem, rows: SparseWeights, engine: dict[str, Any]) -> Integers:
    """Bones that move nothing though some skin is nearest to them."""
    idle = np.array(engine["idle_bones"], int)
    return idle[has_skin(problem.arguments["vertices"], rows, problem.skeleton, idle)]


def count_above(problem: Problem, rows: SparseWeights, most: int) -> int:
    """Vertices that were solved and have more weights above 0 than `most`, 0: no limit."""
    counts = np.bincount(rows.vertices[rows.weights > 0], minlength=rows.count)
    locked = problem.arguments.get("locked_vertices")
    if locked is not None and len(locked) == rows.count:
        counts[locked] = 0
    return int((counts > most).sum()) if most else 0


def _direction_lines(report: dict[str, Any]) -> list[str]:
    lines = {
        "JOINTS": "Bones go from joint to joint: their tails point elsewhere, as importers leave "
        "them",
        "LENGTHS": "Bones are shortened or lengthened to reach their joints: all were wrong by one "
        "factor",
    }
    if report["options"].get("bone_directions") == "JOINTS":
        lines["JOINTS"] = "Bones go from joint to joint, as asked for"
    line = lines.get(report.get("bone_directions"))
    return [line] if line else []


def _rigid_line(report: dict[str, Any]) -> list[str]:
    count, found = report["rigid_parts"], report["found_rigid_parts"]
    if not count:
        return []
    line = "1 rigid part" if count == 1 else f"{count} rigid parts"
    line += f", {'all' if found == count else found} found by themselves" if found else ""
    bones = Counter(part["bone"] for part in report["rigid"]).most_common()
    where = [bone if parts == 1 else f"{bone} ({parts})" for bone, parts in bones]
    return [f"{line}: on {names_in_line(where)}" if where else line]


def _posed_line(report: dict[str, Any]) -> list[str]:
    posed_by = report["posed_by"]
    if not posed_by:
        return []
    line = f"Bones posed through the rig: {len(posed_by[BY_CONTROLS])}"
    if posed_by[FURTHER]:
        line += f", by hidden controls: {len(posed_by[FURTHER])}"
    alone = posed_by[BONE_BY_BONE]
    if alone:
        line += f", bone by bone: {len(alone)} ({names_in_line(alone)})"
    return [line]


def warnings(report: dict[str, Any] | None) -> list[str]:
    """Lines about what a rigger should look at, the most important last."""
    if not report:
        return []
    lines = [SLOW] if report.get("linear_algebra", "OpenBLAS") != "OpenBLAS" else []
    lines += _deformer_lines(report)
    lines += _size_lines(report)
    if report["above_limit"]:
        count, most = report["above_limit"], report["options"]["max_influences"]
        which = "1 vertex has" if count == 1 else f"{count} vertices have"
        named = "1 influence" if most == 1 else f"{most} influences"
        lines.append(f"{which} more than {named}, because of what is locked there")
    if report["volume"] and report["volume"]["farthest"] > FAR_OUTSIDE:
        lines.append(
            "vertices lie outside of the tets, by up to "
            f"{100 * report['volume']['farthest']:.0f} % of the size of the mesh"
        )
    if report["volume"] and (report["volume"]["pinned_error"] or 0) > PINNED_BADLY:
        lines.append(
            f"pinned weights are off by up to {report['volume']['pinned_error']:.2f}: through tets "
            "they hold at the corners only, as a mean of the vertices there"
        )
    idle = bare_bones(report)
    if idle:
        which = "1 deform bone moves" if len(idle) == 1 else f"{len(idle)} deform bones move"
        lines.append(f"{which} no vertex, though skin is around: {names_in_line(idle)}")
    lines += _unseen_lines(
        report, False, "was weighted by distance alone", "were weighted by distance alone"
    )
    lines += _far_lines(report)
    doubt = doubt_about(report)
    return lines + ([doubt.line] if doubt else [])


def _unseen_lines(report: dict[str, Any], rigid: bool, one: str, several: str) -> list[str]:
    """Of parts that see no bone, and that one bone moves or not."""
    parts = [part for part in report["unseen_parts"] if part["rigid"] == rigid]
    if not parts:
        return []
    which = f"1 part that sees no bone {one}"
    if len(parts) > 1:
        which = f"{len(parts)} parts that see no bone {several}"
    first = parts[0]
    return [f"{which} (first: vertex {first['vertex']} of '{first['object']}')"]


def _far_lines(report: dict[str, Any]) -> list[str]:
    """Parts that have most likely been selected, or left somewhere, by mistake."""
    lines = []
    whole = [far["object"] for far in report["far_from_bones"] if far["all"]]
    if whole:
        lines.append(f"far from all bones, selected by mistake? {names_in_line(whole)}")
    for far in report["far_from_bones"]:
        if not far["all"]:
            which = "1 vertex lies" if far["count"] == 1 else f"{far['count']} vertices lie"
            lines.append(
                f"{which} far from all bones (first: vertex {far['vertex']} of '{far['object']}')"
            )
    if report["taken_as_one"]:
        share = 100 * report["taken_as_one"] / report["vertices"]
        lines.append(
            f"{share:.0f} % of the vertices are so close together, for the size of all, that they "
            "were taken as one with others: their weights are not to be trusted"
        )
    return lines


def _size_lines(report: dict[str, Any]) -> list[str]:
    """Parts so small, or so far off, that the solver did not look at them."""
    lines = []
    vanished = report["collapsed_triangles"] / max(report["triangles"], 1)
    if vanished > MUCH_WELDED:
        lines.append(
            f"{100 * vanished:.0f} % of the faces vanish when vertices nearer than a millionth of "
            "the mesh are merged: is a part of it much too small, or something too far away?"
        )
    far = report["far_vertices"]
    if far:
        which = "1 vertex lies" if far == 1 else f"{far} vertices lie"
        lines.append(f"{which} so far from all others that faces and edges there do not count")
    return lines


def _deformer_lines(report: dict[str, Any]) -> list[str]:
    """How weights for linear blending deform under Preserve Volume and envelopes, and how those for
    Preserve Volume do."""
    found, meant = report["deformers"], report["options"].get("deformer", "LINEAR")
    wanting = []
    if meant == "DUAL_QUATERNIONS":
        preserving = found["preserve_volume"] if found else []
        names = [each["name"] for each in report["objects"] if each["name"] not in preserving]
        if names:
            wanting = [
                "The weights are optimized for Preserve Volume, which is off in the Armature "
                f"modifier of {names_in_line(names)}"
            ]
    if not found:
        return wanting
    by = [
        f"{what} ({names_in_line(found[key])})"
        for key, what in (("preserve_volume", "Preserve Volume"), ("envelopes", "envelopes"))
        if found[key]
    ]
    way = "linear blending" if meant == "LINEAR" else "Preserve Volume"
    seen = report["options"]["start_from"] == "PRESENT"
    return [
        f"As Blender deforms with {' and '.join(by)}: {in_words(found['deformation'], seen)}. "
        f"The weights are optimized for {way} by vertex groups",
        *wanting,
    ]
