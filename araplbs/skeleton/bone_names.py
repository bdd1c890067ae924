"""The meaning of single bone names: controls and sockets."""

import functools
import re

REMEMBERED = 1 << 13  # names: more than film rigs have

# Words that rigs give to controls, and to what holds, aims or marks a place.
CONTROL_WORDS = {
    *("ik", "ctrl", "ctl", "con", "control", "controls", "controller", "target", "targets"),
    *("pole", "slot", "handle", "weapon", "mch", "org", "effector", "fk", "tweak", "drv", "anchor"),
    *("camera", "cam", "view", "lookat", "look", "aim", "orient", "tag", "socket", "attach"),
    *("attachment", "mount", "item", "wield", "prop", "object", "empty", "dummy", "helper"),
}
# Words of bones that are controls and nothing else. Feet that a limb reaches for are skin as well,
# so "ik" is not one of these.
STEERING_WORDS = {"ctrl", "ctl", "control", "controls", "controller", "mch", "pole"}
# Words that do so if they are all of the name.
ROOT_WORDS = {"root", "master", "world", "origin"}
NEUTRAL_WORDS = {
    *("b", "bn", "bip", "bone", "joint", "jnt", "j", "l", "r", "left", "right", "node", "null"),
    *("armature", "rig", "skeleton", "character", "def", "main", "mixamorig"),
}
# Words in names of objects that mark a place to hold something.
SOCKET_WORDS = {"socket", "slot", "attach", "attachment", "mount", "anchor"}
END_WORDS = {"leaf", "end", "nub"}
SIDES = {"l", "r", "left", "right"}
BEGINNINGS = ("camera", "lookat", "view")
ENDINGS = ("slot", "target", "ik", "orient", "control", "ctrl")


@functools.lru_cache(maxsize=REMEMBERED)
def words_of(name: str) -> tuple[str, ...]:
    """In lower case: "IKfoot_L" is ik, foot, l."""
    split = re.sub(r"(?<![A-Za-z])(IK|FK)(?=[a-z])", r"\1 ", name)
    split = re.sub(r"([a-z])([A-Z])|([A-Z])([A-Z][a-z])", r"\1\3 \2\4", split)
    return tuple(word.lower() for word in re.findall(r"[A-Za-z]+", split))


@functools.lru_cache(maxsize=REMEMBERED)
def is_control_name(name: str) -> bool:
    """Whether rigs use such names for controls."""
    words = words_of(name)
    if any(w in CONTROL_WORDS or w.startswith(BEGINNINGS) or w.endswith(ENDINGS) for w in words):
        return True
    roots = [word for word in words if word in ROOT_WORDS]
    return bool(roots) and all(w in ROOT_WORDS | NEUTRAL_WORDS for w in words)


def is_steering_name(name: str) -> bool:
    """Whether rigs use such names for controls alone."""
    return any(
        word in STEERING_WORDS or word.endswith(("control", "ctrl")) for word in words_of(name)
    )


def is_socket_name(name: str) -> bool:
    """Whether an object of this name, on a bone, marks a place where things are held."""
    return not SOCKET_WORDS.isdisjoint(words_of(name))


def is_end_bone(name: str) -> bool:
    """Whether importers use such names for the ends of chains, which nothing follows and which need
    no skin."""
    words = [word for word in words_of(name) if word not in SIDES]
    return bool(words) and words[-1] in END_WORDS
