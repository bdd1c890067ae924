"""Sentences for the user that keep their parts as fields, so they can be translated without parsing
the English text (base/catalogue.py)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

MOST_NAMES = 5
PLACEHOLDER = re.compile(r"\{(\w*)\}")


class Sentence(str):
    """An English text built from a template with {placeholders} and their fields, which may be
    Sentences. A Sentence can be used like any str."""

    template: str
    fields: Mapping[str, object]

    def __new__(cls, template: str, /, **fields: object) -> Sentence:
        text = PLACEHOLDER.sub(lambda found: str(fields.get(found[1], found[0])), template)
        made = super().__new__(cls, text)
        made.template, made.fields = template, fields
        return made

    def __add__(self, other: str) -> Sentence:
        return joined([self, other], "")


def joined(parts: Sequence[str], joint: str) -> Sentence:
    """Joins the parts on one line."""
    template = joint.join(f"{{_{k}}}" for k in range(len(parts)))
    return Sentence(template, **{f"_{k}": part for k, part in enumerate(parts)})


def counted(count: int, one: str, several: str) -> Sentence:
    """Returns Sentence(one) or Sentence(several), which contains a {count}."""
    return Sentence(one) if count == 1 else Sentence(several, count=f"{count:,}")


def names_in_line(names: Sequence[str]) -> str:
    """Formats names as 'A, B, C and 4 more'."""
    shown = ", ".join(names[:MOST_NAMES])
    more = len(names) - MOST_NAMES
    return Sentence("{shown} and {more} more", shown=shown, more=more) if more > 0 else shown
