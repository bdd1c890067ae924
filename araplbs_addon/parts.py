"""Adds a module's properties, handlers and keys to Blender while the add-on is enabled. A module
declares:

PROPERTIES   ((type of Blender's or group of ours, name, property), ...)
HANDLERS     ((name of a list of bpy.app.handlers, function), ...)
KEYS         ((keymap, its type of space, operator, type of event, its value, other settings), ...)
             The keymap's name has _ instead of blanks, because it is not a text to translate.

A module may also define register() or unregister() for anything else that it starts and ends, and
forget(), which discards what belongs to the open file: another one is about to be opened, or the
add-on ends."""

import bpy
from bpy.app.handlers import persistent

DECLARED = ("register", "unregister", "forget", "PROPERTIES", "HANDLERS", "KEYS")
_keys = {}  # by module: [(keymap, item)]
_forgetting = {}  # by module: the handler that calls its forget()


def is_part(module):
    return any(hasattr(module, each) for each in DECLARED)


def begin(part):
    """Adds what the module declares. Called after the classes are registered."""
    for owner, name, prop in getattr(part, "PROPERTIES", ()):
        setattr(owner, name, prop)
    if hasattr(part, "forget"):
        _forgetting[part.__name__] = lambda *_arguments: part.forget()
        monitor((("load_pre", _forgetting[part.__name__]),), True)
    monitor(getattr(part, "HANDLERS", ()), True)
    for name, space, operator, kind, value, more in getattr(part, "KEYS", ()):
        configuration = bpy.context.window_manager.keyconfigs.addon
        if configuration:  # none in background mode
            keymap = configuration.keymaps.new(name.replace("_", " "), space_type=space)
            item = keymap.keymap_items.new(operator, kind, value, **more)
            _keys.setdefault(part.__name__, []).append((keymap, item))
    if hasattr(part, "register"):
        part.register()


def end(part):
    """Removes what the module declares. Called before the classes are unregistered."""
    for keymap, item in _keys.pop(part.__name__, ()):
        keymap.keymap_items.remove(item)
    monitor(getattr(part, "HANDLERS", ()), False)
    if hasattr(part, "unregister"):
        part.unregister()
    if part.__name__ in _forgetting:
        monitor((("load_pre", _forgetting.pop(part.__name__)),), False)
        part.forget()
    for owner, name, _prop in reversed(getattr(part, "PROPERTIES", ())):
        delattr(owner, name)


def monitor(handlers, on):
    """Adds or removes HANDLERS, which stay when another file is opened."""
    for name, handler in handlers:
        registered = getattr(bpy.app.handlers, name)
        if on and handler not in registered:
            registered.append(persistent(handler))
        elif not on and handler in registered:
            registered.remove(handler)
