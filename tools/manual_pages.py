"""The manual as pages that the extension brings: docs/manual, its Markdown as HTML, with the
pictures that are there. Links to what does not come along become plain text.

manual_pages.py FOLDER
"""

import re
import shutil
import sys
from html import escape
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt

MANUAL = Path(__file__).resolve().parents[1] / "docs/manual"
FIRST = "README"  # the page of contents
STYLE = """
:root { color-scheme: light dark; --ink: #1c1e21; --paper: #fff; --soft: #5c6066; --line: #dcdee2;
  --accent: #1f5fd6; --cell: #f1f2f5 }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e7e9; --paper: #121417; --soft: #a3a7ae;
  --line: #33373d; --accent: #7eaaf7; --cell: #1d2025 } }
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 60rem; margin: 0 auto; padding: 1.5rem 1.25rem 4rem }
a { color: var(--accent) } nav { font-size: 14px }
h1 { line-height: 1.2 } h2 { margin-top: 2.2rem; line-height: 1.3 }
img { max-width: 100%; height: auto; border-radius: 6px }
table { border-collapse: collapse; display: block; overflow-x: auto }
th, td { text-align: left; vertical-align: top; padding: .45rem .7rem;
  border-bottom: 1px solid var(--line) }
code { font-size: .9em; background: var(--cell); border-radius: 4px; padding: .1em .3em }
pre { background: var(--cell); border-radius: 6px; padding: .8rem 1rem; overflow-x: auto }
pre code { padding: 0; background: none }
"""


def anchor(head):
    """As GitHub makes it of a heading."""
    return re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-")


def page(source, pictures):
    """The HTML of a file of Markdown. pictures: set that gets the files that it shows."""
    tokens = (
        MarkdownIt("commonmark", {"html": False}).enable("table").parse(source.read_text("utf-8"))
    )
    title = source.stem
    for head, text in pairwise(tokens):
        if head.type == "heading_open":
            head.attrSet("id", anchor(text.content))
            title = text.content if head.tag == "h1" else title
    for token in tokens:
        if token.children:
            token.children = list(_within(token.children, source, pictures))
    body = MarkdownIt().renderer.render(tokens, MarkdownIt().options, {})
    back = "" if source.stem == FIRST else f'<nav><a href="{FIRST}.html">Manual</a></nav>'
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n"
        f"<body>{back}\n{body}</body></html>\n"
    )


def _within(tokens, source, pictures):
    """These tokens with what they point to as it comes along; links that lead elsewhere without."""
    leads_nowhere = False
    for token in tokens:
        if token.type == "image":
            file = (source.parent / token.attrs["src"]).resolve()
            if file.parent != MANUAL:
                continue
            pictures.add(file)
            token.attrSet("src", file.name)
        elif token.type == "link_open":
            place, mark, part = token.attrs["href"].partition("#")
            file = (source.parent / place).resolve()
            if file.parent == MANUAL and file.suffix == ".md":
                token.attrSet("href", f"{file.stem}.html{mark}{part}")
            elif place and not place.startswith("http"):
                leads_nowhere = True
                continue
        elif token.type == "link_close" and leads_nowhere:
            leads_nowhere = False
            continue
        yield token


def main(folder):
    folder, pictures = Path(folder), set()
    folder.mkdir(parents=True, exist_ok=True)
    for source in sorted(MANUAL.glob("*.md")):
        (folder / f"{source.stem}.html").write_text(page(source, pictures), encoding="utf-8")
    for file in sorted(pictures):
        shutil.copy(file, folder / file.name)


if __name__ == "__main__":
    main(*sys.argv[1:])
