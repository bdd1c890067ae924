"""Other code moves, sorts, renames or removes vertex groups while weights are read or refined in
short steps. Blender numbers groups in the order of their list, so weights are assigned by the group
names at the moment of reading."""

import bpy
import numpy as np
import pytest
from scenes import add_tube, addon, bind, package, select
from sessions import cancel, painted_tube, start, tick_until, weigh_once


def move(ob):
    select(ob)
    ob.vertex_groups.active_index = 0
    bpy.ops.object.vertex_group_move(direction="DOWN")


def sort(ob):
    select(ob)
    bpy.ops.object.vertex_group_sort(sort_type="NAME")


def remove(ob):
    ob.vertex_groups.remove(ob.vertex_groups["middle"])


def remove_other(ob):
    ob.vertex_groups.remove(ob.vertex_groups["Other"])


def rename(ob):
    ob.vertex_groups["middle"].name = "Renamed"


ACTIONS = (move, sort, remove, remove_other, rename)


def by_names(ob):
    names = [group.name for group in ob.vertex_groups]
    return sorted(names), [
        sorted((names[e.group], e.weight) for e in v.groups) for v in ob.data.vertices
    ]


def scene():
    tube, rig = painted_tube(rings=48, weigh=weigh_once)  # more vertices than are read in one step
    tube.vertex_groups.new(name="Empty")
    return tube, rig


@pytest.mark.parametrize(
    "act", [pytest.param(act, marks=[pytest.mark.slow] * (act is not move)) for act in ACTIONS]
)
def test_cancel_after_groups_changed_while_reading(act):
    tube, _rig = scene()
    act(tube)
    expected, ticks = by_names(tube), 0
    while True:
        tube, rig = scene()
        session = start(tube, rig)
        for _ in range(ticks):
            session.tick(0)
        if session.state != "READING":
            break
        act(tube)
        tick_until(session, lambda: session.written >= 0)  # noqa: B023
        cancel(session)
        assert session.restored and not session.message
        assert by_names(tube) == expected, f"after {ticks} steps of reading"
        ticks += 1 if act is move else 4  # after every step of reading, or some
    assert ticks > 5


def test_a_group_of_no_bone_stays_removed():
    tube, rig = scene()
    expected = by_names(tube)
    session = start(tube, rig)
    tick_until(session, lambda: session.written >= 0)
    remove_other(tube)
    session.tick(0)
    cancel(session)
    names, rows = by_names(tube)
    assert names == [name for name in expected[0] if name != "Other"]
    assert rows == [[each for each in row if each[0] != "Other"] for row in expected[1]]


def keep(tube, rig, between=None):
    keeping = addon("features.restore.task")
    task = keeping.KeepTask(package("features.restore.restore").KeepOptions())
    read(task, addon("blender.read.targets").Targets(rig, [tube]), between)
    (kept,) = task.reading[1]
    dense = package("model.sparse_weights").dense_of(kept.rows, len(kept.groups))
    return {name: dense[:, k] for k, name in enumerate(kept.groups)}


def weigh(tube, rig, between=None):
    options = package("model.options").Options(start_from="PRESENT")
    task = addon("weighting").WeightingTask(options)
    read(task, addon("blender.read.targets").Targets(rig, [tube]), between)
    dense = package("model.sparse_weights").dense_of(task.reading.meshes[0].weights, 3)
    return dict(enumerate(dense.T))


def transfer(tube, rig, between=None):
    other = add_tube("Other Tube")
    bind(other, rig)
    targets = addon("blender.read.transfer_targets").TransferTargets(rig, [tube], [other])
    task = addon("features.transfer.task").TransferTask(
        package("features.transfer.options").TransferOptions()
    )
    read(task, targets, between)
    dense = package("model.sparse_weights").dense_of(task.reading.source.rows, 3)
    return dict(enumerate(dense.T))


def read(task, targets, between):
    """Reads a task. between: (step, an action before this step)"""
    for step, _ in enumerate(task.read_in_steps(targets, bpy.context.view_layer)):
        if between and step == between[0]:
            between[1]()


@pytest.mark.parametrize("task", [keep, weigh, transfer])
def test_groups_moved_between_two_steps_of_reading(task):
    expected = task(*scene())
    for step in range(12):
        tube, rig = scene()
        found = task(tube, rig, (step, lambda: move(tube)))  # noqa: B023
        assert found.keys() == expected.keys()
        for name, values in expected.items():
            np.testing.assert_array_equal(found[name], values, err_msg=f"{name}, step {step}")


def test_weights_of_before_by_their_names():
    """Before is shown correctly even if groups were moved while the result was computed."""
    tube, rig = scene()
    before = by_names(tube)
    kind = addon("features.auto_weight.tasks").MeasuredWeighting
    task = kind(package("model.options").Options(pose_count=8))
    task.read(addon("blender.read.targets").Targets(rig, [tube]), bpy.context.view_layer)
    task.solve()
    move(tube)
    report = task.apply()
    outcome = addon("features.auto_weight.outcome")
    outcome.keep_outcome(report, task).show(outcome.BEFORE)
    assert by_names(tube) == before
