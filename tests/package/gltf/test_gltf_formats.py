"""Writes new weights into glTF files whose arrays have every form that the format allows. All
skinned vertices get weights, the file is as valid as before, and all other data in it stays
unchanged."""

import numpy as np
import pytest
from gltf_files import BONES, HEADS, VERTICES, Glb, bound_at, moves, plain, rows

N = len(VERTICES)


def skinned(glb, attributes, matrices=None):
    """A tube with these attributes on a chain of joints."""
    glb.bind(glb.part(attributes), glb.joints(), matrices)
    return glb


def attributes_of(file):
    return file.json["meshes"][0]["primitives"][0]["attributes"]


@pytest.mark.parametrize("suffix", [".glb", ".vrm", ".gltf"])
def test_a_file_of_each_kind(weigh, suffix):
    _places, dense = rows(weigh(plain(), suffix))
    assert moves(dense) and abs(dense.sum(1) - 1).max() < 1e-6


@pytest.mark.parametrize("joints", ["u1", "<u2"])
@pytest.mark.parametrize("weights", ["u1", "<u2", "<f4"])
def test_bytes_are_replaced_where_they_are(weigh, joints, weights):
    """The JSON stays the same, and so does every byte outside the two arrays."""
    file = weigh(plain(joints=joints, weights=weights))
    assert moves(rows(file)[1]) and file.json == weigh.before.json
    old, new = (np.frombuffer(each.blob, np.uint8) for each in (weigh.before, file))
    inside = np.zeros(len(new), bool)
    for name in ("JOINTS_0", "WEIGHTS_0"):
        accessor = file.json["accessors"][attributes_of(file)[name]]
        view = file.json["bufferViews"][accessor["bufferView"]]
        inside[view["byteOffset"] : view["byteOffset"] + view["byteLength"]] = True
    changed = np.flatnonzero(new != old)
    assert len(changed) and inside[changed].all()


@pytest.mark.parametrize(("weights", "whole"), [("u1", 255), ("<u2", 65535)])
def test_whole_numbers_sum_to_their_whole(weigh, weights, whole):
    file = weigh(plain(weights=weights))
    stored = file.read(attributes_of(file)["WEIGHTS_0"])
    assert (stored.sum(1, dtype=int) == whole).all()
    exact = rows(weigh(plain(weights="<f4")))[1]
    assert abs(rows(file)[1] - exact).max() <= 1 / whole + 1e-6


def test_whole_numbers_become_floats_when_asked_for(weigh):
    file = weigh(plain(weights="u1"), component=5126)
    number = attributes_of(file)["WEIGHTS_0"]
    assert file.json["accessors"][number]["componentType"] == 5126
    for kind in ("accessors", "bufferViews"):
        assert len(file.json[kind]) == len(weigh.before.json[kind])


def test_interleaved_arrays(weigh):
    glb = Glb()
    vertex = np.zeros(
        N, [("place", "<f4", 3), ("joints", "u1", 4), ("color", "u1", 4), ("weights", "<f4", 4)]
    )
    vertex["place"], vertex["weights"][:, 0] = VERTICES, 1
    vertex["color"] = np.arange(4 * N).reshape(N, 4) % 251
    view = glb.view(vertex.tobytes(), byteStride=vertex.itemsize)
    attributes = {
        "POSITION": glb.accessor(view, N, "<f4", "VEC3"),
        "JOINTS_0": glb.accessor(view, N, "u1", "VEC4", byteOffset=12),
        "COLOR_0": glb.accessor(view, N, "u1", "VEC4", byteOffset=16, normalized=True),
        "WEIGHTS_0": glb.accessor(view, N, "<f4", "VEC4", byteOffset=20),
    }
    file = weigh(skinned(glb, attributes))
    assert moves(rows(file)[1]) and file.json == weigh.before.json
    assert (file.read(attributes["COLOR_0"]) == vertex["color"]).all()


def test_bytes_that_something_else_uses_stay(weigh):
    """The old weights also serve as colors: by the same accessor, and by another one over the same
    bytes."""
    glb = Glb()
    old = glb.old_weights(N)
    view = glb.json["accessors"][old["JOINTS_0"]]["bufferView"]
    attributes = {"POSITION": glb.add(VERTICES, "<f4", "VEC3"), "COLOR_0": old["WEIGHTS_0"]} | old
    attributes["COLOR_1"] = glb.accessor(view, N, "u1", "VEC4", normalized=True)
    file = weigh(skinned(glb, attributes))
    assert moves(rows(file)[1])
    assert (file.read(attributes["COLOR_0"]) == [255, 0, 0, 0]).all()
    assert (file.read(attributes["COLOR_1"]) == 0).all()


