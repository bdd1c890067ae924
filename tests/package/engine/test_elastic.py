"""Compares the steps of elastic poses with dense NumPy, and tests the requirements on a reference
for weights."""

import araplbs
import numpy as np
import pytest
import reference
import shapes
from refusals import BIG, BONES, MESH, NAN, POSES, SQUARE, WEIGHTS, M, N, changed, row, table
from shared_data import Character

HOLD, DRIFT, SLACK, INSIDE, BENDING = 0.01, 10.0, 0.8, 0.1, 0.3  # the defaults
LEAST, THIN = 1e-4, 0.002  # of csrc/elastic/hold.c


def bent(angle, count=2):
    """(1, count, 3, 4): each bone of a chain of height 2 rotates about X by this many degrees."""
    turns = np.zeros((1, count, 3))
    turns[:, 1:, 0] = np.radians(angle)
    return araplbs.forward_kinematics(*shapes.chain(count), reference.turn(turns))


def blended(vertices, count=2):
    """Weights that change from bone to bone along Z."""
    centers = (np.arange(count) + 0.5) * 2 / count
    near = np.exp(-(((vertices[:, 2:] - centers) * count) ** 2))
    return near / near.sum(1, keepdims=True)


@pytest.fixture
def arm():
    vertices, triangles = shapes.tube(8, 17, caps=True)
    bones = shapes.chain(2)
    return (vertices, triangles, bent(90), bones.heads, bones.tails), blended(vertices)


def plane_map(corners):
    """(2, 3) gradients of a triangle: F = corners.T @ slopes.T, in its own plane."""
    x = (corners[1] - corners[0]) / np.linalg.norm(corners[1] - corners[0])
    y = corners[2] - corners[0] - x * ((corners[2] - corners[0]) @ x)
    axes = np.stack([x, y / np.linalg.norm(y)], 1)
    flat = np.stack([corners[1] - corners[0], corners[2] - corners[0]], 1)
    inverse = np.linalg.inv(axes.T @ flat)
    return np.stack([-inverse.sum(0), *inverse]).T, axes


def nearest(matrix):
    u, _, v = np.linalg.svd(matrix, full_matrices=False)
    return u @ v


