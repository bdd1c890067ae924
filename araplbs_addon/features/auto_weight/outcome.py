"""The results of the most recent weightings, displayed in the Result box of the sidebar.

Outcomes are kept in memory, never in the file. A mesh carries marks for its outcome and for the set
of weights that it shows, so an undo restores the marks together with the weights. Tools that write
other weights remove the marks (see all_or_nothing.py). An outcome becomes invalid when the bones
change.

There are three sets of weights. After denotes the new weights, Before denotes the weights that this
Auto-weight replaced, and Original denotes the earliest weights (originals.py). Files are saved with
the After weights. The other two sets are only displayed, and become the weights of the mesh if the
artist keeps them."""

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import bpy
import numpy as np
from araplbs.base.refusal import Refused
from araplbs.base.worker import Worker
from araplbs.character.pose_sets import measured_poses
from araplbs.features.check.before_after import seen_in, visible
from araplbs.features.check.findings import Finding
from araplbs.measures.standing import stretches_more
from araplbs.model.options import Options
from araplbs.reports.last_lines import plain_facts, result_line, verdict
from araplbs.reports.notes import Note, result_notes
from araplbs.skeleton.poses import Poses

from ...blender.data.bones import chosen_bones, rest_digest
from ...blender.data.mesh_shape import corner_vertices, values_of
from ...blender.data.ours import mark_ours
from ...blender.data.references import Reference
from ...blender.read.read_mesh import coordinates
from ...blender.write.part_bone import Choice, PartOfMesh
from ...blender.write.weight_slots import WeightSlot, WrittenSlot
from ...languages.translate import inform
from ...operators.session import refuse_session
from ...operators.work import tell
from .originals import take_originals

MOST = 3  # maximum number of stored outcomes, each of which holds all weights twice
ORIGINAL, BEFORE, AFTER = "ORIGINAL", "BEFORE", "AFTER"


@dataclass
class Outcome:
    """The result of one weighting."""

    armature: Reference
    objects: list[Reference]
    facts: dict  # see araplbs/features/check/before_after.py
    notes: list[Note]
    warnings: list[str]
    bones: list[str]  # of the skeleton that was solved
    chosen: tuple[int, int] | None  # free bones, and all bones; None: all were free
    slots: dict[str, list[WeightSlot]]  # keys: ORIGINAL, BEFORE and AFTER; [] if a set is missing
    findings: list[Finding] | None = None
    judged: Poses | None = None  # in which the findings were found
    measured: Poses | None = None  # in which the stretch was measured
    token: str = ""  # equal for equal weights
    # The input of the box's images (Problem, weights before or None, after, Poses), until rendered.
    to_draw: tuple | None = None
    seen: list | None = None  # [SeenJoint] of these pictures
    icons: list | None = None  # [(icon before or 0, icon after)] of them
    drawn: tuple | None = None  # (weights before or None, Poses) of them
    state: tuple = ()  # digests of the bones and of each mesh
    replaced_ours: bool = False  # whether Auto-weight also computed the weights before
    counting: Worker | None = None  # currently counts the problems
    options: Options | None = None  # of the weighting
    shifts: dict = field(default_factory=dict)  # {first bone of a limb: to its skin, (3,)}
    sources: Sequence[Reference] = ()  # of a transfer
    parts: list = field(default_factory=list)  # the report's "doubtful_parts"
    given: dict = field(default_factory=dict)  # earlier weights of parts given to other bones

    def shown(self):
        """The set that the meshes display; None if the meshes or bones have changed since this
        outcome."""
        marks = {reference.get().data.araplbs.weighting for reference in self.objects}
        token, _colon, set_name = marks.pop().partition(":")
        if token != self.token or marks or self.state_now() != self.state:
            return None
        return set_name

    def state_now(self):
        """A value that changes with the bones, and with the shapes of the meshes."""
        shapes = (_shape_digest(reference.get()) for reference in self.objects)
        return rest_digest(self.armature.get()), *shapes

    def stretches_more(self, where="stretch"):
        """Whether the surface stretches more than before, without an improvement in return. where:
        the fact, "stretch" for random poses or "actions" for the file's actions."""
        if where not in self.facts:
            return False
        return stretches_more(self.facts[where], self.facts.get("drift", (None, None)))

    @property
    def verdict(self):
        """The Sentence that says why these weights are worse than before; None if they are not."""
        return verdict(self.facts, self.bones)

    @property
    def poses(self):
        """The transforms of the bones in the poses in which the findings were found, or None."""
        return None if self.judged is None else self.judged.transforms

    def renewed(self, set_name, findings, measures):
        """Stores and returns the Outcome after a repair of a set of weights that the meshes
        display. This Outcome stays, for undo. findings, measures: those with the repaired weights,
        see features/repair/repair.py."""
        slots = self.slots | {set_name: [WeightSlot(reference.get()) for reference in self.objects]}
        new = replace(self, slots=slots, facts=dict(self.facts), token=f"{self.token}r")
        new.seen = new.icons = new.counting = None
        measures = measures | {"problems": visible(findings)}
        if set_name == AFTER:
            new.findings = findings
        for key in measures.keys() & self.facts.keys() if set_name != ORIGINAL else ():
            before, after = self.facts[key]
            now = measures[key]
            new.facts[key] = (before, now) if set_name == AFTER else (now, after)
        new.mark(set_name)
        _outcomes.append(new)
        del _outcomes[:-MOST]
        return new

    def rewritten(self, slots, given, facts, findings, poses):
        """Replaces the new weights and their measurements with these. given: names of the bones
        that have their skin back."""
        self.slots[AFTER], self.facts = slots, facts
        self.findings, self.judged = findings, poses
        self.notes = [note for note in self.notes if not note.bones or set(note.bones) - set(given)]
        self.token, self.icons = f"{self.token}b", None
        self.mark(AFTER)

    def draw_again(self, problem, rows):
        """Requests new images of these weights on the same vertices."""
        if self.drawn:
            before, poses = self.drawn
            if before is None or before.count == rows.count:
                self.to_draw = problem, before, rows, poses

    def choice(self, entry):
        """The Choice of an entry of `parts`. None if its object was renamed."""
        for reference in self.objects:
            ob = reference.get()
            if ob.name_full == entry["object"]:
                part = PartOfMesh(ob, entry["vertex"])
                return Choice(part, entry["bone"], entry["others"], entry["chosen"])
        return None

    def mark(self, set_name):
        self.mark_set(set_name)
        ours = set_name == AFTER or (set_name == BEFORE and self.replaced_ours)
        for reference in self.objects:
            mark_ours(reference.get(), ours)

    def mark_set(self, set_name):
        for reference in self.objects:
            reference.get().data.araplbs.weighting = f"{self.token}:{set_name}"

    def show(self, set_name):
        """Writes these weights to the meshes. The weights on the meshes are first stored in the
        slots of their set, so painting on them is not lost."""
        shown = self.shown()
        if shown == set_name:
            return
        self.slots[shown] = [slot.again() for slot in self.slots[shown]]
        for slot in self.slots[set_name]:
            slot.put()
        self.mark(set_name)


