"""The operators "Weight One Limb" and "Click a Limb to Weight", which compute new weights for the
bones of one limb, and the tool that does so at each click."""

import bpy
import numpy as np
from araplbs.base.refusal import Refused
from araplbs.body.chains import Tree
from bpy.props import BoolProperty, StringProperty
from bpy.types import Operator, WorkSpaceTool
from bpy_extras.view3d_utils import location_3d_to_region_2d

from ...blender.data.binding import armature_of
from ...blender.data.bones import chosen_bones, visible_bones
from ...blender.read.pointed import nearest_vertex, ray_of, shares_of
from ...blender.read.read_armature import read_armature
from ...blender.read.targets import find_posing
from ...languages.translate import inform
from ...operators.drawing import draw_lines
from ...operators.guard import handing_over
from ...operators.menu_entries import Placed
from ...operators.modal_operator import moves_view, show_status
from ...operators.properties import WeightOptions
from ...operators.work import WorkOperator, poll_targets
from ...weighting import WeightingTask
from .originals import is_seen
from .outcome import tell_outcome
from .tasks import MeasuredWeighting

IDNAME = "object.araplbs_weight_limb"
PICK = "object.araplbs_pick_limb"
LIMB, WIDTH = (1.0, 0.75, 0.2, 1.0), 6.0  # lines along the limb under the mouse
NEAR = 20  # pixels, times the scale of the interface: the mouse is on a bone


class OBJECT_OT_araplbs_weight_limb(WorkOperator, WeightOptions, Operator):
    """Compute new weights for the limb of one bone, such as an arm, a finger or the spine. All \
other bones keep their weights"""

    bl_idname = IDNAME
    bl_label = "Weight One Limb"

    bone: StringProperty(name="Bone", description="Name of a bone of the limb")

    tell = tell_outcome
    find = staticmethod(find_posing)

    def targets(self, context):
        targets = super().targets(context)
        targets.only_bones, targets.bones = True, frozenset(limb_of(targets.armature, self.bone))
        return targets

    def start(self, context):
        self.task_kind = MeasuredWeighting if is_seen() else WeightingTask
        super().start(context)


def limb_of(armature, name):
    """Names of the deform bones of the limb that contains a bone. Raises Refused."""
    skeleton = read_armature(armature, False)
    if name not in skeleton.names:
        raise Refused(f"'{armature.name}' has no bone '{name}'")
    bone = skeleton.names.index(name)
    if not skeleton.deform[bone]:
        raise Refused(f"'{name}' is not a deform bone")
    tree = Tree(skeleton.heads, skeleton.tails, skeleton.parents, skeleton.deform)
    return [skeleton.names[b] for b in tree.limb(bone)]


class OBJECT_OT_araplbs_pick_limb(Placed, Operator):
    """Click a limb in the 3D view, on its skin or on a bone, to compute its weights again. All \
other bones keep their weights. In Pose mode with a selected bone, its limb is weighted at once"""

    bl_idname = PICK
    bl_label = "Weight One Limb"
    bl_options = {"INTERNAL"}  # the undo step is that of the other operator
    places = (
        ("VIEW3D_MT_object_parent", 90),
        ("VIEW3D_MT_pose", 90),
        ("VIEW3D_MT_paint_weight", 90),
    )
    icon = "CON_KINEMATIC"
    _handle = None

    at_mouse: BoolProperty(
        name="At Mouse",
        description="Weight the limb under the mouse at once",
        options={"SKIP_SAVE"},
    )

    @classmethod
    def poll(cls, context):
        poll_targets(context, find_posing)
        if not context.area or context.area.type != "VIEW_3D":
            raise Refused("Available only in the 3D view")
        return True

    def invoke(self, context, event):
        armature = find_posing(context).armature
        if self.at_mouse:
            return self._pick(context, event) or {"CANCELLED"}
        active = armature.data.bones.active
        if context.mode == "POSE" and active and chosen_bones(armature).any():
            return _weight(active.name)
        self._lines = lines = []
        self._handle = bpy.types.SpaceView3D.draw_handler_add(
            lambda: lines and draw_lines(lines, LIMB, WIDTH), (), "WINDOW", "POST_VIEW"
        )
        context.window_manager.modal_handler_add(self)
        context.window.cursor_modal_set("EYEDROPPER")
        show_status(context, "Click a limb", "Esc: cancel")
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        if event.type == "MOUSEMOVE":
            armature = find_posing(context).armature
            bone = bone_under(context, armature, (event.mouse_x, event.mouse_y))
            bones = limb_of(armature, bone) if bone else []
            self._lines[:] = [
                armature.matrix_world @ end
                for name in bones
                for end in (armature.pose.bones[name].head, armature.pose.bones[name].tail)
            ]
            context.area.tag_redraw()
            found = f"Click: weight {len(bones)} bones, {bones[0]} to {bones[-1]}" if bones else ""
            show_status(context, found or "Click a limb", "Esc: cancel")
        elif event.type == "LEFTMOUSE" and event.value == "PRESS":
            return self._pick(context, event) or {"RUNNING_MODAL"}
        elif event.type in {"ESC", "RIGHTMOUSE"} and event.value == "PRESS":
            self._end(context)
            return {"CANCELLED"}
        elif moves_view(event):
            return {"PASS_THROUGH"}
        return {"RUNNING_MODAL"}

    def _pick(self, context, event):
        """Weights the limb under the mouse. Returns None without a limb there."""
        armature = find_posing(context).armature
        bone = bone_under(context, armature, (event.mouse_x, event.mouse_y))
        if not bone:
            inform(self, f"Nothing of '{armature.name}' is under the mouse")
            return None
        self._end(context)
        return _weight(bone)

    def cancel(self, context):
        self._end(context)

    abandon = cancel  # see guard.py

    def _end(self, context):
        if self._handle:
            bpy.types.SpaceView3D.draw_handler_remove(self._handle, "WINDOW")
            self._handle = None
            context.area.tag_redraw()
        context.window.cursor_modal_restore()
        show_status(context)


