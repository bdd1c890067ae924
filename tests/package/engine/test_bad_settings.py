"""Settings that are out of range or of the wrong type, and invalid input of the module's
functions."""

import araplbs
import numpy as np
import pytest
import shapes
from refusals import (
    BIG,
    BONES,
    GOOD,
    INF,
    MESH,
    NAN,
    POSES,
    WEIGHTS,
    M,
    N,
    refuse,
    row,
    table,
)


def beyond(setting):
    """Values of a number outside its range."""
    least, most = setting["min"], setting["max"]
    if setting["type"] is float:
        return (
            *(np.nextafter(least, -INF), np.nextafter(most, INF), -1e300, 1e300),
            NAN,
            INF,
            -INF,
        )
    return least - 1, *([most + 1] if most < BIG - 1 else [])


NUMBERS = [
    (kind, name)
    for kind, settings in araplbs.SETTINGS.items()
    for name in settings
    if settings[name]["type"] in (int, float) and name != "seed"
]


@pytest.mark.parametrize(("kind", "name"), NUMBERS)
def test_ends_of_ranges_are_in_them(kind, name):
    if name == "pose_count":  # a million poses take long
        return
    setting = araplbs.SETTINGS[kind][name]
    for value in (setting["min"], setting["max"]):
        getattr(araplbs, kind)(**GOOD, **{"pose_count": 2, "threads": 1, name: value})


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [(k, n, value) for k, n in NUMBERS for value in beyond(araplbs.SETTINGS[k][n])]
    + [("Solver", "threads", -1), ("JointSolver", "threads", -1000)],
)
def test_settings_out_of_range(kind, name, value):
    pattern = f"^{name} is {value:g}: must be".replace("+", r"\+")
    refuse(ValueError, pattern, getattr(araplbs, kind), **GOOD, **{name: value})


@pytest.mark.parametrize(("kind", "name"), [*NUMBERS, ("Solver", "threads"), ("Solver", "seed")])
def test_numbers_of_the_wrong_type(kind, name):
    """Also integers beyond those of C."""
    make, setting = getattr(araplbs, kind), araplbs.SETTINGS[kind].get(name, {"type": int})
    whole = setting["type"] is int
    said = "int" if whole else "real number|must contain numbers"  # of each bone
    for value in ("3", None, 1.5) if whole else ("3", 1j):
        refuse(TypeError, said, make, **GOOD, **{name: value})
    for value in (2**64 if name == "seed" else BIG, 2**70, -(2**70)) if whole else ():
        refuse(ValueError, f"^{name} is {value}: ", make, **GOOD, **{name: value})


@pytest.mark.parametrize("seed", [0, 1, 2**63, 2**64 - 1])
def test_seeds(seed):
    araplbs.Solver(**GOOD, seed=seed)


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_seeds_out_of_range(seed):
    refuse(ValueError, f"^seed is {seed}: ", araplbs.Solver, **GOOD, seed=seed)
    refuse(ValueError, f"^seed is {seed}: ", sample, seed=seed)


@pytest.mark.parametrize(
    ("name", "pruning"),
    [
        ("min_influences", (0, 0.9, 0.1)),
        ("prune_sum", (1, 1.1, 0.1)),
        ("prune_sum", (1, NAN, 0.1)),
        ("prune_ratio", (1, 0.9, -0.1)),
        ("prune_ratio", (1, 0.9, NAN)),
    ],
)
def test_supports_out_of_range(name, pruning):
    refuse(
        ValueError, f"^{name} of pruning is .*: must be", araplbs.Solver, **GOOD, pruning=pruning
    )


@pytest.mark.parametrize("pruning", [(1, 0.9), [1, 0.9, 0.1], (1, 0.9, "x"), 3, (1.5, 0.9, 0.1)])
def test_supports_of_the_wrong_type(pruning):
    refuse(TypeError, "^pruning is .* expected", araplbs.Solver, **GOOD, pruning=pruning)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (kind, name)
        for kind, settings in araplbs.SETTINGS.items()
        for name in settings
        if settings[name]["choices"]
    ],
)
def test_unknown_choices(kind, name):
    make = getattr(araplbs, kind)
    *others, last = map(repr, araplbs.SETTINGS[kind][name]["choices"])
    expected = f"{', '.join(others)} or {last}"
    refuse(ValueError, f"^{name} is 'best': must be {expected}$", make, **GOOD, **{name: "best"})
    refuse(TypeError, f"^{name} is 3: must be a str, {expected}$", make, **GOOD, **{name: 3})


@pytest.mark.parametrize("progress", [3, "print", [print]])
def test_progress_that_cannot_be_called(progress):
    pattern = "^progress must be callable, not <class"
    refuse(TypeError, pattern, araplbs.Solver, **GOOD, progress=progress)


def test_iterating_backwards():
    solver = araplbs.Solver(**GOOD)
    with pytest.raises(ValueError, match=r"iterate\(-1\): cannot go back"):
        solver.iterate(-1)
    with pytest.raises(TypeError):
        solver.iterate(1.5)
    with pytest.raises(TypeError):
        solver.iterate(1, 2)
    with pytest.raises(TypeError):
        solver.solve(3)


def test_properties_cannot_be_set():
    solver = araplbs.Solver(**GOOD)
    for name in ("weights", "energies", "done", "report"):
        with pytest.raises(AttributeError):
            setattr(solver, name, None)


