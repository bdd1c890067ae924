"""Impossible values raise the right exception, with a message that names the argument and the
value."""

import araplbs
import numpy as np
import pytest
from refusals import (
    BIG,
    BONES,
    GOOD,
    INF,
    LIMITS,
    MESH,
    NAN,
    POSES,
    SQUARE,
    WEIGHTS,
    M,
    N,
    changed,
    row,
    table,
)

test_values = table(
    araplbs.Solver,
    GOOD,
    row("the mesh has no vertices", vertices=np.zeros((0, 3)), triangles=[]),
    row(r"vertices\[4, 1\] is nan", vertices=changed(MESH[0], (4, 1), NAN)),
    row(r"vertices\[7, 2\] is -inf", vertices=changed(MESH[0], (7, 2), -INF)),
    row("bounding box .* too large", vertices=changed(MESH[0], (0, 0), 1e300)),
    row(r"triangles\[3, 2\] is 30, but there are 30", triangles=changed(MESH[1], (3, 2), N)),
    row(r"triangles\[0, 0\] is -1", triangles=changed(MESH[1], (0, 0), -1)),
    row("triangles contains 2147483648", triangles=changed(MESH[1], (0, 0), BIG)),
    row("triangles contains -2147483649", triangles=changed(MESH[1], (0, 0), -BIG - 1)),
    row("triangles contains 18446744073709551615", triangles=np.full((1, 3), 2**64 - 1, np.uint64)),
    row(
        "triangles must contain integers, not dtype.*float64",
        triangles=MESH[1].astype(float),
        kind=TypeError,
    ),
    row(r"tets\[1, 3\] is 30, but there are 30", tets=[[0, 1, 2, 3], [0, 1, 2, N]]),
    row(r"tets\[0, 0\] is -1", tets=[[-1, 1, 2, 3]]),
    row(r"edges\[1, 0\] is 30", edges=[[0, 1], [N, 1]]),
    row(r"edges\[0, 1\] is -5", edges=[[0, -5]]),
    row(r"bone_heads\[1, 0\] is nan", bone_heads=changed(BONES.heads, (1, 0), NAN)),
    row(
        r"bone_roll_axes\[1, 2\] is -inf: not a direction",
        bone_roll_axes=changed(BONES.tails - BONES.heads, (1, 2), -INF),
    ),
    row(r"bone_tails\[2, 2\] is inf", bone_tails=changed(BONES.tails, (2, 2), INF)),
    row("bone 1, at 1e.200 to 0, is too far", bone_heads=changed(BONES.heads, (1, 0), 1e200)),
    row(r"bone_parents\[2\] is 3: must be -1 or one of the 3", bone_parents=[-1, 0, 3]),
    row(r"bone_parents\[0\] is -2", bone_parents=[-2, 0, 1]),
    row("bone [01] has no root: its parents form a loop", bone_parents=[1, 0, 1]),
    row("bone 2 has no root", bone_parents=[-1, 0, 2]),
    row("the skeleton has no bones", bone_heads=[], bone_tails=[], bone_parents=[]),
    row("no bone of the skeleton deforms", bone_deform=[False] * 3),
    row(r"bone_limits\[1, 2\] is \(1, -1\)", bone_limits=changed(LIMITS, (1, 2), [1.0, -1.0])),
    row(r"bone_limits\[0, 0\] is \(nan, 1\)", bone_limits=changed(LIMITS, (0, 0, 0), NAN)),
    row(r"bone_limits\[2, 1\] is \(-1, inf\)", bone_limits=changed(LIMITS, (2, 1, 1), INF)),
    row(
        r"bone_limits\[1, 0\] is \(-1, 1e\+200\): must be within",
        bone_limits=changed(LIMITS, (1, 0), [-1.0, 1e200]),
    ),
    row(r"poses\[1\] of bone 2 contains nan", poses=changed(POSES, (1, 2, 0, 3), NAN)),
    row(r"poses\[0\] of bone 0 contains inf", poses=changed(POSES, (0, 0, 1, 1), INF)),
    row("poses has 5 rows per transform", poses=np.zeros((2, M, 5, 4))),
    row(r"poses\[1\] of bone 0 has a last row", poses=changed(SQUARE, (1, 0, 3, 0), 0.5)),
    row(r"poses\[0\] of bone 1 has a last row", poses=changed(SQUARE, (0, 1, 3, 3), NAN)),
    row("there are no poses", pose_count=0),
    row("weight of vertex 3 for bone 1 is nan", weights=changed(WEIGHTS, (3, 1), NAN)),
    row("weight of vertex 0 for bone 2 is -0.1", weights=changed(WEIGHTS, (0, 2), -0.1)),
    row("weight of vertex 9 for bone 0 is inf", weights=changed(WEIGHTS, (9, 0), INF)),
    row("weights is a tuple of 2", weights=([0], [0])),
    row(
        r"weights\[0\] must ascend from 0 to 30",
        weights=(np.arange(N + 1)[::-1], np.zeros(N, int), np.ones(N)),
    ),
    row(
        r"weights\[0\] must ascend",
        weights=(np.arange(N + 1) + 1, np.zeros(N + 1, int), np.ones(N + 1)),
    ),
    row(
        r"weights\[0\] must ascend",
        weights=(np.arange(N + 1), np.zeros(N + 5, int), np.ones(N + 5)),
    ),
    row(
        r"weights\[0\] must ascend",
        weights=(changed(np.arange(N + 1), 3, BIG), np.zeros(N, int), np.ones(N)),
    ),
    row(
        "vertex 0 refer to bone 0 twice",
        weights=(np.arange(N + 1) * 2, np.zeros(2 * N, int), np.ones(2 * N)),
    ),
    row("vertex 1 refer to bone 3", weights=(np.arange(N + 1), np.arange(N) % 2 * 3, np.ones(N))),
    row("vertex 1 refer to bone -1", weights=(np.arange(N + 1), -(np.arange(N) % 2), np.ones(N))),
    row("no weights to start from", start_from_weights=True),
    row("locked, but there are no weights", locked_vertices=np.ones(N, bool)),
    row("locked, but there are no weights", locked_bones=[True, False, False]),
    row("nothing is free", weights=WEIGHTS, locked_bones=[True] * 3),
    row("nothing is free", weights=WEIGHTS, locked_vertices=np.ones(N, bool)),
    row(
        r"vertex_sets\[5\] is 2, but locked_bones has 2 rows",
        weights=WEIGHTS,
        locked_bones=np.eye(2, 3, dtype=bool),
        vertex_sets=changed(np.zeros(N, int), 5, 2),
    ),
    row(
        r"vertex_sets\[0\] is -1",
        weights=WEIGHTS,
        locked_bones=np.eye(2, 3, dtype=bool),
        vertex_sets=np.full(N, -1),
    ),
    row("vertex_sets needs locked_bones", weights=WEIGHTS, vertex_sets=np.zeros(N, int)),
    row(
        "locked_bones has no rows",
        weights=WEIGHTS,
        vertex_sets=np.zeros(N, int),
        locked_bones=np.zeros((0, M), bool),
    ),
    row("constraint 1 refers to vertex 30, but there are 30", constraints=([0, N], [0, 0], [1, 1])),
    row("constraint 0 refers to vertex -1", constraints=([-1], [0], [1])),
    row("constraint 0 refers to bone 3, but there are 3", constraints=([0], [M], [1])),
    row("constraint 0 refers to bone -1", constraints=([0], [-1], [1])),
    row("constraint 2 has the target nan", constraints=([0, 1, 2], [0, 0, 0], [1, 1, NAN])),
    row("constraints must be a tuple", constraints=[[0], [0], [1]], kind=TypeError),
    row("constraints must be a tuple", constraints=([0], [0]), kind=TypeError),
    row("constraints must be three arrays", constraints=([0], [0], None), kind=TypeError),
    row("constraints.2. has shape", constraints=([0, 1], [0, 0], [1])),
)


def test_roll_axes_that_are_not_known():
    """NaN stands for any axis across the bone."""
    given = araplbs.Solver(**GOOD, bone_roll_axes=np.full((M, 3), NAN), pose_count=4)
    assert np.isfinite(given.weights).all()


def test_more_of_them_than_can_be_counted():
    """Empty arrays with more rows than an int can count."""
    poses = np.zeros((2**32 + 1, 0, 3, 4))
    with pytest.raises(ValueError, match="poses has 4294967297 entries: too many"):
        araplbs.linear_skinning(MESH[0], np.zeros((N, 0)), poses)
