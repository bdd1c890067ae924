"""The whole work of a repair of findings: read, solve their regions, write."""

import time
from dataclasses import replace

import numpy as np

from ..blender.edit_mode import flush_edit_mode, write_in_edit_mode
from ..blender.read_mesh import refuse_mesh
from ..blender.whole_poses import given_poses_in_steps
from ..blender.write_weights import write_weights
from ..core.control_bones import leave_out_in_steps
from ..core.error_map import pose_set
from ..core.findings import KINDS, NAMES, as_json
from ..core.refusal import Refused
from ..core.repair import Material, repair
from ..core.report import names_in_line
from ..core.steps import finish
from .checking import CheckTask

EVERY_KIND = frozenset(kind for kind, _name, _about in KINDS)
CHANGED = "'{}' has changed since it was checked: check it again"


class RepairTask:
    """The main thread reads and applies, any thread may solve; see WeightingTask. Vertices outside
    of the regions of findings are not touched.

    repaired: the core.repair.Repaired, once solved.
    """

    def __init__(self, options, threads=0, kinds=EVERY_KIND, known=None, wanted=None):
        """kinds: of the findings that are repaired. known: the findings of a CheckTask that has
        read the same objects, wanted (bool for each): those to be repaired; else all are found
        first."""
        self.options, self.threads = replace(options, volume="NONE", start_from="FRESH"), threads
        self.kinds, self.known, self.wanted = kinds, known, wanted
        self.reading = CheckTask(options, threads)

    def read(self, targets, view_layer):
        """Raises Refused when there is nothing to repair, or it cannot be changed."""
        finish(self.read_in_steps(targets, view_layer))

    def read_in_steps(self, targets, view_layer):
        """The like as a generator of short steps."""
        self.started = time.perf_counter()
        flush_edit_mode([ob for ob in targets.meshes if ob.mode == "EDIT"])
        yield from self.reading.read_in_steps(targets, view_layer)
        if len(self.reading.objects) != len(targets.meshes) and self.known is not None:
            raise Refused(CHANGED.format(targets.meshes[0].name))
        objects = [reference.get() for reference in self.reading.objects]
        self.modes = [ob.mode for ob in objects]
        self.closed = [_why_not(ob) for ob in objects]
        self.meshes = [self._unmasked(*each) for each in enumerate(self.reading.meshes)]
        meshes, found = self.reading.meshes, self.reading.problem.skeleton
        used = np.zeros(len(found.names), bool)
        for mesh in meshes:
            used[mesh.weights.bones[mesh.weights.weights > 0]] = True
        skeleton = replace(found, taken_in=found.taken_in | used)
        if self.options.control_bones == "LEAVE_OUT":
            _meshes, skeleton = yield from leave_out_in_steps(meshes, skeleton, self.threads)
        armature = self.reading.armature.get()
        self.given = yield from given_poses_in_steps(armature, skeleton, self.options, view_layer)
        self.skeleton = skeleton

    def _unmasked(self, index, mesh):
        """Where the mask shows one known finding alone, as a click on it does, it is no mask."""
        if mesh.locked_vertices is None:
            return mesh
        shown = np.flatnonzero(~mesh.locked_vertices)
        for finding in self.known or ():
            if finding.mesh == index and np.array_equal(np.unique(finding.vertices), shown):
                return replace(mesh, locked_vertices=None)
        return mesh

    @property
    def warnings(self):
        return self.reading.warnings

    def solve(self, progress=None):
        """Keeps what is repaired. progress: see core.solve."""
        reading = self.reading
        material = Material(
            reading.problem,
            self.meshes,
            self.closed,
            pose_set(reading.problem, reading.options),
            reading.options,
            self.skeleton,
            self.given,
            self.options,
        )
        self.repaired = repair(material, self._wants, self.known, self.threads, progress)

    def _wants(self, finding):
        if self.wanted is not None:
            at = next(k for k, each in enumerate(self.known) if each is finding)
            if not self.wanted[at]:
                return False
        return finding.kind in self.kinds

    def apply(self):
        """Writes the weights of what was repaired; the report. Raises Refused, with nothing
        written, when the objects are not what they were."""
        armature, objects = self._objects()
        names, done, told = self.skeleton.names, self.repaired, []
        for k, (ob, mesh, rows, changed) in enumerate(
            zip(objects, self.meshes, done.weights, done.changed, strict=True)
        ):
            facts = {"changed": 0, "removed": 0, "new_groups": 0}
            if changed.any():
                _groups, bones, _vertices = self.reading.selections[k]
                used = np.zeros(len(bones), bool)
                used[rows.bones[changed[rows.vertices] & (rows.weights > 0)]] = True
                if any(reflection.flip for reflection in mesh.reflections):
                    used |= used[self.skeleton.opposite] & self.skeleton.deform
                write = write_in_edit_mode if ob.mode == "EDIT" else write_weights
                facts = write(ob, rows, names, used & bones, bones, changed)
            told.append({"name": ob.name, "vertices": len(changed), **facts})
        return self._report(armature, told)

    def _objects(self):
        """(armature, [meshes]). Raises Refused when they are not what they were."""
        armature = self.reading.armature.get()
        objects = [reference.get() for reference in self.reading.objects]
        if [bone.name for bone in armature.data.bones] != self.skeleton.names:
            raise Refused(f"'{armature.name}' was changed meanwhile: nothing was written")
        for ob, mode in zip(objects, self.modes, strict=True):
            if ob.mode != mode:
                raise Refused(f"'{ob.name}' has changed its mode: nothing was written")
        return armature, objects

    def _report(self, armature, told):
        outcomes = self.repaired.outcomes
        problem = self.reading.problem
        return {
            "armature": armature.name,
            "objects": told,
            "repairs": [
                {
                    **found,
                    "result": outcome.result,
                    "severity_now": round(float(outcome.severity), 3),
                    "why": outcome.words,
                }
                for outcome, found in zip(
                    outcomes, as_json([each.finding for each in outcomes], problem), strict=True
                )
            ],
            "findings": as_json(self.repaired.findings, problem),
            "seconds": time.perf_counter() - self.started,
            "options": self.options.as_dict(),
        }


def _why_not(ob):
    """Why the weights of an object cannot be changed, or None."""
    try:
        refuse_mesh(ob)
    except Refused as reason:
        return str(reason)
    return None


def repair_summary(report):
    """One line for people."""
    results = [each["result"] for each in report["repairs"]]
    if not results:
        return "no findings to repair"
    which = "1 finding" if len(results) == 1 else f"{len(results)} findings"
    words = {"REPAIRED": "repaired", "BETTER": "better", "UNCHANGED": "as before"}
    parts = [f"{results.count(key)} {word}" for key, word in words.items() if key in results]
    return f"{which}: {', '.join(parts)} in {report['seconds']:.1f} s"


def repair_lines(report):
    """The like with what stays as it was before it."""
    return "\n    ".join([*repair_notes(report), repair_summary(report)])


def repair_notes(report):
    """Lines about what stays as it was, and why."""
    reasons = {}
    for each in report["repairs"]:
        if each["why"]:
            place = f"{NAMES[each['kind']]} {each['bone'] or each['mesh']}"
            reasons.setdefault(each["why"], []).append(place)
    return [f"{why}: {names_in_line(places)}" for why, places in reasons.items()]
