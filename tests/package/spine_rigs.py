"""Creates a chain of the three kinds of bones, its poses, and positions along the chain."""

import araplbs
import numpy as np
import reference
import shapes

KINDS = ["rigid", "stb", "spine"]
BENT = np.full((3, 4, 2), np.nan)


BENT[1, 2:] = [[-1.5, 2], [0.5, 2]]


BENT[2, 2:] = [[-2, 1.5], [0.7, 1.5]]


def rig(**more):
    return shapes.chain(3, kinds=KINDS, ranges=BENT, **more)


def sample(bones, count, **settings):
    poses, bends = araplbs.sample_poses(*bones, count, **bones.more, **settings)
    return poses, bends


def place(bones, vertices):
    """u (n, m), NaN for rigid bones."""
    pairs = zip(bones.kinds, bones.heads, bones.tails, strict=True)
    nothing = np.full(len(vertices), np.nan)
    return np.column_stack(
        [nothing if k == "rigid" else reference.along_bone(h, t, vertices) for k, h, t in pairs]
    )
