"""Implements the brushes of the Auto-weight tools, whose strokes in the viewport change edits.
Strokes follow the X Mirror setting of the mesh.

As with Blender's own brushes, the radius is measured on the screen at the hit point, and the brush
acts within a sphere of that radius."""

import bpy
import numpy as np
from araplbs.base.refusal import Refused
from araplbs.character.mirror_images import images_of
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty
from bpy.types import Operator
from bpy_extras import view3d_utils
from mathutils import Vector

from ...blender.data.binding import armature_of
from ...blender.data.edits import KINDS, OF_NO_BONE, add_link, find_edit, paint_edit, read_values
from ...blender.data.mesh_shape import group_weights, points_of, values_of
from ...blender.poses.posed import posed_vertices
from ...blender.read.pointed import ray_cast
from ...blender.read.read_armature import opposite_bone
from ...blender.read.read_mesh import masked_vertices
from ...operators.guard import handing_over
from ...operators.session import current_session
from .operator import active_bone, one_change, refuse_bone, takes_edits, tell_split

IDNAME = "object.araplbs_brush"
GRADED = ("WEIGHT", "SMOOTH")  # kinds whose strokes have a falloff and a strength
LEAST_EFFECT = 0.02  # share of the falloff; smaller effects are ignored

UNKNOWN, NO_IMAGE = -2, -1  # maximum distance of a vertex from the mirrored position

_strokes = []  # the stroke in progress, for the overlay
_images = {}  # (kind, bone): the bone on the other side, as found by strokes


def current_stroke():
    """The Stroke in progress, or None."""
    return _strokes[0] if _strokes else None


def image_of(ob, item):
    """The edit on the other side that X Mirror creates together with this one, or None."""
    if not ob.data.use_mirror_x or item.kind in OF_NO_BONE:
        return None
    image = _images.get((item.kind, item.bone), bpy.utils.flip_name(item.bone))
    return find_edit(ob.data, item.kind, image) if image != item.bone else None


class ARAPLBS_brush(bpy.types.PropertyGroup):
    radius: IntProperty(
        name="Radius",
        description="Radius of the brush on the screen",
        default=50,
        min=1,
        soft_max=500,
        subtype="PIXEL",
    )
    strength: FloatProperty(
        name="Strength",
        description="How far one stroke moves the target weight toward the brush's weight, or how "
        "smooth it makes the weights",
        default=1.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
    )
    weight: FloatProperty(
        name="Weight",
        description="Target weight of the active bone",
        default=1.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
    )


PROPERTIES = ((bpy.types.Scene, "araplbs_brush", PointerProperty(type=ARAPLBS_brush)),)


class Stroke:
    """The vertices that a stroke has touched so far. points (n, 3): vertices in world space; effect
    (n,): the largest falloff at each vertex; ends: the vertices of a link."""

    def __init__(self, context, kind):
        self.kind, self.ob = kind, context.active_object
        self.brush = context.scene.araplbs_brush
        self.depsgraph = context.evaluated_depsgraph_get()
        self.evaluated = self.ob.evaluated_get(self.depsgraph)
        self.points = posed_vertices(self.ob, self.depsgraph)
        self.open = paintable_vertices(self.ob.data)
        self.effect = np.zeros(len(self.points))
        self.ends = []
        self._last = None
        self._images = np.full(len(self.points), UNKNOWN)

    def move(self, context, at):
        """Adds dabs from the last position to this one, so close together that they leave no
        gap."""
        at = Vector(at)
        last = at if self._last is None else self._last
        step = max(1.0, self.brush.radius / 3)
        count = max(1, int((at - last).length / step))
        for k in range(1, count + 1):
            self._dab(context, last.lerp(at, k / count))
        self._last = at

    def _hit(self, context, at):
        """The point of the mesh below the mouse, in world space, or None."""
        hit, place, _normal, _face = ray_cast(context, self.evaluated, at)
        return self.evaluated.matrix_world @ place if hit else None

    def _dab(self, context, at):
        place = self._hit(context, at)
        if place is None:
            return
        distance = np.linalg.norm(self.points - np.array(place), axis=1)
        if self.kind == "LINK":
            self.ends = [*self.ends[:1], int(distance.argmin())]
            return
        beside = view3d_utils.region_2d_to_location_3d(
            context.region, context.region_data, at + Vector((self.brush.radius, 0)), place
        )
        share = np.clip(distance / max((beside - place).length, 1e-12), 0, 1)
        falloff = (1 - share**2) ** 2
        if self.kind not in GRADED:
            falloff = falloff > 0
        np.maximum(self.effect, falloff, out=self.effect)

    @property
    def touched(self):
        """Indices of the vertices that the stroke changes."""
        if self.kind == "LINK":
            return np.array(self.ends, int)
        strength = self.brush.strength if self.kind in GRADED else 1.0
        return np.flatnonzero((self.effect * strength > LEAST_EFFECT) & self.open)

    @property
    def mirrored(self):
        """Indices of the vertices at the mirrored positions that X Mirror also changes."""
        mesh, touched = self.ob.data, self.touched
        if not mesh.use_mirror_x:
            return np.zeros(0, int)
        new = touched[self._images[touched] == UNKNOWN]
        if len(new):
            self._images[new] = NO_IMAGE
            pairs = images_of(points_of(mesh), new)
            self._images[new[pairs[:, 0]]] = pairs[:, 1]
        images = self._images[touched]
        images = images[images >= 0]
        return images if self.kind == "LINK" else np.setdiff1d(images[self.open[images]], touched)