_outcomes: list[Outcome] = []  # latest last
_shown_before_saving: list[tuple[Outcome, str]] = []


def keep_outcome(report, task, notes_of=result_notes):
    """Stores the result of a WeightingTask that was just written. notes_of: makes the notes."""
    armature, objects = task.find_objects()
    facts, findings = getattr(task, "facts", None), getattr(task, "findings", None)
    seen = seen_in(facts, findings, task.problem) if facts else {}
    facts = facts or plain_facts(report)
    before = [
        WeightSlot(*each) for each in zip(objects, task.reading.entries, strict=True) if each[1]
    ]
    if len(before) < len(objects) or not any(slot.filled for slot in before):
        before = []
    original = take_originals(objects, before, task.replaces_ours)
    names, parts = task.problem.skeleton.names, task.problem.split(task.solution.rows)
    after = [
        WrittenSlot(ob, rows, names, *selection)
        for ob, rows, selection in zip(objects, parts, task.selections, strict=True)
    ]
    outcome = Outcome(
        task.armature,
        list(task.objects),
        facts,
        notes_of(report, locked_groups(objects, armature), **seen),
        list(task.warnings),
        list(names),
        task.chosen,
        {ORIGINAL: original, BEFORE: before, AFTER: after},
    )
    outcome.replaced_ours = all(task.replaces_ours)
    outcome.options = getattr(task, "measured_options", task.options)
    outcome.shifts = {limb["bone"]: limb["shift"] for limb in report.get("limb_shifts", ())}
    outcome.parts = named_parts(objects, report.get("doubtful_parts", ()))
    outcome.findings = findings
    outcome.judged = getattr(task, "judged_poses", None)
    outcome.measured = measured_poses(task.problem, outcome.options)
    outcome.to_draw = getattr(task, "to_draw", None)
    outcome.drawn = outcome.to_draw and (outcome.to_draw[1], outcome.to_draw[3])
    outcome.token = _token(task.solution.rows)
    outcome.mark_set(AFTER)  # the task has already marked these weights as ours
    outcome.state = outcome.state_now()
    _outcomes.append(outcome)
    del _outcomes[:-MOST]
    return outcome


