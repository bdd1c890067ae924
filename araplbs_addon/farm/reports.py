"""Reports of files, one each, and what is made of all of them: a table and a page, the worst first.

The folder has OUTPUT.blend.json for each file with pictures OUTPUT.blend.0.png ..., one for each
armature, table.json and index.html. Every file is written
as a whole, so that what is there can be read while a farm works.
"""

import html
import json
import os
from pathlib import Path
from urllib.parse import quote

from ..core.deformation import in_percent
from ..core.files import whole_file, write_json
from ..core.native_module import version
from ..core.refusal import Refused
from .tasks import fingerprint, report_path

MOST_PICTURES = 24
COLUMNS = (
    ("file", "File"),
    ("armature", "Armature"),
    ("vertices", "Vertices"),
    ("bones", "Bones"),
    ("surface_strain", "Surface Strain"),
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


def write_report(arguments, result):
    """That of one file, what has become of it or why it failed. An older output that is whole
    stays with its report when the file fails now."""
    path = report_path(arguments.report, result["output"])
    Path(arguments.report).mkdir(parents=True, exist_ok=True)
    content = {"version": version(), "fingerprint": fingerprint(arguments), "files": [result]}
    if "error" not in result:
        result = dict(result, written=os.stat(result["output"]).st_mtime_ns)
        content["files"] = [result]
    write_json(path, content)


def write_pictures(folder, target, reports, pictures):
    """PNG files, one for each of the reports of armatures of a file, which get their names; None
    where there is none."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for k, (report, picture) in enumerate(zip(reports, pictures, strict=True)):
        if picture:
            report["picture"] = f"{Path(target).name}.{k}.png"
            with whole_file(Path(folder, report["picture"])) as temporary:
                temporary.write_bytes(picture)


def read_reports(folder):
    """The files of all reports in a folder, in the order of their names. Raises Refused where
    there is none, or one that cannot be read."""
    if not Path(folder).is_dir():
        raise Refused(f"there is no folder {folder}")
    found = []
    for path in sorted(Path(folder).glob("*.blend.json")):
        try:
            found += json.loads(path.read_text(encoding="utf-8"))["files"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise Refused(f"{path} is no report: {error}") from None
    if not found:
        raise Refused(f"there is no report in the folder {folder}")
    return found


def rows(files):
    """A row for each armature and each failed file: failed ones first, then the most strain."""
    found = []
    for entry in files:
        about = {"file": entry.get("input", "?"), "output": entry.get("output")}
        if "error" in entry:
            found.append(about | {"error": entry["error"]})
        for report in entry.get("armatures", []) if "error" not in entry else []:
            weights = report.get("weights") or report
            seen = (weights.get("deformation") or {}).get("after") or {}
            found.append(
                about
                | {
                    "armature": report.get("armature"),
                    "vertices": weights.get("vertices"),
                    "bones": weights.get("deforming_bones"),
                    **{key: seen.get(key) for key in ("surface_strain", "limb_drift")},
                    "volume_change": seen.get("volume_change"),
                    "seconds": report.get("total_seconds"),
                    "picture": report.get("picture"),
                    "warnings": [*entry.get("warnings", []), *report.get("warnings", [])],
                }
            )
    return sorted(found, key=lambda row: ("error" not in row, -(row.get("surface_strain") or 0)))


def merge(folder):
    """Writes the table and the page; how many rows they have."""
    found = rows(read_reports(folder))
    write_json(Path(folder, "table.json"), {"version": version(), "rows": found})
    with whole_file(Path(folder, "index.html")) as temporary:
        temporary.write_text(page(found), encoding="utf-8")
    return len(found)


def page(found):
    """A page by itself: no script, nothing from elsewhere."""
    failed = sum("error" in row for row in found)
    lines = [
        "<!DOCTYPE html><html lang='en'><meta charset='utf-8'><title>Weights</title>",
        f"<style>{STYLE}</style><h1>Weights</h1>",
        f"<p>{len(found)} rows, {failed} failed; those with the most strain first.</p>",
        *_gallery(found),
        "<table><tr>" + "".join(f"<th>{title}</th>" for _key, title in COLUMNS) + "</tr>",
    ]
    for row in found:
        cells = "".join(_cell(row.get(key)) for key, _title in COLUMNS)
        lines.append(f"<tr{' class=failed' if 'error' in row else ''}>{cells}</tr>")
    return "\n".join([*lines, "</table></html>\n"])


def _gallery(found):
    """Pictures of the worst."""
    shown = [row for row in found if row.get("picture")][:MOST_PICTURES]
    if not shown:
        return []
    figures = [
        f"<figure><img src='{quote(row['picture'])}' alt='' loading='lazy'>"
        f"<figcaption>{html.escape(Path(row['file']).name)}: "
        f"{html.escape(row['armature'] or '')}<br>Surface Strain "
        f"{in_percent(row['surface_strain'])}</figcaption></figure>"
        for row in shown
    ]
    about = "Each in the one of some poses in which it strains most: gray none, dark 100 %."
    return [f"<p>{about}</p><div>", *figures, "</div>"]


def _cell(value):
    if isinstance(value, (int, float)):
        return (
            f"<td class='number'>{value:,}</td>"
            if isinstance(value, int)
            else (f"<td class='number'>{value:.4g}</td>")
        )
    if isinstance(value, list):
        return f"<td>{'<br>'.join(html.escape(str(each)) for each in value)}</td>"
    return f"<td>{html.escape('' if value is None else str(value))}</td>"