class OBJECT_OT_araplbs_brush(Operator):
    """Paint target weights or smoothness, add or remove influences, release vertices from a bone, \
or draw links"""

    bl_idname = IDNAME
    bl_label = "Auto-weight Brush"
    bl_options = {"REGISTER"}

    kind: EnumProperty(name="Kind", items=[item for item in KINDS if item[0] != "RIGID"])
    erase: BoolProperty(
        name="Erase",
        description="Undo the effect of the brush. The influence brush removes influences",
    )
    clear: BoolProperty(
        name="Clear", description="Let the optimization choose the influences again"
    )

    @classmethod
    def poll(cls, context):
        if context.mode != "PAINT_WEIGHT" or not context.region_data:
            raise Refused("Paint in the 3D view, in Weight Paint mode")
        return True

    def invoke(self, context, event):
        ob = context.active_object
        if self.kind not in OF_NO_BONE:
            refuse_bone(ob, active_bone(ob))
        if self.kind == "RELEASE" and not current_session():
            raise Refused("Release works only during Refine Live")
        _strokes[:] = [Stroke(context, self.kind)]
        self._move(context, event)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        if event.type in {"MOUSEMOVE", "INBETWEEN_MOUSEMOVE"}:
            self._move(context, event)
        elif event.type in {"ESC", "RIGHTMOUSE"}:
            return self._end(context, {"CANCELLED"})
        elif event.type == "LEFTMOUSE" and event.value == "RELEASE":
            self._move(context, event)
            stroke = current_stroke()
            if len(stroke.touched) and self._is_solved(stroke):
                every = np.union1d(stroke.touched, stroke.mirrored)
                self._apply(stroke)
                self._end(context, None)
                _solve_below(stroke.ob.data, every)  # which makes the undo step
            elif len(stroke.touched):
                with one_change(self.bl_label, stroke.ob):
                    self._apply(stroke)
                if self.kind == "WEIGHT" and not self.erase:
                    tell_split(self, context, active_bone(stroke.ob), stroke.touched)
            return self._end(context, {"FINISHED"})
        elif event.type == "TIMER":
            return {"PASS_THROUGH"}
        return {"RUNNING_MODAL"}

    def _is_solved(self, stroke):
        """Whether the weights below the stroke are computed again: those that Smooth Weights
        touches, unless a session does so."""
        if self.kind != "SMOOTH" or current_session():
            return False
        every = stroke.ob.data.vertices
        return all(len(every[vertex].groups) for vertex in stroke.touched.tolist())

    def _move(self, context, event):
        current_stroke().move(context, (event.mouse_region_x, event.mouse_region_y))
        context.area.tag_redraw()

    def cancel(self, context):
        self._end(context, None)

    abandon = cancel  # see guard.py

    @staticmethod
    def _end(context, result):
        _strokes.clear()
        if context.area:
            context.area.tag_redraw()
        return result

    def _apply(self, stroke):
        mesh = stroke.ob.data
        if self.kind == "LINK":
            self._link(mesh, stroke.ends)
            return
        bone = "" if self.kind in OF_NO_BONE else active_bone(stroke.ob)
        image, vertices = bone, stroke.touched
        pairs = np.zeros((0, 2), int)
        if mesh.use_mirror_x:
            image = opposite_bone(armature_of(stroke.ob), bone) if bone else bone
            _images[self.kind, bone], _images[self.kind, image] = image, bone
            pairs = images_of(points_of(mesh), vertices)
            pairs = pairs[stroke.open[pairs[:, 1]]]
        if image == bone:  # one stroke covers both sides
            np.maximum.at(stroke.effect, pairs[:, 1], stroke.effect[vertices[pairs[:, 0]]])
            vertices = stroke.touched
        values = self._values(stroke, bone, vertices)
        self._paint(stroke, bone, vertices, values)
        if len(pairs) and image != bone and takes_edits(stroke.ob, image):
            self._paint(stroke, image, pairs[:, 1], values[pairs[:, 0]])
        for index, item in enumerate(mesh.araplbs.edits):
            if (item.kind, item.bone) == (self.kind, bone):
                mesh.araplbs.active = index  # the artist's own side, or the last one created

    @staticmethod
    def _link(mesh, ends):
        """Adds a link, and its mirror image if the image is a different link."""
        if len(set(ends)) != 2:
            return
        add_link(mesh, *ends)
        if mesh.use_mirror_x:
            images = images_of(points_of(mesh), np.array(ends))[:, 1].tolist()
            if len(set(images)) == 2 and set(images) != set(ends):
                add_link(mesh, *images)

    def _paint(self, stroke, bone, vertices, values):
        if self.kind == "RELEASE":  # a vertex without ties cannot be released
            tied, _held, _released = tied_vertices(current_session(), stroke.ob, bone)
            vertices, values = np.intersect1d(tied, vertices), values[:1]
        if len(vertices):
            paint_edit(stroke.ob.data, self.kind, bone, vertices, values)

    def _values(self, stroke, bone, vertices):
        """The values of the edit (blender/data/edits.py) that the stroke assigns to these
        vertices."""
        if self.kind == "INFLUENCE":
            return np.full(len(vertices), 0.0 if self.clear else -1.0 if self.erase else 1.0)
        if self.erase:
            return np.zeros(len(vertices))
        if self.kind == "RELEASE":
            return np.ones(len(vertices))
        item = find_edit(stroke.ob.data, self.kind, bone)
        old = read_values(stroke.ob.data, item)[vertices] if item else np.zeros(len(vertices))
        share = stroke.effect[vertices] * stroke.brush.strength
        if self.kind == "SMOOTH":
            return old + share * (1 - old)
        present = group_weights(stroke.ob, stroke.ob.vertex_groups[bone], vertices)
        old = np.where(old > 0, old - 1, present)
        return 1 + old + share * (stroke.brush.weight - old)


