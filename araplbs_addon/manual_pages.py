"""Finds the manual that is included in the extension."""

from pathlib import Path

PAGES = Path(__file__).with_name("manual")  # tools/manual_pages.py creates them from docs/manual
FIRST = "README.html"


def has_pages() -> bool:
    """Whether the manual is included. Zip files contain the manual, but the sources do not."""
    return (PAGES / FIRST).exists()


def first_page() -> str:
    """The address of the first page."""
    return (PAGES / FIRST).as_uri()
