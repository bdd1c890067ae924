"""Finds faults of a glTF file with independent code. It is a substitute for Khronos's validator,
limited to the rules that a program that writes skins could break. In tests, faults(path) of a
weighted file must be among the faults of the original file."""

import base64
import json
import struct
from pathlib import Path

import numpy as np

COMPONENTS = {5120: "i1", 5121: "u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
SUM_OFF = 2e-7  # of the weights of a vertex, for each that is not 0, as the validator allows


class File:
    def __init__(self, path):
        self.faults, data = [], Path(path).read_bytes()
        self.blob = None
        if data[:4] == b"glTF":
            self._chunks(data)
        else:
            self.json = json.loads(data)
        self.buffers = [
            self._buffer(k, b, Path(path)) for k, b in enumerate(self.json.get("buffers", []))
        ]
        self.used = {}

    def say(self, *words):
        self.faults.append(" ".join(map(str, words)))

    def _chunks(self, data):
        version, length = struct.unpack_from("<II", data, 4)
        if version != 2 or length != len(data):
            self.say("header: version", version, "length", length - len(data))
        place, kinds = 12, []
        while place < len(data):
            size, kind = struct.unpack_from("<II", data, place)
            if size % 4 or place + 8 + size > len(data):
                self.say("chunk of", size, "bytes")
            body = data[place + 8 : place + 8 + size]
            if not kinds:
                self.json = json.loads(body)
            elif len(kinds) == 1:
                self.blob = body
            kinds.append(kind)
            place += 8 + size
        if kinds[:2] not in ([0x4E4F534A], [0x4E4F534A, 0x004E4942]):
            self.say("chunks", kinds)

    def _buffer(self, number, buffer, path):
        uri = buffer.get("uri")
        if uri is None:
            content = self.blob or b""
            if number == 0 and self.blob and not 0 <= len(content) - buffer["byteLength"] < 4:
                self.say("buffer 0 is", buffer["byteLength"], "of a chunk of", len(content))
        elif uri.startswith("data:"):
            content = base64.b64decode(uri.partition(",")[2])
        else:
            content = (path.parent / uri).read_bytes()
        if len(content) < buffer["byteLength"]:
            self.say("buffer", number, "is short")
        return content

    def check_views(self):
        for k, view in enumerate(self.json.get("bufferViews", [])):
            end = view.get("byteOffset", 0) + view["byteLength"]
            if view["buffer"] >= len(self.buffers):
                self.say("bufferView", k, "has no buffer")
            elif end > self.json["buffers"][view["buffer"]]["byteLength"]:
                self.say("bufferView", k, "ends at", end)
            if view["byteLength"] < 1:
                self.say("bufferView", k, "is empty")
            if "byteStride" in view and (
                view["byteStride"] % 4 or not 4 <= view["byteStride"] < 253
            ):
                self.say("bufferView", k, "has a stride of", view["byteStride"])

    def check_accessors(self):
        for k, a in enumerate(self.json.get("accessors", [])):
            size = np.dtype(COMPONENTS[a["componentType"]]).itemsize
            if a["count"] < 1:
                self.say("accessor", k, "is empty")
            if "bufferView" not in a:
                continue
            view = self.json["bufferViews"][a["bufferView"]]
            if "EXT_meshopt_compression" in view.get("extensions", {}):
                continue
            element, offset = size * WIDTHS[a["type"]], a.get("byteOffset", 0)
            step = view.get("byteStride", element)
            if offset % size or (view.get("byteOffset", 0) + offset) % size or step % size:
                self.say("accessor", k, "is not aligned")
            if offset + (a["count"] - 1) * step + element > view["byteLength"]:
                self.say("accessor", k, "is longer than its view")
            values = self.read(k)
            if values.dtype.kind == "f" and not np.isfinite(values).all():
                self.say("accessor", k, "is not finite")
            for name, found in (("min", values.min(0)), ("max", values.max(0))):
                if name in a and not np.allclose(a[name], found, rtol=1e-6, atol=1e-30):
                    self.say("accessor", k, "has another", name)

    def read(self, k, shares=False):
        a = self.json["accessors"][k]
        kind, width = np.dtype(COMPONENTS[a["componentType"]]), WIDTHS[a["type"]]
        if "bufferView" in a:
            view = self.json["bufferViews"][a["bufferView"]]
            begin = view.get("byteOffset", 0) + a.get("byteOffset", 0)
            step = view.get("byteStride", width * kind.itemsize)
            content = self.buffers[view["buffer"]]
            values = np.ndarray((a["count"], width), kind, content, begin, (step, kind.itemsize))
            values = values.copy()
        else:
            values = np.zeros((a["count"], width), kind)
        for sparse in [a["sparse"]] if "sparse" in a else []:
            indices = self._part(sparse["indices"], sparse["count"], 1, None)
            values[indices.ravel()] = self._part(sparse["values"], sparse["count"], width, kind)
        if shares and a.get("normalized"):
            return values / np.iinfo(kind).max
        return values

    def _part(self, part, count, width, kind):
        view = self.json["bufferViews"][part["bufferView"]]
        kind = kind or np.dtype(COMPONENTS[part["componentType"]])
        begin = view.get("byteOffset", 0) + part.get("byteOffset", 0)
        content = self.buffers[view["buffer"]]
        return np.frombuffer(content, kind, count * width, begin).reshape(count, width)

    def check_skins(self):
        nodes, skins = self.json.get("nodes", []), self.json.get("skins", [])
        for k, skin in enumerate(skins):
            if not all(0 <= joint < len(nodes) for joint in skin["joints"]):
                self.say("skin", k, "has a joint that is no node")
            if len(set(skin["joints"])) < len(skin["joints"]):
                self.say("skin", k, "has a joint twice")
            if "inverseBindMatrices" in skin:
                a = self.json["accessors"][skin["inverseBindMatrices"]]
                if a["type"] != "MAT4" or a["componentType"] != 5126:
                    self.say("skin", k, "has matrices of", a["type"])
                elif a["count"] < len(skin["joints"]):
                    self.say("skin", k, "has", a["count"], "matrices")
        for k, node in enumerate(nodes):
            if "skin" in node and "mesh" in node:
                for p, primitive in enumerate(self.json["meshes"][node["mesh"]]["primitives"]):
                    what = f"node {k}, primitive {p}:"
                    self._check_weights(what, primitive, len(skins[node["skin"]]["joints"]))

    def _check_weights(self, what, primitive, joint_count):
        attributes = primitive["attributes"]
        if "JOINTS_0" not in attributes:
            self.say(what, "no weights")
            return
        joints, weights, k = [], [], 0
        while f"JOINTS_{k}" in attributes:
            each = [f"JOINTS_{k}", f"WEIGHTS_{k}"]
            if each[1] not in attributes:
                self.say(what, "no", each[1])
                return
            kinds = [self.json["accessors"][attributes[name]] for name in each]
            if kinds[0]["componentType"] not in (5121, 5123) or kinds[0]["type"] != "VEC4":
                self.say(what, each[0], "of", kinds[0]["type"], kinds[0]["componentType"])
            if kinds[1]["componentType"] != 5126 and not kinds[1].get("normalized"):
                self.say(what, each[1], "are not shares")
            joints.append(self.read(attributes[each[0]]).astype(int))
            weights.append(self.read(attributes[each[1]], shares=True).astype(float))
            k += 1
        if f"WEIGHTS_{k}" in attributes:
            self.say(what, "no", f"JOINTS_{k}")
        count = self.json["accessors"][attributes["POSITION"]]["count"]
        if {len(each) for each in joints + weights} != {count}:
            self.say(what, "weights of", {len(each) for each in joints}, "for", count)
            return
        joints, weights = np.hstack(joints), np.hstack(weights)
        if joints.max() >= joint_count:
            self.say(what, "joint", joints.max(), "of", joint_count)
        if (joints[weights == 0] != 0).any():
            self.say(what, "joints without weight that are not 0")
        if (weights < 0).any():
            self.say(what, "weights below 0")
        off = np.abs(weights.sum(1) - 1) - SUM_OFF * np.maximum(1, (weights > 0).sum(1))
        if not (off <= 0).all():
            self.say(what, "weights that do not sum to 1")
        order = np.sort(np.where(weights > 0, joints, -1 - np.arange(joints.shape[1])), axis=1)
        if (np.diff(order, axis=1) == 0).any():
            self.say(what, "a joint twice")

    def check_unused(self):
        """Accessors and views without references."""
        accessors, views = set(), set()
        for mesh in self.json.get("meshes", []):
            for primitive in mesh["primitives"]:
                accessors |= {*primitive["attributes"].values(), primitive.get("indices")}
                for target in primitive.get("targets", []):
                    accessors |= set(target.values())
        accessors |= {skin.get("inverseBindMatrices") for skin in self.json.get("skins", [])}
        for animation in self.json.get("animations", []):
            for sampler in animation["samplers"]:
                accessors |= {sampler["input"], sampler["output"]}
        for k, a in enumerate(self.json.get("accessors", [])):
            if k not in accessors:
                self.say("accessor", k, "is not used")
            views.add(a.get("bufferView"))
            for part in ("indices", "values") if "sparse" in a else ():
                views.add(a["sparse"][part]["bufferView"])
        views |= {image.get("bufferView") for image in self.json.get("images", [])}
        for k, _view in enumerate(self.json.get("bufferViews", [])):
            if k not in views:
                self.say("bufferView", k, "is not used")


def faults(path):
    """A line for each fault."""
    file = File(path)
    for check in (file.check_views, file.check_accessors, file.check_skins, file.check_unused):
        check()
    return file.faults


def new_faults(before, after):
    """The faults of a file that did not exist before."""
    return [fault for fault in faults(after) if fault not in faults(before)]
