"""Writes one report per file, and a table and a page that list all files, the worst first.

The folder contains OUTPUT.json for each file, such as hero.blend.json, with pictures OUTPUT.0.png
... of its armatures, as well as table.json and index.html. Every file is written as a whole, so it
can be read while a farm is working. A mark in each report identifies it regardless of its name.
"""

from __future__ import annotations

import argparse
import html
import json
import math
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ...base.engine import engine
from ...base.printed import say
from ...base.refusal import Refused
from ...disk.files import content_mark
from ...disk.inputs import read_input
from ...disk.outputs import (
    PICTURE,
    REPORT,
    REPORT_PAGE,
    TABLE,
    Kind,
    carries,
    page_head,
    refuse_foreign,
    write_content,
    write_json,
)
from ..errors import WrongArguments
from .tasks import MOST_BYTES, fingerprint, report_path

# Older reports without a mark of their own. They are read and never replaced.
OF_0_1_0 = Kind("report", "", re.compile(rb'\{\s*"version": "0\.1\.0",\s*"files": \['))
INDEX, TABLE_NAME = "index.html", "table.json"
MOST_PICTURES = 24
PICTURE_NAME = re.compile(r"(.*)\.\d+\.png", re.DOTALL)
COLUMNS = (
    ("file", "File"),
    ("armature", "Armature"),
    ("vertices", "Vertices"),
    ("bones", "Bones"),
    ("surface_strain", "Stretch"),
    ("limb_drift", "Limb Drift"),
    ("volume_change", "Volume Change"),
    ("seconds", "Seconds"),
    ("warnings", "Warnings"),
    ("error", "Error"),
)
STYLE = """body { font: 15px sans-serif; margin: 2em } table { border-collapse: collapse }
td, th { padding: .3em .7em; border-bottom: 1px solid #ccc; text-align: left }
figure { display: inline-block; margin: 0 1em 1em 0 } figcaption { font-size: 13px }
td { vertical-align: top } td.number { text-align: right } tr.failed { background: #fdd }"""


def write_report(arguments: argparse.Namespace, result: dict[str, Any]) -> None:
    """Writes the report of one file, with its outcome or the reason for its failure."""
    output = result.get("output", result["input"])
    if "error" not in result:
        result = result | {"contents": result["contents"] | {"output": content_mark(output)}}
    content = {
        "version": engine.__version__,
        "fingerprint": fingerprint(arguments),
        "files": [result],
    }
    write_json(report_path(arguments.report, output), REPORT, content)


def picture_name(target: str | Path, number: int) -> str:
    """The name of the picture of an armature in a file, by its number."""
    return f"{Path(target).name}.{number}.png"


def report_files(
    folder: str | Path, targets: Sequence[Path], has_pictures: bool, merges: bool
) -> Iterator[tuple[Path, Kind, str]]:
    """Yields (path, kind, name) of the files that a run writes into a folder of reports. The number
    of pictures is known only after opening a file, so existing ones are counted."""
    pictures: defaultdict[str, set[str]] = defaultdict(set)
    if os.path.isdir(folder):
        for name in os.listdir(folder):
            if found := PICTURE_NAME.fullmatch(name):
                pictures[found[1]].add(name)
    for target in targets:
        yield report_path(folder, target), REPORT, "report"
        if has_pictures:
            for name in sorted({picture_name(target, 0), *pictures[target.name]}):
                yield Path(folder, name), PICTURE, "picture"
    if merges:
        yield Path(folder, TABLE_NAME), TABLE, "table"
        yield Path(folder, INDEX), REPORT_PAGE, "page"


def write_pictures(
    folder: str | Path,
    target: Path,
    reports: Sequence[dict[str, Any]],
    pictures: Sequence[bytes | None],
) -> None:
    """Writes one PNG file for each armature report of a file and returns the names; None if nothing
    is drawn."""
    for k, (report, picture) in enumerate(zip(reports, pictures, strict=True)):
        if picture:
            report["picture"] = picture_name(target, k)
            write_content(Path(folder, report["picture"]), PICTURE, picture)


def read_reports(folder: str | Path) -> tuple[list[dict[str, Any]], list[str]]:
    """Returns (rows of all reports in a folder, [reason why one cannot be read]). Raises Refused if
    there is no report."""
    if not Path(folder).is_dir():
        raise WrongArguments(f"there is no folder {folder}")
    found: list[dict[str, Any]] = []
    bad = []
    for path in sorted(Path(folder).glob("*.json")):
        try:
            if path.is_file() and (carries(path, REPORT) or carries(path, OF_0_1_0)):  # no FIFO
                content = json.loads(read_input(path, MOST_BYTES).decode())
                found += [row for entry in content["files"] for row in _rows(entry)]
            elif ".blend" in path.name.lower():
                bad.append(f"{path} is not a report")
        except Refused as reason:
            bad.append(str(reason))
        except OSError as error:
            bad.append(f"{path} cannot be read: {error.strerror}")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            bad.append(f"{path} is not a complete report: {error}")
    if not found:
        raise Refused("; ".join([f"there is no report in the folder {folder}", *bad]))
    return found, bad


