"""The operator "Wipe Before and After", which draws the meshes with the earlier weights to the left
of the mouse and with the new weights to the right."""

import bpy
import gpu
import numpy as np
from araplbs.base.affine import moved
from araplbs.base.refusal import Refused
from araplbs.reports.worst_poses import vertex_strain_of
from bpy.types import Operator
from gpu_extras.batch import batch_for_shader
from mathutils import Matrix

from ...blender.data.mesh_shape import triangle_vertices
from ...blender.poses.posed import posed_vertices
from ...blender.read.read_mesh import coordinates
from ...languages.translate import translated
from ...operators.drawing import draw_lines, draw_text, text_size
from ...operators.error_view import colored
from ...operators.guard import handing_over
from ...operators.modal_operator import moves_view, show_status
from ...preferences import preferred_threads
from .outcome import AFTER, BEFORE, OfOutcome, outcome_at_hand

IDNAME = "object.araplbs_wipe"
FAR = 0.99999  # depth of what covers the scene
LINE, TEXT = (1.0, 1.0, 1.0, 0.9), 14


class OBJECT_OT_araplbs_wipe(OfOutcome, Operator):
    """Move a line across the view: the meshes have the earlier weights to its left and the new \
weights to its right, colored by stretch. If the rig is not posed, it takes the worst pose until \
the end. The view can be moved. Click or Esc ends"""

    bl_idname = IDNAME
    bl_label = "Wipe Before and After"
    bl_options = {"INTERNAL"}  # nothing is left to undo

    _handles = ()

    @classmethod
    def poll(cls, context):
        super().poll(context)
        if not outcome_at_hand(context).slots[BEFORE]:
            raise Refused("The meshes had no weights before")
        if not context.area or context.area.type != "VIEW_3D":
            raise Refused("Available only in the 3D view")
        return True

    def invoke(self, context, event):
        outcome, manager = outcome_at_hand(context), context.window_manager
        self._posed = _is_at_rest(outcome.armature.get())
        if self._posed:
            with handing_over():
                bpy.ops.object.araplbs_show_worst()
        self._colors = manager.araplbs_errors
        self._region = next(each for each in context.area.regions if each.type == "WINDOW")
        shown = outcome.shown()
        try:
            self._sides = [_surfaces(context, outcome, which) for which in (BEFORE, AFTER)]
        finally:
            outcome.show(shown)
        self._at = event.mouse_x - self._region.x
        add = bpy.types.SpaceView3D.draw_handler_add
        self._handles = [
            add(draw, (), "WINDOW", place)
            for draw, place in ((self._draw, "POST_VIEW"), (self._draw_line, "POST_PIXEL"))
        ]
        manager.araplbs_errors = "NONE"
        manager.modal_handler_add(self)
        show_status(context, "Move the mouse to wipe   |   Esc: end")
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        if event.type == "MOUSEMOVE":
            self._at = event.mouse_x - self._region.x
            context.area.tag_redraw()
        elif event.type in {"LEFTMOUSE", "RIGHTMOUSE", "ESC", "RET"} and event.value == "PRESS":
            self.cancel(context)
            return {"CANCELLED"}
        return {"PASS_THROUGH"} if moves_view(event) else {"RUNNING_MODAL"}

    def cancel(self, context):
        handles, self._handles = self._handles, ()
        for handle in handles:
            bpy.types.SpaceView3D.draw_handler_remove(handle, "WINDOW")
        if not handles:
            return
        context.window_manager.araplbs_errors = self._colors
        show_status(context)
        if self._posed and bpy.ops.object.araplbs_own_pose.poll():
            with handing_over():
                bpy.ops.object.araplbs_own_pose()
        if context.area:
            context.area.tag_redraw()

    abandon = cancel  # see guard.py

    def _draw(self):
        if bpy.context.region != self._region:
            return
        width, height = self._region.width, self._region.height
        at, before = int(np.clip(self._at, 0, width)), gpu.state.scissor_get()
        shader = gpu.shader.from_builtin("SMOOTH_COLOR")
        gpu.state.depth_mask_set(True)
        _cover()
        gpu.state.depth_test_set("LESS_EQUAL")
        gpu.state.scissor_test_set(True)
        for batches, (left, right) in zip(self._sides, ((0, at), (at, width)), strict=True):
            gpu.state.scissor_set(left, 0, right - left, height)
            for batch in batches if right > left else ():
                batch.draw(shader)
        gpu.state.scissor_set(*before)
        gpu.state.scissor_test_set(False)
        gpu.state.depth_mask_set(False)
        gpu.state.depth_test_set("NONE")

    def _draw_line(self):
        if bpy.context.region != self._region:
            return
        height = self._region.height
        draw_lines([(self._at, 0, 0), (self._at, height, 0)], LINE, 2.0)
        before = translated("Before")
        draw_text(before, self._at - text_size(before, TEXT)[0] - 8, height / 6, TEXT, LINE)
        draw_text(translated("After"), self._at + 8, height / 6, TEXT, LINE)


def _cover():
    """Covers the scene, whose meshes would stand out on one side of the line."""
    ground = bpy.context.preferences.themes[0].view_3d.space.gradients.high_gradient
    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    corners = [(x, y, FAR) for x in (-1, 1) for y in (-1, 1)]
    batch = batch_for_shader(shader, "TRI_STRIP", {"pos": corners})
    gpu.state.depth_test_set("ALWAYS")
    with gpu.matrix.push_pop(), gpu.matrix.push_pop_projection():
        gpu.matrix.load_identity()
        gpu.matrix.load_projection_matrix(Matrix.Identity(4))
        shader.uniform_float("color", (*ground, 1.0))
        batch.draw(shader)


def _is_at_rest(armature):
    return armature.data.pose_position == "REST" or all(
        np.allclose(posed.matrix_basis, np.eye(4), atol=1e-4) for posed in armature.pose.bones
    )


def _surfaces(context, outcome, which):
    """The batches of the meshes with these weights, in the present pose."""
    outcome.show(which)
    context.view_layer.update()
    depsgraph, found = context.evaluated_depsgraph_get(), []
    for each in outcome.objects:
        ob = each.get()
        if ob.visible_get():
            points, triangles = posed_vertices(ob, depsgraph), triangle_vertices(ob.data)
            rest = moved(coordinates(ob), np.array(ob.matrix_world))
            threads = preferred_threads(context)
            strain = vertex_strain_of(rest, triangles, points, threads)
            found.append(colored(ob.data, points.astype(np.float32), strain))
    return found


CLASSES = (OBJECT_OT_araplbs_wipe,)
