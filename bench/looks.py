"""Draws pictures of posed characters: bone heat, the artist's weights and ours side by side, with
faces colored by their strain in the pose. Draws sheets for the manual as well, which show the same
joints with different settings and presets.

looks.py ZIP OUTPUT_FOLDER [CHARACTER...]     (called by bench.py)
looks.py                                      only the sheets, with the module in use

The pictures are written to the folder `looks` next to OUTPUT_FOLDER: docs/looks for all
characters."""

import sys
from dataclasses import dataclass, field
from pathlib import Path

import araplbs
import numpy as np
import plots
import rigged
import shaded
from araplbs.disk.presets import PRESETS
from matplotlib.collections import PolyCollection
from paths import ROOT
from results import say, write_page
from yardstick import Yardstick, chained, rotation, skin

WAYS = {
    "heat": "Blender's bone heat",
    "artist": "artist",
    "default": "ours",
}
MOST_STRAIN = 1.0
MARGIN = 0.06  # of the picture, around what it shows
HEIGHT, LEAST_WIDTH = 5.0, 2.0  # inches, of a panel
NOTE = f"""\
The pictures compare bone heat, the artist's weights and our default weights in one pose. Darker
faces have more strain. Red starts at {60 * MOST_STRAIN:.0f} %, and the darkest color means
{100 * MOST_STRAIN:.0f} %. Blue vertices have no weights from bone heat and stay in the rest
pose."""


@dataclass
class Look:
    """A character in a pose: a frame of its animation, or rotations of its bones."""

    character: str
    name: str  # of the picture
    view: tuple[float, float]  # azimuth (from X to Y) and elevation of the viewer, degrees
    frame: int | None = None
    turns: dict = field(default_factory=dict)  # {bone: (axis in armature space, degrees)}
    follow: dict = field(default_factory=dict)  # {bone: the bone that it follows in this pose}
    of: tuple = ()  # bones whose surroundings are shown; the whole character if empty


SIDE = (1, 0, 0)  # characters look along -Y, but cesium_man, who looks along X
FRONT, UP = (0, 1, 0), (0, 0, 1)
FINGERS = [f"{finger}_0{k}_l" for finger in ("index", "middle", "ring", "pinky") for k in (1, 2, 3)]
LOOKS = [
    Look("cesium_man", "cesium_man_run", (-70, 5), frame=12),
    Look(
        "cesium_man", "cesium_man_shoulder", (-50, 15), frame=12,
        of=("Node_19", "Node_16", "Node_17"),
    ),
    Look("cesium_man", "cesium_man_hip", (-50, 5), frame=12, of=("Node_3", "Node_7", "Node_11")),
    Look(
        "mh_game", "mh_game_hand", (-60, 25),
        turns={**dict.fromkeys(FINGERS, (FRONT, 55)), "thumb_02_l": (FRONT, 35)},
        of=("hand_l", *FINGERS, "thumb_02_l", "thumb_03_l"),
    ),
    Look(
        "mh_game", "mh_game_face", (-60, 5), turns={"head": (SIDE, 30), "neck_01": (UP, 35)},
        of=("head", "neck_01"),
    ),
    Look("mh_base", "mh_base", (-60, 10), frame=20),
    Look(
        "q_trex", "q_trex", (0, 5),
        turns={"BackUpLeg.L": (SIDE, 60), "BackUpLeg.R": (SIDE, -60)},
        follow={"BackFoot.L": "BackLowLeg.L", "BackFoot.R": "BackLowLeg.R"},
    ),
    Look(
        "m2m_horse", "m2m_horse", (0, 5),
        turns={
            "back_leg_upper_l": (SIDE, 60), "back_leg_upper_r": (SIDE, -60),
            "front_leg_upper_l": (SIDE, 60), "front_leg_upper_r": (SIDE, -60),
        },
    ),
    Look(
        "knight", "knight", (-60, 10),
        turns={
            "upperarm.l": (FRONT, 60), "upperarm.r": (FRONT, -40), "upperleg.l": (SIDE, -60),
            "spine": (UP, 25),
        },
    ),
    Look("sintel", "sintel", (-60, 10), frame=20),
]  # fmt: skip

