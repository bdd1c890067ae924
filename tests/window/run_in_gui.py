"""Runs the GUI tests in a Blender with a window (under Xvfb, see tests/run.sh).

blender --enable-event-simulate -P run_in_gui.py -- RESULTS.xml PICTURES_FOLDER [NAME_PART...]

A GUI test is a generator function test_*(ui) in tests/window/test_*.py: each `yield` gives the
event loop one turn, in which it handles all events and draws, and `yield 5` gives five turns. No
test waits for seconds, because the length of a turn depends on the machine. unittest.SkipTest
skips a test. pytest cannot run such tests, so this file contains a small runner; its results use
pytest's XML format. Each test starts with the factory start-up file. RESULTS.xml is written before
each test, so a crash leaves a trace. If the runner is started again, the tests continue with the
file of the test that crashed. A test that hangs (guard.py) fails with its stack, the stacks of all
threads, and a picture. The run then continues, but not indefinitely.

If LP_NO_RAST is set, Mesa computes no pixels, which would be most of the work. Tests that look at
pixels (driver.looks) are left for a second start, which runs all tests without a result. If the run
is named, tests that take pictures are left, too.
"""

import faulthandler
import importlib.util
import inspect
import os
import subprocess
import sys
import threading
import time
import traceback
from pathlib import Path
from unittest import SkipTest
from xml.etree import ElementTree

import bpy

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), *(str(TESTS / d) for d in ("window", "addon", "../demo"))]
import driver  # noqa: E402
import guard  # noqa: E402
from patience import BREATH, Hung  # noqa: E402

MOST_HUNG = 3  # tests that hang before the rest is given up
CRASH = "crash, or the window hung"  # what stands for a test until it has ended
PIXELS = not os.environ.get("LP_NO_RAST")
NAMED = os.environ.get("ARAPLBS_TEST_ALL")  # its pictures are to be looked at, and the manual's


class NeedsPixels(Exception):
    """A test wants a picture, but no pixels are computed."""


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
        """at: window pixels from the lower left; default: the middle of the 3D view."""
        if at is None:
            area = self.area()
            at = area.x + area.width // 2, area.y + area.height // 2
        x, y = at
        self.window.event_simulate(type=kind, value=value, x=x, y=y, **modifiers)

    def key(self, kind, **modifiers):
        self.event("MOUSEMOVE", "NOTHING")
        self.event(kind, "PRESS", **modifiers)
        self.event(kind, "RELEASE", **modifiers)

    def picture(self, name, needed=False):
        """The whole visible window, if the run is named or the test needs it; Blender's own
        screenshot is black under Xvfb."""
        path = self.pictures / f"{name}.png"
        if NAMED and not (PIXELS or needed):
            raise NeedsPixels
        if NAMED or needed:
            subprocess.run(["import", "-window", "root", str(path)], check=True)
        return path


class Runner:
    def __init__(self, results, pictures, *parts):
        self.results = Path(results)
        self.suite = ElementTree.Element("testsuite")
        self.ui = Ui(Path(pictures))
        parts = parts or [""]
        tests = [t for t in find_tests() if any(p in f"{t[0]}::{t[1]}" for p in parts)]
        tests = self.left_of(tests) if self.results.exists() else tests
        self.tests = [t for t in tests if PIXELS or not needs_pixels(t[2])]
        self.quiet, self.dog, self.hung = guard.Quiet(), guard.Watchdog(pictures), 0
        self.steps, self.turns = self.run_all(), 0

    def left_of(self, tests):
        """The tests without a result. The file of a crashed test is run again as a whole."""
        cases = ElementTree.parse(self.results).getroot().findall("testcase")
        crashed = {
            case.get("classname")
            for case in cases
            if case.find("error") is not None and case.find("error").get("message") == CRASH
        }
        for case in cases:
            if case.get("classname") not in crashed:
                self.suite.append(case)
                if crashed:  # which began another log
                    tell(case, " (before the crash)")
        done = {(case.get("classname"), case.get("name")) for case in self.suite}
        return [test for test in tests if test[:2] not in done]

    def tick(self):
        """The app timer, called in each turn of the event loop, continues the running test. Since
        version 5.0, Blender does not sleep between turns while events are simulated."""
        time.sleep(BREATH)
        self.dog.beat()
        try:
            if self.quiet.is_hung():
                self.quiet.begin()
                self.turns = self.steps.throw(Hung("nothing happens any more")) or 1
            elif self.turns <= 1:
                self.turns = next(self.steps) or 1
            else:
                self.turns -= 1
            return 0.0
        except StopIteration:
            self.dog.end()
            with bpy.context.temp_override(window=self.ui.window):  # it may have no 3D view left
                bpy.ops.wm.quit_blender()

    def run_all(self):
        for file, name, function in self.tests:
            case = ElementTree.SubElement(self.suite, "testcase", classname=file, name=name)
            error = ElementTree.SubElement(case, "error", message=CRASH)
            self.write()
            start = time.monotonic()
            self.quiet.begin()
            try:
                if self.hung >= MOST_HUNG:
                    raise Hung(f"not run: {MOST_HUNG} tests hung")
                bpy.ops.wm.read_homefile(use_factory_startup=True)
                yield 5
                yield from function(self.ui)
                error.tag = "ok"
            except NeedsPixels:  # from a helper of the test
                self.suite.remove(case)
                continue
            except SkipTest as reason:
                error.tag = "skipped"
                error.set("message", str(reason))
            except Exception as reason:
                error.tag, error.text = "failure", traceback.format_exc()
                error.set("message", error.text.strip().splitlines()[-1])
                traceback.print_exc()
                if self.hung < MOST_HUNG:
                    self.ui.picture(f"failed-{name}", needed=True)
                    self.note_hang(reason)
            if error.tag == "ok":
                case.remove(error)
            case.set("time", f"{time.monotonic() - start:.2f}")
            tell(case)
            self.write()

    def note_hang(self, reason):
        """The remaining threads would also delay the next tests."""
        if isinstance(reason, Hung):
            self.hung += 1
            faulthandler.dump_traceback(all_threads=True)
            driver.given_up.update(set(threading.enumerate()) - {threading.main_thread()})

    def write(self):
        ElementTree.ElementTree(self.suite).write(self.results)


def tell(case, more=""):
    result = next((each.tag for each in case), "passed")
    told = {"passed": "passed", "skipped": "skipped"}.get(result, "FAILED")
    print(told, f"{case.get('classname')}::{case.get('name')}{more}", flush=True)


def find_tests():
    for path in sorted(Path(__file__).parent.glob("test_*.py")):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for name, function in vars(module).items():
            if name.startswith("test_") and inspect.isfunction(function):
                yield path.stem, name, function


def needs_pixels(test):
    return hasattr(test, "looks") or (NAMED and "ui.picture(" in inspect.getsource(test))


def draw_plainly():
    """The processor draws every picture of the window, and anti-aliasing draws several."""
    preferences = bpy.context.preferences
    preferences.system.viewport_aa = "OFF"
    preferences.view.smooth_view = 0


faulthandler.enable()
bpy.context.preferences.view.show_splash = False
if not (NAMED and PIXELS):
    draw_plainly()
runner = Runner(*sys.argv[sys.argv.index("--") + 1 :])
bpy.app.timers.register(runner.tick, first_interval=1.0, persistent=True)
