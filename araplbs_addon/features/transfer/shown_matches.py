"""Stores the matches of a transfer, which the overlay draws."""

from types import SimpleNamespace

import bpy
from araplbs.base.faults import refusals
from araplbs.features.transfer.options import TransferOptions

from ...blender.data.views import redraw_views
from ...operators.properties import option_names, options_of

REFRESH = 0.1  # seconds after a change, because a slider causes many

shown = []  # (Reference to an object, matched (n,)): the data that the overlay draws
_shown_task = None  # the TransferTask that produced the matches


def transfer_options(context):
    """The TransferOptions that the panel displays."""
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
    """Updates the displayed matches to the current options after a short delay."""
    if shown and not bpy.app.timers.is_registered(refresh_matches):
        bpy.app.timers.register(refresh_matches, first_interval=REFRESH)


def refresh_matches():
    """Displays the matches for the current options, on the meshes that were read."""
    if not shown:
        return
    try:
        _shown_task.options = transfer_options(bpy.context)
        show(_shown_task)
    except refusals():
        hide()
    redraw_views()


forget = hide
