"""How far a bone reaches in finished weights."""

import numpy as np
import pytest
from araplbs.features import touch_up
from araplbs.model.sparse_weights import dense_of, sparse_of

ACROSS = np.linspace(-6, 6, 49)  # a smooth border between two bones, and a third bone


def border():
    share = 1 / (1 + np.exp(-2 * ACROSS))
    dense = np.column_stack([share, 1 - share, np.full(len(share), 0.0)])
    dense[::5] *= 0.75
    dense[::5, 2] = 0.25
    return dense


def changed(reach, free=(True, True, True)):
    rows = sparse_of(border())
    one = np.array([True, False, False])
    return dense_of(touch_up.with_reach(rows, one, np.array(free), reach), 3)


@pytest.mark.parametrize("reach", [-1, -0.3, 0.2, 1])
def test_reach_moves_the_border(reach):
    """The border moves by the same distance everywhere and keeps its width; sums stay."""
    before, after = border(), changed(reach)
    np.testing.assert_allclose(after.sum(1), before.sum(1), atol=1e-12)
    assert not (after[before == 0] > 0).any(), "no new influence"
    plain = (np.arange(len(ACROSS)) % 5 > 0) & (after[:, 0] > 0) & (after[:, 1] > 0)
    shift = touch_up.STEPS * reach * np.log(2) / 2
    expected = 1 / (1 + np.exp(-2 * (ACROSS + shift)))
    np.testing.assert_allclose(after[plain, 0], expected[plain], atol=2 * touch_up.DUST)
    assert not ((after > 0) & (after < touch_up.DUST / 2) & (before >= touch_up.DUST)).any()


def test_reach_of_0_changes_nothing():
    kept = border()
    np.testing.assert_allclose(changed(0), kept, atol=1e-12)


def test_a_locked_neighbor_keeps_its_weights():
    after = changed(0.5, free=(True, True, False))
    assert (after[:, 2] == border()[:, 2]).all() and (after[:, 0] >= border()[:, 0] - 1e-12).all()
