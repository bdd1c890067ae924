"""The only clock of the tests: how long a test may hang before it is stopped.

A test waits for an event, however long this takes on a crowded machine; work that must not finish
yet is held at a gate. HANGS only ends a wait for an event that never comes. test_clocks.py checks
that all tests follow this rule."""

import time

HANGS = 300  # seconds; a whole test may take three times that
BREATH = 0.001  # seconds in which others get the processor between two looks


class Hung(AssertionError):
    """An event that a test waited for never came."""


def last_resort(what="nothing happens any more"):
    """A function to be called repeatedly; it fails when a wait has taken longer than any wait
    can."""
    end = time.monotonic() + HANGS

    def look():
        if time.monotonic() >= end:
            raise Hung(what() if callable(what) else what)

    return look


def wait_until(condition, what="nothing happens any more"):
    """Calls condition() repeatedly until its value is true, and returns the value."""
    look = last_resort(what)
    while not (found := condition()):
        look()
        time.sleep(BREATH)
    return found
