"""The whole work on the joints of one armature: read, solve, write."""

from dataclasses import replace

import numpy as np

from ..blender.control_bones import mark_control_bones
from ..blender.joint_effects import effects, refuse_armature
from ..blender.joint_settings import read_joint_settings
from ..blender.live_weights import LiveWeights
from ..blender.write_joints import write_joints
from ..core.joints import JointRun, at_same_places, joint_report, moved_bones
from ..core.poses import RIGID
from ..core.refusal import Refused
from ..core.report import make_report, names_in_line
from ..core.steps import finish
from .weighting import WeightingTask


class JointTask(WeightingTask):
    """A WeightingTask whose solution has new joints too. run: None until it is read."""

    run = None

    def __init__(self, options, threads=0):
        if options.volume != "NONE":
            raise Refused("Joints are found for the surface: set Volume to Surface Only")
        options = replace(options, through_rig=False)  # joints that move take their poses along
        if not options.optimize_weights:
            options = replace(options, start_from="PRESENT")
        super().__init__(options, threads)

    def read_in_steps(self, targets, view_layer, with_entries=True):
        """As of WeightingTask; group_entries() are needed to put weights back."""
        refuse_armature(targets.armature, targets.meshes)
        yield from super().read_in_steps(targets, view_layer, with_entries)
        if self.problem.unweighted and not self.options.optimize_weights:
            raise Refused(
                f"{self.problem.unweighted} vertices have no weights yet: optimize weights too"
            )
        if self._flexible:
            self.warnings.append(
                "Bendy and stretching bones counted as rigid, for the weights too: "
                + names_in_line(self._flexible)
            )
        locks, factors = read_joint_settings(targets.armature, self.problem.skeleton.names)
        self.run = JointRun(self.problem, self.meshes, self.options, locks, factors, self.threads)

    def _read_skeleton(self, armature):
        skeleton = super()._read_skeleton(armature)
        bends = np.array([kind != RIGID for kind in skeleton.kinds])
        flexible = skeleton.deform & (bends | skeleton.own_stretch)
        self._flexible = [skeleton.names[i] for i in np.flatnonzero(flexible)]
        return replace(skeleton, kinds=None, segments=None)

    def solve(self, progress=None, wait=False):
        """See JointRun.solve(); keeps the JointSolution."""
        self.solution = self.run.solve(progress, wait)

    def find_objects(self):
        armature, objects = super().find_objects()
        bones = armature.data.bones
        heads, tails = [b.head_local for b in bones], [b.tail_local for b in bones]
        same = at_same_places(self.run.problem.skeleton, heads, tails)
        if armature.mode == "EDIT" or not same:
            raise Refused(f"'{armature.name}' was edited meanwhile: nothing was written")
        return armature, objects

    def apply(self):
        """Writes joints and weights; the report.

        Raises Refused, with nothing written, when the objects are not what they were. Whatever
        fails, all is put back.
        """
        armature, objects = self.find_objects()
        before, after = self.run.problem.skeleton, self.solution.skeleton
        told = effects(armature, objects, before, after, moved_bones(before, after))
        report = joint_report(self.run, self.solution, armature.name)
        write_joints(armature, before, after)
        try:
            report["weights"] = self._write_weights(armature, objects)
        except BaseException:
            write_joints(armature, after, before)
            raise
        self.warnings += told
        report["warnings"] = list(self.warnings)
        return report

    def _write_weights(self, armature, objects):
        """The report of the weights, None where they stay."""
        weights, problem = self.solution.weights, self.solution.problem
        if weights is None:
            return None
        names, writers, written = problem.skeleton.names, [], []
        parts = problem.split(weights.rows)
        try:
            for ob, entries, rows, selection in zip(
                objects, self.entries, parts, self.selections, strict=True
            ):
                writers.append(LiveWeights(ob, entries, names, *selection))
                written.append(finish(writers[-1].write(rows, exact=True)))
        except BaseException:
            for writer in writers:
                writer.restore_at_once()
            raise
        self.bind(armature, objects, written)
        mark_control_bones(armature, problem.skeleton)
        return make_report(problem, weights, self.options, armature.name, written)
