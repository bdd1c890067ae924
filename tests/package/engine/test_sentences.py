"""Sentences store their template and fields, which are used for the translation, so names that look
like English are not translated."""

import pickle

import pytest
from araplbs.base.catalogue import Sentences, read_catalogue
from araplbs.base.sentence import Sentence, counted, joined, names_in_line
from araplbs.reports.last_lines import bake_line, joint_line, new_line, result_line, transfer_line
from paths import ROOT

FILES = sorted((ROOT / "araplbs_addon/languages").glob("*.po"))
GERMAN = Sentences(
    {
        "{count} vertices": "{count} Punkte",
        "{which} of '{name}' have no weights": "'{name}' hat keine Gewichte: {which}",
        "No skin is around it": "Keine Haut ist um ihn",
        "{shown} and {more} more": "{shown} und {more} weitere",
        "and": "und",
    }
)


def test_it_is_its_text():
    text = Sentence("{a} of {b}", a=3, b=Sentence("{count} vertices", count="1,000"))
    assert text == "3 of 1,000 vertices" and isinstance(text, str)
    assert hash(text) == hash("3 of 1,000 vertices")
    assert text + "!" == "3 of 1,000 vertices!"
    again = pickle.loads(pickle.dumps(text))
    assert again == text and again.fields == text.fields


def test_fields_are_not_read():
    """Braces in names are not placeholders."""
    assert Sentence("{a}, {b}", a="{b}", b="{a}") == "{b}, {a}"
    assert Sentence("a {dict} of nothing") == "a {dict} of nothing"


@pytest.mark.parametrize(("count", "text"), [(1, "1 vertex"), (2, "2 vertices"), (0, "0 vertices")])
def test_counted(count, text):
    assert counted(count, "1 vertex", "{count} vertices") == text


@pytest.mark.parametrize("name", ["Bone", "3 vertices", "No skin is around it", "a, b and 3 more"])
def test_names_stay(name):
    """Names that users have given are never translated."""
    which = Sentence("{number} vertices", number=5)  # as another file calls the placeholder
    text = Sentence("{which} of '{name}' have no weights", which=which, name=name)
    assert GERMAN.translate(text) == f"'{name}' hat keine Gewichte: 5 Punkte"


def test_parts_of_a_line():
    line = joined([Sentence("no skin is around it"), "Bone and Bone", Sentence("new")], ". ")
    assert line == "no skin is around it. Bone and Bone. new"
    assert GERMAN.translate(line) == "keine Haut ist um ihn. Bone and Bone. new"
    names = names_in_line([f"Bone{k} and more" for k in range(7)])
    assert GERMAN.translate(names).endswith("Bone4 and more und 2 weitere")


def test_a_sentence_and_a_text_do_not_share_a_translation():
    """Even if they read the same, data of one is never used for the other."""
    name = Sentence("{name}", name="3 vertices")
    assert name == "3 vertices"
    assert [GERMAN.translate(each) for each in ("3 vertices", name)] == ["3 Punkte", "3 vertices"]


REPORT = {
    **{"vertices": 13_380, "seconds": 1.25, "new_vertices": 30, "bones": 7, "largest_move": 0.02},
    "moved_bones": ["a", "b"],
    "deformation": {"before": {"surface_strain": 0.3}, "after": {"surface_strain": 0.2}},
    "objects": [
        {
            **{"name": "5 of 9 bones moved", "vertices": 9, "matched": 5},
            **{"error_before": {"rms": 0.2}, "error_after": {"rms": 0.1}},
        }
    ],
    "sources": ["Weighted 3 vertices in 2 s"],
}
LINES = {
    "result": lambda: result_line(REPORT, {"problems": (13, 2), "stretch": (0.27, 0.2)}, 2),
    "new": lambda: new_line(REPORT),
    "joints": lambda: joint_line(REPORT),
    "transfer": lambda: transfer_line(REPORT),
    "bake": lambda: bake_line(REPORT),
}


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("language", FILES, ids=lambda file: file.stem)
def test_last_lines_in_all_languages(name, language):
    """A line translated by its fields reads like one translated by its English text; but all of it
    is translated, and names stay."""
    line, catalogue = LINES[name](), Sentences(read_catalogue(language))
    translated = catalogue.translate(line)
    assert translated != line and "{" not in translated
    assert "weighted" not in translated and "new vertices" not in translated
    if name in ("result", "joints"):
        assert translated == catalogue.translate(str(line))
    for each in ("5 of 9 bones moved", "Weighted 3 vertices"):
        assert (each in translated) == (each in line)
