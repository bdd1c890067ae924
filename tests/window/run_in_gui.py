"""Runs the GUI tests in a Blender with a window (under Xvfb, see tests/run.sh).

blender --enable-event-simulate -P run_in_gui.py -- RESULTS.xml PICTURES_FOLDER [NAME_PART]

A GUI test is a generator function test_*(ui) in tests/window/test_*.py: every `yield` gives the
event loop one turn, in which it handles all events and draws; `yield 5` gives as many. Nothing
waits for seconds: how long a turn takes is the machine's affair. unittest.SkipTest skips. pytest
cannot drive that, hence this small runner; its results have pytest's XML form.  Each test
starts with the factory start-up file.  RESULTS.xml is written ahead of each test, so that a crash
leaves a trace.
"""

import faulthandler
import importlib.util
import inspect
import os
import subprocess
import sys
import time
import traceback
from pathlib import Path
from unittest import SkipTest
from xml.etree import ElementTree

import bpy

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), *(str(TESTS / d) for d in ("window", "addon", "../demo"))]
from patience import HANGS  # noqa: E402

NAMED = os.environ.get("ARAPLBS_TEST_ALL")  # its pictures are to be looked at, and the manual's


class Ui:
    """Helpers for tests of the window: contexts, simulated input, pictures."""

    def __init__(self, pictures):
        self.pictures = pictures

    @property
    def window(self):
        return bpy.context.window_manager.windows[0]

    def area(self, kind="VIEW_3D"):
        return next(a for a in self.window.screen.areas if a.type == kind)

    def override(self, kind="VIEW_3D"):
        area = self.area(kind)
        region = next(r for r in area.regions if r.type == "WINDOW")
        return bpy.context.temp_override(window=self.window, area=area, region=region)

    def event(self, kind, value="PRESS", at=None, **modifiers):
        """at: window pixels from the lower left; default the middle of the 3D view."""
        area = self.area()
        x, y = at or (area.x + area.width // 2, area.y + area.height // 2)
        self.window.event_simulate(type=kind, value=value, x=x, y=y, **modifiers)

    def key(self, kind, **modifiers):
        self.event("MOUSEMOVE", "NOTHING")
        self.event(kind, "PRESS", **modifiers)
        self.event(kind, "RELEASE", **modifiers)

    def picture(self, name, needed=False):
        """The whole visible window, if the run is named or the test needs it; Blender's own
        screenshot is black under Xvfb."""
        path = self.pictures / f"{name}.png"
        if NAMED or needed:
            subprocess.run(["import", "-window", "root", str(path)], check=True)
        return path


class Runner:
    def __init__(self, results, pictures, name_part=""):
        self.results = Path(results)
        self.suite = ElementTree.Element("testsuite")
        self.ui = Ui(Path(pictures))
        self.tests = [t for t in find_tests() if name_part in t[1]]
        self.steps, self.turns = self.run_all(), 0

    def tick(self):
        """The app timer, called in each turn of the event loop: goes on with the running test."""
        try:
            if self.turns <= 1:
                self.turns = next(self.steps) or 1
            else:
                self.turns -= 1
            return 0.0
        except StopIteration:
            faulthandler.cancel_dump_traceback_later()
            with self.ui.override():
                bpy.ops.wm.quit_blender()

    def run_all(self):
        for file, name, function in self.tests:
            case = ElementTree.SubElement(self.suite, "testcase", classname=file, name=name)
            error = ElementTree.SubElement(case, "error", message="crash, or over the time limit")
            self.write()
            faulthandler.dump_traceback_later(3 * HANGS, exit=True)
            start = time.monotonic()
            try:
                bpy.ops.wm.read_homefile(use_factory_startup=True)
                yield 5
                yield from function(self.ui)
                error.tag = "ok"
            except SkipTest as reason:
                error.tag = "skipped"
                error.set("message", str(reason))
            except Exception:
                error.tag, error.text = "failure", traceback.format_exc()
                error.set("message", error.text.strip().splitlines()[-1])
                traceback.print_exc()
                self.ui.picture(f"failed-{name}", needed=True)
            if error.tag == "ok":
                case.remove(error)
            case.set("time", f"{time.monotonic() - start:.2f}")
            told = {"ok": "passed", "skipped": "skipped"}.get(error.tag, "FAILED")
            print(told, f"{file}::{name}", flush=True)
            self.write()

    def write(self):
        ElementTree.ElementTree(self.suite).write(self.results)


def find_tests():
    for path in sorted(Path(__file__).parent.glob("test_*.py")):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for name, function in vars(module).items():
            if name.startswith("test_") and inspect.isfunction(function):
                yield path.stem, name, function


def draw_plainly():
    """The processor draws every picture of the window, and with anti-aliasing it draws several."""
    preferences = bpy.context.preferences
    preferences.system.viewport_aa = "OFF"
    preferences.view.smooth_view = 0


faulthandler.enable()
bpy.context.preferences.view.show_splash = False
if not NAMED:
    draw_plainly()
runner = Runner(*sys.argv[sys.argv.index("--") + 1 :])
bpy.app.timers.register(runner.tick, first_interval=1.0, persistent=True)
