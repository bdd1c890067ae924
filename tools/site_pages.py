"""Creates the pages of the site: copies of our Markdown files and of the files that they show, in
the same folders as in the tree, so links between them stay valid. If a link leads to a file that is
not a page, the file is also copied."""

import re
import shutil
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("docs", "csrc", "examples")
LINK = re.compile(r"\]\(([^)\s]+)\)")


def anchor(head, separator="-"):
    """Return the anchor that GitHub creates for a heading. Links in our pages are tested against
    this anchor."""
    return re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", separator)


def pages():
    """Return all Markdown files for readers."""
    yield from sorted(ROOT.glob("*.md"))
    for folder in FOLDERS:
        yield from sorted((ROOT / folder).rglob("*.md"))


def targets(page):
    """Return the files of the tree that a page links to or shows."""
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        place = unquote(link.partition("#")[0]).replace("\\", "")
        if place and "://" not in place and not place.startswith("mailto:"):
            yield (page.parent / place).resolve()


def copy(folder):
    """Fill an empty folder with the pages, and return their number."""
    sources = list(pages())
    wanted = set(sources)
    for page in sources:
        wanted.update(target for target in targets(page) if target.is_file())
    for path in sorted(wanted):
        place = folder / path.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)
    for page in sources:
        _folders_as_pages(folder / page.relative_to(ROOT), page)
        _rank(folder / page.relative_to(ROOT), page)
    return len(sources)


def _rank(copied, page):
    """Return the rank in the search. The manual comes before numbers, decisions and pages for
    developers."""
    boost = 4 if page.parent == ROOT / "docs/manual" else 0.5
    text = copied.read_text(encoding="utf-8")
    head = f"---\nsearch:\n  boost: {boost}\n---\n\n"
    copied.write_text(head + text, encoding="utf-8", newline="\n")


def _folders_as_pages(copied, page):
    """Convert links to a folder of the tree into links to the folder's page, or into plain text if
    it has no page."""
    text = copied.read_text(encoding="utf-8")

    def changed(found):
        place, mark, part = found[2].partition("#")
        target = (page.parent / place).resolve()
        if not place or "://" in place or target.is_file():
            return found[0]
        if (target / "README.md").is_file():
            return f"[{found[1]}]({place.rstrip('/')}/README.md{mark}{part})"
        return found[1]

    text = re.sub(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)", changed, text)
    copied.write_text(text, encoding="utf-8", newline="\n")
