"""Random storms of events during a live session: operators, undo and redo, copies, files, and
disabling and enabling the add-on, between any two steps of the session.

The same actions without a session serve as the reference. After a session that was cancelled or
ended otherwise, all data of the file is the same as after the actions alone. After an accepted
session, only the accepted weights differ. Copies of a mesh and added vertices contain the data that
the mesh had at that moment."""

import random

import bpy
import numpy as np
from deep import deep_snapshot, difference, without_memory, without_weights
from patience import wait_until
from scenes import MODULE, add_armature, add_cube, add_tube, addon, bind, new_scene, package, select

LOOKS = 100  # at a session that may have nothing to write
NAMES = ("lower", "middle", "upper")
SESSION_MESHES = ("Tube", "Sleeve")


def scene():
    """Two meshes of the session, and other data."""
    new_scene()
    rig = add_armature()
    tubes = [add_tube("Tube", rings=24, sides=8), add_tube("Sleeve", rings=8, sides=6, radius=0.4)]
    numbers = np.random.default_rng(1)
    for ob in tubes:
        bind(ob, rig)
        ob.vertex_groups.new(name="Own").add(range(0, 40, 3), 0.25, "REPLACE")
        for name in NAMES[1:]:  # the third is the session's
            group = ob.vertex_groups.new(name=name)
            for vertex in numbers.choice(len(ob.data.vertices), 40, replace=False).tolist():
                group.add([vertex], float(numbers.random()), "REPLACE")
    beside = add_cube("Beside", (3, 0, 0))
    bind(beside, rig).show_viewport = False
    beside.vertex_groups.new(name="lower").add(range(8), 0.5, "REPLACE")
    select(*tubes, rig)
    bpy.ops.ed.undo_push(message="start")
    bpy.ops.ed.undo_push(message="start")


def ob(name):
    return bpy.data.objects.get(name)


class Storm:
    """One sequence of actions, drawn with a seed. changed: names of meshes whose vertices or data
    an action has changed; done: names of the actions."""

    def __init__(self, seed, folder):
        self.draw, self.folder = random.Random(seed), folder
        self.changed, self.done = set(), []

    def act(self):
        action = self.draw.choice(ACTIONS)
        name = self.draw.choice(SESSION_MESHES)
        self.done.append(f"{action.__name__} {name}")
        try:
            action(self, name)
        except RuntimeError:
            pass  # not in this mode, nothing to undo...
        except (AttributeError, KeyError, ReferenceError, TypeError):
            if ob(name) and ob("Rig"):
                raise
        if action.__name__ not in OF_SCRIPTS:
            bpy.ops.ed.undo_push(message=action.__name__)

    def undo_push(self, _name):
        bpy.ops.ed.undo_push(message="push")

    def undo(self, _name):
        bpy.ops.ed.undo()

    def redo(self, _name):
        bpy.ops.ed.redo()

    def duplicate(self, name):
        to_object_mode()
        select(ob(name))
        bpy.ops.object.duplicate()

    def linked_copy(self, name):
        copy = ob(name).copy()
        bpy.context.scene.collection.objects.link(copy)

    def single_user(self, name):
        self.changed.add(name)
        ob(name).data = ob(name).data.copy()

    def add_vertex(self, name):
        self.changed.add(name)
        to_object_mode()
        ob(name).data.vertices.add(1)

    def join(self, name):
        self.changed.add(name)
        to_object_mode()
        select(add_cube("Joined", (0, 0, 5)), ob(name))
        bpy.ops.object.join()

    def apply_modifier(self, name):
        self.changed.add(name)
        to_object_mode()
        ob(name).modifiers.new("Subdivision", "SUBSURF")
        select(ob(name))
        bpy.ops.object.modifier_apply(modifier="Subdivision")

    def subdivide(self, name):
        self.changed.add(name)
        to_object_mode()
        select(ob(name))
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.mesh.select_all(action="SELECT")
        bpy.ops.mesh.subdivide()

    def delete(self, name):
        if self.draw.random() < 0.3:
            to_object_mode()
            bpy.data.objects.remove(ob(name))

    def delete_beside(self, _name):
        if ob("Beside"):
            to_object_mode()
            bpy.data.objects.remove(ob("Beside"))

    def move_vertex(self, name):
        to_object_mode()
        ob(name).data.vertices[3].co.x += 0.01

    def rename(self, name):
        ob(name).data.name = f"Renamed {self.draw.randrange(9)}"

    def own_group(self, name):
        to_object_mode()
        ob(name).vertex_groups["Own"].add(range(10), self.draw.random(), "REPLACE")

    def new_group(self, name):
        to_object_mode()
        ob(name).vertex_groups.new(name="New").lock_weight = True

    def move_group(self, name):
        to_object_mode()
        select(ob(name))
        ob(name).vertex_groups.active_index = 0
        bpy.ops.object.vertex_group_move(direction="DOWN")

    def mode(self, name):
        to_object_mode()
        select(ob(name))
        bpy.ops.object.mode_set(mode=self.draw.choice(("EDIT", "WEIGHT_PAINT", "SCULPT")))

    def object_mode(self, _name):
        to_object_mode()

    def pose(self, _name):
        ob("Rig").pose.bones["middle"].rotation_quaternion.x = self.draw.random()

    def move(self, _name):
        ob("Rig").location.x = self.draw.random()

    def save(self, _name):
        path = self.folder / "storm.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)

    def save_in_vain(self, _name):
        path = self.folder / "no" / "storm.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)

    def reload(self, _name):
        """Loads a file as a window does, which ends the operator and its session."""
        path = self.folder / "storm.blend"
        if self.draw.random() < 0.3 and "save" in " ".join(self.done) and path.exists():
            addon("operators.session").end_session()
            bpy.ops.wm.open_mainfile(filepath=str(path))

    def other_scene(self, _name):
        window = bpy.context.window
        made = bpy.data.scenes.new("Other")
        if window:
            former, window.scene = window.scene, made
            window.scene = former

    def off_and_on(self, _name):
        if self.draw.random() < 0.3:
            bpy.ops.preferences.addon_disable(module=MODULE)
            bpy.ops.preferences.addon_enable(module=MODULE)


