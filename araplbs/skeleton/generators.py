"""Recognizes rig generators by their bone names, which show the bones that should deform.

Several bones with names of different kinds are required, because a single matching name may be a
coincidence.
"""

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass

LEAST_BONES = 4  # bones with names of a generator
REMEMBERED = 1 << 14  # patterns for names: film rigs have two of each name

NEVER = r"(?!)"
SIDE = r"[._ -]?(l|r|left|right)?"
MIXAMO = r"(mixamorig\d*[:_]?)?"
FINGER_CONTROLS = r"(f_(index|middle|ring|pinky)|thumb)\.\d+(_master)?"
NUMBERED = r"(\.[LR])?(\.\d+)?(_\d+)?"  # the last number is added by glTF sites
VOLUMES = (
    r"PELVIS|BELLY|BUTT|CHEST|NECK|HEAD|(LEFT|RIGHT)_(PEC|HANDLE)|(UPPER|LOWER)_BACK"
    r"|[LR]_(CLAVICLE|HAND|FOOT|(UPPER|LOWER)_(ARM|LEG))"
)
FINGERS = r"(Thumb|Index|Middle|Ring|Pinky)"
CLOUD_RIG = r"STR|FK|IK|MSTR|ROOT|CTR|CTRL|POLE|TGT|TRG|ORG|MCH|HLP|DSP|INT|SWI|SNP|TAN|P"


@dataclass(frozen=True)
class Generator:
    """Patterns that match whole names."""

    name: str
    kinds: tuple[str, ...]  # all of these must be present
    skin: str = NEVER
    control: str = NEVER  # and chain ends; these patterns take precedence if both match


