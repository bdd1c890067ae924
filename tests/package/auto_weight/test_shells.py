"""Faults of generated meshes are found and named, shells and split edges stay together in poses,
and nothing else changes."""

import araplbs
import creature
import generated
import numpy as np
import pytest
import shapes
from shared_data import Character

FOUND = {
    "clean": set(),
    "voxels": set(),
    "double shell": {"DOUBLE_SHELL"},
    "inner hull": {"INNER_SHELL"},
    "split edges": {"SPLIT_EDGES"},
    "islands": {"ISLANDS"},
    "noise": {"NOISE"},
}
MESH_KINDS = set().union(*FOUND.values())
CHARACTERS = ("knight", "mage", "q_robot", "q_dress", "m2m_human", "sintel", "ranger", "dog")


def problem_of(subject, vertices, triangles):
    subject.vertices, subject.triangles = vertices, triangles
    return subject.problem


def solved(subject, core, name, **more):
    """(problem, SparseWeights, options, poses for evaluation)."""
    problem = problem_of(subject, *generated.SET[name]())
    options = core("model.options").Options(pose_count=24, **more)
    rows = core("solvers.solve").solve(problem, options).rows
    judged = core("model.options").Options(pose_count=24, seed=77)
    return problem, rows, options, core("character.pose_sets").pose_set(problem, judged)


def opening(core, problem, rows, poses):
    """The largest increase of a gap in any pose, as a share of the size: between the pairs of split
    edges and, for shells, between each vertex and the nearest point of the other part."""
    shells = core("character.mesh_faults")
    surface = shells.Surface(problem)
    rest = surface.vertices
    posed = araplbs.linear_skinning(rest, tuple(rows), poses.transforms)
    worst = 0.0
    if surface.split:
        own, to = np.arange(len(rest)), surface.split.groups
        gap = np.linalg.norm(posed[:, own] - posed[:, to], axis=2)
        worst = max(worst, (gap - np.linalg.norm(rest - rest[to], axis=1)).max())
    for shell in shells.find_shells(surface):
        corners, at, heights, _parts = shells.nearest_on(surface, shell.host, rest[shell.vertices])
        below = np.einsum("pkci,kc->pki", posed[:, corners], at)
        gap = np.linalg.norm(posed[:, shell.vertices] - below, axis=2) - np.abs(heights)
        worst = max(worst, gap.max())
    return worst / surface.size


def plain(problem, options):
    """The solver's weights of the unchanged mesh."""
    solver = shapes.solved(araplbs.Solver(**problem.solver_arguments(options)))
    return solver.sparse_weights


@pytest.mark.parametrize("name", ["double shell", "inner hull", "split edges"])
def test_nothing_opens(core, subject, name):
    problem, rows, options, poses = solved(subject, core, name)
    assert opening(core, problem, rows, poses) < 0.001
    without = core("model.sparse_weights").SparseWeights(*plain(problem, options))
    assert opening(core, problem, without, poses) > 0.002
    sums = rows.sums()
    assert np.abs(sums - 1).max() < 1e-9 and np.diff(rows.start).max() <= 4


@pytest.mark.parametrize("name", ["clean", "voxels", "islands"])
def test_without_such_faults_nothing_changes(core, subject, name):
    problem, rows, options, _poses = solved(subject, core, name)
    for ours, solvers in zip(rows, plain(problem, options), strict=True):
        assert np.array_equal(ours, solvers)


@pytest.mark.parametrize("name", FOUND)
def test_each_is_named_as_what_it_is(core, subject, name):
    problem = problem_of(subject, *generated.SET[name]())
    bones = len(creature.BONES)
    subject.weights = np.zeros((len(subject.vertices), bones))
    subject.weights[:, 0] = 1
    findings, _problem = subject.findings()
    found = {f.kind: f for f in findings if f.kind in MESH_KINDS}
    assert set(found) == FOUND[name]
    assert all(f.severity < 0.33 for f in found.values()), "nothing opens where all goes with one"
    words = " ".join(f.words for f in found.values())
    faces = len(problem.arguments["triangles"])
    said = {
        "double shell": f"a double shell of {faces // 2:,} faces",
        "inner hull": f"an inner shell of {faces - len(generated.body()[1]):,} faces",
        "split edges": "448 edges are split",
        "islands": "5 islands float free of 'Creature'",
        "noise": "20,016 triangles",
    }
    assert said.get(name, "") in words


