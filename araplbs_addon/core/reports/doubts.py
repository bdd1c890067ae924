"""Whether weights are likely ruined, and by what. No bpy.

A character whose bones were misread is weighted without an error: its surface stretches in poses,
and that is all that shows. So the stretch is held against what good weights reach. Measured on 86
files, with random poses of up to 60 degrees: results that their file's weights confirm reach 0.52
(hands and short animals, whose joints are close to each other); of bones that an importer has left
pointing aside they reach 0.31, and ruined ones begin at 0.35."""

from __future__ import annotations

from typing import Any, NamedTuple

MUCH, MUCH_ASIDE = 0.6, 0.33  # stretch: more is too much, and where tails miss the joints
USUAL_SWING = 1.05  # radians: poses with more stretch more, and nothing is said
BY_ROLE = ("ROOT", "OUTSIDE", "LEAF")  # reasons to leave a bone out that need no second look

JOINTS, CONTROL, BONES = "JOINTS", "CONTROL", "BONES"  # remedies


class Doubt(NamedTuple):
    """note: a few words; line: a sentence with what to do; remedy: one of the above, or ""."""

    note: str
    line: str
    remedy: str = ""
    bones: tuple[str, ...] = ()


def doubt_about(report: dict[str, Any]) -> Doubt | None:
    """The Doubt about a report of weights, None where there is none."""
    stretch = _stretch(report)
    if stretch is None or report["options"].get("swing", USUAL_SWING) > USUAL_SWING:
        return None
    aside = bool(report.get("tails_aside"))
    if stretch <= (MUCH_ASIDE if aside else MUCH):
        return None
    much = (
        f"The surface stretches by {100 * stretch:.0f} % in poses, far more than with good weights"
    )
    if aside:
        return Doubt(
            "Much stretch: tails miss the joints",
            f"{much}. Tails of bones miss their joints, as importers leave them: set Bone "
            "Directions to Joints",
            JOINTS,
        )
    left = [bone for bone, why in report["control_bones"].items() if why not in BY_ROLE]
    if left:
        which = "1 bone was" if len(left) == 1 else f"{len(left)} bones were"
        return Doubt(
            f"Much stretch: {which} left out",
            f"{much}. {which} taken for controls and left out: if they are not, set Control Bones "
            "to Include",
            CONTROL,
        )
    idle = tuple(report["idle_in_skin"])
    if idle:
        which = "1 bone moves" if len(idle) == 1 else f"{len(idle)} bones move"
        return Doubt(
            f"Much stretch: {which} nothing",
            f"{much}. {which} nothing though skin is around: look where they are",
            BONES,
            idle,
        )
    return Doubt(
        "Much stretch: look at the joints",
        f"{much}. The likeliest cause are joints that are not inside of what they bend: look at "
        "the armature over the mesh",
    )


def _stretch(report: dict[str, Any]) -> float | None:
    found = report["deformation"]["after"]["surface_strain"]
    return None if found is None else float(found)
