"""The Result box, which describes the result of the last weighting in an artist's terms."""

from araplbs.base.sentence import Sentence
from araplbs.measures.standing import is_worse
from araplbs.reports.doubts import CONTROL, JOINTS, PARENT, SHIFT, TAILS
from araplbs.reports.last_lines import from_to, percent, problems_in_words
from araplbs.reports.notes import GIVE_BACK, PLACE, REPAIR, RIGID, SOFT, TWIST, UNLOCK

from ..features.auto_weight import give_back, note_cures, result, strip
from ..features.auto_weight import outcome as outcomes
from ..features.auto_weight.counting import STOP
from ..features.auto_weight.limb import PICK as PICK_LIMB
from ..features.auto_weight.operator import IDNAME as AUTO_WEIGHT
from ..features.auto_weight.pictures import IDNAME as PICTURES
from ..features.auto_weight.refine import IDNAME as REFINE
from ..features.auto_weight.show_worst import IDNAME as SHOW_WORST
from ..features.auto_weight.show_worst import KEY, PROBLEMS, held
from ..features.auto_weight.wipe import IDNAME as WIPE
from ..features.check import show_pose
from ..features.joints.operator import IDNAME as JOINT_PLACES
from ..features.range_of_motion.play import IDNAME as PLAY
from ..features.repair.operator import IDNAME as REPAIR_WEIGHTS
from ..features.twist_bones.operator import ADD as ADD_TWIST_BONES
from ..operators import error_view
from ..operators.sidebar import abreast, draw_wrapped

MOST_PARTS = 6  # displayed loose parts; the report contains all of them
MOST_WARNINGS = 3  # displayed warnings; the Info log contains all of them
# For each remedy: the option of the large button that it sets, the value of this option, and the
# button text.
REMEDIES = {
    JOINTS: ("bone_directions", "JOINTS", "Use Joints"),
    TAILS: ("bone_directions", "TAILS", "Use Tails"),
    CONTROL: ("control_bones", "INCLUDE", "Include"),
    SOFT: ("rigid_parts", "OFF", "Make Soft"),
}
# The other remedies: operator, text of the button, options.
CURES = {
    GIVE_BACK: (give_back.IDNAME, "Give Back", {}),
    PARENT: (note_cures.PARENT, "Parent at Joint", {}),
    PLACE: (JOINT_PLACES, "Optimize Joints", {}),
    REPAIR: (REPAIR_WEIGHTS, "Repair", {"which": "RESULT", "kinds": {"LOOSE_PART", "OVERREACH"}}),
    RIGID: (note_cures.RIGID, "Make Rigid", {}),
    SHIFT: (note_cures.SHIFT, "Move Limbs", {}),
    TWIST: (ADD_TWIST_BONES, "Add Twist Bones", {}),
    UNLOCK: (note_cures.UNLOCK, "Unlock Groups", {}),
}
OF_NOTE = {note_cures.PARENT, note_cures.RIGID}  # these operators receive the note's number
SETS = (
    (outcomes.ORIGINAL, "Original"),
    (outcomes.BEFORE, "Before"),
    (outcomes.AFTER, "After"),
)
EDGES_OF_BOX = 0.6  # units
BESIDE_SETS = 2.6  # units: two buttons with an icon, and the edges of the box
ARROW = "\N{RIGHTWARDS ARROW}"


def draw_result(layout, context, outcome):
    box = layout.box()
    column = box.column(align=True)
    _draw_gains(context, column, outcome)
    _draw_notes(context, column, outcome, urgent=True)
    for warning in outcome.warnings[:MOST_WARNINGS]:
        draw_wrapped(column, context, warning, icon="ERROR")
    more = len(outcome.warnings) - MOST_WARNINGS
    if more > 0:
        draw_wrapped(column, context, f"{more} more in the Info log", icon="BLANK1")
    _draw_sets(box, context, outcome)
    _draw_views(box, outcome)
    strip.draw(box, context, outcome)
    if show_pose.posed_rig():
        if outcome.slots[outcomes.BEFORE]:
            draw_wrapped(box, context, f"Hold {KEY} to see the other weights", icon="INFO")
        box.operator(show_pose.BACK, icon="LOOP_BACK")
    _draw_notes(context, box.column(align=True), outcome, urgent=False)
    # This is the large button in Weight Paint mode. After a transfer, the body is selected, too.
    if context.mode != "PAINT_WEIGHT" and not outcome.sources:
        row = abreast(box, "Refine Live", "One Limb", others=EDGES_OF_BOX)
        row.operator_context = "INVOKE_DEFAULT"
        row.operator(REFINE, text="Refine Live")
        row.operator(PICK_LIMB, text="One Limb")


def _draw_views(layout, outcome):
    """Draws the buttons that show the result in motion, in pictures, and next to the earlier
    weights."""
    layout.operator_context = "INVOKE_DEFAULT"
    earlier = outcome.slots[outcomes.BEFORE]
    row = abreast(layout, "Play", *(["Wipe"] if earlier else ()), "Pictures", others=EDGES_OF_BOX)
    row.operator(PLAY, text="Play")
    if earlier:
        row.operator(WIPE, text="Wipe")
    row.operator(PICTURES, text="Pictures")


def _draw_parts(context, layout, outcome):
    """Draws the bone of each loose part that other bones fit, with buttons for these. For a pair of
    mirrored parts, one line is enough."""
    lines = [k for k, part in enumerate(outcome.parts) if not 0 <= part["mirror"] < k]
    for index in lines[:MOST_PARTS]:
        part = outcome.parts[index]
        choice = outcome.choice(part)
        bone, others = choice.offered if choice else (part["bone"], part["others"][:1])
        line = Sentence("{part}: {bone}", part=part["name"], bone=bone)
        row = draw_wrapped(layout, context, line, "BLANK1", beside=others)
        for number, other in enumerate(others):
            button = row.operator(note_cures.GIVE_PART, text=other, translate=False)
            button.index, button.other = index, number


