"""Draws the active mesh over the view as another deformer would pose it. Blender has no deformer
with centers of rotation. The file stays unchanged."""

import bpy
import gpu
from araplbs.measures.deformer_preview import DeformerPreview, shaded
from araplbs.model.options import Options
from bpy.props import EnumProperty

from ..blender.data.bones import rest_digest
from ..blender.poses.read_poses import present_pose
from ..blender.read.deformation_errors import read_weighted
from ..preferences import preferred_threads
from .mesh_view import MeshView, colored_batch
from .session import current_session

FRONT = 0.01  # fraction of the depth range, nearest to the eye, reserved for the preview
COLORS = {
    "LINEAR": (0.75, 0.75, 0.75),
    "DUAL_QUATERNIONS": (0.45, 0.7, 1.0),
    "CENTERS": (0.55, 0.95, 0.55),
}


class _DeformerView(MeshView):
    """result: points (n, 3) in armature space. source: (key, armature name, Problem,
    DeformerPreview). Weights are read at first and after every change. Poses are read at every
    update."""

    def ready(self, ob):
        return not current_session() and (self.calm or not self._stale(ob))

    def _stale(self, ob):
        return not self._source or self._source[0] != _source_key(ob)

    def work(self, context, ob):
        view_layer, deformer = context.view_layer, context.window_manager.araplbs_deformer
        if self._stale(ob):
            with self.no_news(view_layer):
                armature, problem, rows = read_weighted(ob, view_layer, Options())
            preview = DeformerPreview(problem, rows, preferred_threads(context))
            self._source = _source_key(ob), armature.name, problem, preview
        _key, name, problem, preview = self._source
        pose = present_pose(bpy.data.objects[name], problem.skeleton, view_layer.depsgraph)

        def compute(progress):
            return preview.posed(pose, deformer, progress)[0]

        return (id(preview), deformer, pose.key), compute

    def scene_changed(self, depsgraph):
        # Meshes are updated when weights change; posing updates objects and armatures.
        if any(isinstance(update.id, bpy.types.Mesh) for update in depsgraph.updates):
            self.forget()

    def draw_result(self, context, _ob):
        armature = bpy.data.objects.get(self._source[1]) if self._source else None
        if not armature:
            return
        preview = self._source[3]
        if self._batch is None:
            color = COLORS[context.window_manager.araplbs_deformer]
            lit = shaded(self.result, preview.triangles, color)
            self._batch = colored_batch(self.result, lit, preview.triangles)
        gpu.state.depth_test_set("LESS_EQUAL")
        gpu.state.depth_mask_set(True)
        with gpu.matrix.push_pop(), gpu.matrix.push_pop_projection():
            matrix = gpu.matrix.get_projection_matrix()
            matrix[2] = FRONT * matrix[2] - (1 - FRONT) * matrix[3]
            gpu.matrix.load_projection_matrix(matrix)
            gpu.matrix.multiply_matrix(armature.matrix_world)
            self._batch.draw(gpu.shader.from_builtin("SMOOTH_COLOR"))
        gpu.state.depth_mask_set(False)
        gpu.state.depth_test_set("NONE")


def _source_key(ob):
    """A key that stays equal as long as the view shows the same mesh on the same bones at rest. The
    weights are not part of the key."""
    armature = ob.find_armature()
    if not armature:
        return ob.session_uid, None
    return ob.session_uid, armature.session_uid, rest_digest(armature)


view = _DeformerView("araplbs_deformer")


DEFORMER = EnumProperty(
    name="Preview Deformer",
    description="Draw the active mesh as a different deformer would pose it with the current "
    "weights, in the current pose of the armature. Nothing in the file changes",
    items=(
        ("NONE", "Off", "No preview"),
        ("LINEAR", "Linear", "Transforms are blended: the Armature modifier by default"),
        ("DUAL_QUATERNIONS", "Dual Quaternions", "The Armature modifier with Preserve Volume"),
        (
            "CENTERS",
            "Centers of Rotation",
            "Every vertex rotates about the center of the vertices with similar weights. "
            "This avoids the candy-wrapper effect of Linear and the bulging joints of Dual "
            "Quaternions. Blender has no such deformer, but some game engines do",
        ),
    ),
    update=lambda _manager, _context: view.start(),
    options={"SKIP_SAVE"},
)
PROPERTIES = ((bpy.types.WindowManager, "araplbs_deformer", DEFORMER),)
unregister = view.end
