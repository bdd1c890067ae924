"""One press of the button runs few Python files, because anybody who traces the press has to open
each file."""

import sys
import threading

import bpy
from bpy.app import handlers
from scenes import MODULE, addon, auto_weight, select, tube_and_rig

FILES = 84  # window/old_names.py will be removed in version 0.4


class Trace:
    """Records our files whose functions are called."""

    def __init__(self):
        self.files = set()

    def __call__(self, frame, event, _argument):
        if event == "call":
            name = frame.f_globals.get("__name__", "")
            if name.startswith((f"{MODULE}.", "araplbs.")) or name in (MODULE, "araplbs"):
                self.files.add(name.removeprefix(f"{MODULE}."))

    def __enter__(self):
        self.before = sys.getprofile()
        threading.setprofile(self)
        sys.setprofile(self)
        return self

    def __exit__(self, *_error):
        sys.setprofile(self.before)
        threading.setprofile(None)


def test_files_of_one_press():
    tube, rig = tube_and_rig()
    auto_weight(tube, rig)  # loads what is loaded once
    select(tube, rig)
    with Trace() as trace:
        assert auto_weight(tube, rig) == {"FINISHED"}
    assert len(trace.files) <= FILES, sorted(trace.files)


def test_findings_are_monitored_only_while_there_are_any():
    """Handlers that run at every update cost time in every scene."""
    module = addon("features.check.findings_list")

    def monitored():
        names = ("depsgraph_update_post", "undo_post", "redo_post")
        return [
            any(handler.__module__ == module.__name__ for handler in getattr(handlers, name))
            for name in names
        ]

    tube, rig = tube_and_rig()
    auto_weight(tube, rig)
    assert monitored() == [False] * 3
    select(tube, rig)
    bpy.ops.object.araplbs_check()
    assert monitored() == [True] * 3
    module._forget()  # as when another file is opened
    assert monitored() == [False] * 3
