"""The weights of all bones are shown as colors."""

import numpy as np
from araplbs.measures.bone_colors import NO_WEIGHTS, bone_colors, palette
from araplbs.model.sparse_weights import sparse_of


def test_mixed_by_the_weights():
    """Compared with the dense product; sums other than 1 change no color."""
    rng = np.random.default_rng(0)
    dense = rng.random((40, 7)) * (rng.random((40, 7)) < 0.4)
    dense[3] = 0
    rows = sparse_of(dense)
    sums = dense.sum(1, keepdims=True)
    wanted = np.divide(dense, sums, out=np.zeros_like(dense), where=sums > 0) @ palette(7)
    wanted[sums[:, 0] == 0] = NO_WEIGHTS
    np.testing.assert_allclose(bone_colors(rows, 7), wanted, atol=1e-12)


def test_bones_are_told_apart():
    """Colors distinguish neighbors in the list and all bones of a rig."""
    colors = palette(60)
    assert (colors >= 0).all() and (colors <= 1).all()
    apart = np.linalg.norm(colors[:, None] - colors[None], axis=2) + np.eye(60)
    assert np.linalg.norm(np.diff(colors, axis=0), axis=1).min() > 0.5
    assert apart.min() > 0.05
