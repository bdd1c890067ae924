"""Reads the body of MPFB (MakeHuman, CC0) and its shape targets, and creates clothes for the body.

$MPFB names a folder with MPFB's data: 3dobjs/base.obj and targets/."""

import gzip
import os
from pathlib import Path

import numpy as np
from garments import part, smoothed, subdivided, vertex_normals

FOLDER = Path(os.environ.get("MPFB", "mpfb"))
TARGETS = {
    "pregnant": "stomach/stomach-pregnant-incr",
    "muscle": "macrodetails/universal-male-young-maxmuscle-averageweight",
    "heavy woman": "macrodetails/universal-female-young-maxmuscle-maxweight",
    "heavy man": "macrodetails/universal-male-old-averagemuscle-maxweight",
    "chest": "torso/torso-muscle-pectoral-incr",
    "buttocks": "buttocks/buttocks-volume-incr",
    "thigh": "legs/l-upperleg-fat-incr",
    "calf": "legs/l-lowerleg-muscle-incr",
    "belly in": "stomach/stomach-tone-incr",
    "bust": "torso/measure-bust-circ-incr",
    "waist": "torso/measure-waist-circ-decr",
    "mouth": "expression/units/caucasian/mouth-open",
}


def is_there():
    return (FOLDER / "3dobjs/base.obj").exists()


class Body:
    def __init__(self):
        vertices, self._faces, name = [], {}, ""
        for line in (FOLDER / "3dobjs/base.obj").read_text().splitlines():
            kind, *words = line.split() or [""]
            if kind == "v":
                vertices.append([float(word) for word in words[:3]])
            elif kind == "g":
                name = words[0]
            elif kind == "f":
                corners = [int(word.split("/")[0]) - 1 for word in words]
                self._faces.setdefault(name, []).append(corners)
        self._all = np.array(vertices)[:, [0, 2, 1]] * [1, -1, 1]  # Z is up
        self.used, self.vertices, self.triangles = self._part("body")
        self.size = np.linalg.norm(np.ptp(self.vertices, axis=0))
        self.names = [name for name in TARGETS if self._file(name).exists()]
        self.shapes = np.array([self._shape(name) for name in self.names])

    def _part(self, name):
        fans = [[(f[0], f[k], f[k + 1]) for k in range(1, len(f) - 1)] for f in self._faces[name]]
        triangles = np.array([triangle for fan in fans for triangle in fan])
        used = np.unique(triangles)
        return used, self._all[used], np.searchsorted(used, triangles)

    @staticmethod
    def _file(name):
        return FOLDER / "targets" / f"{TARGETS[name]}.target.gz"

    def _shape(self, name):
        moves = np.zeros_like(self._all)
        with gzip.open(self._file(name), "rt") as file:
            for line in file:
                words = line.split()
                if words and not words[0].startswith("#"):
                    moves[int(words[0])] = [float(word) for word in words[1:4]]
        return self.vertices + (moves[:, [0, 2, 1]] * [1, -1, 1])[self.used]

    def clothes(self):
        """{name: (vertices, triangles)}"""
        found = {name: self._part(f"helper-{name}")[1:] for name in ("tights", "skirt", "hair")}
        found["skirt"] = subdivided(*found["skirt"])
        x, _, z = self.vertices.T
        height = (z - z.min()) / np.ptp(z)
        trunk = (height > 0.5) & (height < 0.82) & (abs(x) < 0.16 * np.ptp(z))
        used, points, faces = part(self.vertices, self.triangles, trunk)
        normals = vertex_normals(self.vertices, self.triangles)[used]
        for name, off, times in (("shirt", 0.004, 2), ("coat", 0.03, 20)):
            worn = smoothed(points + off * self.size * normals, faces, times)
            found[name] = subdivided(worn, faces)
        return found
