"""The layer that all operators share: base classes, settings, sessions, guard, sidebar and views."""

from importlib import import_module
from pkgutil import iter_modules

from ..parts import is_part


def modules():
    """All modules of this package, by name."""
    return [import_module(f"{__name__}.{found.name}") for found in iter_modules(__path__)]


def classes():
    """All classes that the modules register."""
    return [each for module in modules() for each in getattr(module, "CLASSES", ())]


def parts():
    """The modules with properties and handlers."""
    return [module for module in modules() if is_part(module)]
