"""bake: every bad input gets an error that names the thing and the value."""

import araplbs
import numpy as np
import pytest
import shapes
from refusals import INF, NAN, changed, refuse, row, table
from test_bake import N, V, problem

WEIGHTS, TRANSFORMS, POSED = problem()
GOOD = {"vertices": V, "frames": POSED, "transforms": TRANSFORMS}
EMPTY = np.zeros((0, 3))

BAD_VALUES = {
    "another topology": (
        {"frames": POSED[:, 1:]}, r"frames\[0\] has 103 vertices, the mesh has 104",
    ),
    "one frame of another topology": (
        {"frames": [*POSED[:5], POSED[5, :7]]}, r"frames\[5\] has 7 vertices, the mesh has 104",
    ),
    "flat frame": ({"frames": POSED[:, :, :2]}, r"frames\[0\] has shape \(104, 2\)"),
    "no frames": ({"frames": POSED[:0], "transforms": TRANSFORMS[:0]}, "there are no frames"),
    "another number of frames": ({"frames": POSED[:4]}, "frames has 4 frames, transforms has 6"),
    "frame that is not finite": (
        {"frames": changed(POSED, (3, 9, 1), NAN)},
        r"frames\[3\] holds nan at vertex 9: not finite",
    ),
    "mesh that is not finite": (
        {"vertices": changed(V, (2, 1), INF)}, r"vertices\[2, 1\] is inf: not finite",
    ),
    "transforms that are not finite": (
        {"transforms": changed(TRANSFORMS, (2, 1, 0, 0), NAN)}, r"transforms\[2, 1\] holds nan",
    ),
    "no vertices": ({"vertices": EMPTY, "frames": [EMPTY] * 6}, "the mesh has no vertices"),
    "no bones": ({"transforms": None}, "there are no bones: give transforms or new_bones"),
    "no given bones": ({"transforms": TRANSFORMS[:, :0]}, "there are no bones"),
    "one bone": ({"transforms": TRANSFORMS[:, :1]}, "there is one bone: it gets all weight"),
    "more bones than vertices": ({"new_bones": N + 1}, "new_bones is 105: more than the 104"),
    "weights of no bones": ({"transforms": None, "weights": WEIGHTS}, "weights needs transforms"),
    "candidates of no bones": (
        {"transforms": None, "candidates": WEIGHTS > 0, "new_bones": 2},
        "candidates needs transforms",
    ),
    "nothing to measure": ({"iterations": 0}, "iterations is 0: that needs weights"),
    "new bones at once": (
        {"iterations": 0, "weights": WEIGHTS, "new_bones": 1}, "iterations is 0: that needs no new",
    ),
    "locks of nothing": ({"locked_vertices": np.ones(N, bool)}, "locked_vertices needs weights"),
    "locked bones of nothing": ({"locked_bones": np.ones(5, bool)}, "locked_bones needs weights"),
    "no candidates": (
        {"candidates": changed(np.ones((N, 5), bool), 7, False)},
        "vertex 7 has no bone that may move",
    ),
    "all bones locked": (
        {"locked_bones": np.ones(5, bool), "weights": changed(WEIGHTS, 4, 0.0)},
        "vertex 4 has no bone that may move it",
    ),
    "triangle": ({"triangles": [[0, 1, N]]}, "triangle 0 names vertex 104"),
    "edge": ({"edges": [[0, 1], [-1, 0]]}, "edge 1 names vertex -1"),
    "weight": ({"weights": changed(WEIGHTS, (3, 1), -1.0)},
        "the weight of vertex 3 for bone 1 is -1"),
    "shape of the weights": ({"weights": WEIGHTS[:, :3]}, r"weights has shape \(104, 3\)"),
    "shape of the candidates": ({"candidates": np.ones((N, 2), bool)}, "candidates has shape"),
    "max_influences": ({"max_influences": -1}, "max_influences is -1: must be from 0"),
    "new_bones": ({"new_bones": -1}, "new_bones is -1"),
    "iterations": ({"iterations": -1}, "iterations is -1"),
    "tolerance": ({"tolerance": 2.0}, "tolerance is 2"),
    "smoothness": ({"smoothness": NAN}, "smoothness is nan"),
    "damping": ({"damping": -1.0}, "damping is -1"),
    "threads": ({"threads": -1}, "threads is -1"),
}  # fmt: skip
BAD_TYPES = {
    "rows of None": ({"weights": (None, None, None)}, "weights must be three arrays, not None"),
    "no sequence": ({"frames": 7}, "frames is .*int.*: must be a sequence"),
    "frame without the mesh": ({"frames": [*POSED[:5], None]}, r"frames\[5\] is None"),
    "words": ({"frames": ["a"] * 6}, r"frames\[0\] must hold numbers"),
    "frames missing": ({"frames": None}, "frames must be"),
    "setting": ({"new_bones": "two"}, "new_bones is 'two': must be an integer"),
    "progress": ({"progress": 3}, "progress must be callable"),
}


@pytest.mark.parametrize("case", BAD_VALUES)
def test_bad_values(case):
    changes, pattern = BAD_VALUES[case]
    refuse(ValueError, pattern, araplbs.bake, **{**GOOD, **changes})


@pytest.mark.parametrize("case", BAD_TYPES)
def test_bad_types(case):
    changes, pattern = BAD_TYPES[case]
    refuse(TypeError, pattern, araplbs.bake, **{**GOOD, **changes})


def test_what_reading_raises_is_raised():
    class Broken(list):
        def __getitem__(self, index):
            raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        araplbs.bake(V, Broken(POSED), TRANSFORMS)


def test_more_frames_than_can_be_counted():
    class Many(list):
        def __len__(self):
            return 1_000_001

    refuse(ValueError, "at most 1000000", araplbs.bake, vertices=V, frames=Many(POSED[:3]))


def test_a_frame_may_end_the_sequence_early():
    class Short(list):
        def __len__(self):
            return 6

    with pytest.raises(IndexError):
        araplbs.bake(V, Short(POSED[:3]), TRANSFORMS)


def test_one_point_and_coincident_points_are_meshes():
    for vertices in (np.zeros((1, 3)), np.ones((4, 3)), shapes.soup()[0]):
        frames = np.stack([vertices, vertices + 1])
        result = araplbs.bake(vertices, frames, TRANSFORMS[:2])
        assert np.isfinite(result["rms"]) and np.isfinite(result["weights"][2]).all()


test_numbers_that_have_no_squares = table(
    araplbs.bake,
    GOOD,
    row(
        r"frames\[5\] holds \S+e\+15\d at vertex 0: too far",
        frames=[*POSED[:5], POSED[5] * 1e154],
    ),
    row(r"transforms\[0, 0\] holds \S+: too large for a mesh", transforms=TRANSFORMS * 1e154),
    row("the bounding box of the mesh is too large", vertices=V * 1e160),
)
