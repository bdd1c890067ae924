"""The last line that an operator reports, of each kind of work: so short that the status bar of a
window of 1280 pixels shows all of it. The long summaries are in the Info log."""

from collections.abc import Callable, Sequence
from typing import Any

MOST_LETTERS = 110
MOST_OF_NAME = 20


def short(name: str) -> str:
    """'A name that is not too long'."""
    return f"'{name}'" if len(name) <= MOST_OF_NAME else f"'{name[: MOST_OF_NAME - 1]}…'"


def which(names: Sequence[str], things: str = "meshes") -> str:
    """The only one of them, or how many there are."""
    return short(names[0]) if len(names) == 1 else f"{len(names)} {things}"


def percent(share: float) -> str:
    """A share as people read it, without its sign."""
    return f"{100 * share:.1f}"


def from_to(values: tuple[Any, Any], words: Callable[[Any], str], arrow: str = "->") -> str:
    """ "13 -> 2", or "2" where nothing is known of before."""
    before, after = values
    return words(after) if before is None else f"{words(before)} {arrow} {words(after)}"


def problems_in_words(counts: tuple[int | None, int], arrow: str = "->") -> str:
    """ "13 -> 2 visible problems", "1 visible problem"."""
    problems = from_to(counts, str, arrow)
    return f"{problems} visible problem" if counts[1] == 1 else f"{problems} visible problems"


def result_line(report: dict[str, Any], facts: dict[str, Any] | None = None, notes: int = 0) -> str:
    """Of weights: "Weighted 13,380 vertices in 1.2 s: 13 -> 2 visible problems, stretch
    27.3 -> 20.2 %. 2 notes". facts: of checks/gains.py; without any, stretch is that of the
    report. notes: how many there are. The time is that from the click to this line, if the report
    has it as "waited"."""
    seconds = report.get("waited", report["seconds"])
    line = f"Weighted {report['vertices']:,} vertices in {seconds:.1f} s"
    facts = facts or {"stretch": (None, _stretch(report, "after"))}
    said = []
    if "problems" in facts:
        said.append(problems_in_words(facts["problems"]))
    if facts["stretch"][1] is not None:
        said.append(f"stretch {from_to(facts['stretch'], percent)} %")
    line += f": {', '.join(said)}" if said else ""
    if notes:
        line += ". 1 note" if notes == 1 else f". {notes} notes"
    return line


def _stretch(report: dict[str, Any], when: str) -> float | None:
    return report["deformation"][when]["surface_strain"]


def new_line(report: dict[str, Any]) -> str:
    """Of what is new."""
    count, after = report["new_vertices"], _stretch(report, "after")
    line = "1 new vertex" if count == 1 else f"{count:,} new vertices"
    line += f" weighted in {report['seconds']:.1f} s"
    return line if after is None else f"{line}: stretch {percent(after)} % there"


def joint_line(report: dict[str, Any]) -> str:
    """Of joints."""
    line = (
        f"{len(report['moved_bones'])} of {report['bones']} bones moved, at most "
        f"{100 * report['largest_move']:.2f} % of the size"
    )
    before, after = _stretch(report, "before"), _stretch(report, "after")
    if after is None:
        return line
    return f"{line}: stretch {from_to((before, after), percent)} % in {report['seconds']:.1f} s"


def transfer_line(report: dict[str, Any]) -> str:
    """Of weights for clothes."""
    objects = report["objects"]
    count, matched = (sum(each[key] for each in objects) for key in ("vertices", "matched"))
    return (
        f"{matched:,} of {count:,} vertices of {which([each['name'] for each in objects])} match "
        f"{which(report['sources'])}, the rest filled in"
    )


def bake_line(report: dict[str, Any]) -> str:
    """Of baked modifiers."""
    objects = report["objects"]
    before, after = (
        max(each[key]["rms"] for each in objects) for key in ("error_before", "error_after")
    )
    return (
        f"Baked {which([each['name'] for each in objects])}: error {100 * before:.3f} -> "
        f"{100 * after:.3f} % of the size"
    )
