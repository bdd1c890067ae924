"""The page of a comparison: it is well-formed, self-contained and complete."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import araplbs
import numpy as np
import pytest
from araplbs.base.refusal import Refused
from araplbs.disk.outputs import TABLE, write_json
from araplbs.features.compare import figures as compare_figures
from araplbs.features.compare.compare import compare
from araplbs.features.compare.figures import VIEWS, draw_all, picture_size, scatter
from araplbs.features.compare.files import (
    page_about,
    page_names,
    refuse_folder,
    write_comparisons,
)
from araplbs.features.compare.page import page
from araplbs.features.compare.tables import NONE, best_of, number
from compared import OPTIONS, tube_case
from test_pictures import read_png

QUICK = ["PRESENT", "BLENDER_HEAT", "NEAREST", "HEAT", "OURS", "ELASTIC"]
VOID = {"meta", "img", "input", "br", "rect", "stop", "line", "circle"}


class Reader(HTMLParser):
    """Elements with their attributes; fails if tags do not match."""

    def __init__(self, text):
        super().__init__()
        self.open, self.found, self.text = [], [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        names = [name for name, _value in attributes]
        assert len(set(names)) == len(names), (tag, names)
        self.found.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert tag not in VOID and self.open and self.open.pop() == tag, tag

    def handle_data(self, data):
        if not self.open or self.open[-1] not in ("style", "script"):
            self.text.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.found if name == tag]


@pytest.fixture(scope="module", autouse=True)
def small_pictures():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compare_figures, "AREA", 60 * 72)
        yield


@pytest.fixture(scope="module")
def compared():
    return compare(tube_case(), OPTIONS, methods=QUICK)


@pytest.fixture(scope="module")
def text(compared):
    return page(compared, "two <parts>")


def test_well_formed(text):
    reader = Reader(text)
    said = " ".join(reader.text)
    assert text.startswith("<!DOCTYPE html>") and "Tube <1>" in said and "two <parts>" in said
    headings = "Pose sheet, Measures, Measures in the animation, How to read this, The methods"
    headings += ", By body part: random poses, Stretch and likeness, Methods that could not run"
    assert not [heading for heading in headings.split(", ") if heading not in said]
    assert "needs Blender" in said and araplbs.__version__ in said
    ids = [a["id"] for _tag, a in reader.found if "id" in a]
    assert len(set(ids)) == len(ids)
    labels = {a["for"] for a in reader.all("label") if "for" in a}
    assert labels <= set(ids)


def test_by_itself(text):
    reader = Reader(text)
    rest = re.sub(r"data:image/png;base64,[A-Za-z0-9+/=]+", "", text)
    assert not re.search(r"https?:|//[a-z]|@import|url\((?!#)", rest)
    assert not reader.all("link") and not reader.all("iframe") and not reader.all("a")
    for _tag, attributes in reader.found:
        for name in ("src", "href", "srcset", "data", "action", "poster"):
            assert attributes.get(name, "data:image/png;base64,").startswith(
                "data:image/png;base64,"
            )
    (policy,) = [a["content"] for a in reader.all("meta") if "http-equiv" in a]
    assert policy.startswith("default-src 'none'; img-src data:")


def test_every_picture(compared, text):
    """Each method in each pose and view, in the same frame; something is drawn, but not up to the
    edge."""
    import base64

    width, height = picture_size(compared)
    pictures = {
        (a["data-method"], int(a["data-pose"]), a["class"]): a
        for a in Reader(text).all("img")
        if "data-method" in a
    }
    assert len(pictures) == len(compared.done) * len(compared.views) * len(VIEWS)
    for key in [("PRESENT", 0, "v0"), ("OURS", 2, "v1"), ("NEAREST", 4, "v0")]:
        content = base64.b64decode(pictures[key]["src"].partition(",")[2])
        pixels = read_png(content)
        assert pixels.shape == (height, width, 4)
        share = (pixels[..., 3] > 0).mean()
        assert 0.02 < share < 0.9 and pictures[key]["alt"]
    sources = [a["src"] for key, a in pictures.items() if key[1] == 2]
    assert len(set(sources)) == len(sources), "all differ"


def test_tables(compared, text):
    rows = re.findall(r"<tr[^>]*><th scope=\"row\">(.*?)</th>(.*?)</tr>", text)
    names = [o.name for each in compared.in_order for o in each]
    assert [name for name, _cells in rows] == 4 * names
    ours = dict(rows[: len(names)])["Auto-weight (ARAP)"]
    strain = compared.find("OURS").measures["random"]["surface_strain"]
    assert f">{100 * strain:.1f}<" in ours
    marked = [name for name, cells in rows[: len(names)] if "class=best" in cells]
    assert marked and "Elastic surface" not in marked, "a reference is not best"


def test_ours_beside_heat_the_file_and_the_best(compared, text):
    first, rest = compared.in_order
    assert [o.identifier for o in first] == ["OURS", "HEAT", "PRESENT", "NEAREST"]
    assert [o.identifier for o in rest] == ["ELASTIC"], "a reference is no rival"
    sheet = text[text.index('class="sheet"') : text.index("Others</div>")]
    assert re.findall('<div class="who"><b>(.*?)</b>', sheet) == [o.name for o in first]
    assert "Baran and Popović" in sheet, "names are explained"
    assert len(re.findall('<tr class="reference rest">', text)) == text.count("<table") == 4
    order = "ours, bone heat, the weights in the file and the best of the others come first."
    assert text.index(order) < text.index("Pose sheet"), "how to read it comes first"


def test_the_order_without_a_file():
    few = compare(tube_case(weights=False), OPTIONS, methods=["ours", "nearest"])
    assert [o.identifier for o in few.in_order[0]] == ["OURS", "NEAREST"]
    alone = compare(tube_case(weights=False), OPTIONS, methods=["ours"])
    assert "lower is better; ours comes first." in page(alone)


def test_number():
    assert number(0.1234, 100, 1) == "12.3" and number(-0.0001, 100, 1) == "0.0"
    assert number(-0.05, 100, 1) == "−5.0"
    assert number(None) == NONE and number(float("nan")) == NONE


def test_best():
    assert best_of(["3.0", "1.0", "1.0", NONE, None], min) == {1, 2}
    assert best_of(["0.3", "0.9", NONE], max) == {1}
    assert best_of(["−3.0", "2.0", "−1.0"], "nearest to 0") == {2}
    assert best_of(["+1.0", "0.5"], min) == {1}
    assert best_of(["1.0", NONE], min) == set() and best_of(["1 (≤ 2)", "3 (≤ 2)"], None) == set()


def test_the_plot(compared):
    drawn = Reader(scatter(compared, "random"))
    dots = drawn.all("circle")
    assert len(dots) == 4, "present, nearest, heat, ours"
    (present,) = [a for a in dots if "present" in a["class"]]
    assert float(present["cx"]) == min(float(a["cx"]) for a in dots), "like itself"
    assert all(0 <= float(a["y"]) < 360 for a in drawn.all("text") if "y" in a)
    alone = compare(tube_case(weights=False), OPTIONS, methods=["heat", "ours"])
    assert scatter(alone, "random") is None
    assert "no weights with which to compare the others" in page(alone)


def test_told_and_stopped(compared):
    told, few = [], replace(compared, outcomes=compared.outcomes[:2])
    draw_all(few, lambda _stage, fraction, _energy: told.append(fraction), 1)
    assert told == sorted(told) and told[0] == 0 and told[-1] < 1

    with pytest.raises(araplbs.Cancelled):
        page(few, "", lambda *_said: False)


def test_nothing_could_run():
    found = compare(tube_case(weights=False), OPTIONS, methods=["present"])
    assert "No method could run." in page(found)


def test_names_of_pages():
    assert page_names(["any"]) == ["index.html"]
    assert page_names(["A b", "a/b", "Index", "ü?", "..."]) == [
        "A_b.html", "a_b_2.html", "Index_2.html", "ü.html", "character.html",
    ]  # fmt: skip


def test_the_folder(tmp_path, compared, text):
    folder = tmp_path / "some/where"
    index = write_comparisons(folder, [("Tube", text, compared.as_dict())])
    assert index == folder / "index.html" and index.read_text(encoding="utf-8") == text
    write_comparisons(folder, [("Tube", text, compared.as_dict())])
    assert sorted(p.name for p in folder.iterdir()) == ["index.html", "report.json"]
    several = [("A", text, {}), ("<B>", text, {})]
    write_comparisons(folder, several)
    contents = Reader((folder / "index.html").read_text())
    assert [a["href"] for a in contents.all("a")] == ["A.html", "B.html"]
    assert "<B>" in contents.text


def test_the_page_of_a_file(tmp_path, text):
    """The page is found next to the file, also after both were moved. Other files have none."""
    there = tmp_path / "there"
    source, folder = there / "a.blend", there / "pages"
    assert page_about(folder, source) is None
    index = write_comparisons(folder, [("Tube", text, {})], source)
    assert page_about(folder, source) == index
    assert page_about(folder, there / "b.blend") is None
    moved = there.rename(tmp_path / "elsewhere")
    assert page_about(moved / "pages", moved / "a.blend") == moved / "pages/index.html"
    assert page_about(moved / "pages", source) is None
    write_comparisons(moved / "pages", [("Tube", text, {})])
    assert page_about(moved / "pages", moved / "a.blend") is None, "it is not known of what"


def test_refused_folders(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(Refused, match="is not a folder"):
        refuse_folder(tmp_path / "file")
    write_json(tmp_path / "report.json", TABLE, {"version": "1"})
    with pytest.raises(Refused, match=r"report.json' already exists and is not a comparison"):
        refuse_folder(tmp_path)
    (tmp_path / "report.json").unlink()
    (tmp_path / "index.html").mkdir()
    with pytest.raises(Refused, match="is a folder"):
        refuse_folder(tmp_path)


def test_report_is_json(compared):
    import json

    text = json.dumps(compared.as_dict(), allow_nan=False)
    methods = json.loads(text)["methods"]
    assert [m["identifier"] for m in methods] == QUICK
    assert methods[0]["measures"]["random"]["parts"]
    assert np.isfinite(methods[-2]["to_reference"])
