"""Reports on keeping and restoring weights, for programs and for the user."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...reports.report import names_in_line
from .restore import Restored, RestoreOptions
from .stored import Kept

FEW = 0.5  # share of a mesh's vertices; a smaller matching share causes a warning


def restore_report(
    armature: str,
    done: Sequence[Restored],
    options: RestoreOptions,
    written: Sequence[dict[str, Any]],
    started: float,
) -> dict[str, Any]:
    """The report for programs. written: {"name", "locked", ...} for each mesh."""
    return {
        "armature": armature,
        "objects": [
            {
                "vertices": len(each.matched),
                "matched": int(each.matched.sum()),
                "filled": int((~each.matched).sum()),
                "kept": each.sources,
                "renamed": each.renamed,
                "gone": each.gone,
                "edits": len(each.edits),
                **facts,
            }
            for each, facts in zip(done, written, strict=True)
        ],
        "seconds": time.perf_counter() - started,
        "options": options.as_dict(),
    }


def restore_summary(report: dict[str, Any]) -> str:
    """A one-line summary for the user, short enough for the status bar."""
    objects = report["objects"]
    count, matched = (sum(each[key] for each in objects) for key in ("vertices", "matched"))
    where = f"'{objects[0]['name']}'" if len(objects) == 1 else f"{len(objects)} meshes"
    line = f"Weights of {where} restored: {matched:,} of {count:,} vertices match the kept mesh"
    return line if matched == count else f"{line}, the rest filled in"


def restore_warnings(report: dict[str, Any]) -> list[str]:
    """Lines about places that a rigger should check."""
    lines = []
    for each in report["objects"]:
        name = each["name"]
        if each["matched"] < FEW * each["vertices"]:
            lines.append(
                f"only {each['matched']:,} of {each['vertices']:,} vertices of '{name}' match: has "
                "it moved since its weights were kept?"
            )
        if each["renamed"]:
            said = [f"'{old}' is now '{new}'" for old, new in each["renamed"].items()]
            lines.append(f"'{name}': {names_in_line(said)}")
        if each["gone"]:
            said = [f"'{bone}' ({100 * share:.1f} %)" for bone, share in each["gone"].items()]
            lines.append(
                f"'{name}': some bones with weight no longer exist; other bones took over their "
                f"weight: {names_in_line(said)}"
            )
        if each["locked"]:
            said = [f"'{group}'" for group in each["locked"]]
            lines.append(
                f"'{name}' has locked vertex groups, which stay unchanged: {names_in_line(said)}"
            )
    return lines


def kept_path(text: str, source: str | Path) -> Path:
    """The file path given by an option, possibly relative to the .blend file `source`."""
    return Path(source).parent / text[2:] if text.startswith("//") else Path(text)


def keep_report(armature: str, kept: list[Kept], path: str) -> dict[str, Any]:
    return {
        "armature": armature,
        "file": path,
        "objects": [
            {
                "name": each.name,
                "vertices": len(each.vertices),
                "groups": len(each.groups),
                "edits": len(each.edits),
            }
            for each in kept
        ],
    }


def keep_summary(report: dict[str, Any]) -> str:
    """A one-line summary for the user."""
    names = names_in_line([f"'{each['name']}'" for each in report["objects"]])
    where = report["file"] or f"the armature '{report['armature']}'"
    return f"Weights of {names} kept with {where}"
