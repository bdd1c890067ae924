"""Surface Strain of the active mesh as colors, kept up to date in a thread while shown."""

import time
from contextlib import contextmanager

import bpy
import gpu
import numpy as np
from bpy.app.handlers import persistent
from bpy.props import EnumProperty
from gpu_extras.batch import batch_for_shader

from ..blender.deformation_errors import pose_options, poses_of, read_weighted
from ..blender.posed import posed_vertices
from ..blender.read_poses import present_pose
from ..blender.views import redraw_views
from ..core.armature_modifier import vertex_strain
from ..core.error_map import colors, pose_set
from ..core.refusal import Refused
from ..core.worker import Worker
from ..live.session import current_session
from ..operators.settings import present_options
from ..preferences import preferred_threads

PERIOD = 0.15  # seconds between two looks at what has changed
CALM = 0.4  # seconds without change before weights are read, which takes some tenths of one
TOLD = (Refused, ArithmeticError, ValueError, MemoryError)  # shown in place of colors
NEARER = 2e-5  # of the depth: in front of the surface that it colors


class _View:
    """strain (n,) of the object `name`, or None; message: why there is none."""

    def __init__(self):
        self.name = self.strain = self.message = None
        self._worker = self._key = self._batch = self._drawn = None
        self._changed = 0.0  # when weights were last seen to change
        self._source = (
            None  # (key, armature name, Problem, SparseWeights) of a mesh without session
        )
        self._poses = None  # (key, Poses) of an armature
        self._reading = False  # Blender is changed and put back meanwhile

    def look(self, context):
        """Takes in a result, and starts the next computation where something has changed."""
        if self._worker:
            if self._worker.running:
                return
            self._take_in()
        ob = getattr(context, "active_object", None)  # a timer may run without a window
        mode = context.window_manager.araplbs_errors
        if not ob or ob.type != "MESH" or ob.mode == "EDIT":
            return
        session = current_session()
        if session and not session.frame:
            return  # it is reading
        if not session and time.monotonic() - self._changed < CALM:
            return
        try:
            key, work = self._work(context, ob, mode)
        except (Refused, KeyError) as reason:
            self.name, self.strain, self.message = ob.name, None, str(reason)
            return
        if key != self._key:
            self._key, self.name = key, ob.name
            self._worker = Worker(work)

    def _take_in(self):
        worker, self._worker, self._drawn = self._worker, None, None
        self.strain, error = worker.result, worker.error
        self.message = str(error) if error else None
        redraw_views()
        if error and not isinstance(error, TOLD):
            raise error

    def forget(self, armatures=False):
        """What is known of the weights is out of date, or of armatures as well."""
        if self._reading:
            return
        self._key = self._source = None
        self._poses = None if armatures else self._poses
        self._changed = time.monotonic()

    def _work(self, context, ob, mode):
        view_layer, threads = context.view_layer, preferred_threads(context)
        session = current_session()
        frame = session.frame if session else None
        size = len(ob.data.vertices)
        if frame and ob in session.objects():
            begin, end = session.problem_vertices(session.objects().index(ob))
            armature, problem = session.task.armature.get(), session.task.problem
            options, rows, number = session.task.options, frame.rows, frame.number
            self._source = None
        else:
            options, number, begin, end = pose_options(present_options(context)), -1, 0, size
            if not self._source or self._source[0] != (ob.session_uid, options):
                with self._no_news(view_layer):
                    armature, problem, rows = read_weighted(ob, view_layer, options)
                self._source = (ob.session_uid, options), armature.name, problem, rows
            _key, armature_name, problem, rows = self._source
            armature = bpy.data.objects[armature_name]
        if mode == "POSE":
            poses = present_pose(armature, problem.skeleton, view_layer.depsgraph)
        else:
            poses = self._all_poses(armature, problem, options, view_layer) if number < 0 else None
        posed = poses.key if mode == "POSE" else options
        key = (ob.session_uid, size, mode, number, posed)

        def work(_progress):
            chosen = poses or pose_set(problem, options)
            return vertex_strain(problem, rows, chosen, threads)[begin:end]

        return key, work

    def _all_poses(self, armature, problem, options, view_layer):
        key = armature.session_uid, options
        if not self._poses or self._poses[0] != key:
            with self._no_news(view_layer):
                self._poses = key, poses_of(armature, problem, options, view_layer)
        return self._poses[1]

    @contextmanager
    def _no_news(self, view_layer):
        """What is changed and put back while reading is not news."""
        self._reading = True
        try:
            yield
            view_layer.update()
        finally:
            self._reading = False

    def draw(self, context):
        ob = context.active_object
        if self.strain is None or not ob or ob.name != self.name or ob.mode == "EDIT":
            return
        if len(self.strain) != len(ob.data.vertices) or not ob.visible_get():
            return
        points = posed_vertices(ob, context.evaluated_depsgraph_get()).astype(np.float32)
        if self._drawn is None or not np.array_equal(points, self._drawn):
            self._drawn, self._batch = points, _batch(ob.data, points, colors(self.strain))
        draw_in_front(self._batch, gpu.shader.from_builtin("SMOOTH_COLOR"))


