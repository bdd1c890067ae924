"""Creates small glTF files for tests: a tube on a chain of joints, in every form of the format."""

import base64
import json
import struct

import numpy as np
from gltf_validity import File, new_faults
from shapes import chain, tube

COMPONENTS = {
    **{"i1": 5120, "u1": 5121, "<i2": 5122, "<u2": 5123, "<u4": 5125, "<f4": 5126},
}
BONES = 5
VERTICES, TRIANGLES = tube(8, 25, caps=True)
HEADS, TAILS, PARENTS = chain(BONES)


class Glb:
    """A file under construction."""

    def __init__(self):
        self.json = {
            **{"asset": {"version": "2.0"}, "buffers": [{}], "bufferViews": [], "accessors": []},
            **{"meshes": [], "nodes": [], "skins": []},
        }
        self.blob = bytearray(b"\0\0\0\0")  # so that offsets count

    def view(self, content, **more):
        self.blob.extend(bytes(-len(self.blob) % 4))
        view = {"buffer": 0, "byteOffset": len(self.blob), "byteLength": len(content)}
        self.json["bufferViews"].append(view | more)
        self.blob.extend(content)
        return len(self.json["bufferViews"]) - 1

    def accessor(self, view, count, kind, width, **more):
        accessor = {"bufferView": view, "count": count, "componentType": COMPONENTS[kind]}
        self.json["accessors"].append(accessor | {"type": width} | more)
        return len(self.json["accessors"]) - 1

    def add(self, array, kind, width, **more):
        array = np.ascontiguousarray(array, kind)
        view = self.view(array.tobytes())
        return self.accessor(view, len(array), kind, width, **more)

    def sparse(self, base, indices, values, kind, width, **more):
        """An accessor of zeros, or of a base array, with other values at some indices."""
        count = base if isinstance(base, int) else len(base)
        found = {"count": count, "componentType": COMPONENTS[kind], "type": width} | more
        if not isinstance(base, int):
            found["bufferView"] = self.view(np.ascontiguousarray(base, kind).tobytes())
        found["sparse"] = {
            "count": len(indices),
            "indices": {
                "bufferView": self.view(np.asarray(indices, "<u2").tobytes()),
                "componentType": 5123,
            },
            "values": {"bufferView": self.view(np.ascontiguousarray(values, kind).tobytes())},
        }
        self.json["accessors"].append(found)
        return len(self.json["accessors"]) - 1

    def place_of(self, number):
        """Where the data of an accessor begins."""
        return self.json["bufferViews"][self.json["accessors"][number]["bufferView"]]["byteOffset"]

    def attributes(self, places=VERTICES, **kinds):
        number = self.add(places, "<f4", "VEC3")
        return {"POSITION": number, **self.old_weights(len(places), **kinds)}

    def part(self, attributes, triangles=TRIANGLES):
        return {"attributes": attributes, "indices": self.add(np.ravel(triangles), "<u2", "SCALAR")}

    def primitive(self, triangles, shift=(0, 0, 0), skinned=True, **more):
        """A primitive with only the vertices of these triangles."""
        used, corners = np.unique(triangles, return_inverse=True)
        places = VERTICES[used] + shift
        bare = {} if skinned else {"POSITION": self.add(places, "<f4", "VEC3")}
        return self.part(bare or self.attributes(places), corners) | more

    def old_weights(self, count, joints="u1", weights="u1"):
        """All vertices follow the first joint."""
        whole = {"u1": 255, "<u2": 65535, "<f4": 1}[weights]
        normalized = {} if weights == "<f4" else {"normalized": True}
        first = np.tile([whole, 0, 0, 0], (count, 1))
        return {
            "JOINTS_0": self.add(np.zeros((count, 4)), joints, "VEC4"),
            "WEIGHTS_0": self.add(first, weights, "VEC4", **normalized),
        }

    def skin(self, joints, shift=(0, 0, 0), matrices=None):
        """A skin whose meshes were bound at this position; matrices (j, 4, 4): by columns, False:
        none."""
        if matrices is None:
            matrices = bound_at(HEADS[: len(joints)] + shift)
        skin = {"joints": list(joints)}
        if matrices is not False:
            number = self.add(np.reshape(matrices, (-1, 16)), "<f4", "MAT4")
            skin["inverseBindMatrices"] = number
        self.json["skins"].append(skin)
        return len(self.json["skins"]) - 1

    def node(self, **what):
        self.json["nodes"].append(what)
        return len(self.json["nodes"]) - 1

    def joints(self, names=None):
        """A chain of nodes at HEADS."""
        first = len(self.json["nodes"])
        for k in range(BONES):
            up = HEADS[k - 1] if k else np.zeros(3)
            node = {"name": names[k] if names else f"joint {k}"}
            node["translation"] = (HEADS[k] - up).tolist()
            if k < BONES - 1:
                node["children"] = [first + k + 1]
            self.node(**node)
        return list(range(first, first + BONES))

    def mesh(self, *primitives, **more):
        self.json["meshes"].append({"primitives": list(primitives)} | more)
        return len(self.json["meshes"]) - 1

    def bind(self, part, joints, matrices=None):
        """A node with a mesh of one primitive on these joints."""
        return self.node(mesh=self.mesh(part), skin=self.skin(joints, matrices=matrices))

    def animate(self, node, path, values):
        """One second that leads from the first of two values to the other."""
        times = self.add([[0.0], [1.0]], "<f4", "SCALAR", min=[0], max=[1])
        output = self.add(values, "<f4", f"VEC{len(values[0])}")
        channel = {"sampler": 0, "target": {"node": node, "path": path}}
        samplers = [{"input": times, "output": output}]
        self.json["animations"] = [{"samplers": samplers, "channels": [channel]}]

    def write(self, path):
        self.json["buffers"][0]["byteLength"] = len(self.blob)
        head = {key: value for key, value in self.json.items() if value != []}
        if path.suffix == ".gltf":
            data = base64.b64encode(bytes(self.blob)).decode()
            buffer = {"uri": f"data:application/octet-stream;base64,{data}"}
            head["buffers"] = [head["buffers"][0] | buffer, *head["buffers"][1:]]
            path.write_text(json.dumps(head))
            return path
        blob = bytes(self.blob) + bytes(-len(self.blob) % 4)
        text = json.dumps(head).encode()
        text += b" " * (-len(text) % 4)
        size = 28 + len(text) + len(blob)
        start = struct.pack("<4sIII4s", b"glTF", 2, size, len(text), b"JSON")
        path.write_bytes(start + text + struct.pack("<I4s", len(blob), b"BIN\0") + blob)
        return path

    def write_apart(self, path, **more):
        """Writes a .gltf whose buffer is in data.bin."""
        (path.parent / "data.bin").write_bytes(self.blob)
        self.json["buffers"][0] |= {"uri": "data.bin", "byteLength": len(self.blob)}
        path.write_text(json.dumps({k: v for k, v in self.json.items() if v} | more))
        return path


