"""Determines the regions that a repair solves again. They consist of the vertices of findings, the
rings around them, and their mirror images. This module does not use bpy, so any thread may run
it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ...base.arrays import Bools, Integers
from ...base.engine import engine
from ...base.refusal import Refused
from ...character.mesh import Mesh
from ...character.patch import JoinedMeshes, nearest_of
from ...model.sparse_weights import dense_of, join_sparse_weights
from ...skeleton.bone_distances import distances_from_own
from ...skeleton.skeleton import Skeleton
from ...skeleton.symmetry import TOLERANCE, Symmetry, reflected, symmetry_plane
from ..check.kinds import KIND_OF

if TYPE_CHECKING:
    from ..check.findings import Finding

WIDER = 4  # additional rings if the first ones were not enough
COVERS = 0.03  # maximum distance of cloth from the skin beneath, as a share of the total size


SAME_WEIGHTS = 0.01  # smaller median differences between the two sides are ignored


class Regions:
    """All masks, (n,) bool, cover the concatenated vertices of the meshes.

    open: vertices whose weights may change.
    """

    def __init__(
        self,
        meshes: Sequence[Mesh],
        refusals: Sequence[str | None],
        skeleton: Skeleton,
        symmetric: bool,
        threads: int = 0,
    ) -> None:
        """Takes Meshes with all their weights. refusals: for each mesh, the reason why its weights
        cannot be changed, or None. symmetric: weights that are equal on both sides stay equal."""
        self.refusals, self.skeleton, self.symmetric = refusals, skeleton, symmetric
        self.threads = threads
        self.whole = JoinedMeshes(meshes)
        self.first = self.whole.first
        whys = zip(meshes, refusals, strict=True)
        self.open = ~np.concatenate([mesh.vertex_locks | bool(why) for mesh, why in whys])
        self.weights = join_sparse_weights([mesh.weights for mesh in meshes])

    @cached_property
    def parts(self) -> Integers:
        """Labels (n,) that are equal for connected vertices."""
        return self.whole.parts()

    def split(self, mask: Bools) -> list[Bools]:
        """Splits a mask into the parts of each mesh."""
        return [mask[a:b] for a, b in zip(self.first[:-1], self.first[1:], strict=True)]

    def nothing(self) -> Bools:
        return np.zeros(len(self.open), bool)

    def at(self, finding: Finding) -> Bools:
        """The vertices of a finding."""
        mask = self.nothing()
        mask[self.first[finding.mesh] + finding.vertices] = True
        return mask

    def region(self, finding: Finding, wider: bool = False) -> Bools:
        """The region to solve again; wider: after an unsuccessful repair. Raises Refused if nothing
        can be solved."""
        kind, rings = finding.kind, KIND_OF[finding.kind].rings
        if reason := KIND_OF[kind].beyond_repair:
            raise Refused(reason)
        about = self.about(finding)
        if wider and kind == "INTERSECTION":
            about = np.isin(self.parts, self.parts[about])
        for part, why in zip(self.split(about), self.refusals, strict=True):
            if why and part.any():
                raise Refused(why)
        near = self.whole.grow(about, rings + WIDER if wider and rings else rings)
        if kind == "INTERSECTION":
            near &= np.isin(self.parts, self.parts[about])
        if kind == "ASYMMETRY" or (self.symmetric and self._is_symmetric(near)):
            near |= self._other_side(near)
        if not (near & self.open).any():
            raise Refused("The finding lies outside the paint mask")
        return near & self.open

    def about(self, finding: Finding) -> Bools:
        """The vertices that must change to remove a finding."""
        at = self.at(finding)
        if finding.kind in ("IDLE_BONE", "DEAF_BONE"):
            return at | self._around_bone(finding)
        if finding.kind == "INTERSECTION":
            return self._cloth(at)
        if finding.kind == "LOOSE_PART":
            return np.isin(self.parts, self.parts[at])
        if finding.kind in ("BLEEDING", "OVERREACH"):
            return self._bled(at, finding.bone)
        return at

    def _bled(self, at: Bools, bone: int) -> Bools:
        """The vertices `at` (bool) that `bone` must not move, extended by all surrounding
        vertices that `bone` also moves and that mainly follow the same other bone."""
        rows = self.weights
        others = rows.bones != bone
        order = np.lexsort((np.where(others, rows.weights, 0), rows.vertices))
        strongest = np.full(rows.count, -1)
        strongest[rows.vertices[order]] = np.where(others, rows.bones, -1)[order]
        moved = np.zeros(rows.count, bool)
        moved[rows.vertices[~others & (rows.weights > 0)]] = True
        alike = moved & np.isin(strongest, strongest[at])
        while True:
            more = at | (self.whole.grow(at, 1) & alike)
            if (more == at).all():
                return at
            at = more

    def _cloth(self, at: Bools) -> Bools:
        """The cloth above the vertices (bool) of a part that pokes through it."""
        others = np.flatnonzero(~np.isin(self.parts, self.parts[at]))
        if not len(others):
            raise Refused("No covering part found")
        nearest, distances = nearest_of(self.whole.points, np.flatnonzero(at), others)
        cloth = self.nothing()
        cloth[nearest[distances <= COVERS * self.whole.size]] = True
        if not cloth.any():
            raise Refused("No covering part found")
        return cloth

    def _around_bone(self, finding: Finding) -> Bools:
        """Vertices nearer to this deform bone than to any other."""
        skeleton, points = self.skeleton, self.whole.points
        name = skeleton.names[finding.bone]
        if not skeleton.deform[finding.bone]:
            raise Refused(f"'{name}' is left out as a control bone, so no vertex may follow it")
        own = distances_from_own(points, skeleton, finding.bone)
        nearest = np.ones(len(points), bool)
        for bone in np.flatnonzero(skeleton.deform):
            if bone != finding.bone:
                nearest &= own < distances_from_own(points, skeleton, bone)
        if not nearest.any() and not len(finding.vertices):
            raise Refused(f"Other bones are nearer to all of the skin than '{name}'")
        return nearest

    @cached_property
    def symmetry(self) -> Symmetry | None:
        return symmetry_plane(self.skeleton, self.whole.points)

    @cached_property
    def partners(self) -> Integers:
        """The vertex at the mirror image of each vertex, (n,), -1 for none."""
        points, triangles = self.whole.points, self.whole.triangles
        out = np.full(len(points), -1)
        if self.symmetry is None or not len(triangles):
            return out
        images = reflected(points, self.symmetry)
        corners, at, _heights, _parts = engine.nearest_points(
            points, triangles, images, threads=self.threads
        )
        nearest = corners[np.arange(len(points)), at.argmax(1)]
        off = np.linalg.norm(points[nearest] - images, axis=1)
        paired = (corners[:, 0] >= 0) & (off <= TOLERANCE * self.whole.size)
        out[paired] = nearest[paired]
        return out

    def _mirrored(self, at: Bools) -> tuple[Integers, Integers]:
        """Returns (vertices, the vertices at their mirror images) for those vertices in the mask
        `at` that have a mirror image."""
        which = np.flatnonzero(at & (self.partners >= 0))
        return which, self.partners[which]

    def _other_side(self, at: Bools) -> Bools:
        """Returns (n,) bool: the mirror images of vertices."""
        out = np.zeros(len(at), bool)
        out[self._mirrored(at)[1]] = True
        return self.whole.grow(out, 0)

    def _is_symmetric(self, at: Bools) -> bool:
        """Whether most of these vertices have the same weights as their mirror images."""
        which, images = self._mirrored(at)
        if self.symmetry is None or not len(which):
            return False
        partners = self.symmetry[0]
        rows = self.weights
        m = len(self.skeleton.names)
        own, mirrored = (dense_of(rows.of_vertices(some), m) for some in (which, images))
        other = np.where(partners >= 0, partners, np.arange(m))
        return np.median(np.abs(own - mirrored[:, other]).sum(1)) < SAME_WEIGHTS
