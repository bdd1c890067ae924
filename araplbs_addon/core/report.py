"""What was done, for programs (a dictionary that JSON takes) and for people (lines)."""

from .control_bones import REASONS
from .deformation import in_words
from .extent import objects_far_from_bones, taken_as_one

MOST_NAMES = 5
MUCH_WELDED = 0.05  # of the faces: so many that vanish when vertices are merged are worth a warning
FAR_OUTSIDE = 0.02  # of the size of the mesh: so far outside of the tets is worth a warning
PINNED_BADLY = 0.01  # of a weight: pinned ones so far off are worth a warning


def names_in_line(names):
    """'A, B, C and 4 more'."""
    shown = ", ".join(names[:MOST_NAMES])
    more = len(names) - MOST_NAMES
    return f"{shown} and {more} more" if more > 0 else shown


def make_report(problem, solution, options, armature, written=None):
    """The report of a solved problem.

    deformation: {"before", "after"}: what is seen of the initial weights and of the result over all
    poses used, see core/deformation.py.
    energy_before, energy_after: the same of the energy that is minimized, relative.
    symmetric: share of the vertices, images of Mirror modifiers included, that have the
    same weights on both sides.
    deformers: where Blender deforms otherwise than linearly, which objects by Preserve Volume and
    which by envelopes, and deformation and energies (the paper's, of the surface alone) as they
    are then; else None.
    volume: of the tets, where there are any; symmetric is then the share of their vertices.
    pinned_error in it: how far pinned weights are off on the surface, at most, or None.
    far_vertices: so far off all others that the engine does not look at faces and edges there.
    far_from_bones: objects with vertices so far from all bones that they were hardly meant; see
    extent.py for both.
    taken_as_one: vertices that were welded with others apart from them, where these are many.
    control_bones: those that were left out, and why: {bone: identifier in REASONS}.
    objects: for each mesh its vertices, influences and, once written, changed entries.
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
        "vertices": sum(problem.sizes),
        "seconds": solution.seconds,
        "triangles": len(problem.arguments["triangles"]),
        "symmetric": engine["symmetric_vertices"] / engine["vertices"],
        **{key: engine[key] for key in taken.split()},
        "idle_bones": [bones[b] for b in engine["idle_bones"]],
        "unseen_parts": [
            {"object": name, "vertex": vertex, "size": part["size"], "rigid": bool(part["rigid"])}
            for part in engine["unseen_parts"]
            for name, vertex in [problem.place(part["vertex"])]
        ],
        "far_from_bones": objects_far_from_bones(problem),
        "taken_as_one": 0
        if engine.get("volume")
        else taken_as_one(problem.arguments["vertices"], engine["welded"]),
        "control_bones": {
            bones[b]: REASONS[problem.skeleton.control[b]][0]
            for b in problem.skeleton.left_out.nonzero()[0]
        },
        "deformation": engine["deformation"],
        "deformers": engine.get("deformers"),
        "stage_seconds": dict(engine["seconds"]),
        "volume": engine.get("volume"),
        "options": options.as_dict(),
    }
    return report


def summary(report):
    """One line for people."""
    meshes = len(report["objects"])
    where = f" of {meshes} meshes" if meshes > 1 else ""
    # Rounded down: 100 % is all.
    symmetric = f", symmetric: {int(100 * report['symmetric'])} %" if report["symmetric"] else ""
    tets = report["volume"] and report["volume"]["tets"]
    volume = f", through {tets:,} tets" if tets else ""
    return (
        f"{report['vertices']:,} vertices{where}, {report['deforming_bones']} bones: "
        f"{in_words(report['deformation'])} in {report['seconds']:.1f} s, at most "
        f"{report['most_influences']} influences ({report['mean_influences']:.1f} on average)"
        f"{symmetric}{volume}"
    )


def summary_of_new(report):
    """The like where only what is new was weighted."""
    new, around = report["new_vertices"], report["vertices"] - report["new_vertices"]
    which = "1 new vertex" if new == 1 else f"{new:,} new vertices"
    return (
        f"{which}, solved with {around:,} around, which stay: "
        f"{in_words(report['deformation'])} there in {report['seconds']:.1f} s"
    )


def notes(report):
    """Lines about what was decided for the rigger."""
    found = report["control_bones"] if report else {}
    lines = _rigid_line(report) if report else []
    for identifier, _name, description in REASONS:
        names = [bone for bone, why in found.items() if why == identifier]
        if names:
            reason = description[0].lower() + description[1:]
            lines.append(f"Control bones left out, {reason}: {names_in_line(names)}")
    return lines


def _rigid_line(report):
    count, found = report["rigid_parts"], report["found_rigid_parts"]
    if not count:
        return []
    which = "1 rigid part" if count == 1 else f"{count} rigid parts"
    return [f"{which}, {found} of them since one bone moves them as well" if found else which]


def warnings(report):
    """Lines about what a rigger should look at, the most important last."""
    if not report:
        return []
    lines = _deformer_lines(report)
    lines += _size_lines(report)
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
    if report["idle_bones"]:
        idle = report["idle_bones"]
        which = "1 deform bone moves" if len(idle) == 1 else f"{len(idle)} deform bones move"
        lines.append(f"{which} no vertex: {names_in_line(idle)}")
    for rigid, one, several in (
        (True, "follows its nearest bone as a whole", "follow their nearest bones as a whole"),
        (False, "was weighted by distance alone", "were weighted by distance alone"),
    ):
        parts = [part for part in report["unseen_parts"] if part["rigid"] == rigid]
        if parts:
            which = f"1 part that sees no bone {one}"
            if len(parts) > 1:
                which = f"{len(parts)} parts that see no bone {several}"
            first = parts[0]
            lines.append(f"{which} (first: vertex {first['vertex']} of '{first['object']}')")
    lines += _far_lines(report)
    return lines


def _far_lines(report):
    """What has most likely been selected, or left somewhere, by mistake."""
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


def _size_lines(report):
    """What is so small, or so far off, that the solver did not look at it."""
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


def _deformer_lines(report):
    """What Preserve Volume and envelopes make of weights that know nothing of them, and the like of
    weights for Preserve Volume."""
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
    return [
        f"As Blender deforms with {' and '.join(by)}: {in_words(found['deformation'])}. "
        f"The weights are optimized for {way} by vertex groups",
        *wanting,
    ]
