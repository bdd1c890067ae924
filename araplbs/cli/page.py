"""Writes the page of --report, which contains the results and pictures of all files in one
self-contained file."""

from __future__ import annotations

import base64
from html import escape
from pathlib import Path
from typing import Any

from ..disk.outputs import REPORT_PAGE, page_head, write_content
from ..features.check.kinds import KIND_OF
from ..features.compare.style import STYLE
from ..measures.deformation import in_percent

ABOUT = (
    "The findings, the worst of 12 random poses, and poses with names. Gray means no stretch, dark "
    "100 %. Lines lead to the bones that move the worst places."
)


def write_report_page(
    path: str | Path, content: dict[str, Any], pictures: list[list[bytes | None]]
) -> None:
    """content: the output of --json. pictures: PNG files of the characters of each file."""
    parts = [
        f"{page_head(REPORT_PAGE)}<title>araplbs {escape(content['command'])}</title>"
        f"<style>{STYLE}</style></head><body><main>",
        f'<p class="eyebrow">araplbs {escape(content["command"])}</p><h1>Report</h1>',
    ]
    for result, shown in zip(content["files"], pictures, strict=True):
        name = result.get("output", result["input"])
        parts.append(f"<h2>{escape(str(name))}</h2>")
        if "error" in result:
            parts.append(f"<p>Failed: {escape(result['error'])}</p>")
            continue
        for number, report in enumerate(result["characters"]):
            picture = shown[number] if number < len(shown) else None
            parts += _character(report, picture)
    write_content(path, REPORT_PAGE, "\n".join([*parts, "</main></body></html>\n"]))


def _character(report: dict[str, Any], picture: bytes | None) -> list[str]:
    parts = [f"<h3>{escape(report['armature'])}</h3>"]
    rows = [("Vertices", f"{report['vertices']:,}")]
    if "deformation" in report:
        rows += _seen(report)
    if "findings" in report:
        rows += [(f"Findings, {level}", str(n)) for level, n in report["health"].items()]
    cells = "".join(f"<tr><td>{escape(a)}</td><td>{escape(b)}</td></tr>" for a, b in rows)
    parts.append(f'<table style="max-width: 34em">{cells}</table>')
    lines = [*report.get("notes", []), *(f"Warning: {w}" for w in report.get("warnings", []))]
    lines += [
        f"{found['level']}: {KIND_OF[found['kind']].name}: {found['words']}"
        for found in report.get("findings", [])
    ]
    if lines:
        parts.append("<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>")
    if picture:
        data = base64.b64encode(picture).decode("ascii")
        parts.append(
            f'<figure><img alt="" style="max-width: 100%" src="data:image/png;base64,{data}">'
            f"<figcaption>{ABOUT}</figcaption></figure>"
        )
    return parts


def _seen(report: dict[str, Any]) -> list[tuple[str, str]]:
    after = report["deformation"]["after"]
    found = [
        ("Bones that deform", str(report["deforming_bones"])),
        ("Influences of a vertex", f"at most {report['most_influences']}"),
        ("Time", f"{report['seconds']:.1f} s"),
    ]
    if after.get("surface_strain") is not None:
        found.insert(1, ("Stretch", in_percent(after["surface_strain"])))
    return found
