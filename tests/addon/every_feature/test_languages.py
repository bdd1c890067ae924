"""All texts that the add-on declares to Blender are in the catalogues. The tests in tests/package
check the sentences."""

import sys

import bpy
import pytest
from paths import ROOT
from scenes import addon, package

TOOLS = ROOT / "tools"


@pytest.mark.skipif(not TOOLS.exists(), reason="tools/ is not here")
def test_catalogues_have_what_is_declared():
    sys.path.insert(0, str(TOOLS))
    import translations

    catalogue = package("base.catalogue")
    known = catalogue.read_catalogue(addon("languages.translate").FILES["de_DE"])
    bare = {catalogue.PLACEHOLDER.sub("{}", english) for english in known}
    found = translations.declared(addon("registration").CLASSES)
    assert len(found) > 300
    missing = [each for each in found if catalogue.PLACEHOLDER.sub("{}", each) not in bare]
    assert not missing


def test_the_language_of_the_interface_decides():
    """In English, or in a Blender without languages, the text is unchanged."""
    translate = addon("languages.translate")
    assert translate.translated("{count} vertices") == "{count} vertices"
    assert translate.sentences("de_DE").translate("3 vertices") == "3 Punkte"
    messages = translate.messages("ja_JP")
    for context in (translate.OURS, "Operator"):
        assert messages[context, "Check Weights"] == messages["*", "Check Weights"]


def test_labels_are_our_own_words():
    """Blender's Japanese text for "Accept" is "Open Folder", because it belongs to another
    context."""
    ours = addon("languages.translate").OURS
    for kind in addon("registration").CLASSES:
        if issubclass(kind, bpy.types.Operator):
            assert kind.bl_rna.translation_context == ours, kind.bl_idname
    option = bpy.context.scene.araplbs.bl_rna.properties["control_bones"]
    assert option.translation_context == ours
