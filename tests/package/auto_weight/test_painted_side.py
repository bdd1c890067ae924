"""The side of a symmetric mesh that was painted, and its copy on the other side."""

import numpy as np
from araplbs.character import mirror_images
from araplbs.model.sparse_weights import dense_of, sparse_of

# Vertices 0 and 1, 2 and 3, 4 and 5 are images; 6 has none. Bones 0 and 1 are opposite, 2 is own.
IMAGES = np.array([1, 0, 3, 2, 5, 4, -1])
OPPOSITE = np.array([1, 0, 2])


def pairs():
    dense = np.tile([0.0, 0.0, 1.0], (7, 1))
    dense[0], dense[1] = (0.75, 0, 0.25), (0, 0.75, 0.25)
    return dense


def judged(now, before):
    rows = sparse_of(now)
    image = mirror_images.mirrored(rows, IMAGES, OPPOSITE)
    known = None if before is None else sparse_of(before)
    return [np.flatnonzero(e).tolist() for e in mirror_images.painted(rows, image, known, IMAGES)]


def test_the_painted_side():
    before, now = pairs(), pairs()
    assert judged(now, before) == [[], []]
    now[0] = (0.5, 0, 0.5)
    now[3] = (0, 0.5, 0.5)
    now[6] = (1, 0, 0)
    assert judged(now, before) == [[0, 3], []], "each pair on its own"
    now[1] = (0, 0.25, 0.75)
    assert judged(now, before) == [[3], [0, 1]], "both of one pair"
    assert judged(now, None) == [[], [0, 1, 2, 3]], "nothing is known"
    assert judged(now, now) == [[], []], "nothing was painted"


def test_mirrored():
    rows = sparse_of(pairs())
    image = dense_of(mirror_images.mirrored(rows, IMAGES, OPPOSITE), 3)
    assert (image[:6] == pairs()[:6]).all() and not image[6].any()


def test_locked_bones_keep_their_weights():
    rows, locked = sparse_of(pairs()), np.array([False, False, True])
    wanted = np.tile([0.5, 0.5, 0.0], (7, 1))
    made, alone = (
        dense_of(mirror_images.beside_locked(rows, sparse_of(each), locked), 3)
        for each in (wanted, np.tile([0.0, 0, 1], (7, 1)))
    )
    np.testing.assert_allclose(made.sum(1), 1)
    assert (made[:, 2] == pairs()[:, 2]).all() and (made[:, 0] == made[:, 1]).all()
    np.testing.assert_allclose(alone, pairs(), err_msg="other bones are not erased")
