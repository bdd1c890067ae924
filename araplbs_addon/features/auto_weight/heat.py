"""A task that also reads Blender's automatic weights if the meshes had no weights. Without this
comparison, the numbers would not show whether the result is good."""

from dataclasses import replace

import numpy as np
from araplbs.base.progress import Listener
from araplbs.base.refusal import Refused
from araplbs.character.pose_sets import measured_poses
from araplbs.features.check.before_after import stretch_in
from araplbs.measures.deformation import measured_report
from araplbs.measures.standing import has_weights

from ...blender.read.blender_weights import blender_weights_in_steps
from ...weighting import WeightingTask

# Vertices x deform bones of one mesh for which Blender's operator takes a second and a half. The
# operator shows no progress and cannot be stopped.
MOST_HEAT = 2_500_000
HEAT_SHARE = 0.05  # share of the time for measuring the heat weights


class HeatWeighting(WeightingTask):
    """earlier: the earlier SparseWeights of the meshes, combined for the problem, without excluded
    bones. painted: the same with the excluded bones. compared_with_heat: whether a comparison with
    Blender's heat weights is available."""

    reads_weights = True
    earlier = painted = None
    _read = ()  # the weights that were read from the meshes
    _drawn_deform = None  # deform bones, including control bones, which heat does not leave out
    _heat = None  # (SparseWeights of Blender's heat, or None if it failed,)

    def _take(self, objects, meshes, skeleton):
        self._drawn_deform = skeleton.deform
        self._read = [mesh.weights for mesh in meshes]
        return super()._take(objects, meshes, skeleton)

    def read_in_steps(self, targets, view_layer, with_entries=False):
        yield from super().read_in_steps(targets, view_layer, with_entries)
        meshes = self.reading.meshes
        bones = np.count_nonzero(self._drawn_deform)
        few = max(len(mesh.vertices) for mesh in meshes) * bones <= MOST_HEAT
        rig = targets.armature
        linked = rig.library or rig.override_library or rig.data.library  # a copy leaves traces
        self.earlier, self.painted = self.problem.present(meshes), self.problem.join(self._read)
        if few and not linked and not has_weights(self.earlier):
            self._heat = ((yield from self._blender_heat_in_steps(rig, meshes)),)

    def _blender_heat_in_steps(self, armature, meshes):
        skeleton = replace(self.problem.skeleton, deform=self._drawn_deform)
        try:
            parts, _seconds = yield from blender_weights_in_steps(
                armature, meshes, skeleton, "BLENDER_HEAT"
            )
        except Refused:
            return None
        rows = self.problem.join(parts)
        return rows if (rows.sums() > 0).all() else None

    @property
    def compared_with_heat(self):
        return self._heat is not None

    def heat_report(self, progress: Listener | None = None):
        """The deformation report with Blender's heat weights, None if they fail."""
        (rows,) = self._heat
        if rows is None:
            return None
        poses = measured_poses(self.problem, self.options)
        return measured_report(self.problem, rows, poses, threads=self.threads, progress=progress)

    def heat_in(self, poses, progress: Listener | None = None):
        """The stretch with Blender's heat weights in these Poses."""
        (rows,) = self._heat
        return stretch_in(self.problem, rows, poses, self.threads, progress)
