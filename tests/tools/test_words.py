"""tools/words.py: what it looks at, and that it fails."""

import pytest
import words


@pytest.fixture
def found(tmp_path, monkeypatch):
    monkeypatch.setattr(words, "ROOT", tmp_path)

    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        places = words.find([("rest", path)])
        return {word: len(places["rest", word]) for word in words.WORDS if places["rest", word]}

    return write


def test_documents(found):
    assert found("a.md", "It shall. The like\nof it is none.\n") == {
        "shall": 1,
        "the like": 1,
        "is none": 1,
    }
    assert not found("b.md", "`shall`\n\n```\nit shall\n```\n")


def test_python(found):
    text = '"""It shall."""\n\n# the\n# like\nshall = "told"  # None is None\n'
    assert found("a.py", text) == {"shall": 1, "the like": 1, "told": 1}
    assert found("tests/a.py", text) == {"shall": 1, "the like": 1}  # strings are data
    assert found("b.py", 'told = f"{told} tells"\n') == {"told": 1}


def test_c(found):
    assert found("a.c", 'int shall; /* it\n shall */ char *s = "told"; // the like') == {
        "shall": 1,
        "told": 1,
        "the like": 1,
    }


def test_it_fails_above_a_ceiling(monkeypatch, capsys):
    places = {(area, word): [] for area in words.CEILINGS for word in words.WORDS}
    monkeypatch.setattr(words, "find", lambda: places)
    assert not words.main()
    places["rest", "shall"] = ["a.py:1: it shall"] * (words.CEILINGS["rest"]["shall"] + 1)
    assert words.main()
    assert "a.py:1" in capsys.readouterr().out