class Dense:
    """The energy and its steps by dense algebra, with lengths in diagonals of the bounding box."""

    def __init__(self, vertices, triangles, poses, heads, tails, start):
        low, high = vertices.min(0), vertices.max(0)
        self.center, self.unit = (low + high) / 2, np.linalg.norm(high - low)
        self.v, n = (vertices - self.center) / self.unit, len(vertices)
        self.triangles = triangles
        self.maps = [plane_map(self.v[t])[0] for t in triangles]
        sides = self.v[triangles]
        self.area = np.linalg.norm(np.cross(sides[:, 1] - sides[:, 0], sides[:, 2] - sides[:, 0]),
                                   axis=1) / 2  # fmt: skip
        size, cell = np.zeros(n), np.zeros((n, n))
        for t, area in zip(triangles, self.area, strict=True):
            size[t] += area / 3
            for i, k in (t[[0, 1]], t[[1, 2]], t[[2, 0]]):
                cell[i, k] += area / 3
                cell[k, i] += area / 3
        apart = np.linalg.norm(self.v[:, None] - self.v, axis=2)
        self.cell = BENDING * np.divide(cell, apart**2, out=cell * 0, where=cell > 0)
        transforms = poses[0].copy()
        transforms[:, :, 3] += transforms[:, :, :3] @ self.center - self.center
        transforms[:, :, 3] /= self.unit
        ends = [(e - self.center) / self.unit for e in (heads, tails)]
        feet, far = self.find_feet(*ends)
        bone = far.argmin(1)
        first, second = np.sort(far, 1)[:, :2].T
        radius = np.array([first[bone == b].mean() for b in range(len(heads))])[bone]
        extent = np.sqrt(2 * self.area.sum())
        share = np.maximum(((second - first) / (second + first)) ** 2, LEAST)
        self.hold = HOLD * size / np.maximum(radius, THIN * extent) ** 2 * share
        self.foot_weight = INSIDE * size / np.maximum(first, THIN * extent) ** 2
        self.foot = feet[np.arange(n), bone]
        self.target, self.posed_foot = (self.carry(transforms[bone], p)
                                        for p in (self.v, self.foot))  # fmt: skip
        self.limbs = []
        for b, (head, tail) in enumerate(zip(*ends, strict=True)):
            along = ((self.v - head) @ (tail - head)) / ((tail - head) @ (tail - head))
            ids = np.flatnonzero((bone == b) & (along > 0.3) & (along < 0.7))
            place = self.carry(transforms[[b]], self.v[ids].mean(0)[None])[0]
            slack = SLACK * np.linalg.norm(start[ids].mean(0) - place)
            strength = DRIFT * size[ids].sum() / first[ids].mean() ** 2
            self.limbs.append((ids, place, slack, strength))

    def find_feet(self, heads, tails):
        feet = np.empty((len(self.v), len(heads), 3))
        for b, (head, tail) in enumerate(zip(heads, tails, strict=True)):
            along = (self.v - head) @ (tail - head) / ((tail - head) @ (tail - head))
            feet[:, b] = head + np.clip(along, 0, 1)[:, None] * (tail - head)
        return feet, np.linalg.norm(self.v[:, None] - feet, axis=2)

    @staticmethod
    def carry(transforms, points):
        return np.einsum("nij,nj->ni", transforms[..., :3], points) + transforms[..., 3]

    def step(self, x):
        """The energy at x, and the minimum for the best rotations at x."""
        n, energy = len(x), 0.0
        matrix, right = np.diag(self.hold + self.foot_weight), self.hold[:, None] * self.target
        energy += self.hold @ np.sum((x - self.target) ** 2, 1)
        for t, slopes, area in zip(self.triangles, self.maps, self.area, strict=True):
            f = x[t].T @ slopes.T
            r = nearest(f)
            energy += area * np.sum((f - r) ** 2)
            matrix[np.ix_(t, t)] += area * slopes.T @ slopes
            right[t] += area * (r @ slopes).T
        for i in range(n):
            around = np.flatnonzero(self.cell[i])
            rest = np.vstack([self.v[around] - self.v[i], self.v[i] - self.foot[i]])
            own = np.vstack([x[around] - x[i], x[i] - self.posed_foot[i]])
            weight = np.append(self.cell[i, around], self.foot_weight[i])
            r = reference.rotation_of((weight[:, None] * own).T @ rest)
            energy += weight @ np.sum((own - rest @ r.T) ** 2, 1)
            pulls = weight[:, None] * (rest @ r.T)
            right[around] += pulls[:-1]
            right[i] += pulls[-1] - pulls[:-1].sum(0) + self.foot_weight[i] * self.posed_foot[i]
            matrix[i, i] += weight[:-1].sum()
            matrix[around, around] += weight[:-1]
            matrix[i, around] -= weight[:-1]
            matrix[around, i] -= weight[:-1]
        for ids, place, slack, strength in self.limbs:
            off = x[ids].mean(0) - place
            away = np.linalg.norm(off)
            aim = place + off * min(1, slack / away)
            energy += strength * np.sum((x[ids].mean(0) - aim) ** 2)
            row = np.zeros(n)
            row[ids] = 1 / len(ids)
            matrix += strength * np.outer(row, row)
            right += strength * np.outer(row, aim)
        return energy, np.linalg.solve(matrix, right)

    def outside(self, x):
        return self.center + self.unit * x


def test_steps_against_dense_algebra(arm):
    """A tube bent by 90 degrees, with five plain iterations."""
    arguments, weights = arm
    vertices, triangles, poses, heads, tails = arguments
    start = reference.posed(vertices, weights, poses)[0]
    dense = Dense(vertices, triangles, poses, heads, tails, 0 * start)
    x = (start - dense.center) / dense.unit
    dense = Dense(vertices, triangles, poses, heads, tails, x)
    assert len(dense.limbs) == 2
    energies = []
    for _ in range(5):
        energy, x = dense.step(x)
        energies.append(energy)
    energies.append(dense.step(x)[0])
    posed, found = araplbs.elastic_poses(
        *arguments, weights=weights, iterations=5, tolerance=0, acceleration=0, per_iteration=True
    )
    np.testing.assert_allclose(found[:, 0], energies, rtol=1e-9)
    np.testing.assert_allclose(posed[0], dense.outside(x), atol=1e-9)


