"""Stores the most recent findings of Check Weights. Findings are kept in memory, never in the file,
and are out of date as soon as the bones, a mesh or its weights change."""

from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import bpy
from araplbs.base.refusal import Refused
from araplbs.features.check.kinds import KIND_OF
from bpy.props import BoolProperty, CollectionProperty, IntProperty, PointerProperty

from ...blender.data.references import Reference
from ...blender.data.views import redraw_views
from ...blender.read.read_mesh import bone_state, weight_state
from ...blender.write.edit_mode import flush_edit_mode
from ...parts import monitor

MOST_PAST = 8  # lists stored for undo
CALM = 0.4  # seconds without change before weights are checked, which takes tenths of a second


@dataclass
class Checked:
    """One list of findings, and the objects that the list describes."""

    findings: list
    bones: list[str]
    armature: Reference
    objects: list[Reference]
    states: list[object]  # of the armature and of each mesh; None for an object that has changed
    poses: object = None  # (p, m, 3, 4) transforms of the bones in which they were found
    active: int = -1  # index in the list
    marks: list[bool] | None = None
    repaired: list = field(default_factory=list)  # findings that repairs of this list eliminated
    results: list = field(default_factory=list)  # for each finding, the Outcome of a repair or None
    given: dict = field(default_factory=dict)  # earlier weights of parts given to other bones

    @property
    def references(self):
        return [self.armature, *self.objects]


class Found:
    """The displayed list and the earlier lists, which are kept because undo restores the weights
    that they describe. out_of_date: names of the data that has changed since the check."""

    def __init__(self):
        self.list: Checked | None = None
        self.past: list[Checked] = []
        self.out_of_date: list[str] = []

    @property
    def checked(self):
        return self.list is not None

    @property
    def findings(self):
        """Findings of the objects, worst first."""
        return self.list.findings if self.list else []

    @property
    def rows(self):
        """The lines of the list: the findings, followed by the repaired ones."""
        return [*self.findings, *self.repaired]

    @property
    def repaired(self):
        """Findings that repairs of this list have eliminated."""
        return self.list.repaired if self.list else []

    def result(self, index):
        """The Outcome of the repair that left this finding, or None."""
        results = self.list.results
        return results[index] if index < len(results) else None

    @property
    def armature(self):
        return self.list.armature

    @property
    def objects(self):
        return self.list.objects

    def keep(self, findings, bones, armature, objects, poses, repaired=(), results=()):
        """Stores findings and the objects that they describe, in the form that a Checked uses."""
        self._remember()
        self.past = self.past[-MOST_PAST:]
        new = Checked(list(findings), list(bones), armature, list(objects), [], poses)
        new.repaired, new.results = list(repaired), list(results)
        new.states = _states(new.references, True)
        self._show(new)

    def keep_of(self, findings, reading, repaired=(), results=()):
        """Stores findings as keep() does. reading: the CheckTask that read the data for the
        findings."""
        bones, poses = reading.problem.skeleton.names, reading.judged_poses.transforms
        objects = reading.objects
        self.keep(findings, bones, reading.armature, objects, poses, repaired, results)

    def look(self, flush=False):
        """Updates out_of_date, and shows an earlier list if it matches the current data. flush:
        whether to include changes made in Edit mode."""
        self.out_of_date = []
        if not self.checked:
            return
        references = self.list.references
        states = _states(references, flush)
        if states == self.list.states:
            return
        for earlier in reversed(self.past):
            if earlier.references == references and earlier.states == states:
                self._remember()
                self._show(earlier)
                return
        for reference, state, before in zip(references, states, self.list.states, strict=True):
            if state != before:
                self.out_of_date.append(reference.name)

    def _remember(self):
        if self.checked:
            self.list.active = bpy.context.window_manager.araplbs_check.active
            self.list.marks = marked()
            self.past = [each for each in self.past if each is not self.list] + [self.list]

    def _show(self, checked):
        self.list, self.out_of_date = checked, []
        monitor(_MONITORS, True)
        show_findings(checked.active, checked.marks)

    def refuse_out_of_date(self):
        """Raises Refused if any data differs from the checked data, or if nothing was checked."""
        if not self.checked:
            raise Refused("There are no findings: Check Weights first")
        self.look(flush=True)
        if self.out_of_date:
            raise Refused(
                f"'{self.out_of_date[0]}' has changed since the check: check the weights again"
            )

    def place(self, finding):
        """The name of the finding's bone or mesh."""
        return self.bone(finding) or self.objects[finding.mesh].name

    def bone(self, finding):
        """The name of the finding's bone, "" for none."""
        return self.list.bones[finding.bone] if finding.bone >= 0 else ""