# Actions that add no undo step; all others add one, as operators in a window do. If a script
# exchanges data without an undo step, Blender itself (4.2 to 5.2) crashes at the next undo or soon
# after.
OF_SCRIPTS = {"undo", "redo", "save", "save_in_vain", "reload", "off_and_on", "move_vertex"}
OF_SCRIPTS |= {"own_group", "pose", "move", "undo_push"}
ACTIONS = [each for name, each in vars(Storm).items() if name not in {"act"} and name[0] != "_"]


def to_object_mode():
    if bpy.context.object and bpy.context.object.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")


def start():
    targets = addon("blender.read.targets").find_targets(bpy.context)
    options = package("model.options").Options(start_from="PRESENT", pose_count=20)
    return addon("features.auto_weight.live").WeightSession(
        targets, options, bpy.context.view_layer
    )


def wait(session, draw):
    """Makes some steps, or steps until the session has written something new."""
    if draw.random() < 0.5:
        for _ in range(draw.randrange(6)):
            session.tick(0)
        return
    written = session.written
    for _ in range(LOOKS):
        if session.state != "RUNNING" or session.written != written:
            return
        session.tick(0.01)


def finish(session):
    def look():
        session.tick(0.01)
        return session.state == "ENDED"

    wait_until(look, lambda: f"still {session.state}")


def run(seed, folder):
    """Runs one storm and returns (how the session has ended, the actions). Raises
    AssertionError."""
    count = random.Random(-seed).randrange(1, 12)
    for left in folder.iterdir():
        left.unlink()
    scene()
    alone = Storm(seed, folder)
    for _ in range(count):
        alone.act()
    to_object_mode()
    bpy.context.view_layer.update()
    expected = without_memory(deep_snapshot())

    for left in folder.iterdir():
        left.unlink()
    scene()
    session, storm, draw = start(), Storm(seed, folder), random.Random(seed + 1)
    for _ in range(count):
        wait(session, draw)
        storm.act()
    wait(session, draw)
    to_object_mode()
    assert storm.done == alone.done
    kept = draw.random() < 0.5

    def keep():
        session.tick(0.01)
        session.keep()  # done when there is a frame
        return session.state not in {"READING", "RUNNING"}

    if kept:
        wait_until(keep, lambda: f"still {session.state}")
    else:
        session.restore()
    finish(session)
    bpy.context.view_layer.update()
    check(session, storm, expected)
    return "kept" if session.report else session.message or "restored", storm.done


def check(session, storm, expected):
    assert not session.error, session.message
    found = without_memory(deep_snapshot())
    changes = difference(expected, found)
    copies = [each for each in bpy.data.objects if each.name.startswith(SESSION_MESHES)]
    free = [
        each for each in copies if each.name not in SESSION_MESHES or each.name in storm.changed
    ]
    if session.report:
        free += [ob(name) for name in SESSION_MESHES if ob(name)]
        changes = {
            path: change for path, change in changes.items() if "araplbs_control" not in path
        }
    changes = without_weights(changes, *free)
    assert not changes, f"{storm.done}, {session.message}: {list(changes.items())[:5]}"
    assert not [mesh.name for mesh in bpy.data.meshes if mesh.araplbs.session]
    assert not addon("operators.session").current_session()
