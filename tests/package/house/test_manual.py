"""In the manual, every picture is made by a window test and shown on a page, and every link has a
target."""

import json
import re

import manual_pictures
import pytest
from paths import ROOT

MANUAL = ROOT / "docs/manual"
PAGES = [
    *sorted(MANUAL.glob("*.md")), *sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs/bench").glob("*.md")),
]  # fmt: skip
CUT = re.findall(
    r'^ +\("([\w-]+)", \w+, "(\w+)"\),$', (ROOT / "tools/manual_pictures.py").read_text(), re.M
)
NOT_OF_THE_WINDOW = {"compare", "through_rig", "deform_with"}  # in a browser; drawn; rendered


def test_pictures_are_made_by_tests_of_the_window():
    """Tests make the pictures, so no picture shows something that no longer exists."""
    tests = "".join(path.read_text("utf-8") for path in (ROOT / "tests/window").glob("test_*.py"))
    assert {path.stem for path in MANUAL.glob("*.png")} == {
        *(name for _picture, name in CUT),
        *NOT_OF_THE_WINDOW,
    }
    for picture, _name in CUT:
        assert f'ui.picture("{picture}")' in tests, picture


@pytest.mark.parametrize("name", manual_pictures.DRAWN_BY)
def test_no_picture_is_older_than_what_it_shows(name):
    """The words of the panels in the picture have not changed since it was made."""
    known = json.loads(manual_pictures.WORDS.read_text(encoding="utf-8"))
    assert set(known) == set(manual_pictures.DRAWN_BY) == {each for _picture, each in CUT}
    assert manual_pictures.words(name) == known[name], (
        f"{name}.png is old: run tests/run.sh sid-gui, look at it, then tools/manual_pictures.py"
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}-{page.stem}")
def test_links(page):
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
        place, _hash, part = link.partition("#")
        if place.startswith("http"):
            continue
        target = (page.parent / place).resolve() if place else page
        assert target.exists(), link
        if part and target.suffix == ".md":
            heads = re.findall(r"^#+ (.+)$", target.read_text("utf-8"), re.M)
            assert part in {anchor(head) for head in heads}, link


# Words of the solver, which a rigger does not need, and the pages that are for others as well.
OF_THE_SOLVER = re.compile(
    r"\b(?:one-rings?|truss|spokes?|laplacian|p99|L1|factoriz\w+|conjugate|energy)\b", re.I
)
FOR_PROGRAMS = {
    *("agents", "python", "gltf", "compare", "predicted", "deformers"),  # measures, functions
    *("README", "auto_weight", "command_line", "trouble"),  # a link, names in reports and options
}


@pytest.mark.parametrize("page", sorted(MANUAL.glob("*.md")), ids=lambda page: page.stem)
def test_no_word_of_the_solver_on_a_riggers_page(page):
    if page.stem not in FOR_PROGRAMS:
        text = re.sub(r"\]\([^)]*\)|`[^`]*`", "", page.read_text("utf-8"))
        assert OF_THE_SOLVER.findall(text) == []


def test_as_pages(tmp_path):
    """As the extension includes them: every link and picture exists, nothing except links refers to
    a server, and code and tables are converted correctly."""
    pages = pytest.importorskip("manual_pages", reason="without the environment of the build")
    pages.main(tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert {f"{path.stem}.html" for path in MANUAL.glob("*.md")} <= names
    for path in tmp_path.glob("*.html"):
        text = path.read_text(encoding="utf-8")
        ids = set(re.findall(r'<h\d id="([^"]+)"', text))
        for link in re.findall(r'href="([^"]+)"', text):
            place, _hash, part = link.partition("#")
            if place.startswith("http"):
                continue
            assert not place or place in names, (path.name, link)
            if part:
                there = (tmp_path / place).read_text(encoding="utf-8") if place else text
                assert f'id="{part}"' in there if place else part in ids, (path.name, link)
        sources = re.findall(r'src="([^"]+)"', text)
        assert set(sources) <= names and text.count("<a ") == text.count("</a>")
    assert "<table>" in (tmp_path / "terms.html").read_text(encoding="utf-8")
    assert "<pre>" in (tmp_path / "python.html").read_text(encoding="utf-8")


def anchor(head):
    """The anchor that GitHub makes from a heading."""
    return re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-")


def test_every_picture_is_shown():
    text = "".join(page.read_text("utf-8") for page in PAGES)
    for path in MANUAL.glob("*.png"):
        assert path.name in text, path.name


# Words of a paragraph, item or row about measurements, and its numbers that are settings.
MEASURED = re.compile(
    r"\b[Ii]n (?:a|our|\d+)(?: of \d+)? \[?tests?\b|\btest (?:characters|files)\b|\b\d+ "
    r"(?:public )?(?:characters|files)\b|\[measure|\[details\]|\b[Ww]e \[?(?:measured|tested)\b"
)
NO_MEASUREMENT = re.compile(
    r"`[^`]*`|\]\([^)]*\)|\d+(?:°| degrees)|Blender \d(?:\.\d)?|\(1\.00\)|sum to 1\b|600 vertices"
)
EXAMPLES = ("A test character with 34 bones", "--jobs 16")


@pytest.mark.parametrize("page", sorted(MANUAL.glob("*.md")), ids=lambda page: page.stem)
def test_measured_numbers_are_those_of_a_linked_page(page):
    """Every number is on a page that the same paragraph links to."""
    for text in re.split(r"\n\n|\n(?=\||- |\d\. )", page.read_text("utf-8")):
        if not MEASURED.search(text) or any(example in text for example in EXAMPLES):
            continue
        links = re.findall(r"\]\((\.\./(?:bench|decisions)/[\w-]+\.md)", text)
        told = "".join((MANUAL / link).read_text("utf-8") for link in links)
        for number in re.findall(r"\d[\d.,]*\d|\d", NO_MEASUREMENT.sub("", text)):
            assert re.search(rf"(?<![\d.]){re.escape(number)}(?![\d.]*\d)", told), (number, text)


@pytest.mark.parametrize(
    "source", ["glTF", "FBX", "VRM", "Mixamo", "Meshy", "Unreal", "Unity", "Daz", "MMD"]
)
def test_every_source_of_imported_characters_has_a_row(source):
    """And no advice on Blender 4's importer removes the last bone of every chain, such as toes."""
    page = (MANUAL / "imported.md").read_text("utf-8")
    titles = ("What to choose in the importer", "What to expect of a file")
    tables = "".join(page.split(f"## {title}\n")[1].split("\n## ")[0] for title in titles)
    rows = [line for line in tables.splitlines() if line.startswith("|")]
    assert any(re.search(rf"\b{source}\b", row) for row in rows)
    assert "ignore_leaf_bones" not in page