def _states(references, flush):
    """Returns [state], with None for objects that were deleted or have different vertices."""
    states = []
    for reference in references:
        try:
            ob = reference.get()
        except Refused:
            states.append(None)
            continue
        if flush and ob.mode == "EDIT" and ob.type == "MESH":
            flush_edit_mode([ob])
        states.append(bone_state(ob) if ob.type == "ARMATURE" else weight_state(ob))
    return states


found = Found()


class ARAPLBS_finding(bpy.types.PropertyGroup):
    """A line of the list, at the same place as in Found.rows."""

    repair: BoolProperty(name="Repair", description="Repair Marked also repairs this", default=True)


def _chosen(check, _context):
    if not _quiet and 0 <= check.active < len(found.findings):
        with suppress(RuntimeError):  # the operators have reported why
            bpy.ops.object.araplbs_select_finding("EXEC_DEFAULT", True, index=check.active)
            bpy.ops.object.araplbs_view_finding("EXEC_DEFAULT", index=check.active)


class ARAPLBS_check(bpy.types.PropertyGroup):
    """The list that the panel shows, stored in the window manager."""

    findings: CollectionProperty(type=ARAPLBS_finding)
    active: IntProperty(
        name="Finding",
        description="Click to select what the finding refers to, and to turn the view to it",
        default=-1,
        update=_chosen,
    )
    show: BoolProperty(
        name="Show Finding",
        description="Mark the vertices of the chosen finding in the 3D view",
        default=True,
    )


_quiet = []  # nonempty while no finding should be selected


@contextmanager
def quietly():
    """`with quietly() as check`: allows changes to the list without selecting anything."""
    _quiet.append(True)
    try:
        yield bpy.context.window_manager.araplbs_check
    finally:
        _quiet.pop()


def show_findings(active=-1, marks=None):
    """Displays the findings of `found` in the panel's list."""
    with quietly() as check:
        check.findings.clear()
        for k, finding in enumerate(found.rows):
            item = check.findings.add()
            item.name = f"{KIND_OF[finding.kind].name} {found.place(finding)}"
            is_marked = marks and k < len(marks)
            item.repair = marks[k] if is_marked else KIND_OF[finding.kind].is_repairable
        check.active = active
    redraw_views()


def marked():
    """Returns [bool]: whether Repair Marked processes each finding."""
    items = bpy.context.window_manager.araplbs_check.findings
    return [item.repair for item in items[: len(found.findings)]]


def _look():
    before = found.out_of_date
    found.look()
    if before != found.out_of_date:
        redraw_views()


def _look_soon():
    if bpy.app.timers.is_registered(_look):
        bpy.app.timers.unregister(_look)
    bpy.app.timers.register(_look, first_interval=CALM)


def _after_update(_scene, depsgraph):
    if any(
        isinstance(update.id, bpy.types.Mesh | bpy.types.Armature) for update in depsgraph.updates
    ):
        _look_soon()


def _after_undo(*_arguments):
    _look_soon()


# Registered while there are findings.
_MONITORS = (
    ("depsgraph_update_post", _after_update),
    ("undo_post", _after_undo),
    ("redo_post", _after_undo),
)


def _clear():
    found.__init__()
    monitor(_MONITORS, False)


def _forget(*_arguments):
    _clear()
    show_findings()


_while_saving = []  # (active, [bool]) of the list, which is not saved in the file


def _before_saving(*_arguments):
    with quietly() as check:
        _while_saving.append((check.active, marked()))
        check.findings.clear()


def _after_saving(*_arguments):
    show_findings(*(_while_saving.pop() if _while_saving else ()))


HANDLERS = (
    ("load_post", _forget),
    ("save_pre", _before_saving),
    ("save_post", _after_saving),
    ("save_post_fail", _after_saving),
)


CLASSES = (ARAPLBS_finding, ARAPLBS_check)


PROPERTIES = ((bpy.types.WindowManager, "araplbs_check", PointerProperty(type=ARAPLBS_check)),)


def unregister():
    if bpy.app.timers.is_registered(_look):
        bpy.app.timers.unregister(_look)
    _clear()
