"""Vertices of a garment that end up below the skin are found as by brute force, and get the weights
of the skin."""

import importlib

import numpy as np
import pytest
import scipy.optimize
import shapes
from araplbs.model.sparse_weights import sparse_of
from shared_data import Character

BODY = shapes.tube(20, 40, radius=0.3)
BONES = shapes.chain(4)


def core(name):
    return importlib.import_module(f"araplbs.{name}")


def skeleton_of(bones):
    from_joints = core("skeleton.skeleton").Skeleton.from_joints
    return from_joints(bones.heads, bones.parents, tails=bones.tails)


def mesh_of(name, mesh, weights):
    none = np.zeros((0, 2), int)
    return core("character.mesh").Mesh(name, *mesh, none, np.eye(4), weights=sparse_of(weights))


def smooth_weights(vertices):
    """Hat functions about the bones."""
    middles = (BONES.heads + BONES.tails)[:, 2] / 2
    weights = np.maximum(1 - abs(vertices[:, 2:] - middles) / 0.6, 0) + 1e-9
    return weights / weights.sum(1, keepdims=True)


@pytest.fixture
def dressed():
    """(Source, Skeleton, the vertices of a sleeve)."""
    source = core("features.transfer.source").Source(
        [mesh_of("Body", BODY, smooth_weights(BODY[0]))], skeleton_of(BONES)
    )
    sleeve = shapes.tube(15, 25, radius=0.315)[0]
    inner = sleeve[:, 2].min() + 0.2 < sleeve[:, 2]
    return source, skeleton_of(BONES), sleeve[inner & (sleeve[:, 2] < sleeve[:, 2].max() - 0.2)]


def test_nearest_shares(rng):
    """Compared with a quadratic program, for triangles of all shapes."""
    corners = rng.normal(size=(60, 3, 3))
    corners[:10, 2] = corners[:10, 1]
    points = 2 * rng.normal(size=(60, 3))
    shares = core("features.transfer.clearance").nearest_shares(points, *corners.swapaxes(0, 1))
    assert (shares >= -1e-12).all()
    np.testing.assert_allclose(shares.sum(1), 1, atol=1e-12)
    for point, corner, share in zip(points, corners, shares, strict=True):
        best, _ = scipy.optimize.nnls(np.vstack([corner.T, np.full(3, 1e4)]), [*point, 1e4])
        least = np.linalg.norm(best / best.sum() @ corner - point)
        assert np.linalg.norm(share @ corner - point) == pytest.approx(least, abs=1e-4)


def brute_force(source, clearance, points, weights):
    """Poses in which points are below the nearest of all triangles."""
    module, below = core("features.transfer.clearance"), np.zeros(len(points), int)
    blend_dense = core("measures.armature_modifier").blend_dense
    body = np.zeros((len(source.vertices), weights.shape[1]))
    body[source.rows.vertices, source.rows.bones] = source.rows.weights
    for pose in clearance._transforms:
        skin = blend_dense(source.vertices, body, pose)
        normals = module.vertex_normals(skin, source.triangles)
        for k, point in enumerate(blend_dense(points, weights, pose)):
            shares = module.nearest_shares(point, *skin[source.triangles].swapaxes(0, 1))
            near = (shares[..., None] * skin[source.triangles]).sum(1)
            t = ((near - point) ** 2).sum(1).argmin()
            normal = shares[t] @ normals[source.triangles[t]]
            below[k] += (point - near[t]) @ normal < 0
    return below


def test_poses_below(dressed):
    """The weights are so slightly wrong that the nearest triangle is adjacent to the one at
    rest."""
    source, skeleton, sleeve = dressed
    points = sleeve[::7]
    clearance = core("features.transfer.clearance").Clearance(source, skeleton, points)
    assert clearance.above.all()
    weights = 0.9 * clearance.skin_weights + 0.1 * np.roll(clearance.skin_weights, 1, axis=1)
    expected = brute_force(source, clearance, points, weights)
    found = clearance.poses_below(weights)
    assert expected.sum() > 20
    np.testing.assert_allclose(found, expected, atol=1)
    assert abs(found - expected).sum() <= 0.05 * expected.sum()


def test_what_is_below_at_rest_does_not_count(dressed):
    source, skeleton, sleeve = dressed
    points = sleeve * [0.9, 0.9, 1]
    clearance = core("features.transfer.clearance").Clearance(source, skeleton, points)
    assert not clearance.above.any()
    assert not clearance.poses_below(clearance.skin_weights).any()


