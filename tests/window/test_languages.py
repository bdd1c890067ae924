"""Draws the tab in other languages, for visual inspection of the space that words take."""

from unittest import SkipTest

import bpy
from driver import Draws, reset_settings, still, when_named
from test_first_sight import start, weigh

LANGUAGES = ("ja_JP", "de_DE", "zh_HANS", "ko_KR", "fr_FR", "es")


def test_tab_in_languages(ui):
    """Everything is drawn correctly; pictures of the first result and of the panels below."""
    when_named()
    view = bpy.context.preferences.view
    before = view.language
    try:
        view.language = "ja_JP"
    except TypeError:
        raise SkipTest("this Blender has no languages") from None
    try:
        _rig, _meshes = yield from start(ui)
        yield from weigh(ui)
        for language in LANGUAGES:
            view.language = language
            yield from still(ui)
            with Draws():
                ui.picture(f"language-{language}")
                yield 8
    finally:
        view.language = before
        reset_settings()
