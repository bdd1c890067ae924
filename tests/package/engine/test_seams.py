"""Seams that are closed stay closed: vertices at the same place get the same row of weights from
every function and command that computes weights."""

import araplbs
import numpy as np
import pytest
import shapes
from gltf_files import Glb, rows
from gltf_validity import File
from shapes import dense

BONES = shapes.chain(4)
M = len(BONES.heads)


def uneven():
    """A tube of uneven triangles, in which smoothing along edges is uneven as well."""
    vertices, triangles = shapes.tube(10, 25, caps=True)
    return vertices + np.random.default_rng(5).uniform(-0.03, 0.03, vertices.shape), triangles


WHOLE, CORNERS = uneven()
# Every other triangle has vertices of its own.
OWN = np.arange(len(CORNERS)) % 2 == 0
PLACE = np.concatenate([np.arange(len(WHOLE)), CORNERS[OWN].ravel()])
VERTICES, TRIANGLES = WHOLE[PLACE], CORNERS.copy()
TRIANGLES[OWN] = len(WHOLE) + np.arange(3 * OWN.sum()).reshape(-1, 3)
N = len(VERTICES)
SPLIT = VERTICES, TRIANGLES


def smooth_weights(count=M):
    """Rows (n, count) with all influences, equal at the same place."""
    centers = np.linspace(0, 2, count)
    found = np.exp(-((VERTICES[:, 2:] - centers) ** 2) / 0.2)
    return found / found.sum(1, keepdims=True)


POSES = araplbs.sample_poses(*BONES, 8, seed=2)
FRAMES = araplbs.linear_skinning(VERTICES, smooth_weights(), POSES)


def opening(weights, places=PLACE):
    """The largest difference between the rows of two vertices at one place."""
    order = np.argsort(places, kind="stable")
    begin = np.flatnonzero(np.diff(places[order], prepend=-1))
    low, high = (each.reduceat(weights[order], begin) for each in (np.minimum, np.maximum))
    return (high - low).max()


def baked(**more):
    return dense(araplbs.bake(VERTICES, FRAMES, POSES, triangles=TRIANGLES, **more)["weights"], M)


def transferred():
    """From another tube of other weights."""
    source = shapes.tube(8, 13, radius=0.22)
    weights = np.exp(-((source[0][:, 2:] - np.linspace(0, 2, M)) ** 2) / 0.1)
    found = araplbs.transfer_weights(*source, weights, *SPLIT, angle=0.3)
    assert not found[1].all(), "some rows are continued"
    return dense(found[0], M)


