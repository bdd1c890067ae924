"""Converts docs/manual to the HTML pages that the extension includes, with their pictures. If
$SITE_URL contains the address of the site, each page links to its online version, and links to
pages that are not included lead to the site. Without an address, such links become plain text.

manual_pages.py FOLDER
"""

import os
import re
import shutil
import sys
from html import escape
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[1]
MANUAL = ROOT / "docs/manual"
FIRST = "README"  # the table of contents
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
    """Return the anchor that GitHub creates for a heading."""
    return re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-")


def address(site, file):
    """Return the site's address for the page of a Markdown file (tools/site_build.py)."""
    place = file.relative_to(ROOT).with_suffix("")
    place = place.parent if place.name == FIRST else place
    return site if place == Path() else f"{site}{place.as_posix()}/"


def page(source, pictures, site=""):
    """Return the HTML of a Markdown file. pictures: a set that receives the shown files; site: the
    address of the site, with a slash at its end."""
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
            token.children = list(_within(token.children, source, pictures, site))
    body = MarkdownIt().renderer.render(tokens, MarkdownIt().options, {})
    ways = [] if source.stem == FIRST else [f'<a href="{FIRST}.html">Manual</a>']
    if site:
        ways.append(f'<a href="{escape(address(site, source))}">This page online, with search</a>')
    back = f"<nav>{' | '.join(ways)}</nav>" if ways else ""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n"
        f"<body>{back}\n{body}</body></html>\n"
    )


def _within(tokens, source, pictures, site):
    """Return the tokens with links and pictures that work in the zip. Pages that are not included
    become links to the site, or plain text if there is no site."""
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
            elif site and file.suffix == ".md" and file.is_relative_to(ROOT) and file.exists():
                token.attrSet("href", f"{address(site, file)}{mark}{part}")
            elif place and not place.startswith("http"):
                leads_nowhere = True
                continue
        elif token.type == "link_close" and leads_nowhere:
            leads_nowhere = False
            continue
        yield token


def site_address(environment=os.environ):
    """Return $SITE_URL with one slash at its end, or an empty text."""
    site = environment.get("SITE_URL", "").strip()
    if site and not re.fullmatch(r"https://[\w.-]+(/[\w./~-]*)?", site):
        raise SystemExit(f"SITE_URL is {site!r}: must be an https address, or not set")
    return site and site.rstrip("/") + "/"


def main(folder, site=""):
    folder, pictures = Path(folder), set()
    folder.mkdir(parents=True, exist_ok=True)
    for source in sorted(MANUAL.glob("*.md")):
        (folder / f"{source.stem}.html").write_text(page(source, pictures, site), encoding="utf-8")
    for file in sorted(pictures):
        shutil.copy(file, folder / file.name)


if __name__ == "__main__":
    main(sys.argv[1], site_address())
