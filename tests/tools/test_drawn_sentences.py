"""tools/sentences.py draws sentences of every kind of text, and the same sentences for the same
seed."""

import sentences


def test_a_draw_is_of_all_kinds_and_repeatable():
    drawn = sentences.draw(7, 27)
    assert drawn == sentences.draw(7, 27) != sentences.draw(8, 27)
    assert len(set(drawn)) == 27
    assert {kind for kind, _place, _text in drawn} == set(sentences.KINDS)
    assert [kind for kind, *_rest in drawn[:9]] == list(sentences.KINDS)


def test_sentences_of_a_page():
    text = """# Head\n\nOne [link](a.md) is here. Two
lines make one sentence.\n\n```\ncode = 1  # not a sentence of the page\n```\n
- An item of a list.\n\n| a cell with a sentence | 3 |\n"""
    found = {sentence for _line, sentence in sentences.sentences_of_page(text)}
    assert {"One [link] is here.", "Two lines make one sentence.", "An item of a list."} <= found
    assert "a cell with a sentence" in found
    assert not any("code" in sentence or "Head" in sentence for sentence in found)


def test_sentences_of_python():
    text = (
        '"""The head of it."""\ndef f(x):\n    """About f."""\n    return f"{x} is not a number"\n'
    )
    assert [each for _line, each in sentences.sentences_of_python(text)] == [
        "The head of it.", "{} is not a number",
    ]  # fmt: skip
    assert "About f." in [each for _, each in sentences.sentences_of_python(text, True)]


def test_sentences_of_the_head_of_a_c_file():
    text = (
        "/* What it does: see a.h.\n *\n * Fails on out-of-memory. */\n#include <a.h>\n/* No. */\n"
    )
    found = [each for _line, each in sentences.sentences_of_head(text)]
    assert found == ["What it does: see a.h.", "Fails on out-of-memory."]


def test_what_counts_as_a_sentence():
    assert sentences.is_sentence("Every vertex follows its nearest bone.")
    for text in ("q_trex, mh_base: 0.4", "<td>a b c d e</td>", "usage: a b c d e f", "one.two(3)"):
        assert not sentences.is_sentence(text)