@pytest.mark.parametrize("options", [{}, {"acceleration": 0}, {"limb_hold": 0.0}, {"slack": 0.0}])
@pytest.mark.parametrize("given", [True, False])
def test_the_energy_never_rises(arm, options, given):
    arguments, weights = arm
    poses = np.concatenate([bent(90), bent(-40), bent(150)])
    arguments = (*arguments[:2], poses, *arguments[3:])
    weights = weights if given else None
    options = {"iterations": 60, "tolerance": 0.0, "per_iteration": True, **options}
    posed, energies = araplbs.elastic_poses(*arguments, weights=weights, **options)
    assert energies.shape == (61, 3)
    assert posed.shape == (3, *arguments[0].shape)
    assert (np.diff(energies, axis=0) <= 1e-12 * energies[0]).all()
    assert (energies[-1] < 0.6 * energies[0]).all()


def test_acceleration_ends_lower_and_tolerance_sooner(arm):
    arguments, weights = arm
    plain, fast = (
        araplbs.elastic_poses(*arguments, weights=weights, iterations=15, tolerance=0,
                              acceleration=a, per_iteration=True)[1][-1, 0]
        for a in (0, 5)
    )  # fmt: skip
    assert fast < plain
    coarse = araplbs.elastic_poses(*arguments, weights=weights, tolerance=0.2, per_iteration=True)
    assert len(np.unique(coarse[1])) < 12


def measured(arguments, posed):
    vertices, triangles, poses, heads, tails = arguments
    seen = araplbs.Deformation(vertices, triangles, heads, tails)
    seen.add(posed, poses)
    return seen.measures()


def test_less_strain_at_no_more_drift_than_weights(arm):
    arguments, weights = arm
    skinned = measured(arguments, reference.posed(arguments[0], weights, arguments[2]))
    elastic = measured(arguments, araplbs.elastic_poses(*arguments, weights=weights))
    assert elastic["area"] < 0.7 * skinned["area"]
    assert elastic["drift"] < skinned["drift"]
    skin = measured(arguments, araplbs.elastic_poses(*arguments, weights=weights, inside=0))
    assert skin["area"] < elastic["area"]
    assert skin["volume"] < elastic["volume"]


def test_bones_that_move_alike_move_the_body(arm, rng):
    arguments, weights = arm
    pose = np.eye(3, 4)
    pose[:, :3], pose[:, 3] = reference.turn(rng.normal(size=3)), rng.normal(size=3)
    poses = np.tile(pose, (1, 2, 1, 1))
    arguments = (*arguments[:2], poses, *arguments[3:])
    for start in (weights, None):
        posed = araplbs.elastic_poses(*arguments, weights=start)
        np.testing.assert_allclose(posed[0], arguments[0] @ pose[:, :3].T + pose[:, 3], atol=1e-9)
        assert measured(arguments, posed)["area"] < 1e-7


def test_poses_know_nothing_of_each_other(arm):
    arguments, weights = arm
    poses = np.concatenate([bent(a) for a in (90, -40, 20, 130, 60, 75, 10)])
    options = {"weights": weights, "iterations": 8, "tolerance": 0.0}
    mesh, ends = arguments[:2], arguments[3:]
    one = araplbs.elastic_poses(*mesh, poses, *ends, **options)
    for p in (0, 4):
        alone = araplbs.elastic_poses(*mesh, poses[[p]], *ends, **options)[0]
        np.testing.assert_allclose(one[p], alone, atol=1e-10)


