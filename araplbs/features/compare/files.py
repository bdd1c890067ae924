"""Writes the folder of a comparison, which contains a page for each character, index.html, and
report.json with all numbers. Each file is written completely or not at all, and no other file
changes."""

import json
import os
import re
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

from ...base.engine import engine
from ...base.refusal import Refused
from ...disk.files import remove_leftovers
from ...disk.outputs import (
    COMPARISON,
    COMPARISON_PAGE,
    Kind,
    carries,
    page_head,
    refuse_foreign,
    write_content,
    write_json,
)
from .style import STYLE

INDEX, REPORT = "index.html", "report.json"


def files_of(folder: str | Path, names: Sequence[str] = ()) -> list[tuple[Path, Kind]]:
    """Returns [(path, kind)] of all files that a comparison of these characters writes."""
    pages = dict.fromkeys([INDEX, *page_names(names)])
    kinds = dict.fromkeys(pages, COMPARISON_PAGE) | {REPORT: COMPARISON}
    return [(Path(folder, name), kind) for name, kind in kinds.items()]


def refuse_folder(folder: str | Path, names: Sequence[str] = ()) -> None:
    """Raises Refused if the files cannot be written or would replace files of a different type."""
    refuse_no_folder(folder)
    for path, kind in files_of(folder, names):
        refuse_foreign(path, kind)


def refuse_no_folder(folder: str | Path) -> None:
    """Raises Refused for an existing path that is not a folder."""
    if Path(folder).exists() and not Path(folder).is_dir():
        raise Refused(f"'{folder}' is not a folder")


def page_names(names: Sequence[str]) -> list[str]:
    """File names for the pages of the characters. A single page is named index.html."""
    if len(names) == 1:
        return [INDEX]
    found, taken = [], {"index"}
    for name in names:
        stem = base = re.sub(r"[^\w-]+", "_", name).strip("_") or "character"
        number = 1
        while stem.casefold() in taken:
            number += 1
            stem = f"{base}_{number}"
        taken.add(stem.casefold())
        found.append(f"{stem}.html")
    return found


def write_comparisons(
    folder: str | Path,
    made: Sequence[tuple[str, str, dict[str, Any]]],
    source: str | Path | None = None,
) -> Path:
    """Writes the pages of [(name, page, dictionary)] and returns the path of index.html. Raises
    Refused as refuse_folder() does. source: the file that the pages describe. The function
    page_about() uses it to find them."""
    folder = Path(folder)
    titles = [name for name, _page, _content in made]
    refuse_folder(folder, titles)
    folder.mkdir(parents=True, exist_ok=True)
    remove_leftovers(folder)
    names = page_names(titles)
    pages = {name: page for name, (_name, page, _content) in zip(names, made, strict=True)}
    if len(made) != 1:
        pages[INDEX] = _contents(zip(names, titles, strict=True))
    for name, page in pages.items():
        write_content(folder / name, COMPARISON_PAGE, page)
    characters = [
        {"page": name, **content} for name, (_name, _page, content) in zip(names, made, strict=True)
    ]
    about = {"file": _way(folder, source)} if source else {}
    content = {"version": engine.__version__, **about, "characters": characters}
    write_json(folder / REPORT, COMPARISON, content)
    return folder / INDEX


def is_page(output: str | Path) -> bool:
    """Whether an output names the file of a page rather than a folder."""
    return Path(output).suffix.lower() in (".html", ".htm") and not Path(output).is_dir()


def write_page(path: Path, made: Sequence[tuple[str, str, dict[str, Any]]]) -> Path:
    """Writes the page of the only character. Raises Refused if there are several."""
    if len(made) != 1:
        names = ", ".join(name for name, _page, _content in made)
        raise Refused(f"has {len(made)} characters ({names}): specify a folder instead of {path}")
    write_content(path, COMPARISON_PAGE, made[0][1])
    return path


def page_about(folder: str | Path, source: str | Path) -> Path | None:
    """The index.html that an earlier comparison of this file wrote to a folder, or None."""
    report, page = Path(folder, REPORT), Path(folder, INDEX)
    try:
        if not page.is_file() or not carries(report, COMPARISON):
            return None
        named = json.loads(report.read_text(encoding="utf-8")).get("file")
    except (OSError, ValueError):
        return None
    return page if named == _way(folder, source) else None


def _way(folder: str | Path, source: str | Path) -> str:
    """The path of a file relative to a folder, so the file and the folder can be moved together."""
    try:
        return Path(os.path.relpath(source, folder)).as_posix()
    except ValueError:  # on another drive
        return Path(source).as_posix()


def _contents(pages: Iterable[tuple[str, str]]) -> str:
    lines = "".join(f'<p><a href="{escape(name)}">{escape(title)}</a></p>' for name, title in pages)
    return (
        f"{page_head(COMPARISON_PAGE)}"
        f"<title>Skinning methods compared</title><style>{STYLE}</style></head><body><main>"
        f'<p class="eyebrow">Skinning methods compared</p><h1>Characters</h1>{lines}'
        "</main></body></html>\n"
    )
