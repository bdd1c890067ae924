"""The operator "Export for Games": calls Blender's own exporter with the settings that a game
engine needs, and lists the settings. The exporter sees only the character, with as
many influences as a game engine reads and without bones that only control the rig. Everything is
restored afterwards."""

from contextlib import contextmanager
from pathlib import Path

import bpy
from araplbs.base.refusal import Refused
from araplbs.features.export_game import (
    ENDINGS,
    ENGINES,
    NAMES,
    exporter_settings,
    limited,
    with_ending,
    words,
)
from bpy.props import BoolProperty, EnumProperty, StringProperty
from bpy.types import Operator

from ...blender.read.control_bones import is_left_out
from ...blender.read.read_mesh import group_entries
from ...blender.read.targets import find_targets
from ...blender.write.all_or_nothing import put_entries_back
from ...languages.translate import inform, translated
from ...operators.menu_entries import Placed
from ...operators.properties import split
from ...operators.work import poll_targets
from ..auto_weight import presets

IDNAME = "object.araplbs_export_game"


def engine_in_use(settings):
    """The engine of the preset displayed in the tab; "WEB" for other presets."""
    name = presets.preset_in_use(settings)
    return next((key for key, engine in ENGINES.items() if engine.name == name), "WEB")


class OBJECT_OT_araplbs_export_game(Placed, Operator):
    """Export the character for a game engine with Blender's exporter, with deform bones only, no \
more influences than the engine reads, and the engine's axes. The file in Blender stays \
unchanged"""

    bl_idname = IDNAME
    bl_label = "Export for Games..."
    bl_options = {"REGISTER"}
    places = (("VIEW3D_PT_araplbs_export", 5),)
    icon = "EXPORT"
    row_short = "Export"

    filepath: StringProperty(subtype="FILE_PATH", options={"SKIP_SAVE"})
    filter_glob: StringProperty(default="*.glb;*.fbx", options={"HIDDEN", "SKIP_SAVE"})
    engine: EnumProperty(
        name="For",
        description="The game engine that reads the file",
        items=[
            (key, each.name, f"{ENDINGS[each.kind]}, at most {each.most} influences")
            for key, each in ENGINES.items()
        ],
        default="WEB",
    )
    animations: BoolProperty(
        name="Animations",
        description="Also export the actions",
        default=True,
    )

    @classmethod
    def poll(cls, context):
        if context.mode != "OBJECT":
            raise Refused("Available only in Object mode")
        return poll_targets(context, find_targets)

    def invoke(self, context, _event):
        if not self.properties.is_property_set("engine"):
            self.engine = engine_in_use(context.scene.araplbs)
        self.filepath = with_ending(_proposed(context), ENGINES[self.engine])
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def check(self, _context):
        """Updates the file extension to match the engine."""
        before = self.filepath
        self.filepath = with_ending(before, ENGINES[self.engine])
        return self.filepath != before

    def draw(self, _context):
        layout, engine = split(self.layout), ENGINES[self.engine]
        layout.prop(self, "engine")
        layout.prop(self, "animations")
        column = layout.column(align=True)
        for line in words(engine):
            column.label(text=translated(line), icon="CHECKMARK")

    def execute(self, context):
        engine = ENGINES[self.engine]
        if not self.filepath.strip():
            raise Refused("Specify a file")
        path = Path(bpy.path.abspath(with_ending(self.filepath, engine)))
        if not path.parent.is_dir():
            raise Refused(f"There is no folder '{path.parent}'")
        export = exporter_of(engine.kind)
        if not export:
            raise Refused(
                f"Blender's exporter is disabled: enable the add-on '{NAMES[engine.kind]}'"
            )
        targets = find_targets(context)
        settings = exporter_settings(engine, self.animations)
        known = export.get_rna_type().properties
        settings = {name: value for name, value in settings.items() if name in known}
        meshes = [ob for ob in targets.meshes if ob.name in context.view_layer.objects]
        with as_exported(context, targets.armature, meshes, engine.most) as facts:
            if export("EXEC_DEFAULT", filepath=str(path), **settings) != {"FINISHED"}:
                raise Refused(f"Blender's exporter wrote nothing to '{path.name}'")
        for line in words(engine):
            inform(self, line)
        bones, every = facts["bones"]
        limited = f", {facts['limited']:,} vertices limited" if facts["limited"] else ""
        inform(
            self,
            f"{path.name}: {bones} of {every} bones, at most {engine.most} influences{limited}",
        )
        return {"FINISHED"}


def _proposed(context):
    armature = find_targets(context).armature
    saved = Path(bpy.data.filepath)
    folder = saved.parent if bpy.data.filepath else Path.home()
    name = saved.stem if bpy.data.filepath else bpy.path.clean_name(armature.name)
    return str(folder / name)


CLASSES = (OBJECT_OT_araplbs_export_game,)


@contextmanager
def as_exported(context, armature, meshes, most):
    """`with as_exported(...) as facts`: the exporter must be called in this block. most: the
    maximum number of influences per vertex. facts: {"bones": (exported deform bones, all bones),
    "limited": vertices that had more influences}."""
    counts, kept = {}, {}
    selected = list(context.selected_objects)
    active = context.view_layer.objects.active
    hidden = {ob.name for ob in (armature, *meshes) if ob.hide_get()}
    off = [bone.name for bone in armature.data.bones if bone.use_deform and is_left_out(bone)]
    try:
        _set_deform(armature, off, False)
        for ob in meshes:
            if ob.data.name not in kept:
                kept[ob.data.name] = ob, group_entries(ob.data)
                counts[ob.data.name] = _limit(ob, armature, most)
        for ob in selected:
            ob.select_set(False)
        for ob in (armature, *meshes):
            ob.hide_set(False)
            ob.select_set(True)
        context.view_layer.objects.active = armature
        context.view_layer.update()
        deform = sum(bone.use_deform for bone in armature.data.bones)
        yield {
            "bones": (deform, len(armature.data.bones)),
            "limited": sum(counts.values()),
        }
    finally:
        for name, (ob, entries) in kept.items():
            if counts.get(name):
                put_entries_back(ob, entries)
        _set_deform(armature, off, True)
        for ob in (armature, *meshes):
            ob.select_set(False)
            ob.hide_set(ob.name in hidden)
        for ob in selected:
            ob.select_set(True)
        context.view_layer.objects.active = active
        context.view_layer.update()


def _set_deform(armature, names, deform):
    for name in names:
        armature.data.bones[name].use_deform = deform


def _limit(ob, armature, most):
    """Limits the influences of deform bones, and returns the number of vertices that had more than
    `most`."""
    bones = armature.data.bones
    is_bone = [group.name in bones and bones[group.name].use_deform for group in ob.vertex_groups]
    entries, count = limited(group_entries(ob.data), is_bone, most, len(ob.data.vertices))
    if count:
        put_entries_back(ob, entries)
    return count


def exporter_of(kind):
    """Blender's exporter for "gltf" or "fbx"; None if its add-on is disabled."""
    return getattr(bpy.ops.export_scene, kind) if kind in dir(bpy.ops.export_scene) else None
