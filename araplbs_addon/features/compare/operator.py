"""The operator "Compare Methods"."""

from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import bpy
from araplbs.base.refusal import Refused
from araplbs.cli.own_arguments import add_methods
from araplbs.features.compare.compare import compare_summary, methods_compared
from araplbs.features.compare.files import page_about, refuse_folder, write_comparisons
from araplbs.features.compare.methods import find_methods
from araplbs.features.compare.options import CompareOptions
from bpy.props import PointerProperty, StringProperty
from bpy.types import Operator

from ...blender.data.views import redraw_views
from ...blender.read.targets import find_posing
from ...languages.translate import inform, warn
from ...operators.command import Command, find_read
from ...operators.guard import handing_over
from ...operators.last_report import keep_report
from ...operators.menu_entries import Placed
from ...operators.modal_operator import close_popovers
from ...operators.properties import OptionProperties
from ...operators.settings import ARAPLBS_settings, own_properties
from ...operators.work import WorkOperator, poll_targets
from .task import CompareTask, comparison_files, write_pages

IDNAME = "object.araplbs_compare"
ASK = "object.araplbs_compare_methods"

_pages: list[Path] = []  # only the last page created for this file, possibly in an earlier session


def folder_property():
    """Returns a new property at each call."""
    about = {"PATH_SUPPORTS_BLEND_RELATIVE"} if bpy.app.version >= (4, 5) else set()
    return StringProperty(
        name="Folder",
        description="Folder for the page: index.html, and report.json with all numbers",
        default="//comparison/",
        subtype="DIR_PATH",
        options=about,
    )


class ARAPLBS_compare_settings(bpy.types.PropertyGroup):
    __annotations__ = own_properties(CompareOptions) | {"directory": folder_property()}


def real_folder(directory):
    """The path in a folder property. Raises Refused for a path relative to a file that was never
    saved."""
    if not directory.strip():
        raise Refused("Specify a folder for the page")
    if directory.startswith("//") and not bpy.data.filepath:
        raise Refused(
            f"'{directory}' is relative to the .blend file: save the file first, or choose "
            "another folder"
        )
    return Path(bpy.path.abspath(directory))


def page_of_file():
    """The last page that was created for this file, or None."""
    try:
        return _pages[-1] if _pages and _pages[-1].is_file() else None
    except OSError:
        return None


class OBJECT_OT_araplbs_compare(WorkOperator, OptionProperties, Operator):
    """Weight the selected meshes with all methods, judge the results in poses that no method was \
optimized for, and write a page with pictures and tables. Nothing in the file is changed"""

    bl_idname = IDNAME
    bl_label = "Compare Methods"
    bl_options = {"REGISTER"}

    __annotations__ = {
        "directory": folder_property(),
        "methods": StringProperty(
            name="Methods",
            description="Only these methods, by their command-line names, separated by commas",
            options={"HIDDEN", "SKIP_SAVE"},
        ),
    }
    option_table = CompareOptions
    task_kind = CompareTask
    doing = "Comparing"
    _folder = None

    find = staticmethod(find_posing)

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
        keep_report(report)
        index = write_comparisons(self._folder, made, bpy.data.filepath)
        _pages[:] = [Path(index)]
        for line in task.warnings:
            warn(self, line)
        inform(self, f"{compare_summary(report)}. The page: {index}")
        done = methods_compared(report)
        inform(self, f"{done} compared: to see them, click Open Page in Check and Repair")
        redraw_views()
        return {"FINISHED"}


class OBJECT_OT_araplbs_compare_methods(Placed, Operator):
    """Weight the selected meshes with all available methods, and create a page that compares \
them. This takes a few minutes"""

    bl_idname = ASK
    bl_label = "Compare Methods..."
    bl_options = {"INTERNAL"}
    places = (("VIEW3D_MT_object_parent", 60), ("VIEW3D_MT_paint_weight", 60))

    @classmethod
    def poll(cls, context):
        return poll_targets(context, OBJECT_OT_araplbs_compare.find)

    def draw(self, context):
        self.layout.use_property_split = True
        for name in ("directory", "judged_poses", "judged_frames"):
            self.layout.prop(context.scene.araplbs.comparison, name)

    def invoke(self, context, _event):
        return context.window_manager.invoke_props_dialog(self, width=400)

    def execute(self, context):
        close_popovers(context)
        with handing_over():
            bpy.ops.object.araplbs_compare("INVOKE_DEFAULT")
        return {"FINISHED"}


class OBJECT_OT_araplbs_open_comparison(Operator):
    """Open the comparison page in a browser"""

    bl_idname = "object.araplbs_open_comparison"
    bl_label = "Open Page"
    bl_options = {"INTERNAL"}

    def execute(self, _context):
        path = page_of_file()
        if not path:
            raise Refused("No page has been created for this file")
        return bpy.ops.wm.url_open(url=path.as_uri())


def _choose_methods(command, arguments):
    find_methods(arguments.method)
    return replace(command, task=partial(CompareTask, methods=arguments.method))


def _find_pages(*_arguments):
    """Finds the earlier page of this file in the folder that the file's scene specifies."""
    for scene in bpy.data.scenes if bpy.data.filepath else ():
        with suppress(Refused, OSError, ValueError):
            folder = real_folder(scene.araplbs.comparison.directory)
            page = page_about(folder, bpy.data.filepath)
            _pages[:] = [page] if page else _pages


HANDLERS = (("load_post", _find_pages),)
forget = _pages.clear
CLASSES = (
    ARAPLBS_compare_settings,
    OBJECT_OT_araplbs_compare,
    OBJECT_OT_araplbs_compare_methods,
    OBJECT_OT_araplbs_open_comparison,
)
PROPERTIES = ((ARAPLBS_settings, "comparison", PointerProperty(type=ARAPLBS_compare_settings)),)
COMMAND = Command(
    "compare",
    "compare all methods on the characters of a .blend file",
    "Weights every armature's meshes with all methods and judges the results in poses for which "
    "none was optimized. Writes FOLDER/index.html, a self-contained page, and "
    "FOLDER/report.json; the .blend file stays unchanged. Each armature has its own page.",
    CompareTask,
    CompareOptions,
    compare_summary,
    find=find_read,
    own=add_methods,
    choose=_choose_methods,
    finish=write_pages,
    also_writes=comparison_files,
    names_stages=True,
)
