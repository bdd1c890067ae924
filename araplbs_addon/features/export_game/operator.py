"""The operator "Export for Games": calls Blender's own exporter with the settings that a game
engine needs, and lists them."""

from dataclasses import dataclass, field
from pathlib import Path

import bpy
from araplbs.base.refusal import Refused
from bpy.props import BoolProperty, EnumProperty, StringProperty
from bpy.types import Operator

from ...blender.read.targets import find_targets
from ...languages.translate import translated
from ...window.menu_entries import Placed
from ...window.properties import split
from ...window.work import poll_targets
from ..auto_weight import presets
from .write import as_exported, exporter_of

IDNAME = "object.araplbs_export_game"


@dataclass(frozen=True)
class Engine:
    """The needs of a game engine. settings: of the exporter, in addition to those of all."""

    name: str
    kind: str  # of exporter: "gltf" or "fbx"
    most: int  # influences of a vertex
    up: str
    settings: dict = field(default_factory=dict)


_Y_UP = {"axis_forward": "-Z", "axis_up": "Y"}
ENGINES = {
    "UNITY": Engine("Unity", "fbx", 4, "Y", _Y_UP),
    "UNREAL": Engine(
        "Unreal",
        "fbx",
        8,
        "Z",
        {"axis_forward": "-Y", "axis_up": "Z", "mesh_smooth_type": "FACE"},
    ),
    "GODOT": Engine("Godot", "gltf", 4, "Y"),
    "ROBLOX": Engine(
        "Roblox", "fbx", 4, "Y", {**_Y_UP, "path_mode": "COPY", "embed_textures": True}
    ),
    "VRCHAT": Engine("VRChat", "fbx", 4, "Y", _Y_UP),
    "WEB": Engine("Web and others", "gltf", 4, "Y"),
}
ENDINGS = {"gltf": ".glb", "fbx": ".fbx"}
NAMES = {"gltf": "glTF 2.0 format", "fbx": "FBX format"}  # of the add-ons of Blender
OF_ALL = {
    "gltf": {
        "export_format": "GLB",
        "use_selection": True,
        "export_yup": True,
        "export_skins": True,
        "export_def_bones": True,
        "export_all_influences": False,
    },
    "fbx": {
        "use_selection": True,
        "object_types": {"ARMATURE", "MESH"},
        "use_armature_deform_only": True,
        "add_leaf_bones": False,
        "apply_scale_options": "FBX_SCALE_UNITS",
    },
}


def engine_in_use(settings):
    """The engine of the preset that the tab shows; "WEB" for other presets."""
    name = presets.preset_in_use(settings)
    return next((key for key, engine in ENGINES.items() if engine.name == name), "WEB")


def exporter_settings(engine, animations):
    """Of Blender's exporter, without the file."""
    found = {**OF_ALL[engine.kind], **engine.settings}
    if engine.kind == "gltf":
        return {**found, "export_influence_nb": engine.most, "export_animations": animations}
    return {**found, "bake_anim": animations}


class OBJECT_OT_araplbs_export_game(Placed, Operator):
    """Export the character for a game engine with Blender's exporter: only deformation bones, at \
most as many influences as the engine reads, and its axes. The file in Blender stays unchanged"""

    bl_idname = IDNAME
    bl_label = "Export for Games..."
    bl_options = {"REGISTER"}  # noqa: RUF012
    places = (("VIEW3D_PT_araplbs_export", 5),)
    icon = "EXPORT"

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
        description="Export the actions, too",
        default=True,
    )

    @classmethod
    def poll(cls, context):
        if context.mode != "OBJECT":
            raise Refused("Works in Object mode")
        return poll_targets(context, find_targets)

    def invoke(self, context, _event):
        if not self.properties.is_property_set("engine"):
            self.engine = engine_in_use(context.scene.araplbs)
        self.filepath = _with_ending(_proposed(context), ENGINES[self.engine])
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def check(self, _context):
        """The ending follows the engine."""
        before = self.filepath
        self.filepath = _with_ending(before, ENGINES[self.engine])
        return self.filepath != before

    def draw(self, _context):
        layout, engine = split(self.layout), ENGINES[self.engine]
        layout.prop(self, "engine")
        layout.prop(self, "animations")
        column = layout.column(align=True)
        for line in _words(engine):
            column.label(text=translated(line), icon="CHECKMARK")

    def execute(self, context):
        engine = ENGINES[self.engine]
        if not self.filepath.strip():
            raise Refused("Name a file")
        path = Path(bpy.path.abspath(_with_ending(self.filepath, engine)))
        if not path.parent.is_dir():
            raise Refused(f"There is no folder '{path.parent}'")
        export = exporter_of(engine.kind)
        if not export:
            raise Refused(f"Blender's exporter is off: turn on '{NAMES[engine.kind]}'")
        targets = find_targets(context)
        settings = exporter_settings(engine, self.animations)
        known = export.get_rna_type().properties
        settings = {name: value for name, value in settings.items() if name in known}
        meshes = [ob for ob in targets.meshes if ob.name in context.view_layer.objects]
        with as_exported(context, targets.armature, meshes, engine.most) as facts:
            if export("EXEC_DEFAULT", filepath=str(path), **settings) != {"FINISHED"}:
                raise Refused(f"Blender's exporter wrote nothing to '{path.name}'")
        for line in _words(engine):
            self.report({"INFO"}, translated(line))
        bones, every = facts["bones"]
        limited = f", {facts['limited']:,} vertices limited" if facts["limited"] else ""
        self.report(
            {"INFO"},
            translated(
                f"{path.name}: {bones} of {every} bones, at most {engine.most} influences{limited}"
            ),
        )
        return {"FINISHED"}


def _words(engine):
    """The settings, for people."""
    lines = ["Deformation bones only", f"At most {engine.most} influences", f"{engine.up} up"]
    return [*lines, "No leaf bones"] if engine.kind == "fbx" else lines


def _proposed(context):
    armature = find_targets(context).armature
    saved = Path(bpy.data.filepath)
    folder = saved.parent if bpy.data.filepath else Path.home()
    name = saved.stem if bpy.data.filepath else bpy.path.clean_name(armature.name)
    return str(folder / name)


def _with_ending(filepath, engine):
    for ending in ENDINGS.values():
        if filepath.lower().endswith(ending):
            filepath = filepath[: -len(ending)]
    return filepath + ENDINGS[engine.kind]


CLASSES = (OBJECT_OT_araplbs_export_game,)