def test_seams_stay_closed(arm):
    """A mesh whose triangles share no vertices is welded, and has the same poses as the connected
    mesh."""
    arguments, weights = arm
    vertices, triangles = shapes.split(*arguments[:2])
    corners = arguments[1].ravel()
    options = {"limb_hold": 0.0, "iterations": 20, "tolerance": 0.0}  # means of limbs count corners
    whole = araplbs.elastic_poses(*arguments, weights=weights, **options)
    split = araplbs.elastic_poses(
        vertices, triangles, *arguments[2:], weights=weights[corners], **options
    )
    np.testing.assert_allclose(split[0], whole[0][corners], atol=1e-6)


def test_loose_parts_and_points_are_held(arm):
    """A button next to the joint stays rigid, and a distant point follows its nearest bone."""
    arguments, _ = arm
    button = shapes.box((0.05, 0.05, 0.05), (0, 0.24, 1.0))
    vertices, triangles = shapes.join(arguments[:2], button)
    vertices = np.vstack([vertices, [0, 0.9, 1.9]])
    arguments = vertices, triangles, *arguments[2:]
    posed = araplbs.elastic_poses(*arguments, iterations=300, tolerance=1e-6)
    first = len(vertices) - 9
    strain = araplbs.surface_strain(vertices, triangles, posed)
    assert strain[-12:].max() < 0.1 * strain.max()
    assert np.linalg.norm(posed[0, first] - posed[0, : first - 2], axis=1).min() < 0.15
    np.testing.assert_allclose(posed[0, -1], arguments[2][0, 1] @ [0, 0.9, 1.9, 1], atol=1e-6)


@pytest.mark.parametrize("method", ["free", "mixed"])
@pytest.mark.parametrize("far", [1e9, 1e75, 1e148, 1e153])
@pytest.mark.parametrize("size", [1.0, 1e-7])
def test_a_vertex_far_off(method, far, size):
    """It has poses, or is named in a message."""
    vertices, triangles = shapes.tube(6, 8)
    bones = shapes.chain(3)
    vertices = size * np.concatenate([vertices, [[0, far / size, 0]]])
    heads, tails = size * bones.heads, size * bones.tails
    poses = araplbs.sample_poses(heads, tails, bones.parents, 2)
    given = vertices, triangles, poses, heads, tails
    more = {"method": method, "iterations": 2, "inside": 0.0, "bending": 0.0}
    if far / size > 1e75:
        with pytest.raises(
            ValueError, match=r"vertices\[48, 1\] is 1e\+\d+: too far away for a mesh"
        ):
            araplbs.elastic_poses(*given, **more)
    else:
        assert np.isfinite(araplbs.elastic_poses(*given, **more)).all()


def test_wires_keep_their_lengths(arm):
    poses, heads, tails = arm[0][2:]
    vertices = np.column_stack([np.zeros((21, 2)), np.linspace(0, 2, 21)])
    edges = np.column_stack([np.arange(20), np.arange(1, 21)])
    posed = araplbs.elastic_poses(vertices, None, poses, heads, tails, edges=edges)
    lengths = np.linalg.norm(np.diff(posed[0], axis=0), axis=1)
    np.testing.assert_allclose(lengths, 0.1, rtol=0.1)
    assert np.linalg.norm(posed[0, -1] - poses[0, 1] @ [0, 0, 2, 1]) < 0.1


def test_what_is_flat_is_left_out(arm):
    arguments, _ = arm
    slivers = [[0, 8, 8], [3, 3, 3], [0, 1, 2]]
    vertices = np.vstack([arguments[0], [[0.5, 0.5, 0], [0.7, 0.5, 0], [0.6, 0.5 + 1e-7, 0]]])
    flat = np.vstack([arguments[1], slivers[:2], [[len(vertices) - 3 + k for k in range(3)]]])
    posed = araplbs.elastic_poses(vertices, flat, *arguments[2:])
    assert np.isfinite(posed).all()


