"""The matches of a transfer, for the overlay that draws them."""

from types import SimpleNamespace

import bpy
from araplbs.base.faults import refusals
from araplbs.features.transfer.options import TransferOptions

from ...blender.data.views import redraw_views
from ...window.properties import option_names, options_of

REFRESH = 0.1  # seconds after a change: a slider makes many

shown = []  # (Reference to an object, matched (n,)): the data that the overlay draws
_shown_task = None  # the TransferTask that it comes from


def transfer_options(context):
    """The TransferOptions that the panel shows."""
    settings = context.scene.araplbs
    own = settings.transfer
    values = {
        name: getattr(own if name in own.bl_rna.properties else settings, name)
        for name in option_names(TransferOptions)
    }
    return options_of(SimpleNamespace(**values), TransferOptions)


def show(task):
    global _shown_task
    found = [matched for matched, _distances, _angles in task.match()]
    shown[:] = zip(task.reading.subjects.meshes, found, strict=True)
    _shown_task = task


def hide():
    global _shown_task
    shown.clear()
    _shown_task = None


def outdate_matches(_settings, _context):
    """Updates what is shown to the present options, in a moment."""
    if shown and not bpy.app.timers.is_registered(refresh_matches):
        bpy.app.timers.register(refresh_matches, first_interval=REFRESH)


def refresh_matches():
    """Shows the matches of the present options; the meshes are those that were read."""
    if not shown:
        return
    try:
        _shown_task.options = transfer_options(bpy.context)
        show(_shown_task)
    except refusals():
        hide()
    redraw_views()


@bpy.app.handlers.persistent
def _forget(*_arguments):
    hide()


HANDLERS = (("load_pre", _forget),)
unregister = hide
