"""Updates the catalogues of araplbs_addon/languages with the strings of the add-on. Translations
are kept, new strings are added without a translation, and unused strings are removed. Run by `make
translations`.

Strings are found in two ways. The declarations of operators, panels and properties are read from
Blender, in which the add-on is registered. Sentences are read from the source: texts of layouts,
reports, reasons and refusals, and every text in SENTENCES. In sentences with {...}, a placeholder
is named after the expression in the braces.

usage, in Blender's Python: translations.py [LANGUAGE...]  new languages by Blender's names
                            translations.py --places       prints where each string is used
"""

import ast
import gettext
import itertools
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ADDON = ROOT / "araplbs_addon"
PACKAGE = ROOT / "araplbs"
LANGUAGES = ADDON / "languages"
# Texts that appear in a terminal, a browser or files, but never in Blender's window.
ELSEWHERE = (
    *(
        "cli.py",
        "missing_module.py",
        "araplbs/blender",
        "araplbs/farm",
        "araplbs/features/compare",
        "presets",
        "languages",
    ),
    *("araplbs/replay.py", "araplbs/arrays.py", "araplbs/gltf", "araplbs/usd"),
    *("araplbs/api", "araplbs/cli", "araplbs/character/part.py"),
    *(
        "araplbs/reports/problem_report.py",
        "blender/data/restart.py",
        "araplbs/blender",
        "operators/command.py",
    ),
)
# Files in which lines for users are put together from parts.
SENTENCES = (
    *("araplbs/reports/report.py", "araplbs/reports/notes.py", "araplbs/reports/last_lines.py"),
    *("araplbs/reports/doubts.py", "araplbs/reports/pose_sources.py"),
    *("araplbs/reports/warning_lines.py", "araplbs/base/sentence.py"),
    *("araplbs/features", "araplbs/measures/deformation.py", "features"),
    *("features/joints/effects.py", "blender/read/other_modifiers.py"),
    *("blender/poses/pose_sources.py", "blender/read/targets.py", "blender/rig/rig_poses.py"),
    *("araplbs/skeleton/bone_evidence.py", "araplbs/character/control_bones.py"),
    *("araplbs/base/refusal.py", "araplbs/base/faults.py"),
    *("araplbs/solvers", "blender/data", "blender/read", "operators", "panels"),
)
MADE = {"Sentence", "counted"}  # araplbs/base/sentence.py
REFUSALS = {"Refused", "Changed", "BadOption", "NotLoaded", "NothingNew", "NothingToRemove"}
SAID = {
    *("report", "inform", "poll_message_set", "label", "draw_wrapped", "translated"),
    "show_status",
}
DECLARED = {"bl_label", "bl_description"}
WORDS = {"text", "title", "heading", "message"}  # arguments of layouts
NO_SENTENCE = re.compile(
    r"^araplbs|\(\?|\\d|\[\"|</|^--|^[a-z_ ]+_[a-z_]+( |$)|araplbs_|ARAPLBS_|\{WHICH\}| \| None$"
    r"|^(dict|list)\[|\.png$"
)
IDENTIFIER = re.compile(r"[A-Z0-9_]+")
EDGES = " ,.;:\n"
NAMES = {"ob": "object", "k": "number", "i": "number", "self": "name"}


class Found(dict):
    """{msgid: {places}}. Templates that differ only in the names of placeholders are merged; the
    first one is kept."""

    def __init__(self):
        super().__init__()
        self._patterns = {}

    def add(self, text, place):
        text = text.strip(EDGES if text[:1] in EDGES else " ").rstrip(" ,;")
        words = re.sub(r"\{\w*\}", " ", text)
        if not re.search(r"[A-Za-z]{2}", words) or not text.isprintable():
            return
        text = self._patterns.setdefault(re.sub(r"\{\w*\}", "{}", text), text)
        self.setdefault(text, set()).add(place)


