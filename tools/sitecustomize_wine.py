"""Adapts the Windows Python of the test beds, because os._exit() crashes under Wine when bpy is
loaded, and an embeddable Python does not read PYTHONPATH."""

import ctypes
import os
import sys


def leave(code):
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    ctypes.windll.kernel32.TerminateProcess(ctypes.c_void_p(-1), code)


os._exit = leave
sys.path[:0] = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
