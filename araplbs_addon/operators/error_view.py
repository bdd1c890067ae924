"""Displays as colors either the stretch of the current mesh or the weights of all its bones. A
thread keeps the colors up to date."""

import bpy
import gpu
import numpy as np
from araplbs.character.pose_sets import pose_options, pose_set
from araplbs.measures.armature_modifier import vertex_strain
from araplbs.measures.bone_colors import bone_colors
from araplbs.measures.deformer_preview import shaded
from araplbs.measures.strain_colors import strain_colors
from bpy.props import BoolProperty, EnumProperty

from ..blender.data.mesh_shape import triangle_vertices
from ..blender.poses.posed import posed_vertices
from ..blender.poses.read_poses import present_pose
from ..blender.read.deformation_errors import poses_of, read_weighted
from ..preferences import preferred_threads
from .drawing import draw_in_front
from .mesh_view import MeshView, colored_batch
from .session import current_session
from .settings import present_options

OF_STRETCH = ("POSES", "POSE")


class _ErrorView(MeshView):
    """result: strain (n,), or colors (n, 3) of bones. source: (key, armature name, Problem,
    SparseWeights) of a mesh without session."""

    def clear(self):
        super().clear()
        self._poses = self._drawn = None  # (key, Poses) for an armature; points of the batch

    def ready(self, ob):
        session = current_session()
        return session.frame is not None if session else self.calm

    def forget(self, armatures=False):
        """Marks the known weights as out of date, and discards the poses of armatures on
        request."""
        super().forget()
        if armatures and not self._reading:
            self._poses = None

    def work(self, context, ob):
        mode = context.window_manager.araplbs_errors
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
                with self.no_news(view_layer):
                    armature, problem, rows = read_weighted(ob, view_layer, options)
                self._source = (ob.session_uid, options), armature.name, problem, rows
            _key, armature_name, problem, rows = self._source
            armature = bpy.data.objects[armature_name]
        if mode == "BONES":
            poses = None
        elif mode == "POSE":
            poses = present_pose(armature, problem.skeleton, view_layer.depsgraph)
        else:
            poses = self._all_poses(armature, problem, options, view_layer) if number < 0 else None
        posed = poses.key if mode == "POSE" else None if mode == "BONES" else options
        key = (ob.session_uid, size, mode, number, posed)

        def compute(_progress):
            if mode == "BONES":
                return bone_colors(rows, len(problem.skeleton.names))[begin:end]
            chosen = poses or pose_set(problem, options)
            return vertex_strain(problem, rows, chosen, threads)[begin:end]

        return key, compute

    def _all_poses(self, armature, problem, options, view_layer):
        key = armature.session_uid, options, problem.skeleton.deform.tobytes()
        if not self._poses or self._poses[0] != key:
            with self.no_news(view_layer):
                self._poses = key, poses_of(armature, problem, options, view_layer)
        return self._poses[1]

    def scene_changed(self, depsgraph):
        if current_session():
            return
        # Meshes are updated when weights change; objects also when they are posed.
        kinds = {type(update.id) for update in depsgraph.updates}
        of_armatures = kinds & {bpy.types.Armature, bpy.types.Action}
        if of_armatures or bpy.types.Mesh in kinds:
            self.forget(armatures=bool(of_armatures))

    def draw_result(self, context, ob):
        if ob != self.subject(context):
            return
        points = posed_vertices(ob, context.evaluated_depsgraph_get()).astype(np.float32)
        if self._batch is None or not np.array_equal(points, self._drawn):
            self._drawn, self._batch = points, colored(ob.data, points, self.result)
        draw_in_front(self._batch, gpu.shader.from_builtin("SMOOTH_COLOR"))


def colored(mesh, points, result):
    """A batch for SMOOTH_COLOR of a mesh at these points. result: strain (n,) or colors (n, 3)."""
    triangles = triangle_vertices(mesh)
    flat = strain_colors(result) / 255 if result.ndim == 1 else result
    return colored_batch(points, shaded(points, triangles, flat), triangles)


view = _ErrorView("araplbs_errors")


def _chosen(_manager, _context):
    view.forget(armatures=True)
    view.start()


def draw_choice(layout, context):
    """Draws the buttons that choose the displayed colors."""
    column = layout.column(align=True)
    for values in (("NONE", "BONES"), ("POSES", "POSE")):
        row = column.row(align=True)
        for value in values:
            row.prop_enum(context.window_manager, "araplbs_errors", value)


def draw_eye(layout, context):
    """Draws one button that turns the stretch colors on and off."""
    manager = context.window_manager
    icon = "HIDE_OFF" if manager.araplbs_stretch_shown else "HIDE_ON"
    layout.prop(manager, "araplbs_stretch_shown", text="", icon=icon)


def _stretch_shown(manager):
    return manager.araplbs_errors in OF_STRETCH


def _show_stretch(manager, shown):
    manager.araplbs_errors = "POSES" if shown else "NONE"


STRETCH_SHOWN = BoolProperty(
    name="Stretch Colors",
    description="Color the mesh by how much its faces stretch when posed: gray faces keep "
    "their shape, dark red faces do not",
    get=_stretch_shown,
    set=_show_stretch,
    options={"SKIP_SAVE"},
)
ERRORS = EnumProperty(
    name="Colors on the Mesh",
    description="Colors that show how the faces of the mesh stretch, compress or shear when "
    "posed, or the weights of all bones",
    items=(
        ("NONE", "Off", "No colors"),
        ("POSES", "Stretch", "Stretch over the poses defined by the settings of this tab"),
        ("POSE", "This Pose", "Stretch in the current pose of the armature"),
        (
            "BONES",
            "All Bones",
            "The weights of all bones at once: each bone has a color, and colors are mixed "
            "where several bones move a vertex",
        ),
    ),
    update=_chosen,
    options={"SKIP_SAVE"},
)
PROPERTIES = (
    (bpy.types.WindowManager, "araplbs_stretch_shown", STRETCH_SHOWN),
    (bpy.types.WindowManager, "araplbs_errors", ERRORS),
)
unregister = view.end
