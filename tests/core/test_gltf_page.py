"""The program of docs/manual/gltf.md gives all skinned meshes of a .glb new weights: seams between
materials and between meshes stay closed, everything else stays, and what it cannot read it refuses
in a sentence."""

import json
import re
import struct
import sys

import numpy as np
import pytest
from paths import ROOT
from shapes import chain, tube

CODE = "\n".join(
    re.findall(
        r"^```python\n(.*?)^```$",
        (ROOT / "docs/manual/gltf.md").read_text("utf-8"),
        re.MULTILINE | re.DOTALL,
    )
)
COMPONENTS = {"<f4": 5126, "<u2": 5123, "u1": 5121}
VERTICES, TRIANGLES = tube(8, 25, caps=True)
BONES = 5
HEADS, TAILS, PARENTS = chain(BONES)


class Glb:
    """A file that is being made."""

    def __init__(self):
        self.json = {
            **{"asset": {"version": "2.0"}, "buffers": [{}], "bufferViews": [], "accessors": []},
            **{"meshes": [], "nodes": [], "skins": []},
        }
        self.blob = bytearray(b"\0\0\0\0")  # so that offsets count

    def add(self, array, kind, width, **more):
        array = np.ascontiguousarray(array, kind)
        self.blob.extend(bytes(-len(self.blob) % 4))
        view = {"buffer": 0, "byteOffset": len(self.blob), "byteLength": array.nbytes}
        self.json["bufferViews"].append(view)
        self.blob.extend(array.tobytes())
        accessor = {"bufferView": len(self.json["bufferViews"]) - 1, "count": len(array)}
        accessor |= {"componentType": COMPONENTS[kind], "type": width}
        self.json["accessors"].append(accessor | more)
        return len(self.json["accessors"]) - 1

    def primitive(self, triangles, shift=(0, 0, 0), skinned=True):
        """With the vertices of these triangles alone."""
        used, corners = np.unique(triangles, return_inverse=True)
        attributes = {"POSITION": self.add(VERTICES[used] + shift, "<f4", "VEC3")}
        if skinned:  # to the first joint, in numbers that stand for shares
            attributes["JOINTS_0"] = self.add(np.zeros((len(used), 4)), "u1", "VEC4")
            first = np.tile([255, 0, 0, 0], (len(used), 1))
            attributes["WEIGHTS_0"] = self.add(first, "u1", "VEC4", normalized=True)
        return {"attributes": attributes, "indices": self.add(corners.ravel(), "<u2", "SCALAR")}

    def skin(self, joints, shift=(0, 0, 0)):
        """Its meshes were bound at this place."""
        matrices = np.tile(np.eye(4), (len(joints), 1, 1))
        matrices[:, 3, :3] = -(HEADS[: len(joints)] + shift)
        matrix = self.add(matrices.reshape(-1, 16), "<f4", "MAT4")
        self.json["skins"].append({"joints": joints, "inverseBindMatrices": matrix})
        return len(self.json["skins"]) - 1

    def node(self, **what):
        self.json["nodes"].append(what)
        return len(self.json["nodes"]) - 1

    def mesh(self, *primitives):
        self.json["meshes"].append({"primitives": list(primitives)})
        return len(self.json["meshes"]) - 1

    def write(self, path):
        self.json["buffers"][0]["byteLength"] = len(self.blob)
        self.blob.extend(bytes(-len(self.blob) % 4))
        text = json.dumps(self.json).encode()
        text += b" " * (-len(text) % 4)
        size = 28 + len(text) + len(self.blob)
        head = struct.pack("<4sIII4s", b"glTF", 2, size, len(text), b"JSON")
        path.write_bytes(head + text + struct.pack("<I4s", len(self.blob), b"BIN\0") + self.blob)


def of_several_parts():
    """A tube in three materials, the third in a mesh that was bound elsewhere; a box that hangs on
    no joint; and a chain of joints, between the second and third of which is another node."""
    glb = Glb()
    between = BONES
    for k in range(BONES):
        below = [] if k == BONES - 1 else [between if k == 1 else k + 1]
        glb.node(**{"children": below} if below else {})
    glb.node(children=[2])
    heights = VERTICES[TRIANGLES, 2].mean(1) / VERTICES[:, 2].max()
    lower, middle = TRIANGLES[heights < 0.3], TRIANGLES[(heights >= 0.3) & (heights < 0.7)]
    joints, away = list(range(BONES)), np.array([3, 0, 1])
    body = glb.mesh(glb.primitive(lower), glb.primitive(middle))
    top = glb.mesh(glb.primitive(TRIANGLES[heights >= 0.7], away))
    glb.node(mesh=body, skin=glb.skin(joints))
    glb.node(mesh=top, skin=glb.skin(joints, away))
    glb.node(mesh=glb.mesh(glb.primitive(TRIANGLES[:20], skinned=False)))
    return glb


@pytest.fixture
def weigh(tmp_path, monkeypatch):
    """Called with a Glb: the JSON and the names of the program after it."""

    def run(glb):
        before, after = tmp_path / "in.glb", tmp_path / "out.glb"
        glb.write(before)
        monkeypatch.setattr(sys, "argv", ["weights.py", str(before), str(after)])
        names = {}
        exec(compile(CODE, "gltf.md", "exec"), names)
        again = {}
        monkeypatch.setattr(sys, "argv", ["weights.py", str(after), str(after)])
        exec(compile(CODE[: CODE.index("groups, parent_of")], "gltf.md", "exec"), again)
        assert after.stat().st_size == int.from_bytes(after.read_bytes()[8:12], "little")
        return again, names

    return run


