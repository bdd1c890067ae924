"""The operator "Report a Problem": writes facts that help to fix the problem to a file that the
user chooses. If the user agrees, the operator also saves the problem itself next to this file. The
operator sends nothing."""

from pathlib import Path

import bpy
from araplbs import replay
from araplbs.base.faults import fault_sentence, know_names, names_of_file, refusals
from araplbs.base.refusal import Refused
from araplbs.disk.outputs import PROBLEM, PROBLEM_TEXT, refuse_foreign, replaced, write_content
from araplbs.reports.problem_report import UNKNOWN, report_text, without_names
from bpy.props import BoolProperty, StringProperty
from bpy.types import Operator

from ...blender.read.targets import find_targets
from ...languages.translate import inform
from ...native_module import version
from ...operators.menu_entries import Placed
from ...operators.session import current_session
from ...operators.settings import present_options
from ...preferences import preferred_threads
from ...weighting import WeightingTask
from .all_names import all_names

IDNAME = "wm.araplbs_report_problem"
NONE = "none was requested"


class WM_OT_araplbs_report_problem(Placed, Operator):
    """Write a text file with versions, settings, sizes and the last errors of Auto-weight, to \
review and send to its maintainers. Nothing is sent automatically"""

    bl_idname = IDNAME
    bl_label = "Report a Problem with Auto-weight"
    places = (("TOPBAR_MT_help", 90),)
    icon = "URL"

    filepath: StringProperty(subtype="FILE_PATH", options={"SKIP_SAVE"})
    filter_glob: StringProperty(default="*.txt", options={"HIDDEN"})
    check_existing: BoolProperty(default=True, options={"HIDDEN"})
    with_problem: BoolProperty(
        name="With Mesh and Skeleton",
        description="Also write a .npz file next to the text, with the shape of the selected "
        "meshes, the skeleton, the poses and the settings as numbers. It contains no names, "
        "textures or materials. With it, the problem can be solved again without Blender",
        default=False,
        options={"SKIP_SAVE"},
    )

    def draw(self, _context):
        column = self.layout.column()
        column.prop(self, "with_problem")
        for line in ("Nothing is sent:", "review the file,", "then send it yourself."):
            column.label(text=line)

    def invoke(self, context, _event):
        self.filepath = "auto_weight_problem.txt"
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context):
        if not self.filepath:
            raise Refused("Choose the file to write")
        text = Path(bpy.path.abspath(self.filepath)).with_suffix(".txt")
        problem = text.with_suffix(".npz")
        refuse_foreign(text, PROBLEM_TEXT)
        about, written = NONE, [text.name]
        if self.with_problem:
            refuse_foreign(problem, PROBLEM)
            why = _keep_problem(context, problem)
            written += [] if why else [problem.name]
            about = why or f"{problem.name}: python -m araplbs.replay {problem.name}"
        content = report_text(_blender(), _sizes(context), present_options(context), about)
        write_content(text, PROBLEM_TEXT, content)
        inform(self, f"Wrote {' and '.join(written)} for you to send. Nothing was sent")
        return {"FINISHED"}


def _keep_problem(context, path):
    """Saves the problem. Returns None, or the reason why the problem could not be saved, without
    names."""
    if current_session():
        return "none: a session was running"
    options = present_options(context)
    task = WeightingTask(options, preferred_threads(context))
    try:
        task.read(find_targets(context, posing=True), context.view_layer)
        arguments = task.problem.solver_arguments(options)
        about = {"volume": options.volume, "start_from": options.start_from}
        with replaced(path, PROBLEM) as temporary:
            replay.save(temporary, arguments, about)
    except refusals() as reason:
        return f"none: {_nameless(str(reason) or 'there is not enough memory')}"
    except Exception as error:  # the report may be about this error
        return f"none: {_nameless(fault_sentence('Reading', error, most=None))}"
    return None


def _nameless(text):
    names = names_of_file()
    return UNKNOWN if names is None else without_names(" ".join(text.split()), names)


def _blender():
    app = bpy.app
    build = app.build_hash.decode("ascii", "replace")
    return [
        f"Blender: {app.version_string} ({build}){', no window' if app.background else ''}",
        f"Extension: {version() or 'not installed as one'}",
    ]


def _sizes(context):
    """Sizes of the selected data, as numbers only."""
    lines = [f"Mode: {context.mode}, units: {context.scene.unit_settings.scale_length:g}"]
    for ob in (ob for ob in context.selected_objects if ob.type in {"MESH", "ARMATURE"}):
        scale = ", ".join(f"{value:.4g}" for value in ob.matrix_world.to_scale())
        if ob.type == "ARMATURE":
            bones = ob.data.bones
            deform = sum(bone.use_deform for bone in bones)
            line = f"Armature: {len(bones)} bones, {deform} of them deform bones"
        else:
            mesh = ob.data
            keys = len(mesh.shape_keys.key_blocks) if mesh.shape_keys else 0
            line = (
                f"Mesh: {len(mesh.vertices)} vertices, {len(mesh.polygons)} faces, "
                f"{len(ob.vertex_groups)} groups, {keys} shape keys, modifiers "
                f"{[modifier.type for modifier in ob.modifiers]}"
            )
        linked = ", linked" if ob.library or ob.data.library else ""
        lines.append(f"{line}, scale ({scale}){linked}")
    return lines


CLASSES = (WM_OT_araplbs_report_problem,)


def register():
    know_names(all_names)


def unregister():
    know_names(None)
