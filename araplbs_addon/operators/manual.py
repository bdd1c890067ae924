"""Opens the manual, whose pages are included in the extension, from a button or with F1 over our
buttons and settings."""

import bpy

from ..manual_pages import PAGES, first_page, has_pages

# The pages for operators and settings, by their names as Blender spells them for F1. The first
# match counts.
TOPICS = (
    ("bpy.ops.object.araplbs_transfer_shapes*", "shape_keys.html"),
    ("bpy.ops.object.araplbs_transfer*", "transfer.html"),
    ("bpy.ops.object.araplbs_show_matches*", "transfer.html"),
    ("bpy.types.araplbs_transfer*", "transfer.html"),
    ("bpy.ops.object.araplbs_copy*", "transfer.html"),
    ("bpy.ops.object.araplbs_keep_weights*", "restore.html"),
    ("bpy.ops.object.araplbs_restore_*", "restore.html"),
    ("bpy.ops.object.araplbs_reduce*", "reduce_bones.html"),
    ("bpy.ops.object.araplbs_range_of_motion*", "poses.html"),
    ("bpy.ops.object.araplbs_play_motion*", "poses.html"),
    ("bpy.ops.object.araplbs_lock_bones*", "paint.html"),
    ("bpy.ops.object.araplbs_reach*", "paint.html"),
    ("bpy.ops.object.araplbs_mirror_painted*", "paint.html"),
    ("bpy.ops.object.araplbs_*limb*", "paint.html"),
    ("bpy.ops.object.araplbs_one_spine*", "paint.html"),
    ("bpy.ops.object.araplbs_*rigid*", "parts.html"),
    ("bpy.ops.object.araplbs_take_in*", "control_bones.html"),
    ("bpy.ops.object.araplbs_deform_off*", "control_bones.html"),
    ("bpy.ops.object.araplbs_new_vertices*", "new_vertices.html"),
    ("bpy.ops.object.araplbs_bendy*", "bendy.html"),
    ("bpy.ops.object.araplbs_bake*", "bake.html"),
    ("bpy.ops.object.araplbs_quantize*", "engines.html"),
    ("bpy.ops.object.araplbs_export*", "export.html"),
    ("bpy.types.araplbs_export*", "export.html"),
    ("bpy.types.material.araplbs*", "engines.html"),
    ("bpy.ops.object.araplbs_compare*", "compare.html"),
    ("bpy.ops.object.araplbs_open_comparison*", "compare.html"),
    ("bpy.types.araplbs_compare*", "compare.html"),
    ("bpy.ops.object.araplbs_*joints*", "joints.html"),
    ("bpy.types.araplbs_joint*", "joints.html"),
    ("bpy.ops.object.araplbs_check*", "check.html"),
    ("bpy.ops.object.araplbs_mend*", "check.html"),
    ("bpy.ops.object.araplbs_repair*", "check.html"),
    ("bpy.ops.object.araplbs_*finding*", "check.html"),
    ("bpy.ops.object.araplbs_*problems*", "check.html"),
    ("bpy.ops.object.araplbs_*pose*", "check.html"),
    ("bpy.types.windowmanager.araplbs_check*", "check.html"),
    ("bpy.types.windowmanager.araplbs_deformer*", "deformers.html"),
    ("bpy.ops.object.araplbs_deform_with*", "deformers.html"),
    ("bpy.types.windowmanager.araplbs*", "live.html"),
    ("bpy.ops.object.araplbs_refine*", "live.html"),
    ("bpy.ops.object.araplbs_brush*", "live.html"),
    ("bpy.ops.object.araplbs_accept*", "live.html"),
    ("bpy.ops.object.araplbs_restore*", "live.html"),
    ("bpy.ops.object.araplbs_*edit*", "live.html"),
    ("bpy.ops.object.araplbs_add_link*", "live.html"),
    ("bpy.ops.object.araplbs_select_worst*", "live.html"),
    ("bpy.types.araplbs_brush*", "live.html"),
    ("bpy.types.araplbs_edit*", "live.html"),
    ("bpy.types.bone.araplbs_deforms*", "control_bones.html"),
    ("bpy.types.bone.araplbs*", "bendy.html"),
    ("bpy.ops.wm.araplbs*", "trouble.html"),
    ("bpy.ops.object.araplbs*", "auto_weight.html"),
    ("bpy.types.araplbs*", "auto_weight.html"),
    ("bpy.types.scene.araplbs*", "auto_weight.html"),
)


def draw_button(layout):
    if has_pages():
        layout.operator("wm.url_open", text="", icon="HELP", emboss=False).url = first_page()


def manual_map():
    return f"{PAGES.as_uri()}/", TOPICS if has_pages() else ()


def register():
    bpy.utils.register_manual_map(manual_map)


def unregister():
    bpy.utils.unregister_manual_map(manual_map)
