"""Classifies individual bone names, such as names of controls and sockets."""

import functools
import re

REMEMBERED = 1 << 13  # names: more than film rigs have

# Words that rigs use for controls and for objects that hold, aim or mark a place.
CONTROL_WORDS = {
    *("ik", "ctrl", "ctl", "con", "control", "controls", "controller", "target", "targets"),
    *("pole", "slot", "handle", "weapon", "mch", "org", "effector", "fk", "tweak", "drv", "anchor"),
    *("camera", "cam", "view", "lookat", "look", "aim", "orient", "tag", "socket", "attach"),
    *("attachment", "mount", "item", "wield", "prop", "object", "empty", "dummy", "helper"),
}
# Words for bones that are only controls. Feet that a limb reaches for are also skin, so "ik" is not
# included.
STEERING_WORDS = {"ctrl", "ctl", "control", "controls", "controller", "mch", "pole"}
# Words that mark a control only if they are the whole name.
ROOT_WORDS = {"root", "master", "world", "origin"}
NEUTRAL_WORDS = {
    *("b", "bn", "bip", "bone", "joint", "jnt", "j", "l", "r", "left", "right", "node", "null"),
    *("armature", "rig", "skeleton", "character", "def", "main", "mixamorig"),
}
# Words in names of objects that mark an attachment point.
SOCKET_WORDS = {"socket", "slot", "attach", "attachment", "mount", "anchor"}
END_WORDS = {"leaf", "end", "nub"}
SIDES = {"l", "r", "left", "right"}
BEGINNINGS = ("camera", "lookat", "view")
ENDINGS = ("slot", "target", "ik", "orient", "control", "ctrl")


@functools.lru_cache(maxsize=REMEMBERED)
def words_of(name: str) -> tuple[str, ...]:
    """Splits a name into lowercase words: "IKfoot_L" gives ik, foot, l."""
    split = re.sub(r"(?<![A-Za-z])(IK|FK)(?=[a-z])", r"\1 ", name)
    split = re.sub(r"([a-z])([A-Z])|([A-Z])([A-Z][a-z])", r"\1\3 \2\4", split)
    return tuple(word.lower() for word in re.findall(r"[A-Za-z]+", split))


@functools.lru_cache(maxsize=REMEMBERED)
def is_control_name(name: str) -> bool:
    """Whether rigs use such a name for controls."""
    words = words_of(name)
    if any(w in CONTROL_WORDS or w.startswith(BEGINNINGS) or w.endswith(ENDINGS) for w in words):
        return True
    roots = [word for word in words if word in ROOT_WORDS]
    return bool(roots) and all(w in ROOT_WORDS | NEUTRAL_WORDS for w in words)


def is_steering_name(name: str) -> bool:
    """Whether rigs use such a name only for controls."""
    return any(
        word in STEERING_WORDS or word.endswith(("control", "ctrl")) for word in words_of(name)
    )


def is_socket_name(name: str) -> bool:
    """Whether an object of this name on a bone marks an attachment point."""
    return not SOCKET_WORDS.isdisjoint(words_of(name))


def is_end_bone(name: str) -> bool:
    """Whether importers use such a name for the end of a chain, which nothing follows and which
    needs no skin."""
    words = [word for word in words_of(name) if word not in SIDES]
    return bool(words) and words[-1] in END_WORDS