def bound_at(places, scale=1.0):
    """Bind matrices, by columns, of joints at these places, in a skeleton of another unit."""
    matrices = np.tile(np.diag([1 / scale] * 3 + [1.0]), (len(places), 1, 1))
    matrices[:, 3, :3] = -np.asarray(places) / scale
    return matrices


def plain(**kinds):
    """A tube in one primitive, with weights of these types."""
    glb = Glb()
    joints = glb.joints()
    glb.bind(glb.part(glb.attributes(**kinds)), joints)
    return glb


def bare(triangles=TRIANGLES):
    """A tube without joints."""
    glb = Glb()
    glb.node(mesh=glb.mesh(glb.primitive(triangles, skinned=False)))
    return glb


def of_several_parts():
    """A tube in three materials, the third in a mesh that was bound elsewhere; a box without
    joints; and a chain of joints with another node between the second and the third."""
    glb = Glb()
    between = BONES
    for k in range(BONES):
        up = HEADS[k - 1] if k else np.zeros(3)
        below = [] if k == BONES - 1 else [between if k == 1 else k + 1]
        node = {"translation": (HEADS[k] - up).tolist()}
        glb.node(**node, **({"children": below} if below else {}))
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


def rows(file, number=0, primitive=0, width=BONES):
    """(positions, dense weights by joint of the skin) of a primitive of a gltf_validity.File."""
    attributes = file.json["meshes"][number]["primitives"][primitive]["attributes"]
    places = file.read(attributes["POSITION"], shares=True).astype(float)
    dense, k = np.zeros((len(places), width)), 0
    while f"JOINTS_{k}" in attributes:
        joints = file.read(attributes[f"JOINTS_{k}"]).astype(int)
        weights = file.read(attributes[f"WEIGHTS_{k}"], shares=True).astype(float)
        np.add.at(dense, (np.arange(len(places))[:, None], joints), weights)
        k += 1
    return places, dense


def moves(dense, vertices=VERTICES):
    """Whether weights change along the tube, that is, the lower end follows the first joint, and
    the upper end follows the last."""
    low, high = vertices[:, 2] < 0.1, vertices[:, 2] > VERTICES[:, 2].max() - 0.1
    return bool(dense[low, 0].min() > 0.8 and dense[high, -1].min() > 0.8)


class Weigher:
    """Called with a Glb; returns the gltf_validity.File after its meshes were weighted, which is as
    valid as before. `before` is the original file, and `reports` describes what was done."""

    def __init__(self, core, folder):
        self.core, self.folder = core, folder

    def __call__(self, glb, suffix=".glb", component=None, rigid=((), ()), unused=False, **options):
        container, character = self.core("gltf.file.container"), self.core("gltf.character")
        work, table = self.core("gltf.work"), self.core("model.options").Options(**options)
        source, target = self.folder / f"in{suffix}", self.folder / f"out{suffix}"
        glb.write(source)
        self.before, self.reports = File(source), []
        document = container.read_document(source)
        for each in character.characters_of(document):
            [parts] = character.rigid_parts([each], *rigid)
            found, report = work.weigh_character(each, table, parts, threads=1)
            each.write(found.rows, component)
            self.reports.append(report)
        container.save_document(document, target)
        new = [f for f in new_faults(source, target) if not (unused and f.endswith("not used"))]
        assert new == []
        return File(target)
