"""The operators "Pictures of Joints", which shows the images of the Result box in a larger size,
and "Save Pictures", which writes them to a PNG file."""

from pathlib import Path

import bpy
import gpu
import numpy as np
from araplbs.base.refusal import Refused
from araplbs.disk.outputs import PICTURE, write_content
from araplbs.reports.pictures import png
from araplbs.reports.worst_poses import SIDE
from bpy.props import BoolProperty, StringProperty
from bpy.types import Operator
from mathutils import Matrix

from ...languages.translate import inform, translated
from ...operators.drawing import draw_text, text_size
from ...operators.sidebar import shortened
from .outcome import OfOutcome, outcome_at_hand
from .show_worst import IDNAME as SHOW_WORST
from .strip import PLAY, icons_of

IDNAME = "object.araplbs_show_pictures"
SAVE = "object.araplbs_save_pictures"
LARGE = 9.0  # size of an icon, in units
WIDTH = 190  # pixels of a column, at a scale of 1
LINE, TEXT = 24, 15  # pixels of a caption, and of its font
GROUND, INK = 48, (0.9, 0.9, 0.9, 1.0)


class _OfPictures(OfOutcome):
    """Mix-in for an operator on the pictures of the displayed Outcome."""

    @classmethod
    def poll(cls, context):
        super().poll(context)
        if not outcome_at_hand(context).seen:
            raise Refused("There are no pictures yet")
        return True


class OBJECT_OT_araplbs_show_pictures(_OfPictures, Operator):
    """Show the pictures of joints in a larger size, each with its bone and pose"""

    bl_idname = IDNAME
    bl_label = "Pictures of Joints"
    bl_options = {"INTERNAL"}

    def invoke(self, context, _event):
        width = WIDTH * len(outcome_at_hand(context).seen)
        return context.window_manager.invoke_popup(self, width=width)

    def execute(self, _context):
        return {"FINISHED"}

    def draw(self, context):
        outcome, layout = outcome_at_hand(context), self.layout
        if not outcome or not outcome.seen:
            return
        layout.operator_context = "INVOKE_DEFAULT"
        row = layout.row()
        for index, (each, both) in enumerate(
            zip(outcome.seen, icons_of(context, outcome) or (), strict=False)
        ):
            column = row.column(align=True)
            column.label(text=translated(_title(each)), translate=False)
            for text, icon in zip(_captions(each), both, strict=True):
                if icon:
                    column.label(text=translated(text), translate=False)
                    column.template_icon(icon_value=icon, scale=LARGE)
            buttons = column.row(align=True)
            buttons.operator(SHOW_WORST, text="Show", icon="POSE_HLT").index = index
            buttons.operator(PLAY, text="Play", icon="PLAY").bone = each.bone
        layout.operator(SAVE, icon="FILE_IMAGE")


def _title(seen):
    return f"{seen.bone}, pose {seen.pose + 1}"


def _captions(seen):
    before, now = seen.strain
    return f"Before: {100 * (before or 0):.1f} %", f"After: {100 * now:.1f} %"


class OBJECT_OT_araplbs_save_pictures(_OfPictures, Operator):
    """Save the pictures of joints, before and after, as one PNG file"""

    bl_idname = SAVE
    bl_label = "Save Pictures"
    bl_options = {"REGISTER"}

    filepath: StringProperty(subtype="FILE_PATH", options={"SKIP_SAVE"})
    filter_glob: StringProperty(default="*.png", options={"HIDDEN"})
    check_existing: BoolProperty(default=True, options={"HIDDEN"})

    def invoke(self, context, _event):
        self.filepath = f"{outcome_at_hand(context).armature.name} joints.png"
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context):
        if not self.filepath:
            raise Refused("Choose the file to write")
        path = Path(bpy.path.abspath(self.filepath)).with_suffix(".png")
        write_content(path, PICTURE, png(sheet(outcome_at_hand(context).seen), PICTURE.generator))
        inform(self, f"Wrote {path.name}")
        return {"FINISHED"}


def sheet(seen):
    """The pictures as one image (height, width, 4) uint8: a column for each joint, with the bone,
    the pose, and the stretch before and after."""
    rows = 2 if any(each.pictures[0] is not None for each in seen) else 1
    height, width = LINE + rows * (SIDE + LINE), len(seen) * SIDE
    image = np.full((height, width, 4), (GROUND, GROUND, GROUND, 255), np.uint8)
    texts = []
    for k, each in enumerate(seen):
        texts.append((k * SIDE, LINE, _title(each)))
        both = zip(_captions(each), each.pictures, strict=True)
        for place, (text, pixels) in enumerate(list(both)[-rows:]):
            top = LINE + place * (SIDE + LINE)
            texts.append((k * SIDE, top + LINE, text))
            if pixels is not None:
                _lay(image[top + LINE : top + LINE + SIDE, k * SIDE : (k + 1) * SIDE], pixels)
    if not bpy.app.background:  # without a window, Blender draws no text
        _lay(image, _written(texts, width, height))
    return image


def _lay(below, pixels):
    """Draws pixels (h, w, 4) over an opaque image."""
    share = pixels[..., 3:] / 255
    below[..., :3] = np.round(share * pixels[..., :3] + (1 - share) * below[..., :3])


def _written(texts, width, height):
    """Texts [(left, bottom from the top, text)] as an image (height, width, 4) uint8."""
    target = gpu.types.GPUOffScreen(width, height)
    try:
        with target.bind(), gpu.matrix.push_pop(), gpu.matrix.push_pop_projection():
            buffer = gpu.state.active_framebuffer_get()
            buffer.clear(color=(INK[0], INK[1], INK[2], 0.0))
            gpu.matrix.load_matrix(Matrix.Identity(4))
            scale = Matrix.Diagonal((2 / width, 2 / height, 1, 1))
            gpu.matrix.load_projection_matrix(Matrix.Translation((-1, -1, 0)) @ scale)
            gpu.state.blend_set("ALPHA")
            for left, bottom, text in texts:
                text = shortened(translated(text), SIDE - 12, _width)
                draw_text(text, left + 6, height - bottom + 7, TEXT, INK)
            gpu.state.blend_set("NONE")
            pixels = buffer.read_color(0, 0, width, height, 4, 0, "UBYTE")
    finally:
        target.free()
    return np.array(pixels.to_list(), np.uint8).reshape(height, width, 4)[::-1]


def _width(text):
    return text_size(text, TEXT)[0]


CLASSES = (OBJECT_OT_araplbs_show_pictures, OBJECT_OT_araplbs_save_pictures)
