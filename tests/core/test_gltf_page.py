"""The program of docs/manual/gltf.md gives a skinned .glb new weights. Needs pygltflib."""

import re
import sys

import numpy as np
import pytest
from paths import ROOT
from shapes import chain, tube

pygltflib = pytest.importorskip("pygltflib")


def write_glb(path, vertices, triangles, heads, parents):
    """One mesh on a chain of joints; all weights are the first joint's."""
    gltf, blob = pygltflib.GLTF2(), bytearray(b"\0\0\0\0")  # so that offsets count

    def add(array, component, kind):
        view = pygltflib.BufferView(buffer=0, byteOffset=len(blob), byteLength=array.nbytes)
        blob.extend(array.tobytes())
        gltf.bufferViews.append(view)
        gltf.accessors.append(
            pygltflib.Accessor(
                bufferView=len(gltf.bufferViews) - 1,
                componentType=component,
                count=len(array),
                type=kind,
            )
        )
        return len(gltf.accessors) - 1

    matrices = np.tile(np.eye(4, dtype="<f4"), (len(heads), 1, 1))
    matrices[:, 3, :3] = -heads
    attributes = pygltflib.Attributes(
        POSITION=add(vertices.astype("<f4"), 5126, "VEC3"),
        JOINTS_0=add(np.zeros((len(vertices), 4), "<u2"), 5123, "VEC4"),
        WEIGHTS_0=add(np.tile(np.eye(4, dtype="<f4")[0], (len(vertices), 1)), 5126, "VEC4"),
    )
    indices = add(triangles.astype("<u2").ravel(), 5123, "SCALAR")
    gltf.meshes = [
        pygltflib.Mesh(primitives=[pygltflib.Primitive(attributes=attributes, indices=indices)])
    ]
    gltf.nodes = [pygltflib.Node(mesh=0, skin=0)] + [
        pygltflib.Node(children=[int(c) + 1 for c in np.flatnonzero(parents == k)])
        for k in range(len(heads))
    ]
    matrix = add(matrices.reshape(-1, 16), 5126, "MAT4")
    gltf.skins = [pygltflib.Skin(joints=list(range(1, len(heads) + 1)), inverseBindMatrices=matrix)]
    gltf.buffers = [pygltflib.Buffer(byteLength=len(blob))]
    gltf.set_binary_blob(bytes(blob))
    gltf.save(str(path))


def test_the_page(tmp_path, monkeypatch):
    text = (ROOT / "docs/manual/gltf.md").read_text("utf-8")
    code = "\n".join(re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    vertices, triangles = tube(8, 25, caps=True)
    heads, tails, parents = chain(5)
    before, after = tmp_path / "in.glb", tmp_path / "out.glb"
    write_glb(before, vertices, triangles, heads, parents)
    monkeypatch.setattr(sys, "argv", ["weights.py", str(before), str(after)])
    names = {}
    exec(compile(code, "gltf.md", "exec"), names)
    assert abs(names["heads"] - heads).max() < 1e-6 and (names["parents"] == parents).all()
    assert abs(names["tails"][:-1] - tails[:-1]).max() < 1e-6

    names["gltf"] = gltf = pygltflib.GLTF2().load(str(after))
    names["blob"] = bytearray(gltf.binary_blob())
    attributes = gltf.meshes[0].primitives[0].attributes
    weights = names["read"](attributes.WEIGHTS_0, 4)
    joints = names["read"](attributes.JOINTS_0, 4)
    assert abs(weights.sum(1) - 1).max() < 1e-6 and (weights >= 0).all()
    nearest = np.clip(vertices[:, 2] / vertices[:, 2].max() * 5, 0, 4.999).astype(int)
    assert (abs(joints[:, 0] - nearest) <= 1).mean() > 0.95
    assert (joints.max(), len(set(joints[:, 0]))) == (4, 5)