def _weight(bone):
    with handing_over():
        bpy.ops.object.araplbs_weight_limb("INVOKE_DEFAULT", bone=bone)
    return {"CANCELLED"}  # the other operator makes the undo step


def bone_under(context, armature, at):
    """The name of the deform bone under a pixel of the window, or None: the one that moves the skin
    there most or, without skin, the nearest visible bone."""
    region = next(each for each in context.area.regions if each.type == "WINDOW")
    view = context.area.spaces.active.region_3d
    at = at[0] - region.x, at[1] - region.y
    depsgraph = context.evaluated_depsgraph_get()
    hit, place, _normal, face, ob, _matrix = context.scene.ray_cast(
        depsgraph, *ray_of(region, view, at)
    )
    if hit and ob.type == "MESH" and armature_of(ob.original) == armature:
        ob, evaluated = ob.original, ob.evaluated_get(depsgraph)
        place = evaluated.matrix_world.inverted_safe() @ place
        shares = shares_of(ob, armature, nearest_vertex(ob, evaluated, place, face, depsgraph))
        if shares:
            return shares[0][0]
    return _bone_near(
        region, view, armature, np.array(at), NEAR * context.preferences.system.ui_scale
    )


def _bone_near(region, view, armature, at, most):
    found = None
    for bone, seen in zip(armature.data.bones, visible_bones(armature), strict=True):
        posed = armature.pose.bones[bone.name]
        ends = [
            location_3d_to_region_2d(region, view, armature.matrix_world @ end)
            for end in (posed.head, posed.tail)
        ]
        if not (seen and bone.use_deform) or None in ends:
            continue
        head, tail = map(np.array, ends)
        share = np.clip(
            (at - head) @ (tail - head) / max((tail - head) @ (tail - head), 1e-9), 0, 1
        )
        away = np.linalg.norm(head + share * (tail - head) - at)
        if away <= most:
            found, most = bone.name, away
    return found


class ARAPLBS_TOOL_limb(WorkSpaceTool):
    bl_idname = "araplbs.limb"
    bl_label = "Weight One Limb (ARAP)"
    bl_description = (
        "Click an arm, a leg or a finger to compute its weights again. All other bones keep their "
        "weights"
    )
    bl_space_type = "VIEW_3D"
    bl_context_mode = "PAINT_WEIGHT"
    bl_cursor = "EYEDROPPER"
    bl_icon = "ops.pose.relax"
    bl_keymap = (
        (
            PICK,
            {"type": "LEFTMOUSE", "value": "PRESS"},
            {"properties": [("at_mouse", True)]},
        ),
    )


class ARAPLBS_TOOL_limb_of_object(ARAPLBS_TOOL_limb):
    bl_context_mode = "OBJECT"


TOOLS = (ARAPLBS_TOOL_limb, ARAPLBS_TOOL_limb_of_object)
CLASSES = (OBJECT_OT_araplbs_weight_limb, OBJECT_OT_araplbs_pick_limb)


def register():
    for tool in TOOLS:
        bpy.utils.register_tool(tool, separator=True)


def unregister():
    for tool in TOOLS:
        bpy.utils.unregister_tool(tool)
