"""Measures of weights for faults that strain, drift and volume do not show.

    deaf      bones that do not move the skin that they have in the artist's weights
    wrong     loose parts on a different bone than the artist's
    parts     loose parts that the artist assigns to one bone
    gap       how far loose parts leave what they touch at rest, as a share of the diagonal
    crossing  share of the area in triangles that intersect others, but do not at rest
    crease    share of the edges, by length, that fold by 60 degrees more than at rest
    below     share of the vertices on another part of the mesh, such as clothes, that end below it
    through   share of the vertices under another part that penetrate it
    asymmetry mean over the vertices of the sum of |w - w of the other side|

The first three need weights of an artist, and asymmetry needs a character with two sides. Measures
are NaN if there is nothing to measure; measures in poses also if a vertex has no weights. The gap
is the widest over all poses; crossing, crease, below and through are means over every EVERY-th
pose."""

from functools import cached_property

import numpy as np
import rig_response
from creases import Creases
from crossings import Crossings
from layers import loose_parts
from sides import Sides

EVERY = 4
IN_POSES = ("gap", "crossing", "crease", "below", "through")


class BeyondStrain:
    def __init__(self, yardstick):
        self.of = yardstick
        self.crossings = Crossings(yardstick.vertices, yardstick.triangles)
        self.creases = Creases(yardstick.vertices, yardstick.triangles)
        deform = yardstick.deform
        self.sides = Sides(yardstick.vertices, yardstick.heads[deform], yardstick.tails[deform])

    @cached_property
    def parts(self):
        return loose_parts(self.of.vertices, self.of.triangles)

    @cached_property
    def contacts(self):
        return rig_response.contacts(self.of.vertices, self.parts)

    def judge(self, weights):
        """{kind of poses: {measure: value}} of (vertices, bones) weights."""
        rows = self.of.rows(weights)
        same = {**self.beside_artist(rows), "asymmetry": self.sides.difference(rows)}
        return {
            kind: {**same, **self.in_poses(weights, rows, poses)}
            for kind, poses in self.of.poses.items()
        }

    def in_poses(self, weights, rows, poses):
        if (
            not rows[np.unique(self.of.triangles)].any(1).all()
        ):  # a part left behind tears everything apart
            return dict.fromkeys(IN_POSES, np.nan)
        some = poses[::EVERY]
        posed = list(self.of.posed(rows, some))
        far = rig_response.gap(self.of.vertices, rows, poses[:, self.of.deform], self.contacts)
        return {
            "gap": far if len(self.contacts) else np.nan,
            "crossing": float(np.mean([self.crossings.share(points) for points in posed])),
            "crease": float(np.mean([self.creases.share(points) for points in posed])),
            **self.of.crossed(weights, some),
        }

    def beside_artist(self, rows):
        """The measures that need an artist's weights."""
        of = self.of
        if of.artist is None:
            return {"deaf": np.nan, "wrong": np.nan, "parts": np.nan}
        ours, artist = (of.whole(each) for each in (rows, of.artist))
        deaf = rig_response.deaf_bones(of.vertices, of.heads, of.tails, of.parents, ours, artist)
        on_bones = rig_response.parts_on_bones(self.parts, ours, artist)
        wrong = sum(weight < rig_response.HELD for _part, _bone, weight in on_bones)
        return {"deaf": len(deaf), "wrong": int(wrong), "parts": len(on_bones)}
