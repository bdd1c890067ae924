"""The folder of a comparison: a page for each character, index.html, and report.json with all
numbers. Each is written as a whole, nothing else is touched."""

import re
from html import escape
from pathlib import Path

from .compare_style import STYLE
from .files import refuse_output, remove_leftovers, whole_file, write_json
from .native_module import version
from .refusal import Refused

INDEX, REPORT = "index.html", "report.json"
MARKS = {INDEX: 'name="generator" content="araplbs compare"', REPORT: '"kind": "comparison"'}
GENERATOR = f"<meta {MARKS[INDEX]}>"


def refuse_folder(folder):
    """Raises Refused where the files could not be put, or would replace others than their like."""
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise Refused(f"'{folder}' is not a folder")
    for name, mark in MARKS.items():
        path = folder / name
        refuse_output(path)
        if path.exists():
            try:
                with open(path, encoding="utf-8", errors="replace") as file:
                    start = file.read(1000)
            except OSError as error:
                raise Refused(f"'{path}' cannot be read: {error}") from None
            if mark not in start:
                raise Refused(f"'{path}' is there already, and no comparison: name another folder")


def page_names(names):
    """A file name for the page of each character: index.html where there is one."""
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


def write_comparisons(folder, made):
    """Writes the pages of [(name, page, dictionary)]; the path of index.html. Raises Refused as
    refuse_folder() does."""
    folder = Path(folder)
    refuse_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    remove_leftovers(folder)
    names = page_names([name for name, _page, _content in made])
    pages = {name: page for name, (_name, page, _content) in zip(names, made, strict=True)}
    if len(made) != 1:
        titles = [name for name, _page, _content in made]
        pages[INDEX] = _contents(zip(names, titles, strict=True))
    for name, page in pages.items():
        with whole_file(folder / name) as temporary:
            temporary.write_text(page, encoding="utf-8")
    characters = [
        {"page": name, **content} for name, (_name, _page, content) in zip(names, made, strict=True)
    ]
    write_json(
        folder / REPORT, {"kind": "comparison", "version": version(), "characters": characters}
    )
    return folder / INDEX


def _contents(pages):
    lines = "".join(f'<p><a href="{escape(name)}">{escape(title)}</a></p>' for name, title in pages)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">{GENERATOR}'
        f"<title>Skinning methods compared</title><style>{STYLE}</style></head><body><main>"
        f'<p class="eyebrow">Skinning methods compared</p><h1>Characters</h1>{lines}'
        "</main></body></html>\n"
    )