def _solve_below(mesh, vertices):
    below = np.zeros(len(mesh.vertices), bool)
    below[vertices] = True
    with handing_over():
        bpy.ops.object.araplbs_solve_below("INVOKE_DEFAULT", vertices=np.packbits(below).tobytes())


def tied_vertices(session, ob, bone=None):
    """Returns the ties of an object's vertices to a bone, by default the active one, in the current
    state of the session: (vertices of the object, remaining fraction of the strength, released),
    each an array (k,)."""
    nothing = np.zeros(0, int), np.zeros(0), np.zeros(0, bool)
    if not session or not session.frame or ob not in session.objects():
        return nothing
    names, bone = session.task.problem.skeleton.names, bone or active_bone(ob)
    if bone not in names:
        return nothing
    begin, end = session.problem_vertices(session.objects().index(ob))
    ties = session.frame.ties
    own = (ties.bones == names.index(bone)) & (ties.vertices >= begin) & (ties.vertices < end)
    return ties.vertices[own] - begin, ties.held[own], ties.released[own]


def paintable_vertices(mesh):
    """(n,) bool: the visible vertices that the selection masks allow to be painted."""
    shown, masked = ~values_of(mesh.vertices, "hide", bool), masked_vertices(mesh)
    return shown if masked is None else shown & ~masked


CLASSES = (ARAPLBS_brush, OBJECT_OT_araplbs_brush)