GENERATORS = (
    Generator(
        "Rigify",
        (
            r"DEF-(spine|upper_arm|forearm|hand|f_index).*",
            r"((ORG|MCH|VIS)-.*|DEF-(thigh|shin|foot|thumb).*)",
        ),
        skin=r"DEF-.*",
        control=rf"(ORG|MCH|VIS|WGT)-.*|(.*_(ik|fk|tweak)(_\w+)?|root|{FINGER_CONTROLS}){NUMBERED}",
    ),
    Generator(
        "CloudRig",
        (r"DEF-.*", r"STR-.*", r"(FK|IK|IK-MSTR|MSTR)-.*"),
        skin=r"DEF-.*",
        control=rf"({CLOUD_RIG})-.*",
    ),
    Generator(
        "BlenRig",
        (r".*_def(_\d+)?(_[LR])?", r".*_mstr(_str)?(_\d+)?(_[LR])?", r".*_(fk|ik)(_ctrl)?_[LR]"),
        skin=r"(?!.*_mstr).*_def(_.*)?",
    ),
    Generator(
        "Auto-Rig Pro",
        (
            r"c_\w+\.[lrx]",
            r"\w+_(ref|nostr|offset|stretch|twist|fk|ik|rot|bend|base)(_\w+)?\.[lrx]",
        ),
        skin=r"(c_)?\w+_(stretch|twist(_\d+)?|bend|base)\.[lrx]|(c_)?(thumb|index|middle|ring|pinky)"
        r"\d\.[lr]",
        control=r"cc_.*|c_(traj|pos|root_master)(\.x)?|\w+_(ref|ik|fk|pole|offset|nostr)(_\w+)?\.[lrx]",
    ),
    Generator(
        "Mixamo",
        (
            rf"{MIXAMO}(Left|Right)(ForeArm|UpLeg)",
            rf"{MIXAMO}(Left|Right)(Hand{FINGERS}1|ToeBase)",
        ),
        control=rf"{MIXAMO}(HeadTop_End|(Left|Right)Toe_End|(Left|Right)Hand{FINGERS}4)(_end)?",
    ),
    Generator(
        "VRM",
        (r"J_Bip_C_.*", r"J_Bip_[LR]_.*"),
        skin=r"J_(Bip|Sec|Adj|Opt)_.*",
        control=r"[Rr]oot|J_.*_end(_\w+)?",
    ),
    Generator(
        "MMD",
        (r"(上半身|下半身|首|頭)2?", r"[左右]?(腕|ひじ|手首|足|ひざ|足首)D?([._][LR])?"),
        skin=r"[左右]?(足|ひざ|足首)D([._][LR])?|[左右]?足先EX([._][LR])?",
        control=r"全ての親|操作中心|センター2?|グルーブ|両目|_(dummy|shadow)_.*|.*(ＩＫ|IK)(親|先)?([._][LR])?"
        r"|.*指先([._][LR])?",
    ),
    Generator(
        "Unreal",
        (r"(upperarm|lowerarm|thigh|calf)_[lr]", r"(pelvis|spine_0\d|clavicle_[lr])"),
        skin=r"\w+_twist_\d\d_[lr]|\w+_correctiveRoot_[lr]",
        control=r"root|ik_(foot|hand)_(root|gun|[lr])|interaction|center_of_mass|VB .*"
        r"|(weapon|prop|attach\w*)_[lr]",
    ),
    Generator(
        "Unity",
        (r"(Left|Right)(UpperLeg|LowerLeg)", r"(Left|Right)(UpperArm|LowerArm)"),
        control=r"Root|Armature|.*(_end|Nub)",
    ),
    Generator(
        "Daz",
        (
            r"[lr](Shldr|Forearm|Thigh)(Bend|Twist)|[lr]_(upperarm|forearm|thigh)(twist\d)?",
            r"(abdomen|chest)(Lower|Upper)|spine\d|pelvis",
        ),
        skin=r".*(Bend|Twist)|.*twist\d",
        control=r"Genesis\d.*|[lr](Hand|Foot)_?(anchor|end)",
    ),
    Generator(
        "Biped",
        (r"Bip0*\d+[ _][LR][ _](UpperArm|Forearm)", r"Bip0*\d+[ _][LR][ _](Thigh|Calf)"),
        control=r"Bip0*\d+|Bip0*\d+[ _]Footsteps|.*Nub|Bip0*\d+[ _]Prop\d",
    ),
    Generator(  # its collision volumes lie in the limbs
        "Second Life",
        (r"m(Pelvis|Torso|Chest|Neck|Head)", r"m(Hip|Knee|Shoulder|Elbow)(Left|Right)", VOLUMES),
        control=VOLUMES,
    ),
    Generator(
        "OpenXR",
        (r"(?i).*metacarpal" + SIDE, r"(?i).*(intermediate|proximal)" + SIDE, r"(?i).*tip" + SIDE),
        control=r"(?i)(.*[._ -])?(tip|palm)" + SIDE,
    ),
)


# Generators of game engine skeletons, in which all bones with the generator's names deform.
ENGINES = {"Mixamo", "VRM", "MMD", "Unreal", "Unity", "Daz", "Biped"}


def is_of_engine(names: Iterable[str]) -> bool:
    """Whether these are names of a game engine skeleton."""
    return any(generator.name in ENGINES for generator in recognize(names))


def recognize(names: Iterable[str]) -> list[Generator]:
    """The Generators that created these bones."""
    return list(_recognize(tuple(names)))


@functools.lru_cache(maxsize=2)  # evidence is evaluated several times
def _recognize(names: tuple[str, ...]) -> list[Generator]:
    found = []
    for generator in GENERATORS:
        of_all: set[str] = set()
        for kind in generator.kinds:
            of_kind = set(filter(re.compile(kind).fullmatch, names))
            if not of_kind:
                break
            of_all |= of_kind
        else:
            if len(of_all) >= LEAST_BONES:
                found.append(generator)
    return found


@functools.lru_cache(maxsize=REMEMBERED)
def _matches(pattern: str, name: str) -> bool:
    return re.fullmatch(pattern, name) is not None


def says_skin(generators: list[Generator], name: str) -> bool:
    """Whether one of these generators intends the bone to deform."""
    return any(_matches(g.skin, name) for g in generators) and not says_control(generators, name)


def says_control(generators: list[Generator], name: str) -> bool:
    """Whether one of these generators does not intend the bone to deform."""
    return any(_matches(g.control, name) for g in generators)
