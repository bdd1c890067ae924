"""The task that optimizes the joints of one armature: read, solve, write."""

from dataclasses import replace
from typing import Any

import numpy as np
from araplbs.base.arrays import Bools
from araplbs.base.progress import Listener
from araplbs.base.refusal import Changed, Refused
from araplbs.base.steps import Steps
from araplbs.features.joints.joints import JointRun, JointSolution, joint_report
from araplbs.features.joints.moved_joints import at_same_places, moved_bones, only_heads_of
from araplbs.features.joints.options import JointOptions
from araplbs.reports.report import make_report, names_in_line
from araplbs.skeleton.poses import RIGID
from araplbs.skeleton.skeleton import Skeleton
from bpy.types import Object, ViewLayer

from ...blender.data.bones import chosen_bones
from ...blender.read.control_bones import mark_control_bones
from ...blender.read.targets import Targets
from ...blender.write.all_or_nothing import all_or_nothing
from ...blender.write.write_weights import write_weights
from ...weighting import WeightingTask
from .data import read_joint_settings
from .effects import effects, refuse_armature
from .write import write_joints


class JointTask(WeightingTask):
    """A WeightingTask whose solution also contains new joints. run: the JointRun, None before
    reading. For targets with only_bones, only the heads of the selected bones move."""

    reads_weights = True  # which may contradict a joint
    run: JointRun = None
    solution: JointSolution = None

    def __init__(self, options: JointOptions, threads: int = 0) -> None:
        if options.volume != "NONE":
            raise Refused("Joints are optimized for the surface: set Volume to Surface Only")
        options = replace(options, through_rig=False)  # the poses follow the moving joints
        if not options.optimize_weights:
            options = replace(options, start_from="PRESENT")
        super().__init__(options, threads)

    def read_in_steps(self, targets: Targets, view_layer: ViewLayer) -> Steps[None]:
        armature = targets.armature
        refuse_armature(armature, targets.meshes)
        chosen, targets.only_bones = self._chosen(targets), False
        yield from super().read_in_steps(targets, view_layer)
        if self.problem.unweighted and not self.options.optimize_weights:
            raise Refused(
                f"{self.problem.unweighted} vertices have no weights yet: also optimize the weights"
            )
        if self._flexible:
            self.warnings.append(
                "Bendy and stretching bones were treated as rigid, also when computing the "
                "weights: " + names_in_line(self._flexible)
            )
        skeleton = self.problem.skeleton
        locks, factors = read_joint_settings(armature, skeleton.names)
        if chosen is not None:
            locks |= ~only_heads_of(skeleton, chosen)
        self.run = JointRun(
            self.problem, self.reading.meshes, self.options, locks, factors, self.threads
        )
        if self.run.start:
            names = [skeleton.names[bone] for bone in self.run.start.bones]
            what = "Joints were moved to where the weights bend"
            if self.run.start.shifted:
                what = "Limbs were moved to their skin, and all other joints stayed"
            self.warnings.append(f"{what}: {names_in_line(names)}")

    @staticmethod
    def _chosen(targets: Targets) -> Bools | None:
        """(m,) bool: the bones whose heads may move; None: all bones."""
        if not targets.only_bones or targets.armature.mode != "POSE":
            return None
        chosen = chosen_bones(targets.armature)
        if not chosen.any():
            raise Refused(f"No bone of '{targets.armature.name}' is selected in Pose mode")
        return chosen

    def _read_skeleton(self, armature: Object) -> Skeleton:
        skeleton = super()._read_skeleton(armature)
        bends = np.array([kind != RIGID for kind in skeleton.kinds])
        flexible = skeleton.deform & (bends | skeleton.own_stretch)
        self._flexible = [skeleton.names[i] for i in np.flatnonzero(flexible)]
        return replace(skeleton, kinds=None, segments=None)

    def solve(self, progress: Listener | None = None, wait: bool = False) -> None:
        """See JointRun.solve(). Stores the JointSolution."""
        self.solution = self.run.solve(progress, wait)

    def find_objects(self) -> tuple[Object, list[Object]]:
        armature, objects = super().find_objects()
        bones = armature.data.bones
        heads, tails = [b.head_local for b in bones], [b.tail_local for b in bones]
        same = at_same_places(self.run.problem.skeleton, heads, tails)
        if armature.mode == "EDIT" or not same:
            raise Changed(armature.name, "was edited after it was read")
        return armature, objects

    def apply(self) -> dict[str, Any]:
        """See Task. Also writes the joints."""
        armature, objects = self.find_objects()
        before, after = self.run.problem.skeleton.as_drawn, self.solution.skeleton.as_drawn
        told = effects(armature, objects, before, after, moved_bones(before, after))
        report = joint_report(self.run, self.solution, armature.name)
        try:
            write_joints(armature, before, after)
            armature, objects = super().find_objects()  # a handler may have deleted one
            with all_or_nothing(objects, armature):
                report["weights"] = self._write_weights(armature, objects)
        except BaseException:
            armature = self.armature.find()
            if armature:
                write_joints(armature, after, before)
            raise
        self.warnings += told
        report["warnings"] = list(self.warnings)
        return report

    def _write_weights(self, armature: Object, objects: list[Object]) -> dict[str, Any] | None:
        """Writes the weights. Returns their report, or None if they stay unchanged."""
        weights, problem = self.solution.weights, self.solution.problem
        if weights is None:
            return None
        names, parts = problem.skeleton.names, problem.split(weights.rows)
        written = [
            write_weights(ob, rows, names, *selection)
            for ob, rows, selection in zip(objects, parts, self.reading.selections, strict=True)
        ]
        self.bind(armature, objects, written)
        mark_control_bones(armature, problem.skeleton)
        return make_report(problem, weights, self.options, armature.name, written)