def templates_of(node, scope=()):
    """Return the texts that a string or f-string stands for, with {placeholders}."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    if isinstance(node, ast.IfExp):
        return [*templates_of(node.body), *templates_of(node.orelse)]
    if isinstance(node, ast.BoolOp):
        return [text for value in node.values for text in templates_of(value)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [*templates_of(node.left), *templates_of(node.right)]
    if not isinstance(node, ast.JoinedStr):
        return []
    choices = []  # texts that depend on a condition, which has one value everywhere
    for value in node.values:
        part = value.value if isinstance(value, ast.FormattedValue) else None
        if isinstance(part, ast.IfExp) and all(map(_literal, (part.body, part.orelse))):
            choices.append(ast.unparse(part.test))
        elif isinstance(part, ast.BinOp) and _literal(part.left):
            choices.append(ast.unparse(part.right))
    choices = list(dict.fromkeys(choices))
    found = []
    for values in itertools.product((True, False), repeat=len(choices)):
        taken, used = dict(zip(choices, values, strict=True)), []
        found.append("".join(_part(value, taken, used) for value in node.values))
    return found


def _literal(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _part(value, taken, used):
    if isinstance(value, ast.Constant):
        return value.value
    node = value.value
    if isinstance(node, ast.IfExp) and ast.unparse(node.test) in taken:
        return (node.body if taken[ast.unparse(node.test)] else node.orelse).value
    if isinstance(node, ast.BinOp) and _literal(node.left):
        return node.left.value if taken[ast.unparse(node.right)] else ""
    name = name_of(node) or "value"
    used.append(name)
    return "{%s}" % (name if used.count(name) == 1 else f"{name}{used.count(name)}")


def name_of(node):
    """Return a name for the value of an expression, or None."""
    if isinstance(node, ast.Name):
        return NAMES.get(node.id, node.id.lower().strip("_"))
    if isinstance(node, ast.Attribute):
        if node.attr in {"name", "bl_label", "label", "data", "strerror"}:
            inner = name_of(node.value)
            return inner if inner and inner != "name" else "name"
        return node.attr.lower().strip("_")
    if isinstance(node, ast.Subscript):
        if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
            return re.sub(r"\W", "_", node.slice.value)
        return name_of(node.value)
    if isinstance(node, ast.Call):
        inner = [name_of(each) for each in node.args]
        if isinstance(node.func, ast.Attribute):
            inner.append(name_of(node.func.value))
        return next((name for name in inner if name), None)
    if isinstance(node, ast.BinOp):
        return name_of(node.right) or name_of(node.left)
    if isinstance(node, ast.BoolOp):
        return name_of(node.values[0])
    return None


def sentences():
    """Return the sentences of the source: {msgid: files}."""
    found = Found()
    for file in (*sorted(PACKAGE.rglob("*.py")), *sorted(ADDON.rglob("*.py"))):
        place = file.relative_to(ADDON if file.is_relative_to(ADDON) else ROOT).as_posix()
        if not place.startswith(ELSEWHERE):
            look_through(file.read_text(encoding="utf-8"), place, found)
    return found


def look_through(source, place, found):
    tree = ast.parse(source)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    everywhere = place.startswith(SENTENCES) and "report_problem" not in place
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            given = node.args if name in SAID | REFUSALS | MADE else []
            if name == "report":
                given = node.args[1:]
            given = given + [each.value for each in node.keywords if each.arg in WORDS]
            for text in (text for each in given for text in templates_of(each)):
                if not NO_SENTENCE.search(text) and not IDENTIFIER.fullmatch(text):
                    found.add(text, place)
        elif isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in DECLARED:
            for text in templates_of(node.value):
                found.add(text, place)
        elif isinstance(node, ast.Tuple) and len(node.elts) > 2 and all(map(_literal, node.elts)):
            if IDENTIFIER.fullmatch(node.elts[0].value):  # of an enumeration
                for each in node.elts[1:]:
                    if not IDENTIFIER.fullmatch(each.value):
                        found.add(each.value, place)
        elif everywhere and not _is_no_text(node, parents):
            for text in templates_of(node):
                if " " in text and not NO_SENTENCE.search(text):
                    found.add(text, place)


def _is_no_text(node, parents):
    """Return whether the string is a docstring, a part of another string, or an argument of a
    command or of another error."""
    parent = parents.get(node)
    if not isinstance(node, (ast.JoinedStr, ast.Constant)):
        return True
    if isinstance(parent, (ast.Expr, ast.FormattedValue, ast.JoinedStr)):
        return True
    while parent in parents:
        if isinstance(parent, ast.Call):
            name = getattr(parent.func, "attr", getattr(parent.func, "id", ""))
            if name in {"Command", "print", "split", "compile", "add_argument", "as_dict"}:
                return True
            if isinstance(parents[parent], ast.Raise) and name not in REFUSALS:
                return True
        parent = parents[parent]
    return False


def declared(classes):
    """Return the texts registered with Blender: {msgid: classes or properties}."""
    import bpy

    found = Found()
    for cls in classes:
        found.add(getattr(cls, "bl_label", ""), cls.__name__)
        rna = cls.bl_rna
        if issubclass(cls, bpy.types.Operator):
            rna = getattr(
                getattr(bpy.ops, cls.bl_idname.split(".")[0]), cls.bl_idname.split(".")[1]
            )
            rna = rna.get_rna_type()
            found.add(rna.description, cls.__name__)
        foreign = set(rna.base.properties.keys()) if rna.base else set()
        _add_properties(
            found, cls.__name__, [p for p in rna.properties if p.identifier not in foreign]
        )
    for name in dir(bpy.types):
        rna = getattr(getattr(bpy.types, name), "bl_rna", None)
        if rna and "araplbs" not in name.lower():
            _add_properties(found, name, [p for p in rna.properties if "araplbs" in p.identifier])
    return found


def _add_properties(found, owner, properties):
    for prop in properties:
        texts = [prop.name, prop.description]
        if prop.type == "ENUM":
            for item in prop.enum_items_static:
                texts += [item.name, item.description]
        for text in texts:
            if text != prop.identifier and prop.identifier not in {"rna_type", "name"}:
                found.add(text, f"{owner}.{prop.identifier}")


def strings(classes):
    """Return all strings of the add-on, as {msgid: sorted places}. classes: the classes with which
    the add-on is registered."""
    found = declared(classes)
    for text, places in sentences().items():
        for place in places:
            found.add(text, place)
    return {text: sorted(places) for text, places in sorted(found.items())}


HEADER = """\
# Auto-weight (ARAP) in {language}. See docs/languages.md. `make translations` brings it up to date.
msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\\nLanguage: {language}\\n"
"""


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def catalogue_text(language, found, known, glossary):
    """Return the file of a language. glossary(msgid): Blender's own translation, or None."""
    lines = [HEADER.format(language=language)]
    for english in found:
        own = glossary(english)
        lines += [f"#. Blender: {own}"] if own else []
        lines += [f"msgid {quoted(english)}", f"msgstr {quoted(known.get(english, ''))}", ""]
    return "\n".join(lines)


