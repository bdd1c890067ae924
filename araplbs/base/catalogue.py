"""Reads translation catalogues and finds the translation of a sentence.

A catalogue is a gettext file: `msgid` is English, and `msgstr` is the other language, or "" if the
translation is missing. Sentences with names and numbers contain placeholders: "'{object}' has no
vertices". The package araplbs does not use translations, so it builds such a sentence in English,
with the names of the objects filled in. Just before the sentence is shown, its fields are filled
into the msgstr. A Sentence (araplbs/base/sentence.py) stores its fields. In any other text, the
fields are found by matching the msgid's placeholders.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property, lru_cache
from pathlib import Path

from .sentence import PLACEHOLDER, Sentence

JOINT = re.compile(r": |, |; |\. | and | \(|(?<=\d) |\n *|   \|   ")  # between parts of a line
ENDED = re.compile(r"[.;] ")
JOINED = re.compile(r"[.:;] |[^'], |, [^']")  # except a list of quoted names, which is one part
FEW_LETTERS = 4
_LINES = r'((?:[ \t]*"[^\n]*"[ \t]*\n?)+)'
_ENTRY = re.compile(rf"^msgid {_LINES}msgstr {_LINES}", re.MULTILINE)
_ESCAPED, _MEANT = re.compile(r"\\(.)"), {"n": "\n", "t": "\t"}


def read_catalogue(path: str | Path) -> dict[str, str]:
    """Reads {msgid: msgstr} from a file."""
    return parse_catalogue(Path(path).read_text(encoding="utf-8"))


def parse_catalogue(written: str) -> dict[str, str]:
    """Parses {msgid: msgstr} from the text of a file. The header, whose msgid is "", is omitted."""
    found = {}
    for english, text in _ENTRY.findall(written):
        found[_unquoted(english)] = _unquoted(text)
    found.pop("", None)
    return found


def _unquoted(lines: str) -> str:
    text = "".join(line.strip()[1:-1] for line in lines.splitlines())
    if "\\" not in text:
        return text
    return _ESCAPED.sub(lambda match: _MEANT.get(match[1], match[1]), text)


class Sentences:
    """Translates sentences with a catalogue. Unknown sentences stay unchanged."""

    def __init__(self, catalogue: Mapping[str, str]) -> None:
        self.plain = {english: text for english, text in catalogue.items() if text}
        self._translated = lru_cache(maxsize=1024)(self._translate)

    def translate(self, text: str) -> str:
        return self._by_fields(text) if isinstance(text, Sentence) else self._translated(text)

    @cached_property
    def _by_pattern(self) -> dict[str, tuple[list[str], str]]:
        """{template without names of placeholders: (names, translated template)}"""
        return {
            PLACEHOLDER.sub("{}", english): (PLACEHOLDER.findall(english), text)
            for english, text in self.plain.items()
        }

    def _by_fields(self, sentence: Sentence) -> str:
        template, names = sentence.template, PLACEHOLDER.findall(sentence.template)
        pattern, lower = PLACEHOLDER.sub("{}", template), False
        if pattern not in self._by_pattern and " " in pattern:  # may begin in lowercase in a line
            pattern, lower = pattern[:1].upper() + pattern[1:], True
        known, text = self._by_pattern.get(pattern, (names, template))
        if lower and text is not template:
            text = text[:1].lower() + text[1:]
        fields = {
            place: self.translate(field) if isinstance(field, Sentence) else str(field)
            for place, field in zip(known, map(sentence.fields.get, names), strict=True)
        }
        return PLACEHOLDER.sub(lambda found: fields[found[1]], text)

    @cached_property
    def _templates(self) -> list[_Template]:
        """The entries. Those with the most literal words come first."""
        found = [english for english in self.plain if PLACEHOLDER.search(english)]
        found.sort(key=lambda text: (-len(PLACEHOLDER.sub("", text)), text.startswith("{")))
        return [_Template(english, self.plain[english]) for english in found]

    def _translate(self, text: str) -> str:
        whole = self._whole(text)
        return self._parts(text) if whole is None else whole

    def _whole(self, text: str) -> str | None:
        """The translation if the text matches one msgid, otherwise None."""
        if text in self.plain:
            return self.plain[text]
        begun = (
            text[:1].upper() + text[1:]
        )  # texts that begin with a lowercase letter within a line
        if begun in self.plain and " " in text:
            return self.plain[begun][:1].lower() + self.plain[begun][1:]
        for template in self._templates:
            found = template.find(text)
            if found is not None:
                return template.filled({name: self._piece(piece) for name, piece in found.items()})
        return None

    def _piece(self, text: str) -> str:
        """Translates a piece of a sentence. A single word may be a name, so it is left
        unchanged."""
        bare = text.strip()
        return text.replace(bare, self._translated(bare)) if " " in bare else text

    def _parts(self, text: str) -> str:
        """Translates a line that joins several parts, trying the longest parts first, from the
        left."""
        joints = list(JOINT.finditer(text))
        for joint in reversed(joints):
            whole = self._whole(text[: joint.start()]) if joint.start() else None
            if whole is not None:
                return whole + self._between(joint[0]) + self._rest(text[joint.end() :])
        if not joints:
            return text
        first = joints[0]
        return text[: first.start()] + self._between(first[0]) + self._rest(text[first.end() :])

    def _between(self, joint: str) -> str:
        return joint.replace("and", self.plain.get("and", "and"))

    def _rest(self, text: str) -> str:
        bare = text.rstrip(")")
        return self._piece(bare) + text[len(bare) :]


class _Template:
    """A msgid with placeholders. A placeholder at the beginning or end of the msgid must not match
    several joined parts, unless a separator sets it off: "2 problems. 3 notes" does not match
    "{notes} notes". If the msgid has hardly any literal words, placeholders match only numbers and
    quoted names."""

    def __init__(self, english: str, text: str) -> None:
        parts = PLACEHOLDER.split(english)  # literal, name, literal, ...
        literals, self._names = parts[::2], parts[1::2]
        self._text = text
        self._needle = max(literals, key=len)
        letters = sum(map(str.isalpha, "".join(literals)))
        any_text = r"('[^']*'|[\d.,%]+)" if letters < FEW_LETTERS else "(.+?)"
        self._pattern = re.compile(any_text.join(map(re.escape, literals)), re.DOTALL)
        self._single_first = not literals[0] and not JOINT.match(literals[1])
        self._single_last = not literals[-1] and not JOINT.search(literals[-2])

    def find(self, text: str) -> dict[str, str] | None:
        """Returns {placeholder: matching text}, or None."""
        if self._needle not in text:
            return None
        match = self._pattern.fullmatch(text)
        if not match:
            return None
        pieces = match.groups()
        if self._single_first and JOINED.search(pieces[0]):
            return None
        if self._single_last and ENDED.search(pieces[-1]):
            return None
        return dict(zip(self._names, pieces, strict=True))

    def filled(self, pieces: Mapping[str, str]) -> str:
        return PLACEHOLDER.sub(lambda match: pieces.get(match[1], match[0]), self._text)