def energy(**changes):
    arguments = {"vertices": MESH[0], "triangles": MESH[1], "weights": WEIGHTS, "poses": POSES}
    return araplbs.energy(**{**arguments, **changes})


test_energy = table(
    energy,
    {},
    row(
        "the mesh has no vertices",
        vertices=np.zeros((0, 3)),
        triangles=[],
        weights=np.zeros((0, 3)),
    ),
    row(r"triangles\[0, 1\] is 99", triangles=[[0, 99, 1]]),
    row(r"edges\[0, 0\] is -1", edges=[[-1, 0]]),
    row("weights has shape", weights=WEIGHTS[:-1]),
    row("weights has shape", weights=WEIGHTS[:, :-1]),
    row(
        "vertex 0 refer to bone 0 twice",
        weights=(np.arange(N + 1) * 2, np.zeros(2 * N, int), np.ones(2 * N)),
    ),
    row("vertex 0 refer to bone 3", weights=(np.arange(N + 1), np.full(N, 3), np.ones(N))),
    row("vertex 0 refer to bone -1", weights=(np.arange(N + 1), np.full(N, -1), np.ones(N))),
    row("there are no poses", poses=POSES[:0]),
    row("there are no poses", poses=[]),
    row("poses has 2 rows", poses=POSES[:, :, :2]),
    row("poses has shape", poses=POSES[0]),
    row("weights must contain numbers", weights=WEIGHTS.astype(str), kind=TypeError),
)


def test_weights_that_welding_hides_are_checked_too():
    vertices = np.concatenate([MESH[0], MESH[0][:1]])
    weights = np.concatenate([WEIGHTS, [[0.5, -1, 0.5]]])
    refuse(
        ValueError,
        "weight of vertex 30 for bone 1 is -1",
        energy,
        vertices=vertices,
        weights=weights,
    )


def sample(**changes):
    arguments = {
        "bone_heads": BONES.heads,
        "bone_tails": BONES.tails,
        "bone_parents": BONES.parents,
        "count": 2,
    }
    return araplbs.sample_poses(**{**arguments, **changes})


test_sample_poses = table(
    sample,
    {},
    row("count is -1", count=-1),
    row("no bone of the skeleton deforms", bone_deform=[False] * M),
    row("bone_parents has shape", bone_parents=[-1, 0]),
    row(r"bone_limits\[0, 0\]", bone_limits=np.tile([1.0, 0.0], (M, 3, 1))),
    row("swing .* nan", swing=NAN),
    row("twist .* inf", twist=INF),
    row("int", count=1.5, kind=TypeError),
)


def test_forward_kinematics():
    def call(rotations):
        return araplbs.forward_kinematics(*BONES, rotations)

    turns = np.tile(np.eye(3), (2, M, 1, 1))
    assert call(turns).shape == (2, M, 3, 4)
    assert call(turns[:0]).shape == (0, M, 3, 4)
    refuse(ValueError, "rotations has shape", call, rotations=turns[:, :-1])


def test_nearest_rotations():
    with pytest.raises(ValueError, match="matrices contains -inf"):
        araplbs.nearest_rotations(np.full((1, 3, 3), -INF))
    with pytest.raises(ValueError, match=r"matrices has shape \(3, 3\)"):
        araplbs.nearest_rotations(np.eye(3))


def test_prune():
    def call(vertices=MESH[0], triangles=MESH[1], weights=WEIGHTS, least=1, share=0.9, ratio=0.1):
        return araplbs.prune(vertices, triangles, weights, least, share, ratio)

    assert call().all()
    refuse(ValueError, "weights has shape", call, weights=WEIGHTS[1:])
    refuse(ValueError, r"weights\[0, 0\] is -[0-9.]+: not a weight", call, weights=-WEIGHTS)
    refuse(ValueError, r"triangles\[0, 0\] is 1000", call, triangles=[[1000, 0, 1]])


@pytest.mark.parametrize("scale", [1e155, 1e200, 1e300])
def test_poses_beyond_all_numbers(scale):
    """The numbers are finite, but their squares are not. An error reports this, and there is no
    wrong result."""
    poses = POSES * scale
    with pytest.raises(ValueError, match=r"poses\[0\] is too large"):
        araplbs.Solver(**GOOD, poses=poses, pose_count=0).solve()
    with pytest.raises(ValueError, match=r"poses\[0\] is too large"):
        energy(poses=poses)


def test_solver_errors_are_arithmetic_errors():
    mesh, bones = shapes.tube(), shapes.chain(2)
    poses = np.tile(np.eye(3, 4), (1, 2, 1, 1))
    bends = np.tile([0, 0, 0, 1e200], (1, 2, 1))  # too much to be squared
    kinds = ["spine"] * 2
    with pytest.raises(ArithmeticError) as caught:
        araplbs.Solver(*mesh, *bones, bone_kinds=kinds, poses=poses, bends=bends)
    assert caught.type is araplbs.SolverError
    with pytest.raises(araplbs.Cancelled) as caught:
        araplbs.Solver(*mesh, *bones, progress=lambda *_: False)
    assert not issubclass(caught.type, (ArithmeticError, ValueError))
    assert araplbs.SolverError.__module__ == araplbs.Cancelled.__module__ == "araplbs"
    assert repr(araplbs.Solver(*mesh, *bones)).startswith("<araplbs.Solver object")
