"""Creates short notes about a weighting for the Result box of the sidebar, in addition to the
gains. Each note has a cause, a remedy, and objects or bones that a click selects."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

from ..base.sentence import Sentence, counted, joined, names_in_line
from ..skeleton.bone_names import is_end_bone
from .doubts import BONES, CONTROL, JOINTS, RIGID, TAILS, doubt_about
from .last_lines import transfer_line

# Further remedies, in addition to the remedies in doubts.py.
GIVE_BACK = "GIVE_BACK"  # the earlier weights of bones that have lost their skin
PLACE = "PLACE"  # better joint positions
REPAIR = "REPAIR"  # for parts that leave the surface they sit on, and limbs that reach too far
TWIST = "TWIST"  # bones that take half of the twist of limbs
SOFT = "SOFT"  # every vertex of a part has its own weights
UNLOCK = "UNLOCK"  # the vertex groups


class Note(NamedTuple):
    """A note about a result. urgent: whether the user should act. At most one of the following is
    not empty: bones, the names of bones; places, [(object, vertex or None for the whole object)] of
    parts; control, whether the note is about control bones; above, the exceeded limit of
    influences. remedy: one of the above constants; why: the cause. chooses: whether the bones of
    its parts can be chosen."""

    text: str
    urgent: bool = False
    bones: tuple[str, ...] = ()
    places: tuple[tuple[str, int | None], ...] = ()
    control: bool = False
    above: int = 0
    remedy: str = ""
    why: str = ""
    chooses: bool = False

    @property
    def selects(self) -> bool:
        return bool(self.bones or self.places or self.above)


def result_notes(
    report: dict[str, Any],
    locked_groups: int = 0,
    unresponsive: Sequence[str] = (),
    leaving: Sequence[tuple[str, int]] = (),
    lost: Sequence[str] = (),
    had_skin: Sequence[str] = (),
    reaching: Sequence[tuple[str, str]] = (),
    over: Sequence[tuple[str, str]] = (),
    fit_better: Sequence[str] = (),
    twist_gain: float | None = None,
) -> list[Note]:
    """The Notes for a report of weights, the most urgent first. unresponsive: names of bones that
    hardly move the skin around them; leaving: (object, vertex) of loose parts that leave the
    surface they sit on; lost: names of bones that no longer move their earlier skin; had_skin:
    names of excluded bones that had skin, if this was checked; reaching: (bone, bone whose skin it
    moves now); over: (bone, bone that the skin belongs to that it moves); fit_better: those of the
    lost bones whose former skin stretches less now; twist_gain: the share of stretch that twist
    bones would remove."""
    left_out = [bone for bone in report["control_bones"] if bone not in (*lost, *had_skin)]
    end_names = set(report.get("chain_ends", ()))
    bare = [bone for bone in bare_bones(report) if bone not in lost]
    read_again = PLACE if report.get("bone_directions") == JOINTS else JOINTS
    notes = [
        _doubt(report),
        *_lost(report, lost, fit_better),
        _of_bones(
            bare,
            "bone without skin",
            "bones without skin",
            urgent=True,
            remedy=read_again,
            why=Sentence("Other bones are nearer"),
        ),
        _of_bones(
            unresponsive,
            "bone hardly moves its skin",
            "bones hardly move their skin",
            urgent=True,
            remedy=read_again,
            why=Sentence("Other bones move most of the skin"),
        ),
        _reaching(reaching),
        _over(over),
        _counted(
            leaving,
            "part leaves what it sits on",
            "parts leave what they sit on",
            urgent=True,
            places=tuple(leaving),
            remedy=REPAIR,
            why=Sentence("Moved by other bones"),
        ),
        *_far(report),
        _parts(report, rigid=False, text=("part beyond all bones", "parts beyond all bones")),
        _parts(report, rigid=True, text=("part on one bone", "parts on one bone")),
        _above(report),
        _of_bones(
            had_skin,
            "left-out bone had skin",
            "left-out bones had skin",
            remedy=CONTROL,
            why=Sentence("Child bones now move this skin"),
        ),
        _counted(
            [bone for bone in left_out if bone in end_names],
            "chain end left out",
            "chain ends left out",
            control=True,
            why=Sentence("Marks an end, moves no skin"),
        ),
        _counted(
            [bone for bone in left_out if bone not in end_names],
            "control bone left out",
            "control bones left out",
            control=True,
            why=Sentence("Moves bones, not skin"),
        ),
        _choices(report),
        _rigid(report),
        _directions(report),
        _twists(twist_gain),
    ]
    return _sorted([*notes, _locked(locked_groups)])


def transfer_notes(
    report: dict[str, Any], locked_groups: int = 0, lost: Sequence[str] = (), **_seen: Any
) -> list[Note]:
    """The Notes for a report of a transfer, the most urgent first; see result_notes()."""
    is_poor = any(2 * each["matched"] < each["vertices"] for each in report["objects"])
    why = Sentence("Distance and Angle set which vertices match") if is_poor else ""
    return _sorted(
        [
            Note(transfer_line(report), urgent=is_poor, why=why),
            *_lost({"control_bones": ()}, lost),
            _locked(locked_groups),
        ]
    )


def _sorted(found: Sequence[Note | None]) -> list[Note]:
    notes = [note for note in found if note]
    return sorted(notes, key=lambda note: not note.urgent)


def _locked(groups: int) -> Note | None:
    text = counted(groups, "1 locked group kept", "{count} locked groups kept")
    why = Sentence("Locked groups keep their weights")
    return Note(text, remedy=UNLOCK, why=why) if groups else None


def _doubt(report: dict[str, Any]) -> Note | None:
    doubt = doubt_about(report)
    if not doubt:
        return None
    remedy = PLACE if doubt.remedy in ("", BONES) else doubt.remedy
    more: dict[str, Any] = {"bones": doubt.bones, "places": doubt.places, "remedy": remedy}
    return Note(doubt.note, urgent=True, why=doubt.why, **more)


def bare_bones(report: dict[str, Any]) -> list[str]:
    """Names of bones that move nothing although skin surrounds them, except chain ends."""
    return [name for name in report["idle_in_skin"] if not is_end_bone(name)]


def _counted(things: Collection[Any], one: str, several: str, **more: Any) -> Note | None:
    """The number of things."""
    count = len(things)
    text = joined([str(count), Sentence(one if count == 1 else several)], " ")
    return Note(text, **more) if count else None


def _of_bones(bones: Sequence[str], one: str, several: str, **more: Any) -> Note | None:
    """The number of bones and their names."""
    note = _counted(bones, one, several, bones=tuple(bones), **more)
    return note and note._replace(text=joined([note.text, names_in_line(bones)], ": "))


def _lost(
    report: dict[str, Any], lost: Sequence[str], fit_better: Sequence[str] = ()
) -> Iterator[Note | None]:
    """The note about bones that have lost their skin. Its remedy uses excluded bones again."""
    excluded = tuple(bone for bone in lost if bone in report["control_bones"])
    bones = tuple(bone for bone in lost if bone not in excluded)
    one, several = "left-out bone has lost its skin", "left-out bones have lost their skin"
    why = Sentence("Treated as control bones")
    yield _of_bones(excluded, one, several, urgent=True, remedy=CONTROL, why=why)
    one, several = "bone has lost its skin", "bones have lost their skin"
    why = Sentence("Other bones move this skin now")
    if set(bones) <= set(fit_better):
        why = Sentence("Other bones fit this skin better")
    if report.get("limb_shifts"):
        why = Sentence("The limb is off its bones")
    yield _of_bones(bones, one, several, urgent=True, remedy=GIVE_BACK, why=why)


def _reaching(reaching: Sequence[tuple[str, str]]) -> Note | None:
    """The note about bones that move skin of another limb, which names the bones that had it."""
    owners = tuple(dict.fromkeys(owner for _bone, owner in reaching))
    why = Sentence("Now moved by {names}", names=names_in_line([bone for bone, _owner in reaching]))
    one, several = "bone has lost skin to another limb", "bones have lost skin to another limb"
    return _of_bones(owners, one, several, urgent=True, remedy=GIVE_BACK, why=why)


def _over(over: Sequence[tuple[str, str]]) -> Note | None:
    """The note about bones that move skin which belongs to other limbs."""
    bones = tuple(bone for bone, _owner in over)
    owners = list(dict.fromkeys(owner for _bone, owner in over))
    why = Sentence("The skin belongs to {names}", names=names_in_line(owners))
    one, several = "bone moves skin of another limb", "bones move skin of another limb"
    return _of_bones(bones, one, several, urgent=True, remedy=REPAIR, why=why)


def _places(parts: Sequence[dict[str, Any]]) -> tuple[tuple[str, int], ...]:
    return tuple((part["object"], part["vertex"]) for part in parts)


def _parts(report: dict[str, Any], rigid: bool, text: tuple[str, str]) -> Note | None:
    parts = [part for part in report["unseen_parts"] if part["rigid"] == rigid]
    why = Sentence("Each part is moved by its nearest bone")
    if not rigid:
        why = Sentence("No bone lies inside")
    remedy = "" if rigid else RIGID
    return _counted(parts, *text, urgent=not rigid, places=_places(parts), remedy=remedy, why=why)


def _choices(report: dict[str, Any]) -> Note | None:
    """The note about loose parts whose bone the artist may choose."""
    parts = report.get("doubtful_parts", ())
    one, several = "part fits two bones", "parts fit two bones"
    why = Sentence("Click the other bone to give it the part")
    return _counted(parts, one, several, places=_places(parts), why=why, chooses=True)


def _rigid(report: dict[str, Any]) -> Note | None:
    parts, why = report["rigid"], Sentence("Each part is moved by one bone")
    places = _places(parts)
    return _counted(parts, "rigid part", "rigid parts", places=places, remedy=SOFT, why=why)


def _directions(report: dict[str, Any]) -> Note | None:
    source = report.get("bone_directions")
    texts = {"JOINTS": "Bones read from their joints", "LENGTHS": "Lengths of bones corrected"}
    whys = {"JOINTS": "Their tails miss the joints", "LENGTHS": "They are too short for their skin"}
    if source not in texts:
        return None
    return Note(Sentence(texts[source]), remedy=TAILS, why=Sentence(whys[source]))


def _twists(gain: float | None) -> Note | None:
    if gain is None:
        return None
    text = Sentence("Twisted limbs can stretch {share} % less", share=f"{100 * gain:.0f}")
    return Note(text, remedy=TWIST, why=Sentence("Twist bones take half of the twist"))


def _far(report: dict[str, Any]) -> Iterator[Note]:
    for far in report["far_from_bones"]:
        if far["all"]:
            text = Sentence("'{object}' is far from all bones", object=far["object"])
        else:
            text = Sentence("{count} vertices far from all bones", count=f"{far['count']:,}")
        place = far["object"], None if far["all"] else far["vertex"]
        why = Sentence("Is the object a prop, or at a different scale?")
        yield Note(text, urgent=True, places=(place,), remedy=RIGID, why=why)


def _above(report: dict[str, Any]) -> Note | None:
    count, most = report["above_limit"], report["options"]["max_influences"]
    if not count:
        return None
    vertices = counted(count, "1 vertex has", "{count} vertices have")
    text = Sentence("{which} more than {most}: locked groups", which=vertices, most=most)
    why = Sentence("Locked groups keep their weights")
    return Note(text, urgent=True, above=most, remedy=UNLOCK, why=why)