def named_parts(objects, parts):
    """The entries of a report's "doubtful_parts", named by material where this names only one of
    the parts, instead of by place."""
    by_name = {ob.name_full: ob for ob in objects}
    materials = [_material_at(by_name.get(part["object"]), part["vertex"]) for part in parts]
    known = [(part["object"], name) for part, name in zip(parts, materials, strict=True)]
    return [
        {**part, "name": f"{part['object']}, {name}"}
        if name and part["name"] != part["object"] and known.count((part["object"], name)) == 1
        else part
        for part, name in zip(parts, materials, strict=True)
    ]


def _material_at(ob, vertex):
    """The name of the material of a face at this vertex, if the object has several; or ""."""
    if not ob or len(ob.material_slots) < 2 or not ob.data.polygons:
        return ""
    corner = np.flatnonzero(corner_vertices(ob.data) == vertex)[:1]
    starts = values_of(ob.data.polygons, "loop_start", np.int32)
    face = ob.data.polygons[int(np.searchsorted(starts, corner[0], side="right")) - 1]
    material = ob.material_slots[face.material_index].material
    return material.name if material else ""


def _token(rows):
    state = hashlib.blake2b(digest_size=4)
    for array in rows:
        state.update(np.ascontiguousarray(array).tobytes())
    return state.hexdigest()


def locked_groups(objects, armature):
    bones = armature.data.bones
    return len(
        {g.name for ob in objects for g in ob.vertex_groups if g.lock_weight and g.name in bones}
    )


def outcome_at_hand(context):
    """The latest Outcome of the active object or, if that is neither a mesh nor an armature, of the
    selected objects, as displayed by its meshes; or None. While a mesh of the outcome of a transfer
    is selected, the outcome also belongs to the sources."""
    active = context.active_object
    if active and active.type in {"MESH", "ARMATURE"}:
        uids = {active.session_uid}
    else:
        uids = {ob.session_uid for ob in context.selected_objects}
    selected = {ob.session_uid for ob in context.selected_objects}
    for outcome in reversed(_outcomes):
        mine = {outcome.armature.uid, *(reference.uid for reference in outcome.objects)}
        if selected & mine:
            mine |= {reference.uid for reference in outcome.sources}
        try:
            if uids & mine and outcome.shown():
                return outcome
        except (Refused, ReferenceError):
            continue
    return None


def latest_outcome():
    """The Outcome that was stored last."""
    return _outcomes[-1]


def tell_outcome(operator, report, task):
    """Reports like tell(), and also shows the outcome in the Result box. The last line states the
    gain."""
    outcome = keep_outcome(report, task)
    tell(operator, report, task)
    count = len(outcome.warnings) + len(outcome.notes)
    inform(operator, result_line(report, outcome.facts, count))
    return {"FINISHED"}


class OfOutcome:
    """Mix-in for an operator on the displayed Outcome."""

    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        refuse_session()
        if not outcome_at_hand(context):
            raise Refused("Auto-weight first")
        return True


def free_bones(armature, deform_names):
    """Returns the numbers (bones selected in Pose mode, all bones) for these deform bones."""
    chosen = chosen_bones(armature)
    names = [b.name for b, is_chosen in zip(armature.data.bones, chosen, strict=True) if is_chosen]
    return len(set(names) & set(deform_names)), len(deform_names)


_shapes: dict[int, bytes] = {}  # by session_uid of the mesh


def _shape_digest(ob):
    """A digest of the rest positions of the vertices of a mesh object, which is recomputed only if
    the mesh has changed."""
    uid = ob.data.session_uid
    if uid not in _shapes:
        _shapes[uid] = hashlib.blake2b(coordinates(ob).tobytes(), digest_size=8).digest()
    return _shapes[uid]


def _after_update(_scene, depsgraph):
    for update in depsgraph.updates if _shapes else ():
        if isinstance(update.id, bpy.types.Mesh):
            _shapes.pop(update.id.original.session_uid, None)


def _forget_shapes(*_arguments):
    _shapes.clear()


def forget():
    _outcomes.clear()
    _shapes.clear()


def _before_save(*_arguments):
    """Writes the new weights to the meshes before saving, because files store the new weights even
    while other weights are displayed."""
    _shown_before_saving.clear()
    for outcome in _outcomes:
        with suppress(Refused, ReferenceError):
            set_name = outcome.shown()
            if set_name not in (AFTER, None):
                outcome.show(AFTER)
                _shown_before_saving.append((outcome, set_name))


def _after_save(*_arguments):
    """Restores the displayed weights, whether or not the file was saved."""
    while _shown_before_saving:
        outcome, set_name = _shown_before_saving.pop()
        with suppress(Refused, ReferenceError):
            outcome.show(set_name)


HANDLERS = (
    ("depsgraph_update_post", _after_update),
    ("undo_post", _forget_shapes),
    ("redo_post", _forget_shapes),
    ("save_pre", _before_save),
    ("save_post", _after_save),
    ("save_post_fail", _after_save),
)
