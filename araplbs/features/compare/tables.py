"""Creates the tables of a comparison page."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, TypeAlias

from .judge import ANIMATION, RANDOM, Outcome
from .methods import DEFORMER, REFERENCE, WEIGHTS

if TYPE_CHECKING:
    from .compare import Comparison

NONE = "–"
Column: TypeAlias = tuple[str, Sequence[str], Sequence[str | None], Any]  # see _table()
KINDS = {RANDOM: "random poses", ANIMATION: "poses of the animation"}

# The key of measures.deformation.as_report(), the title, the factor and decimals, and how to find
# the best value.
MEASURES = (
    ("surface_strain", "Stretch, %", 100, 1, min),
    ("surface_strain_by_face", "by face, %", 100, 1, min),
    ("surface_strain_p99", "worst 1 %, %", 100, 0, min),
    ("limb_drift", "Limb Drift, radii", 1, 3, min),
    ("worst_limb_drift", "worst limb, radii", 1, 2, min),
    ("volume_change", "Volume Change, %", 100, 1, "nearest to 0"),
)


def number(value: float | None, factor: float = 1, decimals: int = 2) -> str:
    """Formats a number for the tables. Minus zero is shown without its sign."""
    if value is None or not math.isfinite(value):
        return NONE
    text = f"{factor * value:.{decimals}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")


def best_of(values: Sequence[str | None], best: Any) -> set[int]:
    """The indices of the best texts, each of which is a number or NONE. best: min, max, "nearest to
    0" or None."""
    if best is None:
        return set()
    known = {
        k: float(text.replace("−", "-").replace("+", ""))
        for k, text in enumerate(values)
        if text is not None and text != NONE
    }
    if len(known) < 2:
        return set()
    if best == "nearest to 0":
        known, best = {k: abs(value) for k, value in known.items()}, min
    target = best(known.values())
    return {k for k, value in known.items() if value == target}


def _table(
    outcomes: Sequence[Outcome],
    columns: Sequence[Column],
    kind: str = "",
    heat: list[list[float]] | None = None,
    first: int = 0,
) -> str:
    """The HTML of a table. columns: [(title, [text of each outcome], [text compared for the best,
    or None], best)]. heat: [[cell color, 0 to 1]] by column. first: the number of rows above the
    separating line."""
    head = "".join(f'<th scope="col">{title}</th>' for title, *_rest in columns)
    marked = [best_of(counted, best) for _title, _texts, counted, best in columns]
    lines = []
    for k, outcome in enumerate(outcomes):
        cells = []
        for c, (_title, texts, _counted, _best) in enumerate(columns):
            is_best = k in marked[c]
            style = f' style="--heat:{heat[c][k]:.2f}"' if heat else ""
            extra = '<span class="vh"> best</span>' if is_best else ""
            look = "best" if is_best else "none" if texts[k] == NONE else ""
            cells.append(
                f"<td{f' class={look}' if look else ''}{style}><span>{texts[k]}</span>{extra}</td>"
            )
        looks = ["reference"] * (outcome.kind == REFERENCE) + ["rest"] * (k == first > 0)
        row = f' class="{" ".join(looks)}"' if looks else ""
        lines.append(f'<tr{row}><th scope="row">{escape(outcome.name)}</th>{"".join(cells)}</tr>')
    return (
        f'<div class="wide"><table{f" class={kind}" if kind else ""}><thead><tr>'
        f'<th scope="col">Method</th>{head}</tr></thead><tbody>{"".join(lines)}'
        "</tbody></table></div>"
    )


def _counted(
    outcomes: Sequence[Outcome], texts: Sequence[str], counts: Callable[[Outcome], bool]
) -> list[str | None]:
    return [
        text if counts(outcome) else None for outcome, text in zip(outcomes, texts, strict=True)
    ]


def measures_table(comparison: Comparison, kind: str) -> str:
    first, rest = comparison.in_order
    outcomes = first + rest

    def column(
        title: str,
        texts: Sequence[str],
        best: Any,
        counts: Callable[[Outcome], bool] = lambda o: o.kind != REFERENCE,
    ) -> Column:
        return title, texts, _counted(outcomes, texts, counts), best

    columns = [
        column(title, [number(o.measures[kind][key], factor, decimals) for o in outcomes], best)
        for key, title, factor, decimals, best in MEASURES
    ]
    if kind == RANDOM:
        columns += _other_columns(outcomes, column)
    judged = [o for o in outcomes if o.poses[kind] < len(comparison.case.poses[kind])]
    fewer = "".join(
        f"<p class=lead>{escape(o.name)}: in {o.poses[kind]} of these poses.</p>" for o in judged
    )
    title = "Measures" if kind == RANDOM else "Measures in the animation"
    intro = f"In {len(comparison.case.poses[kind])} {KINDS[kind]}; lower is better."
    return (
        f'<section><h2>{title}</h2><p class="lead">{intro}</p>'
        f"{_table(outcomes, columns, first=len(first))}{fewer}"
        "</section>"
    )


def _other_columns(outcomes: Sequence[Outcome], column: Callable[..., Column]) -> list[Column]:
    alike = [o.likeness or {} for o in outcomes]
    influences = [
        NONE if o.influences is None else f"{o.influences:.1f} (≤ {o.most_influences})"
        for o in outcomes
    ]
    seconds = [
        NONE if o.seconds is None
        else ("+" if o.kind == DEFORMER else "") + number(o.seconds)
        for o in outcomes
    ]  # fmt: skip
    columns = [
        column("Influences (most)", influences, None),
        column("Time, s", seconds, min, lambda o: o.kind == WEIGHTS and o.seconds is not None),
    ]
    if any(o.to_reference is not None for o in outcomes):
        texts = [number(o.to_reference, 100, 2) for o in outcomes]
        columns.append(column("To the reference, %", texts, min))
    if any(alike):
        for key, title, best in (
            ("l1", "L1 to the file", min),
            ("precision", "Precision", max),
            ("recall", "Recall", max),
        ):
            texts = [number(each.get(key)) for each in alike]
            columns.append(column(title, texts, best, lambda o: o.identifier != "PRESENT"))
    return columns


def parts_table(comparison: Comparison, kind: str) -> str:
    first, rest = comparison.in_order
    outcomes, columns, heat = first + rest, [], []
    for part, _bones in comparison.parts:
        values = [o.measures[kind]["parts"].get(part, {}).get("surface_strain") for o in outcomes]
        if all(value is None for value in values):
            continue
        texts = [number(value, 100, 1) for value in values]
        counted = _counted(outcomes, texts, lambda o: o.kind != REFERENCE)
        columns.append((escape(part), texts, counted, min))
        heat.append([0 if value is None else min(value, 0.5) for value in values])
    if not columns:
        return ""
    return (
        f"<section><h2>By body part: {KINDS[kind]}</h2>"
        '<p class="lead">Stretch in percent. Warmer colors mean more; the lowest value of each '
        f"part is underlined.</p>{_table(outcomes, columns, 'parts', heat, len(first))}</section>"
    )
