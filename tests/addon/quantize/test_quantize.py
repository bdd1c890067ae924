"""Quantize Weights: whole steps that sum to exactly 1, within the limits of materials."""

import itertools

import bpy
import numpy as np
import pytest
from command import opened, run, save
from deep import refused
from flaws import weighted
from scenes import deform_names, entries, package, select, weights


def quantize_operator(*objects, **options):
    if objects:
        select(*objects)
    return bpy.ops.object.araplbs_quantize("EXEC_DEFAULT", **options)


def random_rows(rng, count=200, bones=12, most=9):
    """Rows with arbitrary sums; some rows have no weights."""
    make = package("model.sparse_weights").make_sparse_weights
    dense = rng.uniform(size=(count, bones)) ** 3
    dense[rng.uniform(size=dense.shape) > most / bones] = 0
    dense[::17] = 0
    vertices, bones = np.nonzero(dense)
    return make(count, vertices, bones, dense[vertices, bones])


def quantized(rows, steps, limit=0, threshold=0.0):
    limits = np.full(rows.count, limit)
    return package("features.quantize").quantize(rows, steps, limits, threshold)


@pytest.mark.parametrize("steps", [255, 65535])
@pytest.mark.parametrize("limit", [0, 1, 2, 4])
def test_sums_are_exact(steps, limit):
    rng = np.random.default_rng(3)
    rows = random_rows(rng)
    found = quantized(rows, steps, limit)
    whole = found.weights * steps
    stored = np.float32(found.weights).astype(float) * steps  # as Blender keeps them
    assert np.abs(whole - np.round(whole)).max() < 1e-9
    assert np.array_equal(np.round(stored), np.round(whole))
    sums = np.bincount(found.vertices, np.round(whole), found.count)
    assert np.array_equal(sums, np.where(rows.sums() > 0, steps, 0))
    counts = np.diff(found.start)
    assert (counts[rows.sums() > 0] > 0).all() and (not limit or counts.max() <= limit)
    again = quantized(found, steps, limit)
    assert np.array_equal(again.weights, found.weights)
    assert np.array_equal(again.bones, found.bones)


def test_nearest_steps():
    """The result of the largest-remainder rule is compared with all possibilities. No other steps
    with the same sum are nearer."""
    rng = np.random.default_rng(5)
    make = package("model.sparse_weights").make_sparse_weights
    steps = 9
    every = np.array([c for c in itertools.product(range(steps + 1), repeat=4) if sum(c) == steps])
    for _ in range(50):
        w = rng.dirichlet(np.ones(4))
        rows = make(1, np.zeros(4, int), np.arange(4), w)
        found = np.zeros(4)
        result = quantized(rows, steps)
        found[result.bones] = result.weights
        best = ((every / steps - w) ** 2).sum(1).min()
        assert ((found - w) ** 2).sum() <= best + 1e-12


def test_threshold_keeps_the_largest():
    make = package("model.sparse_weights").make_sparse_weights
    vertices, bones = np.array([0, 0, 0, 1, 1]), np.array([0, 1, 2, 0, 1])
    rows = make(2, vertices, bones, np.array([0.9, 0.08, 0.02, 0.5, 0.5]))
    found = quantized(rows, 0, threshold=0.05)
    assert found.bones.tolist() == [0, 1, 0, 1]
    assert np.allclose(found.weights, [0.9 / 0.98, 0.08 / 0.98, 0.5, 0.5])
    assert quantized(rows, 255, threshold=1.0).bones.tolist() == [0, 0]


@pytest.mark.parametrize(("bits", "steps"), [("8", 255), ("16", 65535), ("NONE", 0)])
def test_operator(bits, steps):
    tube, rig = weighted(max_influences=8)
    before = weights(tube, deform_names(rig))
    assert quantize_operator(tube, bits=bits) == {"FINISHED"}
    dense = weights(tube, deform_names(rig))
    assert np.abs(dense - before).max() < (1 / steps if steps else 1e-6)
    if steps:
        whole = np.round(dense * steps)
        assert np.abs(dense * steps - whole).max() < 1e-2 and (whole.sum(1) == steps).all()
    else:
        assert np.abs(dense.sum(1) - 1).max() < 1e-6
    same = entries(tube)
    assert quantize_operator(tube, bits=bits) == {"FINISHED"} and entries(tube) == same


def test_platforms():
    tube, rig = weighted(max_influences=0)
    rest = {v.index: i for i, v in enumerate(tube.data.vertices)}
    for group in tube.vertex_groups:
        group.add(list(rest), 0.2, "REPLACE")
    for platform, most in (("FILM", 3), ("CUSTOM", 3), ("MOBILE", 2)):
        assert quantize_operator(tube, platform=platform, max_influences=5) == {"FINISHED"}
        assert ((weights(tube, deform_names(rig)) > 0).sum(1) == most).all()


def test_limits_of_materials():
    """At the border of materials, the lowest limit applies. A material without a limit uses the
    operator's limit."""
    tube, rig = weighted(max_influences=8)
    for group in tube.vertex_groups:
        group.add(range(len(tube.data.vertices)), 0.3, "REPLACE")
    for name, limit in (("skin", 0), ("cloth", 1)):
        material = bpy.data.materials.new(name)
        material.araplbs_max_influences = limit
        tube.data.materials.append(material)
    for face in tube.data.polygons:
        face.material_index = int(face.center.z > 1.5)
    assert quantize_operator(tube, platform="MOBILE") == {"FINISHED"}
    counts = (weights(tube, deform_names(rig)) > 0).sum(1)
    for face in tube.data.polygons:
        if face.material_index:
            assert (counts[list(face.vertices)] == 1).all()
    below = [v.index for v in tube.data.vertices if v.co.z < 1.3]
    assert (counts[below] == 2).all()


def test_vertices_without_weights_are_told(capfd):
    tube, _rig = weighted()
    for group in tube.vertex_groups:
        group.remove([3, 4])
    assert quantize_operator(tube) == {"FINISHED"}
    assert "2 vertices have no weights" in capfd.readouterr().out
    assert entries(tube)[3] == []


def test_refusals():
    tube, _rig = weighted()
    tube.vertex_groups.clear()
    said = refused("quantize", tube)
    assert "No vertex of 'Tube' has weights for deform bones" in said


@pytest.mark.parametrize(
    ("name", "value"), [("bits", "12"), ("threshold", 2.0), ("max_influences", 256)]
)
def test_bad_options(name, value):
    with pytest.raises(ValueError, match=f"{name} is"):
        package("features.quantize").QuantizeOptions(**{name: value})


def test_command(tmp_path, capfd):
    weighted()
    source = save(tmp_path / "in.blend")
    assert run("quantize", source, "-o", tmp_path / "out.blend", "--bits", "16",
               "--platform", "mobile", "--json", tmp_path / "report.json") == 0  # fmt: skip
    assert "multiples of 1/65535 that sum to exactly 1, with at most 2" in capfd.readouterr().out
    tube = opened(tmp_path / "out.blend")["Tube"]
    whole = np.array([sum(round(w * 65535) for _g, w in row) for row in entries(tube)])
    assert (whole == 65535).all()
