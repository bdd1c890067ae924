"""The place of the manual that comes with the extension."""

from pathlib import Path

PAGES = Path(__file__).with_name("manual")  # tools/manual_pages.py makes them of docs/manual
FIRST = "README.html"


def has_pages() -> bool:
    """A zip has them; the sources alone have not."""
    return (PAGES / FIRST).exists()


def first_page() -> str:
    """Its address."""
    return (PAGES / FIRST).as_uri()