JOINTS = [  # the rows of a sheet
    Look(
        "mh_game", "arm", (-60, 10), turns={"upperarm_l": (FRONT, -45), "lowerarm_l": (UP, -50)},
        of=("clavicle_l", "upperarm_l", "lowerarm_l", "spine_03", "spine_02"),
    ),
    Look(
        "mh_game", "hip", (-40, 5), turns={"thigh_l": (SIDE, -80), "calf_l": (SIDE, 60)},
        of=("thigh_l", "thigh_r", "pelvis", "spine_01"),
    ),
    LOOKS[3],
    Look(
        "mh_game", "neck", (-60, 5), turns={"head": (SIDE, 30), "neck_01": (UP, 45)},
        of=("head", "neck_01", "clavicle_l", "clavicle_r"),
    ),
    Look(
        "q_trex", "tail", (30, 15),
        turns={f"Tail{k}": (UP, 25) for k in range(1, 6)} | {"Hips": (UP, -10)},
        of=("Hips", "Back", *(f"Tail{k}" for k in range(1, 6))),
    ),
]  # fmt: skip
FIRM, CRISP = "bone_spring_stiffness", "min_gain"
SHEETS = {  # {name of the picture: {title of a column: settings}}
    "firmness": {f"Firmness {value:g}": {FIRM: value} for value in (0.0, 8.0, 16.0, 24.0, 50.0)},
    "crispness": {
        f"Crispness {value:g}": {CRISP: value} for value in (0.0, 4e-3, 0.01, 0.02, 0.05)
    },
    "presets": {name: PRESETS[name] for name in ("Film", "Soft", "Game 4", "Mobile", "Crisp")},
}


def pose_of(look, arrays):
    """(bones, 4, 4)"""
    if look.frame is not None:
        return arrays["anim"][look.frame]
    names = list(map(str, arrays["bone_names"]))
    turns = np.tile(np.eye(3), (len(names), 1, 1))
    for bone, (axis, degrees) in look.turns.items():
        turns[names.index(bone)] = rotation(np.array(axis, float), np.radians(degrees))
    parents = arrays["bone_parent"].astype(int)
    for bone, leader in look.follow.items():
        parents[names.index(bone)] = names.index(leader)
    return chained(arrays["bone_head"], parents, turns)


def normals_of(points, triangles):
    """(triangles, 3) smooth normals, those of the corner vertices, and flat ones with the length of
    the area."""
    a, b, c = points[triangles].swapaxes(0, 1)
    flat = np.cross(b - a, c - a)
    at_vertex = np.zeros_like(points)
    np.add.at(at_vertex, triangles.ravel(), np.repeat(flat, 3, 0))
    unit = lambda v: v / np.maximum(np.linalg.norm(v, axis=1, keepdims=True), 1e-12)  # noqa: E731
    return unit(unit(at_vertex)[triangles].sum(1)), flat


def draw(panel, points, triangles, strain, camera, title="", box=None):
    """The lit surface from the camera, with the nearest triangle drawn last, all of it or only the
    part in the box; strain NaN: blue."""
    seen = points @ camera.T
    normals, flat = normals_of(seen, triangles)
    outside = flat[:, 2] > 0
    normals = np.where((normals[:, 2] > 0)[:, None], normals, -normals)
    color = shaded.ERRORS(np.clip(strain / MOST_STRAIN, 0, 1))[:, :3]
    color[np.isnan(strain)] = (0.3, 0.45, 0.8)
    light = (0.5 + 0.5 * np.maximum(normals @ shaded.LIGHT, 0)) * np.where(outside, 1, 0.6)
    color = np.clip(color * light[:, None], 0, 1)
    corners = seen[triangles]
    order = np.argsort(corners[..., 2].mean(1))
    panel.add_collection(
        PolyCollection(
            corners[order, :, :2], facecolors=color[order], edgecolors=color[order],
            linewidths=0.3,
        )
    )  # fmt: skip
    if box is None:
        panel.autoscale_view()
    else:
        panel.set(xlim=[corner[0] for corner in box], ylim=[corner[1] for corner in box])
    panel.set_aspect("equal")
    panel.axis("off")
    panel.set_title(title)


def strain_of(yardstick, rows, points):
    """(triangles,) in this pose; NaN if a corner has no weights or the triangle has no area."""
    strain = np.full(len(yardstick.triangles), np.nan)
    strain[yardstick.surface.kept] = np.sqrt(yardstick.surface.strain2(points))
    strain[np.isnan(strain)] = 0  # of no area: nothing is seen of it
    strain[(rows.sum(1) == 0)[yardstick.triangles].any(1)] = np.nan
    return strain


