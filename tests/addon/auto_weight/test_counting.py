"""After Refine Live, a thread counts the visible problems, and the Result box is updated."""

import threading

import bpy
import flaws
import pytest
from patience import wait_until
from rows_of import Rows
from scenes import addon, entries, package, select
from sessions import accept, settled
from test_outcome import at_hand, weighted


def accepted(*objects):
    """The Outcome of an accepted session on these objects, whose problems are not yet counted."""
    session = settled(*objects)
    accept(session)
    kind = addon("features.auto_weight.refine").OBJECT_OT_araplbs_refine_weights

    class Telling:
        """The parts of the operator that tell() needs."""

        tell = kind.tell

        @staticmethod
        def report(_level, text):
            said.append(text)

    said = []
    assert Telling().tell(session.report, session.task) == {"FINISHED"}
    outcome = addon("features.auto_weight.outcome").latest_outcome()
    return outcome, said


def counted(outcome):
    """Waits until the thread is done and the timer has run."""
    running = addon("operators.background").running
    wait_until(lambda: not [look for look in [*running.values()] if look()], lambda: "counting")
    assert outcome.counting is None and not running


def test_problems_of_a_session():
    """The number before is for the weights at the start of the session. The number after comes from
    a new check."""
    tube, rig = weighted()
    flaws.stretch(tube, rig)
    select(tube, rig)
    bpy.ops.object.araplbs_check()
    visible = package("features.check.before_after").visible
    before = visible(flaws.found().findings)
    outcome, said = accepted(tube, rig)
    assert outcome is at_hand() and outcome.counting and "problems" not in outcome.facts
    assert "visible problem" not in said[-1], "nobody waits for them"
    counted(outcome)
    assert outcome.facts["problems"] == (before, visible(outcome.findings)) and before > 0
    first, second = outcome.facts["stretch"]
    assert second < first and not outcome.verdict
    select(tube, rig)
    bpy.ops.object.araplbs_check()
    assert [f.kind for f in flaws.found().findings] == [f.kind for f in outcome.findings]


def test_problems_can_be_shown_and_repaired_afterwards():
    tube, rig = weighted()
    outcome, _said = accepted(tube, rig)
    with pytest.raises(RuntimeError, match="Check Weights finds them"):
        bpy.ops.object.araplbs_show_worst()
    counted(outcome)
    assert outcome.poses is not None and outcome.findings is not None
    with pytest.raises(RuntimeError, match="No problems remain"):
        bpy.ops.object.araplbs_repair(which="RESULT")


def test_what_is_counted_is_written(monkeypatch):
    """While the thread is held, an undo or another weighting may come first, and nothing is
    lost."""
    gate, counting = threading.Event(), addon("features.auto_weight.counting")
    real = counting.gains

    def held(*arguments):
        gate.wait()
        return real(*arguments)

    monkeypatch.setattr(counting, "gains", held)
    tube, rig = weighted()
    outcome, _said = accepted(tube, rig)
    before = entries(tube)
    assert outcome.counting.running and "problems" not in outcome.facts
    other, _said = accepted(tube, rig)
    gate.set()
    counted(other)
    assert "problems" in outcome.facts and "problems" in other.facts
    assert entries(tube) == before


def test_counting_can_be_stopped(monkeypatch):
    """The box shows the progress, with a button that stops the count."""
    gate, counting = threading.Event(), addon("features.auto_weight.counting")

    def held(*arguments):
        arguments[-1]("", 0.4)
        gate.wait()
        if arguments[-1]("", 0.5) is False:
            raise RuntimeError("stopped")

    monkeypatch.setattr(counting, "gains", held)
    assert not bpy.ops.object.araplbs_stop_counting.poll()
    tube, rig = weighted()
    outcome, _said = accepted(tube, rig)
    worker = outcome.counting
    wait_until(lambda: worker.fraction == 0.4, lambda: "not begun")
    layout = Rows()
    addon("panels.result_box")._draw_gains(bpy.context, layout, outcome)
    assert "Countingvisibleproblems:40%" in "".join(map(str, layout.words)).replace(" ", "")
    assert bpy.ops.object.araplbs_stop_counting() == {"FINISHED"}
    gate.set()
    counted(outcome)
    assert worker.error and "problems" not in outcome.facts
    assert not bpy.ops.object.araplbs_stop_counting.poll()


def test_unregister_cancels_what_is_counted(monkeypatch):
    gate, counting = threading.Event(), addon("features.auto_weight.counting")
    monkeypatch.setattr(
        counting, "gains", lambda *arguments: (gate.wait(), arguments[-1].check("", 0))
    )
    tube, rig = weighted()
    outcome, _said = accepted(tube, rig)
    worker = outcome.counting
    addon("operators.background").unregister()
    gate.set()
    worker.join()
    assert isinstance(worker.error, Exception) and not addon("operators.background").running
