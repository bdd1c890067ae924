"""Creates the page of a comparison as one self-contained HTML file. The page loads no other files
and is complete without its script."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from html import escape
from typing import TYPE_CHECKING

from ...base.engine import engine
from ...base.progress import Listener
from ...disk.outputs import COMPARISON_PAGE, page_head
from ...measures.likeness import KEPT, LEAST, SUM_ERROR
from .figures import VIEWS, draw_all, legend, scatter
from .judge import JUDGE_SEED, RANDOM, Outcome, best_of
from .methods import REFERENCE
from .style import SCRIPT, STYLE
from .tables import KINDS, measures_table, number, parts_table

if TYPE_CHECKING:
    from .compare import Comparison

SAID = {
    "OURS": "ours",
    "BLENDER_HEAT": "Blender's own heat",
    "HEAT": "bone heat",
    "PRESENT": "the weights in the file",
}
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"

READING = (
    (
        "Stretch",
        "How much the surface is stretched and squeezed: the root of (s1 − 1)² + (s2 − 1)² for the "
        "two principal stretches, averaged over triangles by area and over poses. 10 % is "
        "hardly visible, 50 % is a fold or a tear. <i>By face</i> counts every triangle equally, "
        "so dense areas, such as hands and faces, count more. <i>Worst 1 %</i> is the 99th "
        "percentile over the triangles.",
    ),
    (
        "Limb Drift",
        "How far the middle of a limb moves away from its bone, in radii of the limb: 0.1 is "
        "hardly visible. A surface that stretches little only because its bones hardly move it "
        "has a large drift.",
    ),
    ("Volume Change", "Mean change of the volume of closed parts. Below 0, limbs collapse."),
    (
        "Likeness",
        "Compared with the weights in the file, by the protocol of papers on learned weights: "
        f"weights below {LEAST} are dropped, and also judged weights below {KEPT} of the largest "
        f"of their vertex. Only rows whose reference sums to 1 within {SUM_ERROR} count. L1 is "
        "the mean over the vertices of the sum of differences, from 0 to 2. Precision is the share "
        "of the influences that the file also has; recall is the share of the file's influences "
        "that are found. Likeness is meaningful only if an artist painted the weights in the file.",
    ),
    (
        "Which poses",
        "Random poses: every bone swings by up to 60 degrees and twists by up to 10 degrees (bones "
        "of limbs up to 75) within "
        "its limits. No method was optimized for them, because they come from another seed. Frames "
        "of the animation are spread evenly over all actions. Pictures of random poses are drawn "
        "relative to the main bone of the body, so the body stands upright.",
    ),
    (
        "Reference",
        "Elastic bodies with posed bones are not weights, but show how little stretch is "
        "possible. They are a local minimum, not a proven bound. The distance to them is the root "
        "mean square over the vertices in the pictures, as a share of the character's size.",
    ),
    (
        "Best",
        "The best value of each column is marked. Values that are shown as equal count as equal. "
        "References are excluded, as are the file's weights if they would be compared with "
        "themselves.",
    ),
    (
        "Time",
        "Seconds on this computer, without reading the file. For a deformer, the additional time "
        "after computing its weights. Times vary with the load of the computer.",
    ),
    (
        "Body parts",
        "Chains of bones, named after their first bone, with the triangles that follow them. "
        "Chains that move little are combined.",
    ),
)


def page(
    comparison: Comparison, about: str = "", progress: Listener | None = None, threads: int = 0
) -> str:
    """The page of a Comparison as HTML. about: the source of the character."""
    pictures = draw_all(comparison, progress, threads)
    name = escape(comparison.case.name)
    body = [
        _header(comparison, about),
        _how_to_read(comparison),
        _sheet(comparison, pictures),
        _duel(comparison, pictures),
        *(measures_table(comparison, kind) for kind in comparison.case.poses),
        *(parts_table(comparison, kind) for kind in comparison.case.poses),
        _plots(comparison),
        _reasons(comparison),
        _reading(),
        _footer(comparison),
    ]
    return (
        f"{page_head(COMPARISON_PAGE)}"
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Skinning methods on {name}</title><style>{STYLE}</style></head>\n<body><main>"
        + "\n".join(part for part in body if part)
        + f"</main><script>{SCRIPT}</script></body></html>\n"
    )


def _header(comparison: Comparison, about: str) -> str:
    case, problem = comparison.case, comparison.case.problem
    poses = " and ".join(f"{len(p)} {KINDS[kind]}" for kind, p in case.poses.items())
    facts = (
        f"{len(problem.arguments['vertices']):,} vertices, "
        f"{len(problem.arguments['triangles']):,} triangles, "
        f"{int(problem.skeleton.deform.sum())} bones, judged in {poses}"
    )
    cards = "".join(_cards(comparison))
    notes = "".join(f'<p class="lead">{escape(note)}</p>' for note in case.notes)
    return (
        f'<header><p class="eyebrow">Skinning methods compared</p><h1>{escape(case.name)}</h1>'
        f'<p class="facts">{facts}{f"<br>{escape(about)}" if about else ""}</p>{notes}'
        f'<dl class="cards">{cards}</dl></header>'
    )


def _how_to_read(comparison: Comparison) -> str:
    """The reading instructions, in two sentences."""
    first, _rest = comparison.in_order
    if not first:
        return ""
    count = len(comparison.case.poses[RANDOM])
    said = [SAID.get(outcome.identifier, "the best of the others") for outcome in first]
    order = " and ".join(filter(None, [", ".join(said[:-1]), said[-1]]))
    return (
        '<p class="lead read">Every row is a method for weighting this character, and every column '
        "is a pose. Skin that keeps its shape is gray; stretched or squeezed skin ranges from "
        f"orange to dark. The percentage is the stretch over {count} {KINDS[RANDOM]}; lower is "
        f"better; {order} come{'s' if len(said) == 1 else ''} first.</p>"
    )


def _cards(comparison: Comparison) -> Iterator[str]:
    ours = comparison.find("OURS")
    strain = ours and ours.measures[RANDOM]["surface_strain"]
    if strain:
        heat, file = (
            f"{text}: {number(found.measures[RANDOM]['surface_strain'], 100, 1)} %"
            if (found := comparison.find(name))
            else ""
            for name, text in (("BLENDER_HEAT", "Blender's automatic"), ("PRESENT", "in the file"))
        )
        title = f"Auto-weight: Stretch, {KINDS[RANDOM]}"
        yield _card(title, f"{number(strain, 100, 1)} %", heat or file, file if heat else "")
    judged = [o for o in comparison.done if o.kind != REFERENCE]
    present = comparison.find("PRESENT")
    for kind in comparison.case.poses:
        best = best_of(judged, kind)
        if not best or (strain and kind == RANDOM and best.identifier == "OURS"):
            continue  # the first card has it
        value = number(best.measures[kind]["surface_strain"], 100, 1)
        beside = ""
        if present and present is not best:
            own = number(present.measures[kind]["surface_strain"], 100, 1)
            beside = f"weights in the file: {own} %"
        yield _card(f"Least Stretch, {KINDS[kind]}", f"{value} %", best.name, beside)
    best = best_of(judged, RANDOM, "limb_drift")
    if best:
        value = number(best.measures[RANDOM]["limb_drift"], 1, 3)
        beside = f"of a limb's radius, in {KINDS[RANDOM]}"
        yield _card("Least Limb Drift", value, best.name, beside)
    alike = [o for o in judged if o.likeness and o is not present]
    if alike and not comparison.case.present_is_ours:
        best = min(alike, key=lambda o: o.likeness["l1"])
        beside = "0: the same, 2: nothing in common"
        yield _card("Most like the file, L1", number(best.likeness["l1"]), best.name, beside)


def _card(title: str, value: str, who: str, beside: str) -> str:
    return (
        f'<div class="card"><dt>{title}</dt><dd class="value">{value}</dd>'
        f'<dd class="who">{escape(who)}</dd><dd class="beside">{escape(beside)}</dd></div>'
    )


def _sheet(comparison: Comparison, pictures: dict[tuple[str, int, int], str]) -> str:
    if not comparison.done:
        return "<p>No method could run.</p>"
    columns = len(comparison.views)
    radios = "".join(
        f'<input class="view-radio" type="radio" name="view" id="view-{v}"'
        f"{' checked' if v == 0 else ''}>"
        for v in range(len(VIEWS))
    )
    labels = "".join(
        f'<label for="view-{v}">{name}</label>' for v, (name, _angles) in enumerate(VIEWS)
    )
    heads = '<div class="head"></div>' + "".join(
        f'<div class="head">{escape(view.name)}</div>' for view in comparison.views
    )
    first, rest = (
        "".join(_row(outcome, comparison, pictures) for outcome in outcomes)
        for outcomes in comparison.in_order
    )
    others = f'<div class="others">Others</div>{rest}' if first and rest else rest
    return (
        f"<section>{radios}<h2>Pose sheet</h2>"
        '<p class="lead">The same poses and the same cameras for every method.</p>'
        f'<div class="controls"><span class="switch">{labels}</span>'
        f'<span class="legend">Stretch {legend()}</span></div>'
        f'<div class="sheet" style="grid-template-columns: minmax(150px, 1.2fr) '
        f'repeat({columns}, minmax(104px, 1fr))">{heads}{first}{others}</div></section>'
    )


def _row(
    outcome: Outcome, comparison: Comparison, pictures: dict[tuple[str, int, int], str]
) -> str:
    shots = []
    for column, view in enumerate(comparison.views):
        images = "".join(
            f'<img class="v{v}" data-method="{outcome.identifier}" data-pose="{column}" '
            f'alt="{escape(f"{outcome.name}, {view.name}, {name}")}" '
            f'src="{pictures[outcome.identifier, column, v]}">'
            for v, (name, _angles) in enumerate(VIEWS)
        )
        shots.append(f'<figure class="shot">{images}</figure>')
    strain = number(outcome.measures[RANDOM]["surface_strain"], 100, 1)
    kind = " reference" if outcome.kind == REFERENCE else ""
    return (
        f'<div class="row{kind}"><div class="who"><b>{escape(outcome.name)}</b>'
        f"<span>{strain} % in {KINDS[RANDOM]}</span><small>{escape(outcome.about)}</small></div>"
        f"{''.join(shots)}</div>"
    )


def _duel(comparison: Comparison, pictures: dict[tuple[str, int, int], str]) -> str:
    """The pictures of two methods on top of each other, with a draggable dividing line. Visible
    only if the script runs."""
    first, rest = comparison.in_order
    outcomes = first + rest
    if len(outcomes) < 2 or len(comparison.views) < 2:
        return ""
    names = [outcome.identifier for outcome in outcomes]
    right = "OURS" if "OURS" in names else names[-1]
    left = next(name for name in names if name != right)

    def choices(chosen: str) -> str:
        return "".join(
            f'<option value="{o.identifier}"{" selected" if o.identifier == chosen else ""}>'
            f"{escape(o.name)}</option>"
            for o in outcomes
        )

    poses = "".join(
        f'<option value="{k}"{" selected" if k == 1 else ""}>{escape(view.name)}</option>'
        for k, view in enumerate(comparison.views)
    )
    images = "".join(f'<img alt="" src="{pictures[name, 1, 0]}">' for name in (left, right))
    return (
        '<section><div class="duel" hidden>'
        f'<div class="stage">{images}<i></i></div><div><h2 style="margin-top:0">Two at a time</h2>'
        '<p class="lead">Move the pointer over the picture: one method is shown to the left of the '
        "line, the other to the right.</p>"
        f'<label>Left<select name="left">{choices(left)}</select></label>'
        f'<label>Right<select name="right">{choices(right)}</select></label>'
        f'<label>Pose<select name="pose">{poses}</select></label>'
        '<label>Line<input name="at" type="range" min="0" max="100" value="50"></label>'
        "</div></div></section>"
    )


def _plots(comparison: Comparison) -> str:
    plots = [(kind, scatter(comparison, kind)) for kind in comparison.case.poses]
    figures = "".join(
        f"<figure><figcaption>In {KINDS[kind]}</figcaption>{plot}</figure>"
        for kind, plot in plots
        if plot
    )
    if not figures:
        return (
            "<section><h2>Stretch and likeness</h2><p class=lead>The file has no weights with "
            "which to compare the others.</p></section>"
        )
    return (
        "<section><h2>Stretch and likeness</h2>"
        '<p class="lead">Lower methods keep the shape better, and those farther left are closer to '
        "the weights in the file. A method that is above and to the right of another is worse in "
        f'both respects.</p><div class="plots">{figures}</div></section>'
    )


def _reasons(comparison: Comparison) -> str:
    failed = comparison.failed
    lines = "".join(f"<dt>{escape(o.name)}</dt><dd>{escape(o.reason)}</dd>" for o in failed)
    unweighted = "".join(
        f"<dt>{escape(o.name)}</dt><dd>leaves {o.unweighted:,} vertices without weights: they stay "
        "where they are</dd>"
        for o in comparison.done
        if o.unweighted
    )
    if not lines and not unweighted:
        return ""
    return (
        "<section><h2>Methods that could not run</h2>"
        f'<dl class="reasons">{lines}{unweighted}</dl></section>'
    )


def _reading() -> str:
    lines = "".join(f"<dt>{title}</dt><dd>{text}</dd>" for title, text in READING)
    return (
        f'<section><h2>How to read this</h2><div class="columns"><dl>{lines}</dl></div></section>'
    )


def _footer(comparison: Comparison) -> str:
    methods = "".join(
        f"<dt>{escape(o.name)}</dt><dd>{escape(o.about)}</dd>" for o in comparison.outcomes
    )
    options = ", ".join(
        f"{each.metadata['name']} {getattr(comparison.options, each.name)}"
        for each in fields(comparison.options)
    )
    return (
        f'<section><h2>The methods</h2><div class="columns"><dl>{methods}</dl></div></section>'
        f"<footer>Auto-weight (ARAP) {engine.__version__}; {escape(options)}; seed of the "
        f"poses {JUDGE_SEED}. Computed in {comparison.seconds:.1f} s, without pictures."
        "</footer>"
    )