def _rows(entry: dict[str, Any]) -> list[dict[str, Any]]:
    """One row for each armature of a file, or one for a failed file. Raises TypeError, KeyError...
    for content that no report has."""
    about = {"file": _text(entry["input"]), "output": _text(entry.get("output", entry["input"]))}
    if "error" in entry:
        return [about | {"error": _text(entry["error"])}]
    found = []
    for report in entry["characters"] if "characters" in entry else entry["armatures"]:
        weights = report.get("weights") or report
        seen = (weights.get("deformation") or {}).get("after") or {}
        numbers = {
            "vertices": weights.get("vertices"),
            "bones": weights.get("deforming_bones"),
            **{key: seen.get(key) for key in ("surface_strain", "limb_drift", "volume_change")},
            "seconds": report.get("total_seconds", report.get("seconds")),
        }
        found.append(
            about
            | {"armature": _text(report.get("armature", ""))}
            | {key: _number(value) for key, value in numbers.items()}
            | {
                "picture": report.get("picture") and os.path.basename(_text(report["picture"])),
                "warnings": [*map(_text, entry.get("warnings", [])), *report.get("warnings", [])],
            }
        )
    return found


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not text")
    return value


def _number(value: Any) -> Any:
    if value is not None and (type(value) not in (int, float) or not math.isfinite(value)):
        raise TypeError(f"{value!r} is not a number")
    return value


def merge(folder: str | Path) -> tuple[int, list[str]]:
    """Writes the table and the page, with failed files first, then those with the most strain.
    Returns their number of rows, and [reason why a report cannot be read]."""
    table, index = Path(folder, TABLE_NAME), Path(folder, INDEX)
    found, bad = read_reports(folder)
    refuse_foreign(table, TABLE)
    refuse_foreign(index, REPORT_PAGE)
    found.sort(key=lambda row: ("error" not in row, -(row.get("surface_strain") or 0)))
    write_json(table, TABLE, {"version": engine.__version__, "rows": found})
    write_content(index, REPORT_PAGE, page(found))
    return len(found), bad


def merge_and_warn(folder: str | Path) -> int:
    """Writes the table and the page of a folder of reports, warns about unreadable reports, and
    returns the number of rows."""
    count, bad = merge(folder)
    for line in bad:
        say(f"  warning: {line}")
    return count


def page(found: Sequence[dict[str, Any]]) -> str:
    """A self-contained page without scripts or external resources."""
    failed = sum("error" in row for row in found)
    lines = [
        f"{page_head(REPORT_PAGE)}<title>Weights</title><style>{STYLE}</style></head><body>",
        "<h1>Weights</h1>",
        f"<p>{len(found)} rows, {failed} failed; most stretch first.</p>",
        *_gallery(found),
        "<table><tr>" + "".join(f"<th>{title}</th>" for _key, title in COLUMNS) + "</tr>",
    ]
    for row in found:
        cells = "".join(_cell(row.get(key)) for key, _title in COLUMNS)
        lines.append(f"<tr{' class=failed' if 'error' in row else ''}>{cells}</tr>")
    return "\n".join([*lines, "</table></body></html>\n"])


def _gallery(found: Sequence[dict[str, Any]]) -> list[str]:
    """Pictures of the worst results."""
    from ...measures.deformation import in_percent  # loads NumPy

    with_strain = [row for row in found if row.get("surface_strain") is not None]
    shown = [row for row in with_strain if row["picture"]][:MOST_PICTURES]
    if not shown:
        return []
    figures = [
        f"<figure><img src='{quote(os.fsencode(row['picture']))}' alt='' loading='lazy'>"
        f"<figcaption>{html.escape(Path(row['file']).name)}: "
        f"{html.escape(row['armature'] or '')}<br>Stretch "
        f"{in_percent(row['surface_strain'])}</figcaption></figure>"
        for row in shown
    ]
    about = (
        "Each character in the sampled pose with the most stretch. Gray means no stretch, dark "
        "100 %."
    )
    return [f"<p>{about}</p><div>", *figures, "</div>"]


def _cell(value: Any) -> str:
    if isinstance(value, (int, float)):
        return (
            f"<td class='number'>{value:,}</td>"
            if isinstance(value, int)
            else (f"<td class='number'>{value:.4g}</td>")
        )
    if isinstance(value, list):
        return f"<td>{'<br>'.join(html.escape(str(each)) for each in value)}</td>"
    return f"<td>{html.escape('' if value is None else str(value))}</td>"