def blender_catalogue(language):
    """Return Blender's own catalogue if $BLENDER_LOCALE, a folder of catalogues, is set."""
    folder = os.environ.get("BLENDER_LOCALE")
    for name in (language, language.split("_")[0]):
        path = folder and Path(folder, name, "LC_MESSAGES", "blender.mo")
        if path and path.exists():
            with path.open("rb") as file:
                return gettext.GNUTranslations(file).gettext
    return lambda text: text


def update(languages):
    sys.path[:0] = [str(ROOT)]
    from araplbs.base.catalogue import read_catalogue

    import araplbs_addon
    from araplbs_addon import registration

    araplbs_addon.register()
    found = strings(registration.CLASSES)
    if languages == ["--places"]:
        for english, places in found.items():
            print(f"{english!r}: {', '.join(places)}")
        return
    for language in sorted({*languages, *(path.stem for path in LANGUAGES.glob("*.po"))}):
        path = LANGUAGES / f"{language}.po"
        known = read_catalogue(path) if path.exists() else {}
        blenders = blender_catalogue(language)

        def glossary(english, blenders=blenders):
            own = blenders(english)
            return own if own != english else None

        path.write_text(catalogue_text(language, found, known, glossary), encoding="utf-8")
        lacking = sum(not known.get(english) for english in found)
        gone = len(set(known) - set(found))
        print(f"{language}: {len(found)} strings, {lacking} to translate, {gone} gone")


if __name__ == "__main__":
    update(sys.argv[sys.argv.index("--") + 1 :])