def test_weights_of_the_skin(dressed):
    """At the nearest points, linear functions of the position are reproduced."""
    source, skeleton, sleeve = dressed
    clearance = core("features.transfer.clearance").Clearance(source, skeleton, sleeve)
    np.testing.assert_allclose(clearance.skin_weights, smooth_weights(sleeve), atol=0.05)
    np.testing.assert_allclose(clearance.skin_weights.sum(1), 1, atol=1e-12)


def test_what_ends_below_takes_the_weights_of_the_skin(dressed):
    """Only the weights of these vertices change."""
    source, skeleton, sleeve = dressed
    looked_at = np.arange(len(sleeve)) % 2 == 0
    guard = core("features.transfer.clearance").Guard(source, skeleton, sleeve, looked_at, 2, 0)
    weights = np.zeros((len(sleeve), 4))
    weights[guard.vertices] = guard.rows
    assert (guard.rows > 0).sum(1).max() == 2
    bad = [10, 11, 100]
    weights[bad] = [0, 0, 0, 1.0]
    vertices, rows = guard.fallen(weights)
    assert vertices.tolist() == [10, 100]
    np.testing.assert_array_equal(rows, guard.rows[[5, 50]])
    weights[vertices] = rows
    assert not len(guard.fallen(weights)[0])
    nothing = core("features.transfer.clearance").Guard(
        source, skeleton, sleeve, looked_at & False, 2, 0
    )
    assert not len(nothing.fallen(weights)[0])


def test_a_garment_of_many_vertices_is_refined_by_levels(monkeypatch):
    """Refining uses coarse meshes, as in Auto-weight."""
    transfer, seen = core("features.transfer.transfer"), []
    wide = shapes.tube(40, 40, radius=0.5)
    source = transfer.Source([mesh_of("Body", BODY, smooth_weights(BODY[0]))], skeleton_of(BONES))
    target = mesh_of("Skirt", wide, np.zeros((len(wide[0]), 4)))
    made = transfer.engine.Solver

    def solver(*arguments, **settings):
        seen.append(made(*arguments, **settings))
        return seen[-1]

    monkeypatch.setattr(transfer.engine, "Solver", solver)
    options = transfer.TransferOptions(distance=0.2)
    [done] = transfer.transfer(source, [target], skeleton_of(BONES), options)
    assert done.refined.all() and seen[0].report["coarse_vertices"] > 0
    np.testing.assert_allclose(done.rows.sums(), 1, atol=1e-6)


def test_robe():
    """On a character, the robe is below the skin no more often than with the weights of the nearest
    points."""
    mage = Character("mage")
    names, part = [str(n) for n in mage.data["part_names"]], mage.data["part_id"]
    weights = mage.data["W"] / mage.data["W"].sum(1, keepdims=True)
    worn = names.index("Mage_Body")

    def cut(kept):
        triangles = mage.triangles[(kept[mage.triangles]).all(1)]
        used = np.unique(triangles)
        return used, (mage.vertices[used].astype(float), np.searchsorted(used, triangles))

    limbs = [k for k, name in enumerate(names) if name.startswith(("Mage_Arm", "Mage_Leg"))]
    used, body = cut(np.isin(part, [*limbs, names.index("Mage_Head")]))
    _, robe = cut(part == worn)
    skeleton = skeleton_of(mage.bones)
    skeleton.roll_axes = np.nan_to_num(mage.data["bone_roll_axis"])
    transfer = core("features.transfer.transfer")
    source = transfer.Source([mesh_of("Body", body, weights[used])], skeleton)
    target = mesh_of("Robe", robe, np.zeros((len(robe[0]), len(skeleton.names))))
    [done] = transfer.transfer(source, [target], skeleton, transfer.TransferOptions())
    near = source.match(target, transfer.TransferOptions())[1] < transfer.KEPT * source.size
    clearance = core("features.transfer.clearance").Clearance(source, skeleton, robe[0][near])
    found = np.zeros((len(robe[0]), len(skeleton.names)))
    found[done.rows.vertices, done.rows.bones] = done.rows.weights
    own = clearance.poses_below(clearance.skin_weights).sum()
    assert clearance.poses_below(found[near]).sum() <= own
