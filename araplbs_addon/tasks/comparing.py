"""The whole work of comparing methods on a character: read, compute, draw the page. Nothing in
Blender's data is changed."""

from dataclasses import replace

import bpy
import numpy as np

from ..blender.blender_weights import blender_weights
from ..blender.read_poses import read_poses
from ..blender.whole_poses import given_poses_in_steps
from ..core.compare import compare
from ..core.compare_files import write_comparisons
from ..core.compare_judge import ANIMATION, RANDOM, Case, judge_seed, judged_poses
from ..core.compare_methods import READ_IN_BLENDER, limited
from ..core.compare_page import page
from ..core.edits import Edits
from ..core.native_module import araplbs
from ..core.options import Options
from ..core.refusal import Refused
from .weighting import WeightingTask

PAGE_SHARE = 0.25  # of the time: pictures


class CompareTask(WeightingTask):
    """The main thread reads, any thread may solve. apply() returns what compare_files writes."""

    reads_weights = True

    def __init__(self, options, threads=0, methods=None):
        """methods: identifiers, None for all."""
        own = Options(max_influences=options.max_influences, seed=options.seed)
        super().__init__(own, threads)
        self.compare_options, self.methods = options, methods

    def read_in_steps(self, targets, view_layer, with_entries=False):
        targets = replace(targets, painting=False)
        yield from super().read_in_steps(targets, view_layer, with_entries)
        armature, options, problem = targets.armature, self.compare_options, self.problem
        self.file = bpy.path.basename(bpy.data.filepath)
        poses = {RANDOM: (yield from self._random_poses(armature, view_layer))}
        frames = self._frames(armature, view_layer)
        if frames is not None:
            poses[ANIMATION] = frames
        yield
        present = problem.present(self._with(self.present))
        self.case = Case(
            armature.name,
            problem,
            poses,
            present if len(present.bones) else None,
            to_world=np.array(armature.matrix_world.to_quaternion().to_matrix()),
            notes=list(self.warnings),
        )
        for kind in READ_IN_BLENDER:
            try:
                parts, self.case.seconds[kind] = blender_weights(
                    armature, self.meshes, problem.skeleton, kind
                )
            except Refused as reason:
                self.case.given[kind] = str(reason)
            else:
                rows = problem.present(self._with(parts))
                self.case.given[kind] = limited(rows, options.max_influences)
            yield

    def _take(self, objects, meshes, skeleton):
        """All methods begin afresh: without locks and edits."""
        self.whole, self.present = skeleton, [mesh.weights for mesh in meshes]
        for mesh in meshes:
            mesh.locked_bones = mesh.locked_vertices = None
            mesh.edits = Edits()
        return skeleton

    def _with(self, parts):
        return [replace(mesh, weights=rows) for mesh, rows in zip(self.meshes, parts, strict=True)]

    def _random_poses(self, armature, view_layer):
        options = self.compare_options
        others = replace(self.options, seed=judge_seed(options), pose_count=options.judged_poses)
        given = yield from given_poses_in_steps(armature, self.whole, others, view_layer)
        return given if len(given) else judged_poses(self.whole, options)

    def _frames(self, armature, view_layer):
        """Poses of all actions, or of what is played where actions cannot be swapped; or None."""
        most = self.compare_options.judged_frames
        for which in ("ALL", "ACTIVE") if most else ():
            try:
                return read_poses(armature, self.whole, which, most, view_layer)
            except Refused:
                continue
        return None

    def solve(self, progress=None):
        """See core.compare; keeps the comparison and its page."""

        def told(stage, fraction, _energy=None):
            return progress(stage, (1 - PAGE_SHARE) * fraction, None)

        def drawn(fraction):
            if progress and progress("pictures", 1 - PAGE_SHARE * (1 - fraction), None) is False:
                raise araplbs.Cancelled("the comparison was cancelled")

        self.comparison = compare(
            self.case, self.compare_options, self.threads, told if progress else None, self.methods
        )
        about = ": ".join(filter(None, [self.file, ", ".join(self.problem.names)]))
        self.page = page(self.comparison, about, drawn, self.threads)

    def apply(self):
        """What the comparison came to; its page as "page"."""
        return {**self.comparison.as_dict(), "page": self.page}


def write_pages(arguments, results):
    """Of the command line: writes the pages; its exit code."""
    reports = [dict(report) for result in results for report in result["armatures"]]
    made = [(report["character"], report.pop("page"), report) for report in reports]
    print(f"  saved {write_comparisons(arguments.output, made)}", flush=True)
    return 0