def test_sparse_arrays(weigh):
    """Positions that a sparse part corrects, and joints without data, which are all 0."""
    glb, wrong, some = Glb(), VERTICES.copy(), np.arange(0, N, 3)
    wrong[some] += 5
    attributes = {
        "POSITION": glb.sparse(wrong, some, VERTICES[some], "<f4", "VEC3"),
        "WEIGHTS_0": glb.add(np.tile([1, 0, 0, 0], (N, 1)), "<f4", "VEC4"),
        "JOINTS_0": glb.accessor(None, N, "u1", "VEC4"),
    }
    del glb.json["accessors"][-1]["bufferView"]
    assert moves(rows(weigh(skinned(glb, attributes)))[1])


def test_sparse_weights_become_whole_ones(weigh):
    glb = Glb()
    attributes = {
        "POSITION": glb.add(VERTICES, "<f4", "VEC3"),
        "JOINTS_0": glb.add(np.zeros((N, 4)), "u1", "VEC4"),
        "WEIGHTS_0": glb.sparse(N, range(N), np.tile([1, 0, 0, 0], (N, 1)), "<f4", "VEC4"),
    }
    file = weigh(skinned(glb, attributes), unused=True)
    assert moves(rows(file)[1])
    assert "sparse" not in file.json["accessors"][attributes["WEIGHTS_0"]]


@pytest.mark.parametrize(("kind", "most"), [("<i2", 32767), ("<u2", 65535), ("u1", 255)])
def test_quantized_places(weigh, kind, most):
    """KHR_mesh_quantization: positions as integers, in a unit that the bind matrices undo."""
    glb, low = Glb(), VERTICES.min() if kind != "<i2" else 0.0
    size = VERTICES.max() - low
    glb.json["extensionsUsed"] = glb.json["extensionsRequired"] = ["KHR_mesh_quantization"]
    places = np.zeros((N, 4), kind)
    places[:, :3] = np.rint((VERTICES - low) / size * most)
    view = glb.view(places.tobytes(), byteStride=places.strides[0])
    attributes = {"POSITION": glb.accessor(view, N, kind, "VEC3", normalized=True)}
    matrices = np.tile(np.diag([size, size, size, 1.0]), (BONES, 1, 1))
    matrices[:, 3, :3] = low - HEADS
    glb = skinned(glb, attributes | glb.old_weights(N), matrices)
    found, exact = rows(weigh(glb))[1], rows(weigh(plain()))[1]
    # The first joint lies on a cap, so rounding decides whether it is inside.
    assert abs(found - exact).sum(1).mean() < (0.05 if kind == "<i2" else 0.2)


def test_eight_influences_and_back_to_four(weigh, core):
    """Two sets; when read again, four influences remain if four are requested."""
    wide = weigh(plain(), max_influences=0, min_gain=0.0, bone_spring_stiffness=0.0)
    assert {"JOINTS_1", "WEIGHTS_1"} <= set(attributes_of(wide))
    assert (rows(wide)[1] > 0).sum(1).max() == BONES

    class Again:
        def write(self, path):
            (weigh.folder / "out.glb").replace(path)

    narrow = weigh(Again(), unused=True)
    assert {"JOINTS_1", "WEIGHTS_1"}.isdisjoint(attributes_of(narrow))
    assert moves(rows(narrow)[1])


def test_more_joints_than_a_byte_can_name(weigh):
    glb = Glb()
    far = np.array([[50.0 + k, 0, 0] for k in range(300)])
    joints = [glb.node(translation=place.tolist()) for place in far] + glb.joints()
    glb.bind(glb.part(glb.attributes()), joints, bound_at(np.vstack([far, HEADS])))
    file = weigh(glb)
    assert moves(rows(file, width=305)[1][:, 300:])
    assert file.json["accessors"][attributes_of(file)["JOINTS_0"]]["componentType"] == 5123


def test_morph_targets_and_all_else_stay(weigh):
    glb = plain()
    moved = glb.add(np.ones((N, 3)), "<f4", "VEC3")
    glb.json["meshes"][0]["primitives"][0]["targets"] = [{"POSITION": moved}]
    glb.json["meshes"][0]["weights"] = [0.25]
    glb.json |= {"extras": {"pi": 3.141592653589793, "名": ["ü", 1e-7]}}
    glb.json["images"] = [{"bufferView": glb.view(b"\x89PNG no picture"), "mimeType": "image/png"}]
    file = weigh(glb)
    assert file.json == weigh.before.json and (file.read(moved) == 1).all()


def test_weights_that_are_not_finite_are_replaced(weigh):
    glb = plain(weights="<f4")
    begin = glb.place_of(glb.json["meshes"][0]["primitives"][0]["attributes"]["WEIGHTS_0"])
    glb.blob[begin : begin + 16 * N] = b"\xff" * 16 * N
    assert moves(rows(weigh(glb))[1])
