"""Contains the features, each in a folder named after its operator. The algorithms are in
araplbs/features.

A folder contains some of task.py (read, solve, apply), operator.py, live.py (a session) and
panel.py. New modules are found by modules(). A module declares:
  COMMAND                   its part of the command line, if any
  places, icon of a class   its entries in menus and panels (operators/menu_entries.py)
  CLASSES, PROPERTIES ...   classes and data for Blender (parts.py)
"""

from importlib import import_module
from pkgutil import iter_modules

from ..parts import modules_in

# Listed in the order of the command-line help. All other features follow, sorted by name.
ORDER = (
    *("report_problem", "auto_weight", "bake", "bendy", "compare", "copy_weights", "joints"),
    *("quantize", "transfer_shapes", "transfer", "new_vertices", "reduce_bones", "export_game"),
    *("restore", "control_bones", "edits", "check", "range_of_motion", "repair"),
)


def modules():
    """All modules of all features, grouped by feature and sorted by name within each."""
    there = {feature.name for feature in iter_modules(__path__)}
    for feature in [*ORDER, *sorted(there - {*ORDER})]:
        yield from modules_in(import_module(f"{__name__}.{feature}"))
