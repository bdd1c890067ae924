"""Holds another Blender process at a gate (gate.py), at a moment that the test chooses. The script
runs in the other process through `blender -P` or, if Blender is the module bpy, as sitecustomize.

HOLD_AT: "open": when the first .blend or .glb file is opened; "serve": the same, but only in a
process of --jobs or of a farm; "solve": at the first report of progress; "save": when the file is
written but not yet moved to its destination."""

import os
import socket
import sys
from contextlib import suppress

GATE, MOMENT = os.environ["HOLD_GATE"], os.environ["HOLD_AT"]


def arrive():
    host, _colon, port = GATE.rpartition(":")
    try:
        gate = socket.create_connection((host, int(port)))
    except OSError:  # nobody holds anything any more
        return
    with gate, suppress(OSError):
        gate.recv(1)


def hold_where_files_are_opened():
    """Holds the process when it first opens an input file, but not when it opens a file that it has
    written."""
    known, writing = set(), os.O_WRONLY | os.O_RDWR

    def hook(event, arguments):
        if event == "os.rename":
            known.add(real(arguments[1]))
        if event != "open" or not isinstance(arguments[0], (str, os.PathLike)):
            return
        path, flags = real(arguments[0]), arguments[2]
        is_temporary = os.path.basename(path).startswith(".araplbs-")
        is_input = path.endswith((".blend", ".glb")) and not is_temporary
        if not is_input or flags & writing or path in known:
            return
        if MOMENT == "serve" and "serve" not in sys.argv:
            return
        known.add(path)
        arrive()

    sys.addaudithook(hook)


def real(path):
    return os.path.realpath(os.fsdecode(path))


def hold_where_it_is_solved():
    lines = sys.modules["araplbs.blender.files"].Lines
    report = lines.__call__

    def held(self, *arguments):
        report(self, *arguments)
        lines.__call__ = report
        arrive()

    lines.__call__ = held


def hold_where_it_is_saved():
    import bpy

    @bpy.app.handlers.persistent  # also where another file is opened
    def hold(*_):
        arrive()

    bpy.app.handlers.save_post.append(hold)


if MOMENT in ("open", "serve"):
    hold_where_files_are_opened()
elif MOMENT == "solve":
    hold_where_it_is_solved()
elif MOMENT == "save":
    hold_where_it_is_saved()
else:
    raise ValueError(MOMENT)
