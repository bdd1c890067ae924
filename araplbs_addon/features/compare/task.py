"""The task of Compare Methods on one character. The task reads, computes, and draws the page.
Blender's data stays unchanged."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from araplbs.base.printed import say
from araplbs.base.progress import Listener, Progress
from araplbs.base.refusal import Refused
from araplbs.base.steps import Steps
from araplbs.character.mesh import Mesh
from araplbs.disk.outputs import Kind
from araplbs.features.compare.compare import compare
from araplbs.features.compare.files import files_of, refuse_no_folder, write_comparisons
from araplbs.features.compare.judge import ANIMATION, RANDOM, Case, judge_seed, judged_poses
from araplbs.features.compare.methods import READ_IN_BLENDER
from araplbs.features.compare.options import CompareOptions
from araplbs.features.compare.page import page
from araplbs.model.edits import Edits
from araplbs.model.options import Options
from araplbs.skeleton.poses import Poses
from araplbs.skeleton.skeleton import Skeleton
from bpy.types import Object, ViewLayer

from ...blender.data.ours import is_ours
from ...blender.poses.read_poses import read_poses
from ...blender.read.blender_weights import blender_weights_in_steps
from ...blender.read.targets import Targets
from ...blender.rig.rig_poses import given_poses_in_steps
from ...weighting import WeightingTask

PAGE_SHARE = 0.25  # share of the time for images


class CompareTask(WeightingTask):
    """A task that compares methods. The main thread reads, and any thread may solve. apply()
    returns the comparison and its page."""

    reads_weights = True

    def __init__(
        self, options: CompareOptions, threads: int = 0, methods: Sequence[str] | None = None
    ) -> None:
        """methods: identifiers, None for all."""
        own = Options(max_influences=options.max_influences, seed=options.seed)
        super().__init__(own, threads)
        self.compare_options, self.methods = options, methods

    def read_in_steps(self, targets: Targets, view_layer: ViewLayer) -> Steps[None]:
        targets = replace(targets, painting=False)
        yield from super().read_in_steps(targets, view_layer)
        armature, options, problem = targets.armature, self.compare_options, self.problem
        self.file = bpy.path.basename(bpy.data.filepath)
        poses = {RANDOM: (yield from self._random_poses(armature, view_layer))}
        frames = self._frames(armature, view_layer)
        if frames is not None:
            poses[ANIMATION] = frames
        yield
        present = problem.join(self.present)
        self.case = Case(
            armature.name,
            problem,
            poses,
            present if len(present.bones) else None,
            to_world=np.array(armature.matrix_world.to_quaternion().to_matrix()),
            notes=list(self.warnings),
            present_is_ours=self.is_ours,
        )
        for kind in READ_IN_BLENDER:
            try:
                parts, self.case.seconds[kind] = yield from blender_weights_in_steps(
                    armature, self.reading.meshes, problem.skeleton, kind
                )
            except Refused as reason:
                self.case.given[kind] = str(reason)
            else:
                rows = problem.join(parts)
                self.case.given[kind] = rows.cut_down(options.max_influences).normalized()
            yield

    def _take(self, objects: list[Object], meshes: list[Mesh], skeleton: Skeleton) -> Skeleton:
        """Removes locks and edits, because all methods start from scratch."""
        self.whole, self.present = skeleton, [mesh.weights for mesh in meshes]
        self.is_ours = all(map(is_ours, objects))
        for mesh in meshes:
            mesh.locked_bones = mesh.locked_vertices = None
            mesh.edits = Edits()
        return skeleton

    def _random_poses(self, armature: Object, view_layer: ViewLayer) -> Steps[Poses]:
        options = self.compare_options
        others = replace(self.options, seed=judge_seed(options), pose_count=options.judged_poses)
        given = yield from given_poses_in_steps(armature, self.whole, others, view_layer)
        return given if len(given) else judged_poses(self.whole, options)

    def _frames(self, armature: Object, view_layer: ViewLayer) -> Poses | None:
        """The Poses of all actions, or of the current animation if actions cannot be swapped; None
        if there are no poses."""
        most = self.compare_options.judged_frames
        for which in ("ALL", "ACTIVE") if most else ():
            try:
                return read_poses(armature, self.whole, which, most, view_layer)
            except Refused:
                continue
        return None

    def solve(self, progress: Listener | None = None) -> None:
        """See araplbs.features.compare.compare. Stores the comparison and its page."""
        progress = Progress.of(progress)
        part = progress.part(0, 1 - PAGE_SHARE)
        self.comparison = compare(self.case, self.compare_options, self.threads, part, self.methods)
        about = ": ".join(filter(None, [self.file, ", ".join(self.problem.names)]))
        self.page = page(
            self.comparison, about, progress.part(1 - PAGE_SHARE, PAGE_SHARE), self.threads
        )

    def apply(self) -> dict[str, Any]:
        """Returns the result of the comparison, with its page as "page"."""
        return {**self.comparison.as_dict(), "page": self.page}


def comparison_files(
    arguments: argparse.Namespace, names: Sequence[str] = ()
) -> list[tuple[Path, Kind]]:
    """For the command line: returns [(path, kind)] of the files that a comparison of these
    characters writes."""
    refuse_no_folder(arguments.output)
    return files_of(arguments.output, names)


def write_pages(arguments: argparse.Namespace, results: list[dict[str, Any]]) -> int:
    """For the command line: writes the pages and returns the exit code."""
    reports = [dict(report) for result in results for report in result["armatures"]]
    made = [(report["character"], report.pop("page"), report) for report in reports]
    (source,) = arguments.input
    say(f"  saved {write_comparisons(arguments.output, made, source)}")
    return 0
