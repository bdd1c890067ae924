"""Reloads the changed files of the checkout in a Blender started by tools/dev_blender.sh.

In its Python console:  import araplbs_reload; araplbs_reload.now()

The add-on is disabled, the modules of the add-on and the package are removed from memory, and the
add-on is enabled again. The engine stays loaded, so a change to csrc/ requires a restart.
"""

import sys

import addon_utils

ADDON = "bl_ext.user_default.araplbs"
ENGINE = "araplbs._engine"


def now():
    addon_utils.disable(ADDON)
    for name in list(sys.modules):
        if name != ENGINE and f"{name}.".startswith((f"{ADDON}.", "araplbs.")):
            del sys.modules[name]
    if addon_utils.enable(ADDON) is None:
        raise RuntimeError(f"{ADDON} could not be enabled: see the messages above")
