"""Provides progress functions that react only to new reports. During long work, and on a busy
machine during any work, the last report is repeated so that Esc is noticed."""

import os

import araplbs
import numpy as np
import pytest


class Told:
    """Records reports that differ from the previous one, and stops the work once, at one of
    them."""

    def __init__(self, stop_at=-1):
        self.reports, self.stop_at = [], stop_at

    def __call__(self, stage, fraction):
        assert isinstance(stage, str)
        assert 0 <= fraction <= 1
        if self.reports and self.reports[-1] == (stage, fraction):
            return True
        self.reports.append((stage, fraction))
        return len(self.reports) != self.stop_at

    def __len__(self):
        return len(self.reports)


def check_stops(make, stage=None, every=1):
    """make(progress), a Solver, stopped at each of this many reports (of a stage), or fewer under
    the sanitizers: creating it fails; iterations that are stopped leave it in a valid state, and
    continue to results bit-identical to those without a stop."""
    every *= int(os.environ.get("ARAPLBS_STOP_STRIDE", "1"))
    told = Told()
    expected = make(told)
    made, _ = len(told), expected.solve()
    calls = [k for k, (own, _) in enumerate(told.reports, 1) if stage in (None, own)]
    assert 0 < made < len(told) and calls
    for call in calls[::every]:
        message = f"cancelled during {told.reports[call - 1][0]}"
        if call <= made:
            with pytest.raises(araplbs.Cancelled, match=message):
                make(Told(call))
            continue
        solver = make(Told(call))
        with pytest.raises(araplbs.Cancelled, match=message):
            solver.solve()
        np.testing.assert_allclose(solver.weights.sum(1), 1, atol=1e-12)
        for name in ("report", "energies", "_inside", "raw_weights"):
            getattr(solver, name)
        solver.solve()
        np.testing.assert_array_equal(solver.weights, expected.weights)
        np.testing.assert_array_equal(solver.energies, expected.energies)
