"""The operator "Show Pose": puts the rig into the worst pose of a finding, and restores the
earlier pose."""

from contextlib import suppress

import bpy
from araplbs.base.refusal import Refused
from bpy.types import Operator

from ...blender.poses.pose_rig import PosedRig, posed_frame
from ...blender.read.control_bones import is_left_out
from ...operators.error_view import view
from .findings_list import found, quietly
from .look_at import OwnView, look_at, places_of, refuse_unseen, space_of
from .operator import INDEX, OfFinding

IDNAME = "object.araplbs_show_pose"
BACK = "object.araplbs_own_pose"

_colors = []  # the colors displayed before the rig was put into the pose
_own = []  # the _Own of before the first pose
_posed = []  # the PosedRig or PosedFrame of the rig that is not in its own pose


class _Own:
    """What the artist saw before the rig was put into the first pose: the 3D view, the frame, and
    the finding that was marked."""

    def __init__(self, context):
        space, check, scene = space_of(context), context.window_manager.araplbs_check, context.scene
        self._view = OwnView(space) if space else None
        self._scene, self._frame = scene.name, (scene.frame_current, scene.frame_subframe)
        self._list, self._marked = found.list, (check.active, check.show)

    def put_frame_back(self):
        scene = bpy.data.scenes.get(self._scene)
        if scene and (scene.frame_current, scene.frame_subframe) != self._frame:
            scene.frame_set(self._frame[0], subframe=self._frame[1])

    def put_view_back(self):
        if self._view:
            self._view.put_back()
        active, show = self._marked
        with quietly() as check:
            check.active, check.show = active if found.list is self._list else -1, show


def keep_own(context):
    """Remembers the 3D view, the frame and the marked finding for put_back(), unless a rig is
    already posed."""
    if not posed_rig():
        _own[:] = [_Own(context)]


def posed_rig():
    """The posed rig, or None if no rig is posed or it was deleted."""
    return _posed[0] if _posed and _posed[0].armature.find() else None


class OBJECT_OT_araplbs_show_pose(OfFinding, Operator):
    """Put the rig into the pose in which the finding is worst, turn the view to the finding, and \
color the mesh by stretch. Hold Y to see the earlier weights. Back to My Pose returns to your \
pose"""

    # If the armature plays the action of Range of Motion, the pose is one of its frames.

    bl_idname = IDNAME
    bl_label = "Show Pose"

    index: INDEX

    def work(self, context, finding, ob):
        if not has_pose(finding):
            raise Refused("This finding is the same in every pose")
        refuse_unseen(context, ob)
        keep_own(context)
        checked = found.list
        pose_as(context, found.armature.get(), checked.bones, checked.poses, finding.pose, ob)
        look_at(context, ob, places_of(context, finding, ob))
        return {"FINISHED"}


class OBJECT_OT_araplbs_own_pose(Operator):
    """Return the rig to its previous pose, and the view to where it was"""

    bl_idname = BACK
    bl_label = "Back to My Pose"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, _context):
        if not posed_rig():
            raise Refused("The rig is back in its own pose")
        return True

    def execute(self, context):
        put_back()
        context.view_layer.update()
        return {"FINISHED"}


def pose_as(context, armature, bones, poses, number, ob):
    """Puts the rig into one of these poses (p, m, 3, 4) of its bones, and colors the mesh `ob` by
    its stretch in this pose. Bones that were left out have no pose, so they follow their
    parents."""
    if armature.library or armature.override_library:
        raise Refused(f"'{armature.name}' belongs to another file")
    if armature.mode == "EDIT":
        raise Refused(f"'{armature.name}' is in Edit mode")
    pose = dict(zip(bones, poses[number], strict=True))
    own = armature.data.bones
    deform = {b: pose[b] for b in bones if own[b].use_deform and not is_left_out(own[b])}
    _put_pose_back()
    frame = posed_frame(context, armature, number, deform)
    _posed[:] = [frame or PosedRig(armature, deform)]
    manager = context.window_manager
    if manager.araplbs_errors != "POSE":
        _colors[:] = [manager.araplbs_errors]
        manager.araplbs_errors = "POSE"
    view.turn_to(context, ob)
    context.view_layer.update()


def has_pose(finding):
    """Whether the finding has a worst pose."""
    poses = found.list.poses
    return poses is not None and 0 <= finding.pose < len(poses)


def put_back():
    """Restores the pose of every rig, and the view, frame, colors and marked finding of before."""
    own = _own.pop() if _own else None
    if own:
        own.put_frame_back()
    _put_pose_back()
    if own:
        own.put_view_back()


def _put_pose_back():
    view.turned_to = None
    if _colors:
        manager, before = bpy.context.window_manager, _colors.pop()
        if manager.araplbs_errors == "POSE":
            manager.araplbs_errors = before
    while _posed:
        with suppress(Refused):  # it was deleted
            _posed.pop().put_back()


def forget():
    _posed.clear()
    _colors.clear()
    _own.clear()


def _before_saving(*_arguments):
    """Restores the poses before saving, because files store the artist's own pose, with its
    constraints."""
    with suppress(Refused):
        put_back()


HANDLERS = (("save_pre", _before_saving),)


CLASSES = (OBJECT_OT_araplbs_show_pose, OBJECT_OT_araplbs_own_pose)


def unregister():
    with suppress(Refused):
        put_back()
