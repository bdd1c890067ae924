"""Blender's part of the catalogues, and the translation of sentences.

Blender translates by itself what operators, panels and properties declare, and literal texts of a
layout; translated() is for all others: reports, reasons of a poll, status bar, texts with names and
numbers. Blender wants the catalogues of all languages when the add-on is enabled, in any language
(some 25 ms for six); if it was built without languages, none is read."""

from functools import lru_cache
from pathlib import Path

import bpy
from araplbs.base.catalogue import Sentences, read_catalogue
from araplbs.base.printed import printable

FILES = {path.stem: path for path in sorted(Path(__file__).parent.glob("*.po"))}
OURS = "Auto-weight"  # of operators and options: Blender's Japanese for "Accept" is "Open Folder"
CONTEXTS = ("*", "Operator", OURS)  # Blender's: of everything, and of buttons of its operators


@lru_cache(maxsize=len(FILES))
def sentences(language):
    return Sentences(read_catalogue(FILES[language]))


def translated(text):
    """A text of the add-on in the language of the interface. Without a window Blender prints it, so
    it has no control characters from names."""
    language = bpy.app.translations.locale
    if text and language in FILES and bpy.context.preferences.view.use_translate_interface:
        text = sentences(language).translate(text if isinstance(text, str) else str(text))
    return printable(str(text)) if text else text


def messages(language):
    """As Blender takes them: its own translation of a text goes first, except in OURS."""
    plain = sentences(language).plain
    return {(context, english): text for english, text in plain.items() for context in CONTEXTS}


def register():
    if bpy.app.build_options.international:
        bpy.app.translations.register(__package__, {name: messages(name) for name in FILES})


def unregister():
    if bpy.app.build_options.international:
        bpy.app.translations.unregister(__package__)
        sentences.cache_clear()
