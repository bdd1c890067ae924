"""bake(): for every invalid input, the error names the argument and the value."""

import araplbs
import numpy as np
import pytest
import shapes
from refusals import NAN, changed, refuse, row, table
from test_bake import N, V, problem

WEIGHTS, TRANSFORMS, POSED = problem()
GOOD = {"vertices": V, "frames": POSED, "transforms": TRANSFORMS}
EMPTY = np.zeros((0, 3))

test_bad_arguments = table(
    araplbs.bake,
    GOOD,
    row(r"frames\[0\] has 103 vertices, but the mesh has 104", frames=POSED[:, 1:]),
    row(r"frames\[5\] has 7 vertices, but the mesh has 104", frames=[*POSED[:5], POSED[5, :7]]),
    row(r"frames\[0\] has shape \(104, 2\)", frames=POSED[:, :, :2]),
    row("there are no frames", frames=POSED[:0], transforms=TRANSFORMS[:0]),
    row("frames has 4 frames, but transforms has 6", frames=POSED[:4]),
    row(r"frames\[3\] contains nan at vertex 9: not finite", frames=changed(POSED, (3, 9, 1), NAN)),
    row("the mesh has no vertices", vertices=EMPTY, frames=[EMPTY] * 6),
    row("there are no bones: provide transforms or new_bones", transforms=None),
    row("there are no bones", transforms=TRANSFORMS[:, :0]),
    row("there is only one bone, which gets all the weight", transforms=TRANSFORMS[:, :1]),
    row("new_bones is 105: more than the 104", new_bones=N + 1),
    row("weights needs transforms", transforms=None, weights=WEIGHTS),
    row("candidates needs transforms", transforms=None, candidates=WEIGHTS > 0, new_bones=2),
    row("iterations is 0: this requires weights", iterations=0),
    row("iterations is 0: this requires no new", iterations=0, weights=WEIGHTS, new_bones=1),
    row("locked_vertices needs weights", locked_vertices=np.ones(N, bool)),
    row("locked_bones needs weights", locked_bones=np.ones(5, bool)),
    row("vertex 7 has no bone that may move", candidates=changed(np.ones((N, 5), bool), 7, False)),
    row(
        "vertex 4 has no bone that may move it",
        locked_bones=np.ones(5, bool),
        weights=changed(WEIGHTS, 4, 0.0),
    ),
    row(r"triangles\[0, 2\] is 104, but there are 104", triangles=[[0, 1, N]]),
    row(r"edges\[1, 0\] is -1, but there are 104", edges=[[0, 1], [-1, 0]]),
    row(r"weights has shape \(104, 3\)", weights=WEIGHTS[:, :3]),
    row("candidates has shape", candidates=np.ones((N, 2), bool)),
    row("max_influences is -1: must be from 0", max_influences=-1),
    row("new_bones is -1", new_bones=-1),
    row("iterations is -1", iterations=-1),
    row("tolerance is 2", tolerance=2.0),
    row("smoothness is nan", smoothness=NAN),
    row("damping is -1", damping=-1.0),
    row("weights must be three arrays, not None", weights=(None, None, None), kind=TypeError),
    row("frames is .*int.*: must be a sequence", frames=7, kind=TypeError),
    row(r"frames\[5\] is None", frames=[*POSED[:5], None], kind=TypeError),
    row(r"frames\[0\] must contain numbers", frames=["a"] * 6, kind=TypeError),
    row("new_bones is 'two': must be an integer", new_bones="two", kind=TypeError),
    row(
        r"frames\[5\] contains \S+e\+15\d at vertex 0: too far",
        frames=[*POSED[:5], POSED[5] * 1e154],
    ),
    row(r"transforms\[0, 0\] contains \S+: too large for a mesh", transforms=TRANSFORMS * 1e154),
    row("the bounding box of the mesh is too large", vertices=V * 1e160),
)


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
