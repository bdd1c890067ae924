"""Registers the catalogs with Blender, and translates sentences.

Blender itself translates the texts that operators, panels and properties declare, and literal texts
in a layout. translated() handles all other texts: reports, poll reasons, the status bar, and texts
with names and numbers. Regardless of the current language, Blender requires the catalogs of all
languages when the add-on is enabled (about 25 ms for six). If the add-on was built without
languages, no catalog is read.
"""

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
    """A text of the add-on in the interface language. Without a window, Blender prints the text to
    a terminal, so control characters in names are removed."""
    language = bpy.app.translations.locale
    if text and language in FILES and bpy.context.preferences.view.use_translate_interface:
        text = sentences(language).translate(text if isinstance(text, str) else str(text))
    return printable(str(text)) if text else text


def inform(operator, text):
    """Reports a text of the add-on in the interface language."""
    operator.report({"INFO"}, translated(text))


def warn(operator, text):
    """Does the same as inform(), as a warning."""
    operator.report({"WARNING"}, translated(text))


def messages(language):
    """The messages in Blender's format. Blender's own translation of a text takes precedence,
    except in OURS."""
    plain = sentences(language).plain
    return {(context, english): text for english, text in plain.items() for context in CONTEXTS}


def register():
    if bpy.app.build_options.international:
        bpy.app.translations.register(__package__, {name: messages(name) for name in FILES})


def unregister():
    if bpy.app.build_options.international:
        bpy.app.translations.unregister(__package__)
        sentences.cache_clear()
