"""The operator "Compare Methods"."""

from pathlib import Path

import bpy
from bpy.props import StringProperty
from bpy.types import Operator

from ..blender.targets import find_targets
from ..core.compare import CompareOptions
from ..core.compare_files import INDEX, refuse_folder, write_comparisons
from ..core.compare_methods import find_methods
from ..core.compare_report import compare_summary
from ..core.refusal import Refused
from ..tasks.comparing import CompareTask
from .auto_weight import WorkOperator
from .properties import OptionProperties, option_names, option_properties

IDNAME = "object.araplbs_compare"
LABEL = "Compare Methods"
FOLDER = "//comparison/"


def folder_property():
    about = {"PATH_SUPPORTS_BLEND_RELATIVE"} if bpy.app.version >= (4, 5) else set()
    return StringProperty(
        name="Folder",
        description="Where the page goes: index.html, and report.json with all numbers",
        default=FOLDER,
        subtype="DIR_PATH",
        options=about,
    )


def real_folder(directory):
    """The path of what a folder property says. Raises Refused for one beside a file that was never
    saved."""
    if not directory.strip():
        raise Refused("Name a folder for the page")
    if directory.startswith("//") and not bpy.data.filepath:
        raise Refused(f"Save the file first, or name a folder: '{directory}' is one beside it")
    return Path(bpy.path.abspath(directory))


def page_of(directory):
    """The page that is there, or None."""
    try:
        path = real_folder(directory) / INDEX
        return path if path.is_file() else None
    except (Refused, OSError):
        return None


class OBJECT_OT_araplbs_compare(WorkOperator, OptionProperties, Operator):
    """Weight the selected meshes by all methods, judge these in poses that none was optimized in, \
and write a page with pictures and tables. Nothing in the file is changed"""

    bl_idname = IDNAME
    bl_label = LABEL
    bl_options = {"REGISTER"}  # noqa: RUF012

    __annotations__ = option_properties(CompareOptions) | {
        "directory": folder_property(),
        "methods": StringProperty(
            name="Methods",
            description="Only these, as the command line names them, with commas between them",
            options={"HIDDEN", "SKIP_SAVE"},
        ),
    }
    option_table = CompareOptions
    task_kind = CompareTask
    _folder = None

    @staticmethod
    def find(context):
        return find_targets(context, posing=True)

    def take_settings(self, context):
        settings = context.scene.araplbs
        for name in (*option_names(CompareOptions), "directory"):
            if not self.properties.is_property_set(name):
                has = name in settings.comparison.bl_rna.properties
                setattr(self, name, getattr(settings.comparison if has else settings, name))

    def start(self, context):
        self._folder = real_folder(self.directory)
        refuse_folder(self._folder)
        wanted = [name.strip() for name in self.methods.split(",") if name.strip()]
        find_methods(wanted)
        super().start(context)
        self._task.methods = wanted or None

    def finish(self, task):
        report = task.apply()
        made = [(report["character"], report.pop("page"), report)]
        try:
            index = write_comparisons(self._folder, made)
        except (Refused, OSError) as reason:
            return self.refuse(reason)
        for line in task.warnings:
            self.report({"WARNING"}, line)
        self.report({"INFO"}, f"{compare_summary(report)}. The page: {index}")
        return {"FINISHED"}


class OBJECT_OT_araplbs_open_comparison(Operator):
    """Open the page of the comparison in a browser"""

    bl_idname = "object.araplbs_open_comparison"
    bl_label = "Open Page"
    bl_options = {"INTERNAL"}  # noqa: RUF012

    def execute(self, context):
        path = page_of(context.scene.araplbs.comparison.directory)
        if not path:
            self.report({"ERROR"}, "There is no page in this folder")
            return {"CANCELLED"}
        return bpy.ops.wm.url_open(url=path.as_uri())
