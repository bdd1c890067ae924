"""Adds what modules declare to Blender while the add-on is enabled. A module declares:

CLASSES      the classes to register, in this order
PROPERTIES   ((type of Blender's or group of ours, name, property), ...)
HANDLERS     ((name of a list of bpy.app.handlers, function), ...)
KEYS         ((keymap, its type of space, operator, type of event, its value, other settings), ...)
             The keymap's name has _ instead of blanks, because it is not a text to translate.

A module may also define register() or unregister() for anything else that it starts and ends, and
forget(), which discards what belongs to the open file: another one is about to be opened, or the
add-on ends."""

from importlib import import_module
from pkgutil import iter_modules

import bpy
from bpy.app.handlers import persistent

_keys = {}  # by module: [(keymap, item)]
_forgetting = {}  # by module: the handler that calls its forget()


def modules_in(package):
    """All modules of a package, sorted by name."""
    names = [module.name for module in iter_modules(package.__path__)]
    return [import_module(f"{package.__name__}.{name}") for name in names]


def classes_of(modules):
    return [cls for module in modules for cls in getattr(module, "CLASSES", ())]


def register(modules):
    """Adds what the modules declare, all classes first."""
    for cls in classes_of(modules):
        bpy.utils.register_class(cls)
    for module in modules:
        begin(module)


def unregister(modules):
    """Removes what the modules declare, in the opposite order."""
    for module in reversed(modules):
        end(module)
    for cls in reversed(classes_of(modules)):
        bpy.utils.unregister_class(cls)


def begin(part):
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
