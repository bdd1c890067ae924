"""A few hundred of the random problems of fuzzing.py; `make fuzz` runs many more."""

import fuzzing
import pytest

BLOCK = 25


@pytest.mark.parametrize("first", range(0, 400, BLOCK))
def test_promises_hold(first):
    for seed in range(first, first + BLOCK):
        try:
            fuzzing.run(seed)
        except Exception as error:
            raise AssertionError(f"seed {seed}: {error}") from error


def test_a_broken_promise_is_seen(monkeypatch):
    """The fuzzer can fail: a solver whose weights do not sum to 1 is found at once."""

    class Careless(fuzzing.araplbs.Solver):
        @property
        def weights(self):
            return 0.9 * super().weights

    monkeypatch.setattr(fuzzing.araplbs, "Solver", Careless)
    with pytest.raises(fuzzing.Broken, match="sums"):
        for seed in range(BLOCK):
            fuzzing.run(seed)