FUNCTIONS = {
    "weights": lambda: araplbs.weights(*SPLIT, BONES.heads, BONES.parents).rows.toarray(),
    "Solver": lambda: shapes.solve(SPLIT, BONES).weights,
    "one influence": lambda: shapes.solve(SPLIT, BONES, max_influences=1).weights,
    "transfer_weights": transferred,
    "bake": lambda: baked(smoothness=1e-3),
    "two influences": lambda: baked(smoothness=1e-3, max_influences=2),
    "from weights": lambda: baked(smoothness=1e-2, weights=smooth_weights(), damping=0.1),
} | {
    method: lambda method=method: dense(araplbs.baseline_weights(*SPLIT, *BONES, method=method), M)
    for method in ("heat", "nearest", "boneglow", "bbw", "biharmonic")
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    weights = FUNCTIONS[name]()
    assert opening(weights) == 0 and weights.std(0).max() > 0.05


def test_baked_seams_that_open_stay_open():
    """Vertices that come apart in one frame have rows of their own, and those that move alike still
    share one. A gap that is hardly visible does not open the seam."""
    frames = np.repeat(FRAMES, 2, axis=0)
    side = (np.arange(N) >= len(WHOLE)) & (VERTICES[:, 2] > 1)
    frames[1, side, 0] += 0.1
    frames[2, 5] += 1e-5
    posed = np.repeat(POSES, 2, axis=0)
    found = dense(
        araplbs.bake(VERTICES, frames, posed, triangles=TRIANGLES, smoothness=1e-3)["weights"], M
    )
    assert opening(found, np.where(side, PLACE + N, PLACE)) == 0
    assert opening(found) > 1e-3


def test_baked_seams_of_locked_vertices_and_bones():
    """A locked vertex keeps its row. The others at its place take the row if it has weights.
    Different weights of locked bones are kept."""
    first = smooth_weights()
    place = PLACE[len(WHOLE)]
    at = np.flatnonzero(place == PLACE)
    locked = np.zeros(N, bool)
    locked[at[-1]] = True
    start = first.copy()
    start[at[-1]] = np.eye(M)[3]
    found = baked(smoothness=1e-3, weights=start, locked_vertices=locked)
    assert opening(found) == 0 and (found[at] == np.eye(M)[3]).all()
    found = baked(weights=np.where(locked[:, None], 0, start), locked_vertices=locked)
    assert np.allclose(found[at].sum(1), at != at[-1])  # only with weights
    tiny, rounded = (np.flatnonzero(PLACE[len(WHOLE) + k] == PLACE) for k in (1, 2))
    start[tiny, 3], start[tiny[-1], 3], start[rounded[-1], 3] = 0, 5e-7, start[rounded[0], 3] + 1e-8
    found = baked(smoothness=1e-3, weights=start, locked_bones=np.arange(M) == 3)
    assert np.array_equal(found[:, 3], start[:, 3])
    own, found[rounded[-1], 3] = [*at, *tiny], found[rounded[0], 3]
    assert opening(np.delete(found, own, axis=0), np.delete(PLACE, own)) == 0
    may = np.ones((N, M), bool)
    may[at[0], 0] = False
    found = baked(smoothness=1e-3, candidates=may)
    assert (
        found[at[0], 0] == 0 and opening(np.delete(found, at[0], 0), np.delete(PLACE, at[0])) == 0
    )


def test_many_pieces_of_one_place():
    """Coincident vertices that all move differently: each has its own row."""
    count, rng = 60, np.random.default_rng(4)
    truth = shapes.random_weights(rng, count, M)
    points = np.tile([0.1, 0, 0.5], (count, 1))
    points[-1] = 1
    frames = araplbs.linear_skinning(points, truth, POSES)
    found = araplbs.bake(points, frames, POSES, smoothness=1e-3)
    assert found["rms"] < 1e-7


def test_limits_of_materials(core):
    """Vertices at one place have the smallest limit of their materials."""
    quantize = core("features.quantize")
    faces = TRIANGLES.ravel(), np.repeat(np.where(OWN, 1, 0), 3)
    limits = quantize.vertex_limits(VERTICES, faces, [0, 2], 3)
    assert set(limits) <= {2, 3} and (limits[len(WHOLE) :] == 2).all()
    found = quantize.quantize(core("model.sparse_weights").sparse_of(smooth_weights()), 255, limits)
    assert opening(dense(tuple(found), M)) == 0


def test_transfer_that_keeps_a_bone(core):
    """Vertices whose new weights all belong to a locked bone take those of their neighbors."""
    mesh, rows = core("character.mesh").Mesh, core("model.sparse_weights").sparse_of
    target = mesh(
        "target", *SPLIT, np.zeros((0, 2), int), np.eye(4), weights=rows(smooth_weights())
    )
    kept = np.arange(M) == 1
    new = np.where((VERTICES[:, 2:] > 0.4) & (VERTICES[:, 2:] < 1.2), kept, np.eye(M)[3])
    found = core("features.transfer.transfer")._beside_kept(new, smooth_weights(), kept, target)
    assert opening(found) < 1e-12
    np.testing.assert_allclose(found.sum(1), 1)


def several_parts():
    """A skeleton with two meshes, the first of two materials, whose primitives and meshes meet; all
    triangles of one of them have vertices of their own. The last joint moves nothing."""
    glb = Glb()
    joints = glb.joints()
    skin = glb.skin(joints)
    height = WHOLE[CORNERS, 2].mean(1)
    meshes = []
    for part in (height < 0.7, (height >= 0.7) & (height < 1.2), height >= 1.2):
        split = len(meshes) == 1
        own = CORNERS[part].ravel() if split else np.unique(CORNERS[part])
        corners = np.arange(len(own)) if split else np.searchsorted(own, CORNERS[part])
        meshes.append(glb.part(glb.attributes(WHOLE[own], weights="<f4"), corners))
    glb.node(mesh=glb.mesh(*meshes[:2], name="Low"), skin=skin)
    glb.node(mesh=glb.mesh(meshes[2], name="High"), skin=skin)
    return glb


COMMANDS = {
    "weight": ["--float-weights"],
    "repair": [],
    "quantize": ["--bits", "8"],
    "reduce-bones": ["--bones", "3"],
    "transfer": ["--source", "Low", "--target", "High", "--force"],
    "joints": [],
}


def opened(path):
    """The opening of a file's seams, and how far its rows differ along the mesh."""
    file = File(path)
    width = len(file.json["skins"][0]["joints"])
    parts = [rows(file, *each, width=width) for each in ((0, 0), (0, 1), (1, 0))]
    places, weights = (np.concatenate(each) for each in zip(*parts, strict=True))
    _each, place = np.unique(places, axis=0, return_inverse=True)
    assert len(_each) < len(places)
    return opening(weights, place.ravel())


@pytest.mark.parametrize("command", COMMANDS)
def test_commands(core, tmp_path, monkeypatch, command):
    main = core("cli.main").main
    monkeypatch.chdir(tmp_path)
    several_parts().write(tmp_path / "in.glb")
    assert main(["weight", "in.glb", "-o", "good.glb", "-q", "--float-weights"]) == 0
    source = "in.glb" if command in ("weight", "repair") else "good.glb"
    assert main([command, source, "-o", "out.glb", "-q", *COMMANDS[command]]) in (0, 3)
    assert opened("out.glb") < 1e-5  # transfer finds points on the source by position
    assert (tmp_path / "out.glb").read_bytes() != (tmp_path / source).read_bytes()


def test_every_command_that_writes_weights_is_here(core):
    writes = {name for name, _help in core("cli.main").COMMANDS} - {"check", "compare"}
    assert writes == set(COMMANDS)
