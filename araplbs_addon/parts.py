"""The additions of a module to Blender while the add-on is enabled. A module declares:

PROPERTIES   ((type of Blender's or group of ours, name, property), ...)
HANDLERS     ((name of a list of bpy.app.handlers, function), ...)

A module may also define register() or unregister() for anything else that it starts and ends."""

import bpy


def is_part(module):
    return any(
        hasattr(module, each) for each in ("register", "unregister", "PROPERTIES", "HANDLERS")
    )


def begin(part):
    """Adds the additions; called after the classes are registered."""
    for owner, name, prop in getattr(part, "PROPERTIES", ()):
        setattr(owner, name, prop)
    for name, handler in getattr(part, "HANDLERS", ()):
        getattr(bpy.app.handlers, name).append(handler)
    getattr(part, "register", _nothing)()


def end(part):
    """Removes the additions; called before the classes are unregistered."""
    for name, handler in getattr(part, "HANDLERS", ()):
        getattr(bpy.app.handlers, name).remove(handler)
    getattr(part, "unregister", _nothing)()
    for owner, name, _prop in reversed(getattr(part, "PROPERTIES", ())):
        delattr(owner, name)


def _nothing():
    pass
