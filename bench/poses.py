"""Measures the benefit of a file's poses: weights are optimized for some clips of a character and
evaluated on its other clips.

poses.py ZIP OUTPUT_FOLDER [CHARACTER...]     (called by bench.py)"""

import sys
from pathlib import Path

import numpy as np
import rigged
from results import say, table, write_page
from rigged import weights_of, without_control_bones
from yardstick import POSES, Yardstick

PLAIN = "random poses alone"
WAYS = {  # pose_weight of the frames, and settings
    PLAIN: (None, {}),
    "and frames": (1, {}),
    "and frames, each counts 4": (4, {}),
    "frames alone": (1, {"pose_count": 0}),
}
MEASURES = ("area", "p99", "drift")
LARGEST = 14_000  # vertices of the characters that are weighted
MOST_FRAMES = 40  # the add-on's
NOTE = f"""\
The test uses the characters in ../shared/data with at least two clips. Weights are optimized
for the random poses and for at most {MOST_FRAMES} frames of every second clip. The weights are
evaluated on at most {POSES} frames of the remaining clips, which are not used for optimization.
The two halves of the clips then swap roles. Values are relative to weights optimized for random
poses alone, and are means over both roles. *random*: the measures in the yardstick's random
poses. *better*, *worse*: number of characters whose strain by area on the unseen clips changes
by more than 0.5 %."""


def evenly(frames, most):
    return frames[np.unique(np.linspace(0, len(frames) - 1, most).astype(int))]


def halves(arrays):
    """[(frames used for optimization, frames used for evaluation)], empty with fewer than two
    clips."""
    if "anim_name" not in arrays or not len(arrays["anim_name"]):
        return []
    clips, clip = np.unique(arrays["anim_name"].astype(str), return_inverse=True)
    if len(clips) < 2:
        return []
    odd = clip % 2 == 1
    parts = arrays["anim"][odd], arrays["anim"][~odd]
    return [parts, parts[::-1]]


def judge(name):
    """{way: {"unseen" or "random": {measure: mean}}} of a character, or None without clips."""
    arrays = rigged.model(name)
    both = halves(arrays)
    if not both or len(arrays["V"]) > LARGEST:
        return None
    yardstick, arguments = Yardstick(arrays), without_control_bones(arrays)
    found = {}
    for way, (weight, settings) in WAYS.items():
        judged = []
        for given, unseen in both:
            yardstick.poses = {**yardstick.poses, "unseen": evenly(unseen, POSES)}
            more = {}
            if weight is not None:
                frames = evenly(given, MOST_FRAMES)[:, :, :3].astype(float)
                more = {"poses": frames, "pose_weights": np.full(len(frames), float(weight))}
            judged.append(yardstick.judge(weights_of(arguments, **more, **settings)))
        found[way] = {
            kind: {m: float(np.mean([j[kind][m] for j in judged])) for m in MEASURES}
            for kind in ("unseen", "random")
        }
    say(name)
    return found


def line(rows, way):
    def ratios(kind, measure):
        pairs = [(row[way][kind][measure], row[PLAIN][kind][measure]) for row in rows.values()]
        return np.array([new / old for new, old in pairs if old > 0])

    def mean(kind, measure):
        return f"{np.exp(np.mean(np.log(ratios(kind, measure)))):.3f}"

    moved = ratios("unseen", "area")
    cells = [mean(kind, m) for kind in ("unseen", "random") for m in MEASURES]
    return [way, *cells, (moved < 0.995).sum(), (moved > 1.005).sum()]


def main(_zip_path, output, *asked):
    judged = {name: judge(name) for name in rigged.names(asked)}
    judged = {name: row for name, row in judged.items() if row}
    if not judged:
        say("none of these characters has two clips")
        return 1
    head = ["poses", *MEASURES, *(f"{m}, random" for m in MEASURES), "better", "worse"]
    write_page(
        Path(output), "poses", "Poses from the file",
        f"{NOTE} {len(judged)} characters: {', '.join(judged)}.",
        table(head, [line(judged, way) for way in WAYS]),
        rows=judged,
    )  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
