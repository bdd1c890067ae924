"""Messages that compare new weights with the earlier ones."""

import pytest


@pytest.mark.parametrize(
    ("counts", "strains", "expected"),
    [
        ((17, 2), (0.7, 2.1), True),
        ((9, 10), (0.4, 0.2), True),
        ((11, 14), (0.69, 0.48), True),
        ((17, 2), (0.7, 0.8), False),
        ((17, 2), (0.7, 0.2), False),
        ((2, 17), (0.2, 0.7), False),
        ((3, 3), (0.2, 0.7), False),
        ((17, 2), (None, None), False),
    ],
)
def test_numbers_of_places_that_stretch_contradicts(core, counts, strains, expected):
    """Fewer findings are no improvement if the surface stretches clearly more."""
    contradict = core("features.check.before_after")._contradict
    assert contradict(list(counts), list(strains)) is expected
