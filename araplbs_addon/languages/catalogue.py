"""Catalogues of translations, and how a sentence finds its own. No bpy.

A catalogue is a file of gettext: `msgid` English, `msgstr` the other language, "" as long
as it lacks. Sentences with names and numbers in them have placeholders there: "'{object}' has no
vertices". The program makes such a sentence in English, where the thing is known that it speaks of;
core/ knows no languages. Where it is shown, the placeholders of its msgid are found in it again,
and filled into the msgstr.
"""

import ast
import re
from functools import lru_cache
from pathlib import Path

PLACEHOLDER = re.compile(r"\{(\w*)\}")
JOINT = re.compile(r": |, |; |\. | and | \(|(?<=\d) |\n *|   \|   ")  # between parts of a line
_LINE = re.compile(r'(?:(msgid|msgstr|msgctxt) )?("(?:[^"\\]|\\.)*")')


def read_catalogue(path):
    """{msgid: msgstr} of a file; the header, whose msgid is "", is left out."""
    found, last = [], None
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        match = _LINE.fullmatch(line.strip())
        if not match:
            continue
        key, text = match[1] or last, ast.literal_eval(match[2])
        if match[1] == "msgid":
            found.append({"msgid": text, "msgstr": ""})
        elif found:
            found[-1][key] = text if match[1] else found[-1][key] + text
        last = key
    return {each["msgid"]: each["msgstr"] for each in found if each["msgid"]}


class Sentences:
    """Translates sentences by a catalogue. What it does not know stays as it is."""

    def __init__(self, catalogue):
        self.plain = {english: text for english, text in catalogue.items() if text}
        templates = [english for english in self.plain if PLACEHOLDER.search(english)]
        templates.sort(key=lambda english: -len(PLACEHOLDER.sub("", english)))
        self._templates = [_Template(english, self.plain[english]) for english in templates]
        self.translate = lru_cache(maxsize=1024)(self._translate)

    def _translate(self, text):
        whole = self._whole(text)
        return self._parts(text) if whole is None else whole

    def _whole(self, text):
        """The translation where the text is that of one msgid, else None."""
        if text in self.plain:
            return self.plain[text]
        for template in self._templates:
            found = template.find(text)
            if found is not None:
                return template.filled({name: self._piece(piece) for name, piece in found.items()})
        return None

    def _piece(self, text):
        """Of what stands in a sentence: a single word may well be somebody's name."""
        return self._translate(text) if " " in text else text

    def _parts(self, text):
        """Of a line that joins several: the longest parts first, from the left."""
        joints = list(JOINT.finditer(text))
        for joint in reversed(joints):
            whole = self._whole(text[: joint.start()]) if joint.start() else None
            if whole is not None:
                return whole + self._between(joint[0]) + self._rest(text[joint.end() :])
        if not joints:
            return text
        first = joints[0]
        return text[: first.start()] + self._between(first[0]) + self._rest(text[first.end() :])

    def _between(self, joint):
        return joint.replace("and", self.plain.get("and", "and"))

    def _rest(self, text):
        bare = text.rstrip(")")
        return self._piece(bare) + text[len(bare) :]


class _Template:
    def __init__(self, english, text):
        parts = PLACEHOLDER.split(english)  # literal, name, literal, ...
        self._text = text
        self._needle = max(parts[::2], key=len)
        self._names = parts[1::2]
        pattern = "(.+?)".join(re.escape(part) for part in parts[::2])
        self._pattern = re.compile(pattern, re.DOTALL)

    def find(self, text):
        """{placeholder: what stands for it}, or None."""
        if self._needle not in text:
            return None
        match = self._pattern.fullmatch(text)
        return dict(zip(self._names, match.groups(), strict=True)) if match else None

    def filled(self, pieces):
        return PLACEHOLDER.sub(lambda match: pieces.get(match[1], match[0]), self._text)
