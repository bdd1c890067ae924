"""Formats the last line that each operator reports so that it fits the status bar of a window 1280
pixels wide. The long summaries are in the Info log."""

from collections.abc import Callable, Sequence
from typing import Any

from ..base.sentence import Sentence, counted, joined, names_in_line
from ..measures.standing import reasons_worse

MOST_LETTERS = 110
MOST_OF_NAME = 20


def short(name: str) -> str:
    """The quoted name, shortened if it is too long."""
    return f"'{name}'" if len(name) <= MOST_OF_NAME else f"'{name[: MOST_OF_NAME - 1]}…'"


def which(names: Sequence[str]) -> str:
    """The name of a single mesh, or the number of meshes."""
    return short(names[0]) if len(names) == 1 else f"{len(names)} meshes"


def percent(share: float) -> str:
    """A share as a percentage, without its sign."""
    return f"{100 * share:.1f}"


def from_to(values: tuple[Any, Any], words: Callable[[Any], str], arrow: str = "->") -> str:
    """ "13 -> 2", or "2" if there is no earlier number."""
    before, after = values
    return words(after) if before is None else f"{words(before)} {arrow} {words(after)}"


def problems_in_words(counts: tuple[int | None, int], arrow: str = "->") -> Sentence:
    """ "13 -> 2 visible problems", "1 visible problem"."""
    problems = from_to(counts, str, arrow)
    if counts[1] == 1:
        return Sentence("{problems} visible problem", problems=problems)
    return Sentence("{problems} visible problems", problems=problems)


def verdict(facts: dict[str, Any], bones: Sequence[str]) -> Sentence | None:
    """ "Worse: 1 bone lost its skin, spine.003", or None if the new weights are not worse. bones:
    the names that the facts refer to."""
    reasons = []
    for reason in reasons_worse(facts):
        if reason == "lost":
            names = [bones[bone] for bone in facts["lost"]]
            count = counted(len(names), "1 bone lost its skin", "{count} bones lost their skin")
            reasons.append(joined([count, names_in_line(names)], ", "))
        elif reason == "problems":
            before, after = facts["problems"]
            words = "1 more visible problem", "{count} more visible problems"
            reasons.append(counted(after - before, *words))
        else:
            more = {"stretch": "more stretch in poses", "actions": "more stretch in actions"}
            reasons.append(Sentence(more[reason]))
    return Sentence("Worse: {reasons}", reasons=joined(reasons, "; ")) if reasons else None


def plain_facts(report: dict[str, Any]) -> dict[str, Any]:
    """The facts of result_line() that every report contains, including the stretch before if the
    weighting started from the current weights."""
    before = report["options"]["start_from"] == "PRESENT"
    return {"stretch": (stretch_of(report, "before") if before else None, stretch_of(report))}


def result_line(
    report: dict[str, Any], facts: dict[str, Any] | None = None, notes: int = 0
) -> Sentence:
    """The line about weights: "Weighted 13,380 vertices in 1.2 s: 13 -> 2 visible problems, stretch
    27.3 -> 20.2 %. 2 notes". facts: the facts from features/check/before_after.py; without facts,
    the stretch comes from the report. notes: the number of notes. If the report contains "waited",
    the time is measured from the click to this line."""
    seconds = report.get("waited", report["seconds"])
    line = Sentence(
        "Weighted {vertices} vertices in {seconds} s",
        vertices=f"{report['vertices']:,}",
        seconds=f"{seconds:.1f}",
    )
    facts = facts or {"stretch": (None, stretch_of(report))}
    gains = []
    if "problems" in facts:
        gains.append(problems_in_words(facts["problems"]))
    if facts["stretch"][1] is not None:
        gains.append(Sentence("stretch {stretch} %", stretch=from_to(facts["stretch"], percent)))
    if gains:
        line = joined([line, joined(gains, ", ")], ": ")
    return joined([line, counted(notes, "1 note", "{count} notes")], ". ") if notes else line


def stretch_of(report: dict[str, Any], state: str = "after") -> float | None:
    """The Surface Strain of the weights "before" or "after"; None without a surface."""
    return report["deformation"][state]["surface_strain"]


def new_line(report: dict[str, Any]) -> Sentence:
    """The line about new vertices."""
    count, after = report["new_vertices"], stretch_of(report)
    time = Sentence("weighted in {seconds} s", seconds=f"{report['seconds']:.1f}")
    line = joined([counted(count, "1 new vertex", "{count} new vertices"), time], " ")
    if after is None:
        return line
    return Sentence("{line}: stretch {after} % there", line=line, after=percent(after))


def joint_line(report: dict[str, Any]) -> Sentence:
    """The line about joints."""
    line = Sentence(
        "{moved_bones} of {bones} bones moved by at most {largest_move} % of the character's size",
        moved_bones=len(report["moved_bones"]),
        bones=report["bones"],
        largest_move=f"{100 * report['largest_move']:.2f}",
    )
    before, after = stretch_of(report, "before"), stretch_of(report)
    if after is None:
        return line
    return Sentence(
        "{line}: stretch {percent} % in {seconds} s",
        line=line,
        percent=from_to((before, after), percent),
        seconds=f"{report['seconds']:.1f}",
    )


def transfer_line(report: dict[str, Any]) -> Sentence:
    """The line about weights for clothes."""
    objects = report["objects"]
    count, matched = (sum(each[key] for each in objects) for key in ("vertices", "matched"))
    return Sentence(
        "{matched} of {count} vertices of {value} match {sources}, the rest filled in",
        matched=f"{matched:,}",
        count=f"{count:,}",
        value=which([each["name"] for each in objects]),
        sources=which(report["sources"]),
    )


def bake_line(report: dict[str, Any]) -> Sentence:
    """The line about baked modifiers."""
    objects = report["objects"]
    before, after = (
        max(each[key]["rms"] for each in objects) for key in ("error_before", "error_after")
    )
    return Sentence(
        "Baked {value}: error {before} -> {after} % of the mesh size",
        value=which([each["name"] for each in objects]),
        before=f"{100 * before:.3f}",
        after=f"{100 * after:.3f}",
    )
