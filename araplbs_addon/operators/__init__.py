"""The operators. They ask for work and report on it; tasks/ and live/ do the work.

A new operator is a file in one of the rooms, found by modules(). Its declarations:
  CLASSES                   the classes to register, in this order
  COMMAND                   its part of the command line, if any
  places, icon of a class   its entries in menus and panels (base/placed.py)
  register(), unregister()  properties and handlers, if any; after CLASSES, and before
"""

from importlib import import_module
from pkgutil import iter_modules

ROOMS = ("base", "weights", "changes", "edits", "findings")


def modules():
    """All modules with operators: room by room, in each by name."""
    for room in ROOMS:
        package = import_module(f"{__name__}.{room}")
        for found in iter_modules(package.__path__):
            yield import_module(f"{package.__name__}.{found.name}")


def classes():
    """All that they register."""
    return [each for module in modules() for each in getattr(module, "CLASSES", ())]
