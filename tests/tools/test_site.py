"""The site contains every page of the tree. Every link leads to an existing page, file and heading.
The reference contains all names of the module, and no page loads anything from elsewhere."""

import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
import site_pages
from paths import ROOT

pytest.importorskip("mkdocs", reason="without mkdocs, which `make site` installs")
pytest.importorskip("mkdocstrings_handlers.python", reason="without mkdocstrings")


class Page(HTMLParser):
    """links, sources (of pictures, scripts, styles) and ids of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.sources, self.ids = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.ids.update(found[key] for key in ("id", "name") if found.get(key))
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        elif tag in {"img", "script"} and found.get("src"):
            self.sources.append(found["src"])
        elif tag == "link" and found.get("rel") in {"stylesheet", "icon"}:
            self.sources.append(found["href"])


@pytest.fixture(scope="module")
def site():
    done = subprocess.run(
        [sys.executable, ROOT / "tools/site_build.py"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return ROOT / "build/site"


@pytest.fixture(scope="module")
def built(site):
    return {path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}


def test_every_page_is_there(site):
    for page in site_pages.pages():
        place = page.relative_to(ROOT).with_suffix("")
        folder = place.parent if place.name == "README" else place
        assert (site / folder / "index.html").exists(), page


def test_links_lead_somewhere(site, built):
    broken = []
    for path, page in built.items():
        if path.name == "404.html":
            continue  # its links are those of any page, from the root of the server
        for link in [*page.links, *page.sources]:
            place, _mark, part = link.partition("#")
            if "://" in place or place.startswith(("mailto:", "data:")):
                continue
            target = (path.parent / unquote(place)).resolve() if place else path
            target = target / "index.html" if target.is_dir() else target
            there = target.exists() and target.is_relative_to(site)
            if not there or (part and target in built and unquote(part) not in built[target].ids):
                broken.append(f"{path.relative_to(site)}: {link}")
    assert not broken, "\n".join(broken)


def test_nothing_is_loaded_from_elsewhere(built):
    for path, page in built.items():
        for source in page.sources:
            assert not re.match(r"(https?:)?//", source), (path, source)


def test_reference_has_every_public_name(built, site):
    text = (ROOT / "araplbs/_engine.pyi").read_text("utf-8")
    names = set(re.findall(r"^(?:def|class) ([A-Za-z]\w*)", text, re.MULTILINE))
    assert len(names) > 20
    reference = built[site / "api/index.html"]
    assert {f"araplbs.{name}" for name in names} <= reference.ids


def test_reference_has_the_calls_of_the_package(built, site):
    """All names that araplbs/__init__.py adds to the engine, and bind()."""
    text = (ROOT / "araplbs/__init__.py").read_text("utf-8")
    places = dict(re.findall(r'^    "(\w+)": "\.([\w.]+)",$', text, re.MULTILINE))
    assert {"weights", "load_gltf"} <= places.keys()
    wanted = {f"araplbs.{place}.{name}" for name, place in places.items()}
    assert wanted | {"araplbs.blender.bind"} <= built[site / "api/index.html"].ids
    text = (site / "api/index.html").read_text("utf-8")
    assert "<li>joints (m, 3)" in text  # arguments are lists, and examples are code
    assert '<span class="gp">&gt;&gt;&gt; ' in text and "<blockquote>" not in text


def test_search_knows_the_manual(site):
    index = (site / "search/search_index.json").read_text(encoding="utf-8")
    for word in ("Unity", "Godot", "quarantine"):
        assert word in index, word


ANSWERS = {  # questions of users, and the first page that the search shows
    "character split in 4 glbs": "gltf/#a-character-split-in-several-files",
    "3 LODs": "gltf/#levels-of-detail-lods",
    "60 bones WebXR": "reduce_bones/",
    "only the left arm": "gltf/#only-a-part-such-as-the-left-arm",
    "500 files 16 cores": "gltf/#many-files-on-several-cores",
    "Unreal twist bones": "export/",
    "keep the face": "paint/#keep-painted-fingers-or-a-painted-face",
    "CI": "agents/#continuous-integration-ci",
    "USD": "gltf/#usd-files",
    "FBX without Blender": "predicted/#fbx-without-blender",
}


@pytest.mark.skipif(not shutil.which("node"), reason="needs node")
def test_search_answers_questions(site):
    """As the page's own program ranks the answers."""
    program = [shutil.which("node"), ROOT / "tests/tools/search.js", site, *ANSWERS]
    done = subprocess.run(program, capture_output=True, text=True, check=True)
    found = dict(zip(ANSWERS, done.stdout.splitlines(), strict=True))
    assert found == {asked: f"docs/manual/{place}" for asked, place in ANSWERS.items()}


def test_search_ranks_the_manual_first(site):
    """A rigger who searches for "mac" finds the page on installing before the page for testers."""
    index = json.loads((site / "search/search_index.json").read_text(encoding="utf-8"))
    boost = {each["location"]: each.get("boost", 1) for each in index["docs"]}
    assert boost["docs/manual/install/"] > 1 > boost["docs/systems/"]


def test_every_manual_page_is_in_the_menu():
    menu = (ROOT / "tools/site.yml").read_text("utf-8")
    for page in (ROOT / "docs/manual").glob("*.md"):
        assert f"docs/manual/{page.name}" in menu, page.name
    for place in re.findall(r": ((?:docs|examples)/\S+\.md|[A-Z]+\.md)$", menu, re.MULTILINE):
        assert Path(ROOT / place).exists(), place
