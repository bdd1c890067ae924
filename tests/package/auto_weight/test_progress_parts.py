"""araplbs/base/progress.py provides the only way to report progress and to stop the work."""

import araplbs
import pytest
from araplbs.base.progress import INITIAL_SHARE, Progress, SolverProgress


@pytest.fixture
def heard():
    return []


@pytest.fixture
def progress(heard):
    return Progress(lambda *said: heard.append(said))


def test_nobody_listens():
    silent = Progress.of(None)
    assert silent("any", 0.5) and silent.part(0.5, 0.5)("any", 1.0)
    silent.check("any", 1.0)


def test_of_keeps_what_is_one(progress):
    assert Progress.of(progress) is progress


def test_parts_of_parts(progress, heard):
    progress.part(0.5, 0.5).part(0.5, 0.5, "inner")("engine's", 0.5, 3.0)
    progress.part(0, 1, energies=True).part(0, 1, energies=True)("engine's", 1.0, 3.0)
    assert heard == [("inner", 0.875, None), ("engine's", 1.0, 3.0)]


def test_it_never_goes_back(progress, heard):
    for fraction in (0.2, 0.8, 0.0, 1.5):
        progress("stage", fraction, 1.0)
    assert [fraction for _stage, fraction, _energy in heard] == [0.2, 0.8, 0.8, 1.0]


@pytest.mark.parametrize("answer", [False, None, True])
def test_false_alone_stops(answer):
    progress = Progress(lambda *_said: answer)
    assert progress.part(0, 1)("stage", 0.5) is (answer is not False)
    if answer is False:
        with pytest.raises(araplbs.Cancelled, match="stage"):
            progress.part(0, 1).check("stage", 0.5)
    else:
        progress.check("stage", 0.5)


def test_a_solver(heard):
    """The first stages of a solver count up one after the other, and each iteration then takes a
    share of the remainder. Energies are reported from the first iteration on."""
    progress = SolverProgress(lambda *said: heard.append(said))
    for stage in ("mesh", "heat weights", "assembly", "factorization"):
        progress(stage, 0.0, None)
        progress(stage, 1.0, None)
    assert heard[-1] == ("factorization", pytest.approx(INITIAL_SHARE), None)
    for energy in (4.0, 3.0, 2.0):
        progress.iterated(energy)
        progress("iteration", 0.5)
    fractions = [fraction for _stage, fraction, _energy in heard]
    assert fractions == sorted(fractions) and fractions[-1] < 1
    assert [energy for *_rest, energy in heard[-3:]] == [4.0, 3.0, 2.0]