def shown_vertices(look, arrays, yardstick):
    """The vertices that follow mainly the bones of the look, or all."""
    if not look.of:
        return np.arange(len(yardstick.vertices))
    names = [str(n) for n in arrays["bone_names"][yardstick.deform]]
    main = yardstick.artist.argmax(1)
    return np.flatnonzero(np.isin(main, [names.index(bone) for bone in look.of]))


def framed(look, arrays, yardstick, posed, camera):
    """The corners of the picture, (2, 2), with the vertices of the look."""
    region = posed[shown_vertices(look, arrays, yardstick)] @ camera.T
    low, high = region[:, :2].min(0), region[:, :2].max(0)
    return low - MARGIN * (high - low), high + MARGIN * (high - low)


def solved(arrays, settings):
    """(vertices, bones) weights of the bones that the artist uses."""
    used = arrays["bone_deform"] & (arrays["W"] > 0).any(0)
    ends = (arrays[f"bone_{key}"] for key in ("head", "tail", "parent"))
    solver = araplbs.Solver(arrays["V"], arrays["F"], *ends, bone_deform=used, **settings)
    solver.solve()
    return np.asarray(solver.weights)


def sheet(name, output):
    """Draws the joints with each of the settings of a sheet. Returns the name of the file."""
    columns, known = SHEETS[name], {}
    fig, panels = plots.plt.subplots(len(JOINTS), len(columns), figsize=(2.4 * len(columns), 12))
    for row, look in zip(panels, JOINTS, strict=True):
        if look.character not in known:
            arrays = rigged.model(look.character)
            known[look.character] = (
                arrays, Yardstick(arrays), [solved(arrays, each) for each in columns.values()]
            )  # fmt: skip
        arrays, yardstick, found = known[look.character]
        camera, pose = shaded.view(*look.view), pose_of(look, arrays)[yardstick.deform]
        artist = skin(yardstick.vertices, yardstick.artist, pose)
        box = framed(look, arrays, yardstick, artist, camera)
        for panel, title, weights in zip(row, columns, found, strict=True):
            rows = yardstick.rows(weights)
            posed = skin(yardstick.vertices, rows, pose)
            strain = strain_of(yardstick, rows, posed)
            title = title if look is JOINTS[0] else ""
            draw(panel, posed, yardstick.triangles, strain, camera, title, box)
    return plots.save(fig, output, f"{name}.png")


def picture(look, zip_path, output):
    """(file name, None), or (None, a line that states what went wrong)."""
    ways = rigged.weights(zip_path, look.character)
    if isinstance(ways, str):
        return None, ways
    arrays = rigged.model(look.character)
    yardstick = Yardstick(arrays)
    rows = {way: yardstick.rows(ways[way][0]) for way in WAYS if way != "artist"}
    rows["artist"] = yardstick.artist
    camera, pose = shaded.view(*look.view), pose_of(look, arrays)[yardstick.deform]
    posed = {}
    for way, each in rows.items():
        posed[way] = skin(yardstick.vertices, each, pose)
        loose = each.sum(1) == 0
        posed[way][loose] = yardstick.vertices[loose]
    low, high = framed(look, arrays, yardstick, posed["artist"], camera)
    width = max(LEAST_WIDTH, HEIGHT * (high - low)[0] / (high - low)[1])
    fig, [panels] = plots.figure(len(WAYS), width=len(WAYS) * width, height=HEIGHT)
    for panel, (way, label) in zip(panels, WAYS.items(), strict=True):
        strain = strain_of(yardstick, rows[way], posed[way])
        draw(panel, posed[way], yardstick.triangles, strain, camera, label, (low, high))
    return plots.save(fig, output, f"{look.name}.png"), None


def main(zip_path, output, *asked):
    folder = Path(output).parent / "looks"
    names, pictures, failures = rigged.names(asked), [], []
    for look in LOOKS:
        if look.character not in names:
            continue
        file, error = picture(look, Path(zip_path), folder)
        if error:
            failures.append(f"{look.name}: {error}")
        else:
            pictures.append(f"../looks/{file}")
        say(look.name, error or "")
    if not asked:
        pictures += [f"../looks/{sheet(name, folder)}" for name in SHEETS]
    write_page(Path(output), "looks", "Looks", NOTE, *failures, pictures=pictures)
    return 1 if failures else 0


if __name__ == "__main__":
    if sys.argv[1:]:
        sys.exit(main(*sys.argv[1:]))
    for each in SHEETS:
        sheet(each, ROOT / "docs/looks")
