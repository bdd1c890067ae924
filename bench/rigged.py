"""Provides the characters of ../shared/data with their artists' weights, and with the weights that
heat and the operator compute."""

import sys

import araplbs
import numpy as np
from araplbs.skeleton.bone_names import is_control_name
from in_blender import BUILD, run_in_blender
from problems import DATA

LEFT_OUT = {"fox_soup", "human_game_engine"}  # a soup of triangles; bones that miss the mesh
FOLDER = BUILD / "seen"
LIMIT = 1800  # seconds for one character
PUBLISHED = "As_published_(2018_paper)"
# Those of engines are one of these.
PRESETS = (PUBLISHED, "Crisp", "Film", "Soft", "Game_4", "Game_8")
WAYS = ("heat", "default", "before", *PRESETS)  # seen_weights.py


def names(asked, left_out=LEFT_OUT):
    """The requested characters, or all those about which the pages make claims."""
    scenes = (path.stem for path in DATA.glob("*.npz") if path.with_suffix(".blend").exists())
    found = sorted(name for name in scenes if name not in left_out)
    if not found:
        sys.exit(f"bench: no characters in {DATA}")
    unknown = set(asked) - set(found)
    if unknown:
        sys.exit(f"bench: no character {', '.join(sorted(unknown))}; there are {', '.join(found)}")
    return [name for name in found if not asked or name in asked]


def model(name):
    """Arrays of a character."""
    with np.load(DATA / f"{name}.npz", allow_pickle=True) as file:
        return dict(file)


def is_painted(arrays):
    """Whether the artist painted the weights, rather than generating them with bone heat."""
    return str(arrays.get("weights_kind", "")).startswith("painted")


def weights(zip_path, name):
    """{"heat", "default", "before" or a preset: (weights, seconds)}, or a line that states what
    went wrong. Blender computes them unless a run of the same extension has stored them."""
    result = FOLDER / f"{name}.npz"
    FOLDER.mkdir(parents=True, exist_ok=True)
    if not result.exists() or result.stat().st_mtime < zip_path.stat().st_mtime:
        error = run_in_blender(
            "seen_weights.py", zip_path, DATA / f"{name}.blend", DATA / f"{name}.npz", result,
            *WAYS, limit=LIMIT,
        )  # fmt: skip
        if error:
            return error
    with np.load(result) as file:
        return {way: (file[way], float(file[f"seconds.{way}"])) for way in WAYS}


def without_control_bones(arrays):
    """Arguments of a Solver as in the add-on: control bones deform nothing, and their children
    become children of the next bone above, except for the first bone of a tree."""
    vertices, triangles = arrays["V"].astype(float), arrays["F"].astype(np.int64)
    heads, tails = arrays["bone_head"].astype(float), arrays["bone_tail"].astype(float)
    parents, deform = arrays["bone_parent"].astype(int), arrays["bone_deform"].astype(bool)
    named = np.array([float(is_control_name(str(name))) for name in arrays["bone_names"]])
    left = ~araplbs.control_bones(
        vertices, triangles, heads, tails, parents, bone_deform=deform, bone_evidence=named
    ).astype(bool)
    above = parents.copy()
    for bone in range(len(parents)):
        while above[bone] >= 0 and not left[above[bone]] and parents[above[bone]] >= 0:
            above[bone] = parents[above[bone]]
    return {
        "vertices": vertices, "triangles": triangles, "bone_heads": heads, "bone_tails": tails,
        "bone_deform": deform & left, "bone_parents": np.where(left, above, -1),
        "edges": arrays["E_loose"].astype(np.int64) if "E_loose" in arrays else None,
    }  # fmt: skip