@pytest.mark.parametrize("name", [*shapes.odd_meshes(), "moebius", "point"])
def test_odd_meshes_have_poses(name):
    meshes = {"moebius": shapes.moebius(), "point": (np.zeros((1, 3)), None)}
    vertices, triangles = {**shapes.odd_meshes(), **meshes}[name]
    bones, poses = shapes.chain(2), np.concatenate([bent(90), bent(180)])
    arguments = vertices, triangles, poses, bones.heads, bones.tails
    posed, energies = araplbs.elastic_poses(*arguments, per_iteration=True)
    assert np.isfinite(posed).all()
    assert (np.diff(energies, axis=0) <= 1e-9 * energies[0] + 1e-16).all()
    try:
        posed = araplbs.elastic_poses(*arguments, method="mixed", iterations=5)
        assert np.isfinite(posed).all()
    except ValueError as error:
        assert "needs a triangle or tet" in str(error)


def test_points_and_bones_in_one_place():
    """Bones without length, coincident with each other and with the vertices."""
    vertices, triangles = shapes.tube(6, 5)
    ends = np.tile(vertices[3], (2, 1))
    posed = araplbs.elastic_poses(vertices, triangles, bent(90), ends, ends)
    assert np.isfinite(posed).all()


def test_tets_make_a_solid():
    """The solid bends with less strain of its tets than with blending, for any orientation of their
    corners."""
    vertices, tets = shapes.bar((2, 2, 12), (0.4, 0.4, 2.0))
    bones, poses = shapes.chain(2), bent(90)
    weights = blended(vertices)
    posed, energies = araplbs.elastic_poses(
        vertices, None, poses, bones.heads, bones.tails, tets=tets, weights=weights,
        per_iteration=True,
    )  # fmt: skip
    assert (np.diff(energies, axis=0) <= 1e-12).all()

    def strain(points):
        rest, own = (p[tets[:, 1:]] - p[tets[:, :1]] for p in (vertices, points))
        maps = np.linalg.inv(rest) @ own
        values = np.linalg.svd(maps, compute_uv=False)
        values[:, 2] *= np.sign(np.linalg.det(maps))
        return np.mean(np.sum((values - 1) ** 2, 1))

    assert strain(posed[0]) < 0.9 * strain(reference.posed(vertices, weights, poses)[0])
    turned = araplbs.elastic_poses(
        vertices, None, poses, bones.heads, bones.tails, tets=tets[:, [1, 0, 2, 3]],
        weights=weights,
    )  # fmt: skip
    np.testing.assert_allclose(turned, posed, atol=1e-6)


def test_vertices_without_weights_start_at_their_bone(arm):
    arguments, weights = arm
    none = np.zeros_like(weights)
    empty = araplbs.elastic_poses(*arguments, weights=none, iterations=3)
    np.testing.assert_array_equal(empty, araplbs.elastic_poses(*arguments, iterations=3))
    rows = np.arange(len(weights) + 1) * 2, np.tile([0, 1], len(weights)), weights.ravel()
    sparse = araplbs.elastic_poses(*arguments, weights=rows, iterations=3)
    dense = araplbs.elastic_poses(*arguments, weights=weights, iterations=3)
    np.testing.assert_array_equal(sparse, dense)


def test_bones_that_do_not_deform_hold_nothing(arm):
    arguments, _ = arm
    vertices, triangles, poses, heads, tails = arguments
    heads, tails = (np.vstack([e, e[:1] + 0.01]) for e in (heads, tails))
    poses = np.concatenate([poses, np.full((1, 1, 3, 4), 7.0)], axis=1)
    own = araplbs.elastic_poses(*arguments)
    more = araplbs.elastic_poses(
        vertices, triangles, poses, heads, tails, bone_deform=[True, True, False]
    )
    np.testing.assert_array_equal(own, more)


def test_progress_of_each_iteration(arm):
    arguments, weights = arm
    calls = []
    araplbs.elastic_poses(
        *arguments, weights=weights, iterations=10, tolerance=0,
        progress=lambda stage, share: calls.append((stage, share)),
    )  # fmt: skip
    shares = [share for stage, share in calls if stage == "elastic poses"]
    assert len(set(shares)) == 11  # the start, and ten iterations; a share may be reported twice
    assert shares == sorted(shares)