def draw_in_front(batch, shader):
    """Just in front of the surface that the batch lies on, and behind everything before it."""
    gpu.state.depth_test_set("LESS_EQUAL")
    with gpu.matrix.push_pop_projection():
        matrix = gpu.matrix.get_projection_matrix()
        matrix[2] = matrix[2] - NEARER * matrix[3]
        gpu.matrix.load_projection_matrix(matrix)
        batch.draw(shader)
    gpu.state.depth_test_set("NONE")


def _batch(mesh, points, point_colors):
    mesh.calc_loop_triangles()
    triangles = np.empty(3 * len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("vertices", triangles)
    shader = gpu.shader.from_builtin("SMOOTH_COLOR")
    return batch_for_shader(
        shader,
        "TRIS",
        {"pos": points, "color": point_colors},
        indices=triangles.reshape(-1, 3),
    )


view = _View()


def _tick():
    context = bpy.context
    if context.window_manager.araplbs_errors == "NONE":
        view.__init__()
        redraw_views()
        return None
    view.look(context)
    return PERIOD


def _chosen(_manager, _context):
    view.forget(armatures=True)
    if not bpy.app.timers.is_registered(_tick):
        bpy.app.timers.register(_tick, persistent=True)


@persistent
def _after_update(scene, depsgraph):
    if bpy.context.window_manager.araplbs_errors == "NONE" or current_session():
        return
    if scene != bpy.context.scene:
        return  # where poses are read
    # Meshes are updated when weights change; objects also when they are posed.
    kinds = {type(update.id) for update in depsgraph.updates}
    of_armatures = kinds & {bpy.types.Armature, bpy.types.Action}
    if of_armatures or bpy.types.Mesh in kinds:
        view.forget(armatures=bool(of_armatures))


def draw():
    context = bpy.context
    if context.window_manager.araplbs_errors != "NONE" and context.space_data.overlay.show_overlays:
        view.draw(context)


def register():
    bpy.app.handlers.depsgraph_update_post.append(_after_update)
    bpy.types.WindowManager.araplbs_errors = EnumProperty(
        name="Show Error",
        description="Surface Strain as colors on the active mesh: where its faces are stretched, "
        "compressed or sheared when posed",
        items=(
            ("NONE", "Off", "No colors"),
            ("POSES", "All Poses", "Over the poses that the settings of this tab give"),
            ("POSE", "This Pose", "In the pose that the armature is in"),
        ),
        update=_chosen,
        options={"SKIP_SAVE"},
    )


def unregister():
    bpy.app.handlers.depsgraph_update_post.remove(_after_update)
    if bpy.app.timers.is_registered(_tick):
        bpy.app.timers.unregister(_tick)
    del bpy.types.WindowManager.araplbs_errors
