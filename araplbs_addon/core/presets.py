"""Presets of Blender's operators, read without running them."""

import ast
from pathlib import Path

AS_PUBLISHED = (
    Path(__file__).parents[1]
    / "presets/operator/object.araplbs_auto_weight/As_published_(2018_paper).py"
)


def preset_values(text):
    """{property: value} of a preset file of Blender, read without running it."""
    values = {}
    for node in ast.parse(text).body:
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            continue
        target = node.targets[0]
        if (
            isinstance(target, ast.Attribute)
            and isinstance(target.value, ast.Name)
            and target.value.id == "op"
        ):
            values[target.attr] = ast.literal_eval(node.value)
    return values


def as_published():
    """{option: value} of the recipe of the paper of 2018."""
    return preset_values(AS_PUBLISHED.read_text(encoding="utf-8"))
