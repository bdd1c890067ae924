"""The active mesh as another deformer would pose it, drawn over the view: Blender has no centers of
rotation. Nothing in the file is changed."""

import time

import bpy
import gpu
import numpy as np
from bpy.app.handlers import persistent
from bpy.props import EnumProperty
from gpu_extras.batch import batch_for_shader

from ..blender.deformation_errors import read_weighted
from ..blender.read_poses import present_pose
from ..blender.views import redraw_views
from ..core.deformer_preview import DeformerPreview, shaded
from ..core.native_module import engine_errors
from ..core.options import Options
from ..core.refusal import Refused
from ..core.worker import Worker
from ..live.session import current_session
from ..preferences import preferred_threads

PERIOD = 0.1  # seconds between two looks at what has changed
CALM = 0.4  # seconds without change before weights are read, which takes some tenths of one
FRONT = 0.01  # share of the depth, that nearest to the eye, that the preview gets to itself
COLORS = {
    "LINEAR": (0.75, 0.75, 0.75),
    "DUAL_QUATERNIONS": (0.45, 0.7, 1.0),
    "CENTERS": (0.55, 0.95, 0.55),
}


class _View:
    """points (n, 3), in armature space, of the mesh `name`, or None; message: why there are none.

    Weights are read once and again when they have changed, poses are read at every look.
    """

    def __init__(self):
        self.name = self.points = self.message = None
        self._worker = self._key = self._batch = None
        self._source = None  # (key, armature name, Problem, DeformerPreview)
        self._changed = 0.0  # when weights were last seen to change
        self._reading = False  # Blender is changed and put back meanwhile

    def look(self, context):
        """Takes in a result, and starts the next computation where something has changed."""
        if self._worker:
            if self._worker.running:
                return
            self._take_in()
        ob = getattr(context, "active_object", None)  # a timer may run without a window
        if not ob or ob.type != "MESH":
            ob = _mesh_of(context, ob)
        if not ob or ob.mode == "EDIT" or current_session():
            return
        if self._stale(ob) and time.monotonic() - self._changed < CALM:
            return
        try:
            key, work = self._work(context, ob)
        except (Refused, KeyError) as reason:
            self.name, self.points, self._key = ob.name, None, None
            self._tell(str(reason))
            return
        if key != self._key:
            self._key, self.name = key, ob.name
            self._worker = Worker(work)

    def _stale(self, ob):
        return not self._source or self._source[0] != _source_key(ob)

    def _work(self, context, ob):
        view_layer, deformer = context.view_layer, context.window_manager.araplbs_deformer
        if self._stale(ob):
            self._reading = True
            try:
                armature, problem, rows = read_weighted(ob, view_layer, Options())
                view_layer.update()
            finally:
                self._reading = False
            preview = DeformerPreview(problem, rows, preferred_threads(context))
            self._source = _source_key(ob), armature.name, problem, preview
        _key, name, problem, preview = self._source
        pose = present_pose(bpy.data.objects[name], problem.skeleton, view_layer.depsgraph)

        def work(progress):
            return preview.posed(pose, deformer, progress)[0]

        return (id(preview), deformer, pose.key), work

    def _take_in(self):
        worker, self._worker, self._batch = self._worker, None, None
        told = (ValueError, MemoryError, *engine_errors("SolverError", "Cancelled"))
        self.points, error = worker.result, worker.error
        self._tell(str(error) if error else None)
        redraw_views()
        if error and not isinstance(error, told):
            raise error

    def _tell(self, message):
        if message != self.message:
            self.message = message
            redraw_views()

    def forget(self):
        """What is known of the weights is out of date."""
        if self._reading:
            return
        self._source = None
        self._changed = time.monotonic()

    def stop(self):
        if self._worker:
            self._worker.cancel()
        self.__init__()

    def draw(self, context):
        ob = bpy.data.objects.get(self.name) if self.name else None
        if self.points is None or not self._source or not ob or ob.mode == "EDIT":
            return
        if len(self.points) != len(ob.data.vertices) or not ob.visible_get():
            return
        armature, preview = bpy.data.objects.get(self._source[1]), self._source[3]
        if not armature:
            return
        if self._batch is None:
            color = COLORS[context.window_manager.araplbs_deformer]
            self._batch = _batch(self.points, preview.triangles, color)
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