def rows(names, mesh, primitive, width=BONES):
    """(places, dense weights) of a primitive."""
    attributes = names["gltf"]["meshes"][mesh]["primitives"][primitive]["attributes"]
    assert set(attributes) == {"POSITION", "JOINTS_0", "WEIGHTS_0"}
    joints, weights = (
        names["read"](attributes["JOINTS_0"], 4),
        names["read"](attributes["WEIGHTS_0"], 4),
    )
    dense = np.zeros((len(joints), width))
    np.add.at(dense, (np.arange(len(joints))[:, None], joints), weights)
    return names["read"](attributes["POSITION"], 3), dense


def test_seams_stay_closed(weigh):
    """Between materials of a mesh, and between two meshes: one place, one row."""
    names, made = weigh(of_several_parts())
    assert (made["parents"] == PARENTS).all(), "past the node that is no joint"
    parts = [rows(names, 0, 0), rows(names, 0, 1), rows(names, 1, 0)]
    parts[2] = parts[2][0] - (3, 0, 1), parts[2][1]
    found = {}
    for places, dense in parts:
        assert abs(dense.sum(1) - 1).max() < 1e-6 and (dense >= 0).all()
        for place, row in zip(np.round(places * 1e4).astype(int), dense, strict=True):
            found.setdefault(tuple(place), []).append(row)
    seam = [each for each in found.values() if len(each) > 1]
    assert len(found) == len(VERTICES) and len(seam) >= 2 * 8
    assert max(np.ptp(each, axis=0).max() for each in seam) == 0
    places, dense = (np.concatenate(each) for each in zip(*parts, strict=True))
    nearest = np.clip(places[:, 2] / VERTICES[:, 2].max() * BONES, 0, BONES - 0.001).astype(int)
    assert (abs(dense.argmax(1) - nearest) <= 1).mean() > 0.95
    assert set(dense.argmax(1)) == set(range(BONES))


def test_everything_else_stays(weigh):
    glb = of_several_parts()
    names, _made = weigh(glb)
    before, after = glb.json, names["gltf"]
    assert after["meshes"][2] == before["meshes"][2], "a mesh without a skin gets no weights"
    assert [after[name] for name in ("nodes", "skins")] == [before[n] for n in ("nodes", "skins")]
    assert after["accessors"][: len(before["accessors"])] == before["accessors"]
    assert names["blob"][: len(glb.blob)] == glb.blob


def test_controls_get_no_weight(weigh):
    """A root and a target beside the body, at the end of the list of joints. The chain hangs on
    that root, in the weights on nothing."""
    glb = Glb()
    for k in range(BONES):
        glb.node(**{"children": [k + 1]} if k < BONES - 1 else {})
    root = glb.node(children=[0, BONES + 1])
    glb.node()
    skin, matrices = glb.skin([*range(BONES)]), np.tile(np.eye(4), (BONES + 2, 1, 1))
    matrices[:, 3, :3] = -np.vstack([HEADS, [(0, 4, 0), (0, 20, 0)]])
    glb.json["skins"][skin] = {
        "joints": [*range(BONES + 2)],
        "inverseBindMatrices": glb.add(matrices.reshape(-1, 16), "<f4", "MAT4"),
    }
    glb.node(mesh=glb.mesh(glb.primitive(TRIANGLES)), skin=skin)
    names, made = weigh(glb)
    assert list(made["deform"]) == [True] * BONES + [False] * 2
    assert made["parents"][0] == root and made["above"][0] == -1
    _places, dense = rows(names, 0, 0, BONES + 2)
    assert not dense[:, BONES:].any() and (dense.sum(0)[:BONES] > 0).all()


def test_fewer_joints_than_four(weigh):
    glb = Glb()
    glb.node(children=[1])
    glb.node()
    glb.node(mesh=glb.mesh(glb.primitive(TRIANGLES)), skin=glb.skin([0, 1]))
    names, _made = weigh(glb)
    assert abs(rows(names, 0, 0)[1].sum(1) - 1).max() < 1e-6


def draco(glb):
    glb.json["extensionsUsed"] = ["KHR_draco_mesh_compression"]


def sparse(glb):
    glb.json["accessors"][0]["sparse"] = {"count": 1}


def elsewhere(glb):
    glb.json["buffers"][0]["uri"] = "other.bin"


def lines(glb):
    glb.json["meshes"][0]["primitives"][1]["mode"] = 1


def unbound(glb):
    del glb.json["skins"][0]["inverseBindMatrices"]


def on_two_skins(glb):
    glb.node(mesh=0, skin=glb.skin(list(range(BONES - 1))))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (draco, "uses KHR_draco_mesh_compression: unpack it first"),
        (sparse, "accessor 0 is sparse"),
        (elsewhere, "is in another file"),
        (lines, "primitive 1 of mesh 0 is not of triangles"),
        (unbound, "skin 0 has no bind pose"),
        (on_two_skins, "mesh 0 hangs on two skins"),
    ],
)
def test_refused(change, sentence, weigh, tmp_path):
    """Nothing is written."""
    glb = of_several_parts()
    change(glb)
    with pytest.raises(SystemExit, match=rf"in\.glb: .*{sentence}"):
        weigh(glb)
    assert not (tmp_path / "out.glb").exists()
