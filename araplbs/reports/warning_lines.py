"""Creates report lines about parts that are far away, too small or invisible to bones, and about
Blender's deformation with the weights."""

from typing import Any

from ..base.sentence import Sentence, counted, joined, names_in_line
from ..measures.deformation import in_words
from ..measures.standing import stretches_more

MUCH_WELDED = 0.05  # share of the faces; a warning is shown if merging vertices removes more
MOST_CHOICES = 8  # loose parts that the text of a report names


def unseen_lines(report: dict[str, Any], rigid: bool) -> list[Sentence]:
    """Lines about parts without a visible bone. rigid: whether a single bone moves them."""
    one = Sentence("was weighted by distance alone")
    several = Sentence("were weighted by distance alone")
    if rigid:
        one = Sentence("follows its nearest bone as a whole")
        several = Sentence("follow their nearest bones as a whole")
    parts = [part for part in report["unseen_parts"] if part["rigid"] == rigid]
    if not parts:
        return []
    which = Sentence("1 part without a visible bone {one}", one=one)
    if len(parts) > 1:
        line = "{parts} parts without a visible bone {several}"
        which = Sentence(line, parts=len(parts), several=several)
    line = "{which} (first: vertex {vertex} of '{object}')"
    return [Sentence(line, which=which, vertex=parts[0]["vertex"], object=parts[0]["object"])]


def worse_lines(report: dict[str, Any]) -> list[Sentence]:
    """Lines that state whether the new weights are worse than the earlier ones, if they were
    compared."""
    compared = report.get("compared")
    if not compared or not compared["worse"]:
        return []
    lines, lost = [], compared.get("lost")
    if lost:
        which = counted(len(lost), "1 bone has lost its skin", "{count} bones have lost their skin")
        lines.append(joined([which, names_in_line(lost)], ": "))
    measures = compared["file"], report["deformation"]["after"]
    stretch, drift = ((b[k], a[k]) for k in ("surface_strain", "limb_drift") for b, a in [measures])
    if stretches_more(stretch, drift):
        line = (
            "The surface stretches more than with the earlier weights: {after} % instead of "
            "{before} %"
        )
        before, after = (f"{100 * each:.1f}" for each in stretch)
        lines.append(Sentence(line, after=after, before=before))
    endings = [Sentence("The earlier weights were kept")] if report.get("kept") else []
    return [*lines, *endings]


def reach_lines(report: dict[str, Any]) -> list[Sentence]:
    """Lines about bones that move skin that other bones moved with the earlier weights or, without
    these, that belongs to other bones."""
    compared = report.get("compared") or {}
    reaching = compared.get("reaching", {})
    line = "'{bone}' moves skin that '{owner}' moved before"
    if "file" not in compared:
        line = "'{bone}' moves skin that belongs to '{owner}'"
    return [Sentence(line, bone=bone, owner=owner) for bone, owner in reaching.items()]


def heat_lines(report: dict[str, Any]) -> list[Sentence]:
    """Lines about the stretch that Blender's automatic weights would cause, if they were
    compared."""
    compared = report.get("compared") or {}
    if "heat" not in compared:
        return []
    if compared["heat"] is None:
        return [Sentence("Blender's bone heat leaves vertices without weights here")]
    after = report["deformation"]["after"]["surface_strain"]
    heat = compared["heat"]["surface_strain"]
    if after is None or heat is None:
        return []
    line = "Stretch in poses {after} %, with Blender's bone heat {heat} %"
    return [Sentence(line, after=f"{100 * after:.1f}", heat=f"{100 * heat:.1f}")]


def far_lines(report: dict[str, Any]) -> list[Sentence]:
    """Lines about parts that were probably selected or left somewhere by mistake."""
    lines = []
    objects = [far["object"] for far in report["far_from_bones"] if far["all"]]
    if objects:
        line = "far from all bones; selected by mistake? {whole}"
        lines.append(Sentence(line, whole=names_in_line(objects)))
    for far in report["far_from_bones"]:
        if not far["all"]:
            lines.append(
                Sentence(
                    "{which} far from all bones (first: vertex {vertex} of '{object}')",
                    which=counted(far["count"], "1 vertex lies", "{count} vertices lie"),
                    vertex=far["vertex"],
                    object=far["object"],
                )
            )
    if report["taken_as_one"]:
        lines.append(
            Sentence(
                "{share} % of the vertices are so close together, relative to the total size, "
                "that they were merged with others: do not trust their weights",
                share=f"{100 * report['taken_as_one'] / report['vertices']:.0f}",
            )
        )
    return lines


def size_lines(report: dict[str, Any]) -> list[Sentence]:
    """Lines about parts so small or so far away that the solver ignored them."""
    lines = []
    share = report["collapsed_triangles"] / max(report["triangles"], 1)
    if share > MUCH_WELDED:
        lines.append(
            Sentence(
                "{vanished} % of the faces vanish when vertices closer than a millionth of the "
                "mesh size are merged: is a part of it much too small, or something too far "
                "away?",
                vanished=f"{100 * share:.0f}",
            )
        )
    stray = report["far_vertices"]
    if stray:
        which = counted(stray, "1 vertex lies", "{count} vertices lie")
        line = "{which} so far from all others that faces and edges there are ignored"
        lines.append(Sentence(line, which=which))
    return lines


def deformer_lines(report: dict[str, Any]) -> list[Sentence]:
    """Lines about weights for linear blending under Preserve Volume and envelopes, and about
    weights for Preserve Volume."""
    deformers, intended = report["deformers"], report["options"].get("deformer", "LINEAR")
    missing = []
    if intended == "DUAL_QUATERNIONS":
        preserving = deformers["preserve_volume"] if deformers else []
        names = [each["name"] for each in report["objects"] if each["name"] not in preserving]
        if names:
            missing = [
                Sentence(
                    "The weights are optimized for Preserve Volume, which is off in the Armature "
                    "modifier of {names}",
                    names=names_in_line(names),
                )
            ]
    if not deformers:
        return missing
    causes: list[str] = [
        Sentence("{what} ({names})", what=Sentence(what), names=names_in_line(deformers[key]))
        for key, what in (("preserve_volume", "Preserve Volume"), ("envelopes", "envelopes"))
        if deformers[key]
    ]
    had_weights = report["options"]["start_from"] == "PRESENT"
    return [
        Sentence(
            "Result as deformed by Blender with {by}: {deformation}. The weights are "
            "optimized for {way} with vertex groups",
            by=joined([causes[0], Sentence("and"), causes[1]], " ")
            if len(causes) > 1
            else causes[0],
            deformation=in_words(deformers["deformation"], had_weights),
            way=Sentence("linear blending" if intended == "LINEAR" else "Preserve Volume"),
        ),
        *missing,
    ]


def choice_lines(report: dict[str, Any] | None) -> list[Sentence]:
    """A line for each loose part that another bone fits as well, and that nobody has decided."""
    parts = [part for part in (report or {}).get("doubtful_parts", ()) if not part["chosen"]]
    lines = [
        Sentence(
            "Loose part {part}: {bone} (or {other})",
            part=part["name"],
            bone=part["bone"],
            other=", ".join(part["others"]),
        )
        for part in parts[:MOST_CHOICES]
    ]
    unlisted = len(parts) - len(lines)
    if unlisted > 0:
        one = "1 more loose part fits two bones"
        lines.append(counted(unlisted, one, "{count} more loose parts fit two bones"))
    return lines
