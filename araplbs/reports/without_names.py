"""Removes paths and the names in a file from texts for maintainers.

Names in a file are removed in every form in which our messages and Python write them. Our messages
also quote unknown names, such as the names of deleted objects. Everything from the first remaining
quote to the last one is removed, because a name may contain quotes. Removing too much text is
better than leaving a name in it.
"""

import re
from collections.abc import Iterable

DOTS = "..."
SHORT = 4  # letters: shorter names match only as whole words; otherwise, no sentence would be left
_HERE = "\ue000"  # placeholder for a name while others are still to be found
_PATH = re.compile(r"(?:\b[A-Za-z]:|(?<![\w.]))[\\/]+(?:[^\\/:\n\"']+[\\/])+[^\\/:\n\"',;)]*")
_HIDDEN = f"'{DOTS}'"
_OPENING, _CLOSING = re.compile(r"(?<!\w)[\"'`]"), re.compile(r"[\"'`](?!\w)")


def without_names(text: str, names: Iterable[str] = ()) -> str:
    """The text with dots in place of names and paths. names: the names in the file."""
    forms = {form for name in names for form in _forms(name)}
    for form in sorted(forms, key=len, reverse=True):
        if form not in text:
            continue
        if len(form) >= SHORT:
            text = text.replace(form, _HERE)
        else:
            text = re.sub(rf"(?<!\w){re.escape(form)}(?!\w)", _HERE, text)
    text = _PATH.sub(DOTS, text.replace(_HERE, DOTS))
    return _HIDDEN.join(_without_quoted(part) for part in _apart(text))


def _apart(text: str) -> list[str]:
    """The text between names that are already hidden. The text between two hidden names may be the
    middle of a name with quotes, and is then also hidden."""
    return re.split(rf"[\"']{re.escape(DOTS)}[\"']", text)


def _without_quoted(text: str) -> str:
    first = _OPENING.search(text)
    if not first:
        return text
    last = [match.end() for match in _CLOSING.finditer(text, first.end())]
    end = last[-1] if last else len(text)  # a text may be cut off within a name
    return text[: first.start()] + _HIDDEN + text[end:]


def _forms(name: str) -> set[str]:
    """The forms of a name: unchanged, on one line, as shown by Python, and as bytes."""
    shown = {name, " ".join(name.split()), repr(name)[1:-1], ascii(name)[1:-1]}
    shown |= {repr(name)[1:-1].replace("\\'", "'"), *name.splitlines()}
    shown.add(name.encode("utf-8", "backslashreplace").decode())
    return {form for form in shown if any(map(str.isalnum, form))}
