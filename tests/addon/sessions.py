"""Live sessions without a window: these functions replace the timer."""

import threading
from contextlib import contextmanager

import bpy
from patience import wait_until
from scenes import add_tube, addon, auto_weight, bind, package, select, tube_and_rig


def start(*objects, **options):
    select(*objects)
    options = {"start_from": "PRESENT", **options}
    return addon("features.auto_weight.live").WeightSession(
        addon("blender.read.targets").find_targets(bpy.context),
        package("model.options").Options(**options),
        bpy.context.view_layer,
    )


def tick_until(session, condition):
    def look():
        if found := condition():
            return found
        assert session.state != "ENDED", session.message
        session.tick(0.01)
        return None

    wait_until(look, lambda: f"still {session.state}")


def settle(session):
    tick_until(session, lambda: session.settled)


def finish(session):
    def look():
        session.tick(0.01)
        return session.state == "ENDED"

    wait_until(look, lambda: f"still {session.state}")


def settled(*objects, **options):
    session = start(*objects, **options)
    settle(session)
    return session


def accept(session):
    session.keep()
    finish(session)


def cancel(session):
    session.restore()
    finish(session)


@contextmanager
def frame_by_frame():
    """In a `with` block, the thread of a session waits after each of its frames until the returned
    function is called."""
    gate = threading.Semaphore(0)
    kinds = package("solvers.live_solver").LiveSolver, package("features.joints.joints").JointRun
    real = [kind._publish for kind in kinds]

    def held(publish):
        def publish_and_wait(solver, *arguments):
            publish(solver, *arguments)
            gate.acquire()

        return publish_and_wait

    for kind, publish in zip(kinds, real, strict=True):
        kind._publish = held(publish)
    try:
        yield gate.release
    finally:
        for kind, publish in zip(kinds, real, strict=True):
            kind._publish = publish
        gate.release()


def ordered(ob):
    """Like entries(), but in the order of the entries of each vertex."""
    return [[(g.group, g.weight) for g in v.groups] for v in ob.data.vertices]


_weighed = {}  # {vertices: [(group, [(vertex, weight)])]} of the first tube of each size


def weigh_once(tube, rig):
    """Weights of Auto-weight, which runs for the first tube of a size only: for tests that build
    dozens of the same scenes, and need neither its undo step nor its result."""
    size = len(tube.data.vertices)
    if size not in _weighed:
        auto_weight(tube, rig)
        _weighed[size] = [(group.name, []) for group in tube.vertex_groups]
        for vertex in tube.data.vertices:
            for each in vertex.groups:
                _weighed[size][each.group][1].append((vertex.index, each.weight))
        return
    for name, pairs in _weighed[size]:
        group = tube.vertex_groups.get(name) or tube.vertex_groups.new(name=name)
        for index, weight in pairs:
            group.add([index], weight, "REPLACE")


def painted_tube(rings=60, sides=24, weigh=auto_weight):
    """A weighted tube that was then painted over in places, with a group that belongs to no
    bone."""
    tube, rig = tube_and_rig()
    bpy.data.objects.remove(tube)
    tube = add_tube(rings=rings, sides=sides)
    bind(tube, rig)
    other = tube.vertex_groups.new(name="Other")
    other.add(range(0, 200, 3), 0.25, "REPLACE")
    weigh(tube, rig)
    tube.vertex_groups["middle"].add(range(40, 90), 0.9, "REPLACE")
    tube.vertex_groups["upper"].remove(range(10, 50))
    return tube, rig


def edit(**arguments):
    assert bpy.ops.object.araplbs_edit_vertices(**arguments) == {"FINISHED"}


def pick(ob, vertices):
    addon("blender.write.select_region").select_vertices(ob.data, vertices)