def _mesh_of(context, armature):
    """The mesh that is looked at while an armature is posed: the first selected one that it moves,
    or the one that was looked at before."""
    if not armature or armature.type != "ARMATURE":
        return None
    before = bpy.data.objects.get(view.name) if view.name else None
    for ob in (*(o for o in context.view_layer.objects if o.select_get()), before):
        if ob and ob.type == "MESH" and ob.find_armature() == armature:
            return ob
    moved = [o for o in context.view_layer.objects if o.type == "MESH"]
    return next((o for o in moved if o.find_armature() == armature), None)


def _source_key(ob):
    """Equal as long as the mesh is this one, on the same bones at rest; weights are not in it."""
    armature = ob.find_armature()
    if not armature:
        return ob.session_uid, None
    bones, values = armature.data.bones, []
    for name, kind, width in (
        ("use_deform", np.bool_, 1),
        ("head_local", np.float32, 3),
        ("tail_local", np.float32, 3),
    ):
        numbers = np.empty(width * len(bones), kind)
        bones.foreach_get(name, numbers)
        values.append(numbers.tobytes())
    return ob.session_uid, armature.session_uid, *values


def _batch(points, triangles, color):
    shader = gpu.shader.from_builtin("SMOOTH_COLOR")
    return batch_for_shader(
        shader,
        "TRIS",
        {"pos": points.astype(np.float32), "color": shaded(points, triangles, color)},
        indices=triangles.astype(np.int32),
    )


view = _View()


def _tick():
    context = bpy.context
    if context.window_manager.araplbs_deformer == "NONE":
        view.stop()
        redraw_views()
        return None
    view.look(context)
    return PERIOD


def _chosen(_manager, _context):
    if not bpy.app.timers.is_registered(_tick):
        bpy.app.timers.register(_tick, persistent=True)


@persistent
def _after_update(scene, depsgraph):
    if bpy.context.window_manager.araplbs_deformer == "NONE" or scene != bpy.context.scene:
        return
    # Meshes are updated when weights change; posing updates objects and armatures.
    if any(isinstance(update.id, bpy.types.Mesh) for update in depsgraph.updates):
        view.forget()


def draw():
    context = bpy.context
    shown = context.window_manager.araplbs_deformer != "NONE"
    if shown and context.space_data.overlay.show_overlays:
        view.draw(context)


def register():
    bpy.app.handlers.depsgraph_update_post.append(_after_update)
    bpy.types.WindowManager.araplbs_deformer = EnumProperty(
        name="Preview Deformer",
        description="The active mesh over the view as its weights would pose it by another "
        "deformer, in the pose that the armature is in. Nothing in the file changes",
        items=(
            ("NONE", "Off", "No preview"),
            ("LINEAR", "Linear", "Transforms are blended: the Armature modifier as it is"),
            (
                "DUAL_QUATERNIONS",
                "Dual Quaternions",
                "The Armature modifier with Preserve Volume",
            ),
            (
                "CENTERS",
                "Centers of Rotation",
                "Every vertex turns around the middle of what has similar weights: neither the "
                "candy wrapper of Linear nor the joint bulge of Dual Quaternions. Blender has no "
                "such deformer, some game engines do",
            ),
        ),
        update=_chosen,
        options={"SKIP_SAVE"},
    )


def unregister():
    bpy.app.handlers.depsgraph_update_post.remove(_after_update)
    if bpy.app.timers.is_registered(_tick):
        bpy.app.timers.unregister(_tick)
    view.stop()
    del bpy.types.WindowManager.araplbs_deformer
