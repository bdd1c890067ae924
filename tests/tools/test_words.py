"""tools/words.py counts the sentences that it is meant to find, and no others."""

import pytest
import words

# A rule, a sentence that breaks it, and one that comes close and is fine.
EXAMPLES = [
    ("what", "What is kept of a mesh: its weights.", "What is a control bone?"),
    ("what", "It stops. What the caller owns stays.", "It shows what the caller owns."),
    ("where", "It is refused, where there is no armature.", "The place, wherever it is."),
    ("fails without", "O(n). Fails without memory.", "Works without memory of the last run."),
    ("beside", "Numbers beside those of heat.", "Besides, it is faster."),
    ("but for", "All but for locked groups.", "Not this, but forty."),
    ("bare", "Those of the mesh. And more.", "The same bits come out."),
    ("bare", "It is read. Of these one is used.", "A number of these is used."),
    ("meanwhile", "The mesh was changed meanwhile.", "In the mean time."),
    ("as it is", "The file stays as it is.", "As long as it takes."),
    ("is no", "It is no bone.", "It is no longer a bone, and is no larger."),
    ("speaks", "What speaks for a bone.", "He spoke."),
]


@pytest.mark.parametrize(("rule", "bad", "good"), EXAMPLES)
def test_rules(tmp_path, monkeypatch, rule, bad, good):
    monkeypatch.setattr(words, "ROOT", tmp_path)
    page = tmp_path / "page.md"
    for text, count in ((bad, 1), (good, 0), (f"`{bad}`", 0)):
        page.write_text(text, encoding="utf-8")
        assert len(words.find([("docs", page)])["docs", rule]) == count, text


def test_comments_and_strings_count_and_code_does_not(tmp_path, monkeypatch):
    monkeypatch.setattr(words, "ROOT", tmp_path)
    c_file, python_file = tmp_path / "some.c", tmp_path / "some.py"
    c_file.write_text("/* Good.\n *\n * What is kept: all. */\nint beside = 1; /* beside it */\n")
    python_file.write_text('# What is kept: all.\nbeside = "lies beside"\n')
    found = words.find([("csrc", c_file), ("package", python_file)])
    assert [place.split(":")[:2] for place in found["csrc", "what"]] == [["some.c", "3"]]
    assert [place.split(":")[:2] for place in found["csrc", "beside"]] == [["some.c", "4"]]
    assert len(found["package", "what"]) == len(found["package", "beside"]) == 1


def test_every_file_has_one_area():
    areas = {}
    for area, path in words.files():
        assert path not in areas
        areas[path] = area
    assert set(areas.values()) == set(words.AREAS)


@pytest.mark.parametrize("name", [*words.RULES, *words.WORDS])
def test_it_fails_above_a_ceiling(monkeypatch, capsys, name):
    places = {(area, each): [] for area in words.AREAS for each in words.patterns()}
    monkeypatch.setattr(words, "find", lambda: places)
    assert not words.main()
    most = words.AREAS["docs"] if name in words.RULES else words.WORDS[name][2]
    places["docs", name] = ["a.md:1: here"] * (most + 1)
    assert words.main()
    assert "a.md:1" in capsys.readouterr().out
