"""A few hundred random problems of the programs fuzzing*.py; `make fuzz` runs many more, and also
those of fuzzing_ended.py."""

import fuzzing
import fuzzing_characters
import fuzzing_files
import fuzzing_functions
import numpy as np
import pytest

BLOCK = 25


def run_all(program, first, count):
    """Runs the problems of these seeds. An error names its seed."""
    for seed in range(first, first + count):
        try:
            program.run(seed)
        except Exception as error:
            raise AssertionError(f"seed {seed}: {error}") from error


@pytest.mark.parametrize("first", range(0, 400, BLOCK))
def test_promises_hold(first):
    run_all(fuzzing, first, BLOCK)


@pytest.mark.parametrize("first", range(0, 800, 2 * BLOCK))
def test_promises_of_functions_hold(first):
    run_all(fuzzing_functions, first, 2 * BLOCK)


@pytest.mark.parametrize("first", range(0, 100, BLOCK))
def test_promises_of_files_hold(first):
    run_all(fuzzing_files, first, BLOCK)


@pytest.mark.parametrize("first", range(0, 75, BLOCK))
def test_promises_of_characters_hold(first):
    run_all(fuzzing_characters, first, BLOCK)


@pytest.mark.parametrize(
    "seed", [35, 389, 477, 1113, 1963, 8196, 11432, 703274, 4006201, 7735086, 7726042]
)
def test_what_long_runs_of_functions_found(seed):
    """Very different sizes, poses that are too large, vertices that follow no sample, many bones of
    BBW on several threads, a body far thinner than the length of its edges, blocks of biharmonic
    weights joined by edges of weight 0, errors of bakes with damping, a vertex 1e156 sizes away."""
    fuzzing_functions.run(seed)


@pytest.mark.parametrize("seed", [1202, 1466, 1563, 20547, 20656, 21526, 3001094, 3001748, 3002874])
def test_what_long_runs_found(seed):
    """Sums below 1 next to locks and marks, also with coarser meshes, distant poses, flat tets;
    bones that get their weight back on one side of a symmetric mesh."""
    fuzzing.run(seed)


def test_a_broken_promise_is_seen(monkeypatch):
    """The fuzzer can fail: it immediately finds a solver whose weights do not sum to 1."""

    solver_type = fuzzing.araplbs.Solver

    def careless(*args, **arguments):
        return Careless(solver_type(*args, **arguments))

    class Careless:
        def __init__(self, solver):
            self._solver = solver

        def __getattr__(self, name):
            found = getattr(self._solver, name)
            return 0.9 * found if name == "weights" else found

    monkeypatch.setattr(fuzzing.araplbs, "Solver", careless)
    with pytest.raises(fuzzing.Broken, match="sums"):
        for seed in range(BLOCK):
            fuzzing.run(seed)


@pytest.mark.parametrize("name", ["transfer_weights", "bake", "baseline_weights", "elastic_poses"])
def test_a_broken_promise_of_a_function_is_seen(monkeypatch, name):
    """A number that is not finite is found at once."""
    function = getattr(fuzzing_functions.araplbs, name)

    def spoil(found):
        if isinstance(found, dict):
            return {key: spoil(part) for key, part in found.items()}
        if isinstance(found, tuple):
            return tuple(map(spoil, found))
        return found * np.nan if np.asarray(found).dtype.kind == "f" else found

    monkeypatch.setattr(fuzzing_functions.araplbs, name, lambda *a, **k: spoil(function(*a, **k)))
    with pytest.raises(fuzzing.Broken):
        for seed in range(4 * BLOCK):
            fuzzing_functions.run(seed)


def test_other_weights_of_a_body_are_seen():
    with pytest.raises(fuzzing.Broken, match="off by"):
        fuzzing_characters.compare(np.eye(9), np.roll(np.eye(9), 3, axis=1))


@pytest.mark.parametrize("odd, reason", [("NaN", "not JSON"), ('"\ud800"', "can't decode")])
def test_a_file_that_others_cannot_read_is_seen(odd, reason, tmp_path):
    path = tmp_path / "out.gltf"
    path.write_bytes(f'{{"extras": {odd}}}'.encode("utf-8", "surrogatepass"))
    with pytest.raises(fuzzing.Broken, match=reason):
        fuzzing_files.check_output(path)
