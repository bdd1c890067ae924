"""An operator of ours that starts another of ours, like the OK button of a dialog, must hand over
to it, because the guard (operators/guard.py) refuses operators that are started during another."""

import ast

from paths import ROOT

OPERATORS = ROOT / "araplbs_addon/features"
# Called by Blender, when a line of the list is clicked on, and not by an operator.
UPDATES = {("check/findings_list.py", f"araplbs_{does}_finding") for does in ("select", "view")}


def started(tree):
    """(operator, whether inside handing_over()) of each of our operators that the code starts."""

    def walk(node, handed):
        if isinstance(node, ast.With):
            handed = handed or any("handing_over" in ast.unparse(each) for each in node.items)
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("bpy.ops."):
            name = ast.unparse(node.func).rpartition(".")[2]
            if name.startswith("araplbs_"):
                yield name, handed
        for child in ast.iter_child_nodes(node):
            yield from walk(child, handed)

    return walk(tree, False)


def test_operators_hand_over():
    found = {
        (path.relative_to(OPERATORS).as_posix(), name): handed
        for path in sorted(OPERATORS.rglob("*.py"))
        for name, handed in started(ast.parse(path.read_text("utf-8")))
    }
    for key in (
        ("auto_weight/limb.py", "araplbs_weight_limb"),
        ("auto_weight/show_worst.py", "araplbs_play_motion"),
        ("auto_weight/wipe.py", "araplbs_own_pose"),
        ("auto_weight/wipe.py", "araplbs_show_worst"),
        ("compare/operator.py", "araplbs_compare"),
        ("edits/brush.py", "araplbs_solve_below"),
        ("range_of_motion/play.py", "araplbs_own_pose"),
        ("reduce_bones/ask.py", "araplbs_reduce_bones_ask"),
        ("reduce_bones/ask.py", "araplbs_reduce_bones"),
        ("transfer/operator.py", "araplbs_transfer_ask"),
        ("transfer/operator.py", "araplbs_transfer"),
    ):
        assert found.pop(key), key
    assert set(found) == UPDATES


def test_what_is_found():
    code = "bpy.ops.object.araplbs_a()\nwith handing_over():\n    bpy.ops.object.araplbs_b('X')"
    assert list(started(ast.parse(code))) == [("araplbs_a", False), ("araplbs_b", True)]


def test_tooltips_are_one_line():
    """Blender shows the docstring of an operator unchanged, including line breaks and indents."""
    found = []
    for path in sorted((ROOT / "araplbs_addon").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef) and any(
                isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == "bl_idname"
                for each in node.body
            ):
                found.append((path.name, node.name, ast.get_docstring(node, clean=False) or ""))
    assert len(found) > 40
    assert [name for name in found if "\n" in name[2]] == []