def _draw_sets(layout, context, outcome):
    """Draws the choice of weight sets, and the buttons that keep a set."""
    row = layout.row(align=True)
    row.operator(
        SHOW_WORST, text="" if outcome.slots[outcomes.BEFORE] else "Worst Pose", icon="POSE_HLT"
    )
    error_view.draw_eye(row, context)
    if not outcome.slots[outcomes.BEFORE]:
        return
    shown = outcome.shown()
    sets = [(which, text) for which, text in SETS if outcome.slots[which]]
    row = abreast(row, *(text for _which, text in sets), others=BESIDE_SETS)
    for which, text in sets:
        row.operator(result.SHOW, text=text, depress=which == shown).which = which
    shown = held[0] if held else shown  # while the key is held, no row may move
    if shown != outcomes.AFTER:
        layout.operator(result.KEEP, icon="CHECKMARK").which = "SHOWN"
    elif outcome.verdict or outcome.facts.get("lost"):
        layout.operator(result.KEEP, text="Keep Old", icon="LOOP_BACK").which = outcomes.BEFORE


def _draw_gains(context, layout, outcome):
    facts = outcome.facts
    if "problems" in facts:
        row = layout.row(align=True)
        row.alert = is_worse(*facts["problems"])
        good = not facts["problems"][1] and not facts.get("lost")
        words = problems_in_words(facts["problems"], ARROW)
        draw_wrapped(row, context, words, icon="CHECKMARK" if good else "INFO")
        if outcome.findings:
            texts = ("Show", "Repair")[: 1 + bool(facts["problems"][1])]
            row = abreast(layout, *texts, others=EDGES_OF_BOX, icons=True)
            row.operator(PROBLEMS, text="Show", icon="VIEWZOOM")
            if facts["problems"][1]:
                row.operator_context = "INVOKE_DEFAULT"
                row.operator(REPAIR_WEIGHTS, text="Repair", icon="TOOL_SETTINGS").which = "RESULT"
    elif outcome.counting:
        _draw_counting(context, layout, outcome.counting)
    if facts["stretch"][1] is not None:
        row = layout.row(align=True)
        row.alert = outcome.stretches_more()
        text = from_to(facts["stretch"], percent, ARROW)
        draw_wrapped(row, context, f"Stretch in poses {text} %", icon="MOD_LATTICE")
    if "actions" in facts:
        row = layout.row(align=True)
        row.alert = outcome.stretches_more("actions")
        text = from_to(facts["actions"], percent, ARROW)
        draw_wrapped(row, context, f"Stretch in actions {text} %", icon="ACTION")
    for where in ("stretch", "actions"):
        if is_worse(*facts.get(where, (None, None))) and not outcome.stretches_more(where):
            drift = from_to(facts["drift"], "{:.2f}".format, ARROW)
            draw_wrapped(layout, context, f"Limb drift {drift}", icon="CHECKMARK")
            break
    if facts.get("heat_actions") is not None:
        heat, actions = percent(facts["heat"]), percent(facts["heat_actions"])
        words = f"Bone heat: {heat} %, in actions {actions} %"
        draw_wrapped(layout, context, words, icon="BLANK1")
    elif facts.get("heat") is not None:
        heat = percent(facts["heat"])
        draw_wrapped(layout, context, f"Bone heat: {heat} %", icon="BLANK1")
    elif "heat" in facts:
        draw_wrapped(layout, context, "Bone heat fails here", icon="BLANK1")
    if outcome.verdict:
        row = layout.row()
        row.alert = True
        draw_wrapped(row, context, outcome.verdict, icon="ERROR")
    if outcome.chosen:
        free, every = outcome.chosen
        draw_wrapped(layout, context, f"{free} of {every} bones", icon="BONE_DATA")


def _draw_counting(context, layout, worker):
    row = layout.row()
    words = f"Counting visible problems: {100 * worker.fraction:.0f} %"
    draw_wrapped(row, context, words, icon="SORTTIME", beside="Stop").operator(STOP, text="Stop")


def _draw_notes(context, layout, outcome, urgent):
    """There may be many notes. Only urgent ones are above the buttons that show the result."""
    for index, note in enumerate(outcome.notes):
        if note.urgent == urgent:
            _draw_note(context, layout, index, note)
            if note.chooses:
                _draw_parts(context, layout, outcome)


def _draw_note(context, layout, index, note):
    """Draws the text of a note with its objects, and the reason with the remedy."""
    text = "List" if note.control else "Select" if note.selects else ""
    icon = "ERROR" if note.urgent else "INFO"
    button = draw_wrapped(layout, context, note.text, icon, beside=text)
    if note.control:
        button.operator("wm.call_panel", text="List").name = "VIEW3D_PT_araplbs_bones"
    elif note.selects:
        button.operator(result.SELECT, text=text).index = index
    if not note.why:
        return
    text = REMEDIES[note.remedy][2] if note.remedy in REMEDIES else ""
    text = CURES[note.remedy][1] if note.remedy in CURES else text
    button = draw_wrapped(layout, context, note.why, "BLANK1", beside=text)
    button.operator_context = "INVOKE_DEFAULT"
    if note.remedy in REMEDIES:  # like the large button, except for one option
        option, value, text = REMEDIES[note.remedy]
        setattr(button.operator(AUTO_WEIGHT, text=text), option, value)
    elif note.remedy in CURES:
        idname, text, options = CURES[note.remedy]
        button = button.operator(idname, text=text)
        for name, value in (options | ({"index": index} if idname in OF_NOTE else {})).items():
            setattr(button, name, value)
