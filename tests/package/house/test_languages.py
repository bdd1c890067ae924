"""The catalogues of araplbs_addon/languages, and how sentences find their translations."""

import ast
import re
import sys
from collections import Counter

import pytest
from paths import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import translations
from araplbs.base.catalogue import PLACEHOLDER, Sentences, read_catalogue

FILES = sorted((ROOT / "araplbs_addon" / "languages").glob("*.po"))

SMALL = {
    "'{object}' is in Edit mode": "'{object}' ist im Bearbeitungsmodus",
    "'{object}' is in Edit mode: exit Edit mode first": "'{object}' bearbeiten beenden",
    "{which} of '{name}' have no weights": "{which} von '{name}' haben keine Gewichte",
    "{count} vertices": "{count} Punkte",
    "Weighted {vertices} vertices in {seconds} s": "{vertices} Punkte in {seconds} s gewichtet",
    "{problems} visible problems": "{problems} sichtbare Fehler",
    "{notes} notes": "{notes} Hinweise",
    "bones without skin": "Knochen ohne Haut",
    "{free} of {every}": "{free} von {every}",
    "Baked {parts}": "{parts} gebacken",
    "Another bone lies there": "Ein anderer Knochen liegt dort",
    "No bone": "Kein Knochen",
    "Bone": "Knochen",
    "and": "und",
    "Not yet": "",
}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_translations_have_the_placeholders_of_their_text(file):
    for english, text in read_catalogue(file).items():
        if text:
            assert Counter(PLACEHOLDER.findall(text)) == Counter(PLACEHOLDER.findall(english)), text
            assert set(re.findall(r"'\{\w*\}'", english)) <= set(re.findall(r"'\{\w*\}'", text)), (
                text
            )


def test_catalogues_have_the_sentences_of_the_program():
    """The catalogues are up to date (`make translations`). tests/addon checks the texts declared to
    Blender."""
    found = {_bare(english) for english in translations.sentences()}
    assert len(found) > 700
    assert not sorted(found - {_bare(english) for english in read_catalogue(FILES[0])})


PANELS = sorted((ROOT / "araplbs_addon" / "panels").glob("*.py"))


@pytest.mark.parametrize("file", PANELS, ids=lambda file: file.stem)
def test_all_texts_of_a_panel_are_translated(file):
    """Texts in tables and choices, such as those of buttons, and texts with a name filled in. Text
    with few letters of its own is translated only as a Sentence."""
    known = read_catalogue(FILES[0])
    german, patterns = Sentences(known), {_bare(english) for english in known}
    tree = ast.parse(file.read_text("utf-8"))
    tables = [node.value for node in tree.body if isinstance(node, ast.Assign)]
    nodes = [each for table in tables for each in ast.walk(table)]
    choices = [node for node in ast.walk(tree) if isinstance(node, ast.IfExp)]
    nodes += [each for choice in choices for each in (choice.body, choice.orelse)]
    texts = [each.value for each in nodes if _is_text(each)]
    assert not set(texts) - set(known)
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = [getattr(each, "value", "") for each in node.values]
            template = "".join(each if isinstance(each, str) else "{}" for each in parts)
            if template in patterns:
                filled = template.replace("{}", "Sleeve")
                assert german.translate(filled) != filled, template


def _is_text(node):
    value = getattr(node, "value", None)
    return isinstance(value, str) and bool(re.match(r"[A-Z][a-z]", value))


def _bare(english):
    """Templates that differ only in names of placeholders count as one."""
    return PLACEHOLDER.sub("{}", english)


def test_all_languages_have_the_same_strings():
    strings = [list(read_catalogue(file)) for file in FILES]
    assert len(strings) == 6 and all(each == strings[0] for each in strings)
    assert len(strings[0]) == len(set(strings[0])) > 900


@pytest.mark.parametrize(
    ("english", "expected"),
    [
        ("'Body' is in Edit mode", "'Body' ist im Bearbeitungsmodus"),
        ("'Body' is in Edit mode: exit Edit mode first", "'Body' bearbeiten beenden"),
        ("12 vertices of 'Bone' have no weights", "12 Punkte von 'Bone' haben keine Gewichte"),
        (
            "Weighted 13,380 vertices in 1.2 s: 13 -> 2 visible problems. 2 notes",
            "13,380 Punkte in 1.2 s gewichtet: 13 -> 2 sichtbare Fehler. 2 Hinweise",
        ),
        ("3 bones without skin", "3 Knochen ohne Haut"),
        ("Bone", "Knochen"),
        ("No bone, Bone", "Kein Knochen, Bone"),  # a single word in a line may be a name
        ("2 notes and 3 notes", "2 Hinweise und 3 Hinweise"),
        ("3 of 12", "3 von 12"),
        ("all of it", "all of it"),  # hardly a word of its own: for numbers alone
        ("another bone lies there, Bone", "ein anderer Knochen liegt dort, Bone"),
        ("Baked 2 notes, 3 vertices", "2 Hinweise, 3 Punkte gebacken"),
        ("Baked 2 notes. 3 vertices", "2 Hinweise gebacken. 3 Punkte"),
        ("Not yet", "Not yet"),
        ("Something else: nothing known (of it)", "Something else: nothing known (of it)"),
        ("", ""),
    ],
)
def test_sentences_find_their_translations(english, expected):
    assert Sentences(SMALL).translate(english) == expected


def test_catalogues_have_no_places():
    """Moving a file changes no catalogue."""
    found = {"a bone": ["tasks/a.py", "Bone.name"], "no bone": ["panels/b.py"]}
    known = {"a bone": "ein Knochen"}
    text = translations.catalogue_text("xx", found, known, {"a bone": "Knochen"}.get)
    assert text.split("\n")[3:] == [
        *("", "#. Blender: Knochen", 'msgid "a bone"', 'msgstr "ein Knochen"', ""),
        *('msgid "no bone"', 'msgstr ""', ""),
    ]


def test_catalogues_are_read_as_gettext_writes_them(tmp_path):
    file = tmp_path / "xx.po"
    file.write_text(
        'msgid ""\nmsgstr "Language: xx\\n"\n\n#. Blender: x\n#: a.py\nmsgid "a \\"b\\""\n'
        'msgstr "c \\"d\\""\n\nmsgid ""\n"long "\n"text"\nmsgstr ""\n"lang"\n"er"\n',
        encoding="utf-8",
    )
    assert read_catalogue(file) == {'a "b"': 'c "d"', "long text": "langer"}