@pytest.mark.parametrize("name", ["double shell", "inner hull"])
def test_a_shell_in_another_object_is_none(core, subject, name):
    """Clothes that cover the whole body are a separate object."""
    vertices, triangles = generated.SET[name]()
    first = len(generated.body()[0])
    own = triangles.max(axis=1) < first
    problem = core("character.problem")
    none = np.zeros((0, 2), int)
    meshes = [
        problem.Mesh("Body", vertices[:first], triangles[own], none, np.eye(4)),
        problem.Mesh("Suit", vertices[first:], triangles[~own] - first, none, np.eye(4)),
    ]
    both = problem.Problem(meshes, problem.Skeleton(**subject.skeleton))
    shells = core("character.mesh_faults")
    assert shells.find_shells(shells.Surface(both)) == []


def test_what_is_found_of_a_surface_is_found_once(core, subject):
    """The solver, the links between shells and the checks share the results until the problem
    changes."""
    problem = problem_of(subject, *generated.SET["split edges"]())
    before = problem.surface
    assert before.split is not None
    problem.solver(core("model.options").Options(pose_count=8))
    assert problem.surface is before
    problem.arguments["edges"] = np.vstack([problem.arguments["edges"], [[0, 1]]])
    assert problem.surface is not before
    assert problem.surface is problem.surface


@pytest.mark.parametrize("sizes", [10, 45])
def test_a_stray_vertex_makes_no_shells(core, subject, sizes):
    """With sizes that include it, everything would be close to everything else."""
    faults, problem = core("character.mesh_faults"), core("character.problem")
    vertices, triangles = generated.body()
    aside = generated.size_of(vertices) * np.array([1.0, 0, 0])
    points = np.concatenate([vertices, vertices + 0.2 * aside, [sizes * aside]])  # no shell
    faces = np.concatenate([triangles, triangles + len(vertices)])
    mesh = problem.Mesh("Two", points, faces, np.zeros((0, 2), int), np.eye(4))
    surface = faults.Surface(problem.Problem([mesh], problem.Skeleton(**subject.skeleton)))
    assert faults.find_shells(surface) == []
    assert surface.size < 2 * generated.size_of(vertices)


@pytest.mark.parametrize("sizes", [1e5, 1e30])
def test_a_stray_vertex_hides_no_split_edges(core, subject, sizes):
    """The numbers of cells between it and the others do not fit in an integer."""
    faults = core("character.mesh_faults")
    vertices, triangles = generated.SET["split edges"]()
    surface = faults.Surface(problem_of(subject, vertices, triangles))
    stray = sizes * np.array([[1, 2, 3.0], [1, 2, 3]])
    rim = np.concatenate([vertices, stray, -stray])
    mesh, width = np.zeros(len(rim), int), faults.SEAM * surface.size
    with np.errstate(all="raise"):
        near = faults._near(rim, mesh, width)
    count = len(vertices)
    alone = faults._near(vertices, mesh[:count], width)
    np.testing.assert_array_equal(near, [*alone, *(count + np.array([0, 0, 2, 2]))])
    assert (alone != np.arange(count)).any()


def test_what_was_asked_for_by_hand_stays(core, subject):
    vertices, triangles = generated.doubled()
    problem, first = core("character.problem"), len(generated.body()[0])
    pinned = first + 17
    edits = core("model.edits")
    pairs = edits.Pairs(np.array([pinned]), np.array([0]), np.array([0.75]))
    mesh = problem.Mesh(
        "Creature", vertices, triangles, np.zeros((0, 2), int), np.eye(4),
        edits=edits.Edits(constraints=pairs),
    )  # fmt: skip
    one = problem.Problem([mesh], problem.Skeleton(**subject.skeleton))
    options = core("model.options").Options(pose_count=12)
    rows = core("solvers.solve").solve(one, options).rows
    dense = core("model.sparse_weights").dense_of
    ours = dense(rows, len(creature.BONES))
    without = dense(core("model.sparse_weights").SparseWeights(*plain(one, options)), ours.shape[1])
    assert np.array_equal(ours[pinned], without[pinned]) and abs(ours[pinned, 0] - 0.75) < 0.02
    assert np.array_equal(ours[:first], without[:first])
    assert not np.array_equal(ours[first:], without[first:])


@pytest.mark.parametrize("name", CHARACTERS)
def test_characters_have_no_shells(core, name):
    """Eyes, teeth, armor, hair and clothes are not shells, and the vertices of imported seams
    coincide."""
    character = Character(name)
    shells = core("character.mesh_faults")
    edges = np.zeros((0, 2), int) if character.edges is None else character.edges

    class Problem:
        arguments = {  # noqa: RUF012
            "vertices": character.vertices, "triangles": character.triangles, "edges": edges,
        }  # fmt: skip
        first = np.array([0, len(character.vertices)])

    surface = shells.Surface(Problem)
    assert shells.find_shells(surface) == []
    assert surface.split is None or surface.split.exact
    assert shells.closed_vertices(surface) == {}
