"""Sentences about errors, and the errors of the engine that are refusals."""

import araplbs
import numpy as np
import pytest
from araplbs.base.faults import MOST_LETTERS, refusals, sentence
from araplbs.base.refusal import BadOption, Refused
from araplbs.model.options import Options


@pytest.mark.parametrize(
    "error",
    [Refused("no mesh"), OSError(28, "No space left", "x"), araplbs.SolverError("singular")],
)
def test_refusal_says_itself_what_is_wrong(error, capsys):
    assert sentence("Auto-weight", error) == str(error)
    assert not capsys.readouterr().err


def test_fault(capsys):
    """The text of a fault is cut to one line, and the traceback goes to the console."""
    error = ValueError("several\nlines " + 300 * "x")
    text = sentence("Auto-weight", error)
    assert text.startswith(
        "Auto-weight failed because of a bug in the program (ValueError: several line"
    )
    assert "\n" not in text and len(text) < MOST_LETTERS + 150
    assert "ValueError: several\nlines" in capsys.readouterr().err
    assert "(KeyboardInterrupt)" in sentence("Auto-weight", KeyboardInterrupt())


def test_no_memory():
    assert sentence("Auto-weight", MemoryError()) == "Not enough memory"


def test_refusals_of_the_engine():
    """A mesh that the engine does not accept is a refusal. An array that does not fit is a fault of
    the caller."""
    assert issubclass(araplbs.InputError, ValueError)
    vertices, triangles = np.zeros((3, 3)), np.array([[0, 1, 5]])
    bones = np.zeros((1, 3)), np.ones((1, 3)), np.array([-1])
    with pytest.raises(refusals(), match="5"):
        araplbs.Solver(vertices, triangles, *bones)
    with pytest.raises(ValueError) as caught:
        araplbs.Solver(vertices[:, :2], triangles, *bones)
    assert not isinstance(caught.value, refusals())


def test_options():
    with pytest.raises(BadOption, match="max_influences is -1: must be from 0"):
        Options(max_influences=-1)
    assert issubclass(BadOption, ValueError) and issubclass(BadOption, Refused)