@pytest.mark.parametrize("name", ["cesium_man", "q_eagle", "webxr_hand", "q_wasp"])
def test_no_weights_of_a_character_have_less_strain(name):
    character = Character(name)
    bones = character.bones
    poses = araplbs.sample_poses(*bones, 6, seed=3, **bones.more)
    solver = araplbs.Solver(*character.arguments, **character.more)
    ways = {"heat": solver.initial_weights, "artist": character.artist}
    solver.solve()
    ways["ours"] = solver.weights
    deform = bones.deform
    arguments = character.vertices, character.triangles, poses, bones.heads, bones.tails
    for way, weights in ways.items():
        found = araplbs.elastic_poses(
            *arguments, weights=weights * deform, edges=character.edges, bone_deform=deform
        )
        seen = araplbs.Deformation(*arguments[:2], *arguments[3:], bone_deform=deform)
        seen.skin(weights * deform, poses)
        skinned = seen.measures()
        seen.clear()
        seen.add(found, poses)
        elastic = seen.measures()
        assert elastic["area"] < skinned["area"], way
        assert elastic["drift"] <= 1.02 * skinned["drift"], way


GOOD = {
    "vertices": MESH[0],
    "triangles": MESH[1],
    "poses": POSES,
    "bone_heads": BONES.heads,
    "bone_tails": BONES.tails,
}


test_bad_values_are_named = table(
    araplbs.elastic_poses,
    GOOD,
    row("triangles", triangles="no", kind=TypeError),
    row(r"triangles\[3, 2\] is 30, but there are 30", triangles=changed(MESH[1], (3, 2), N)),
    row(r"edges\[1, 0\] is 30", edges=[[0, 1], [N, 1]]),
    row(r"tets\[0, 0\] is -1", tets=[[-1, 1, 2, 3]]),
    row(r"bone_tails has shape \(2, 3\)", bone_tails=BONES.tails[:2]),
    row("poses has shape", poses=POSES[:, :2]),
    row("there are no poses", poses=POSES[:0]),
    row("poses", poses=changed(SQUARE, (0, 1, 3, 0), 2.0)),
    row("no bone of the skeleton deforms", bone_deform=[False] * M),
    row("bone_deform has shape", bone_deform=[True]),
    row("weights has shape", weights=WEIGHTS[:, :2]),
    row("hold is 0: must be from 0.0001", hold=0.0),
    row("limb_hold is nan", limb_hold=NAN),
    row("slack is -1", slack=-1.0),
    row("inside is -1", inside=-1.0),
    row("bending is -1", bending=-1.0),
    row("iterations is -1", iterations=-1),
    row("iterations is 2147483648", iterations=BIG),
    row("tolerance is 2", tolerance=2.0),
    row("acceleration is 21", acceleration=21),
    row("samples is 0", samples=0),
    row("method is 'solid'", method="solid"),
    row(r"bone 0, at 1e\+07 to .* is too far from the mesh", bone_heads=BONES.heads + 1e7),
    row("bone 0, at 0 to .* is too far from the mesh", vertices=MESH[0] * 1e-7),
    row(
        r"poses\[1\] is too large: a bone scales the mesh by",
        poses=POSES * np.array([1, 1e7])[:, None, None, None],
    ),
    row("stiffness", stiffness=3, kind=TypeError),
)


@pytest.mark.parametrize("method", ["free", "mixed"])
@pytest.mark.parametrize(("size", "shift"), [(1, 5e4), (1e12, 0), (1e-4, 0)])
def test_meshes_far_larger_than_their_bones_or_far_away(method, size, shift):
    """Only weak springs hold such meshes, but the springs are sufficient for a definite system."""
    mesh = MESH[0] * size + shift
    posed = araplbs.elastic_poses(
        **{**GOOD, "vertices": mesh},
        method=method,
        samples=3,
        iterations=3,
        inside=0.0,
        limb_hold=0.0,
    )
    np.testing.assert_allclose(posed, np.broadcast_to(mesh, posed.shape), atol=1e-4 * size)
