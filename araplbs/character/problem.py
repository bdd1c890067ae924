"""Joins the meshes of a character into one problem for the solver, and splits the result into
meshes again."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..base.affine import moved
from ..base.arrays import Array, Bools, Floats, Index, Integers, ranges
from ..base.engine import engine
from ..base.extent import far_from_bones
from ..base.progress import Listener
from ..model.edits import Edits, Pairs
from ..model.options import Options
from ..model.sparse_weights import SparseWeights, empty_sparse_weights, join_sparse_weights
from ..skeleton.limb_shift import LimbShift, limb_shifts, mirrored
from ..skeleton.misfit import Misfit, misfit_of
from ..skeleton.poses import Poses
from ..skeleton.skeleton import Skeleton
from ..skeleton.symmetry import symmetry_plane
from ..skeleton.twist_bones import TwistBone, find_twist_bones, merged_weights, share_weights
from .mesh import Mesh
from .mesh_faults import Surface, closed_vertices
from .mirror_modifier import Whole, image_rows, reflect
from .pose_sets import pose_set
from .rigid_parts import labels, parts_of_artist


def geometry_of(meshes: Sequence[Mesh]) -> dict[str, Array]:
    """The join_geometry() of meshes, without the links of artists."""
    wholes = [reflect(m.vertices, m.triangles, m.edges, m.reflections) for m in meshes]
    return join_geometry(meshes, wholes)


def plain_geometry(meshes: Sequence[Mesh]) -> dict[str, Array]:
    """The join_geometry() of meshes, without images."""
    return join_geometry(meshes, [reflect(m.vertices, m.triangles, m.edges, ()) for m in meshes])


def join_geometry(meshes: Sequence[Mesh], wholes: Sequence[Whole]) -> dict[str, Array]:
    """Returns vertices in armature space, triangles and edges of all meshes, including their
    images."""
    vertices, triangles, edges, first = [], [], [], 0
    for mesh, whole in zip(meshes, wholes, strict=True):
        vertices.append(moved(whole.vertices, mesh.matrix))
        # A mirroring scale turns the faces inside out.
        outside_in = np.linalg.det(mesh.matrix[:3, :3]) < 0
        triangles.append((whole.triangles[:, ::-1] if outside_in else whole.triangles) + first)
        edges.append(whole.edges + first)
        first += len(whole.source)
    return {
        "vertices": np.concatenate(vertices),
        "triangles": np.concatenate(triangles),
        "edges": np.concatenate(edges),
    }


class Problem:
    """Meshes and skeleton as arguments of araplbs.Solver."""

    def __init__(
        self,
        meshes: Sequence[Mesh],
        skeleton: Skeleton,
        poses: Poses | None = None,
        symmetric: bool = False,
        start: str = "FRESH",
        rigid_parts: str = "MARKED",
    ) -> None:
        """start, rigid_parts: as in the options; if `start` is "PRESENT", all meshes must include
        their weights."""
        self.skeleton = skeleton
        self.posed_by = poses.posed_by if poses else None
        self._earlier = [mesh.weights for mesh in meshes]
        self.names = [mesh.name for mesh in meshes]
        self.sizes = [len(mesh.vertices) for mesh in meshes]
        self.locks = [(mesh.locked_bones, mesh.locked_vertices) for mesh in meshes]
        self.deformers = [mesh.deformer for mesh in meshes]
        self.held_on = [mesh.held_on for mesh in meshes]
        self.doubles = [mesh.doubles for mesh in meshes]
        wholes = [
            reflect(m.vertices, m.triangles, np.vstack([m.edges, m.edits.links]), m.reflections)
            for m in meshes
        ]
        self.sources = [whole.source for whole in wholes]
        self.flipped = [whole.flipped for whole in wholes]
        # First vertex of each mesh. Its images follow its own vertices.
        self.first = np.cumsum([0] + [len(source) for source in self.sources])
        self.arguments = {
            **join_geometry(meshes, wholes),
            "bone_heads": skeleton.heads,
            "bone_tails": skeleton.tails,
            "bone_parents": skeleton.solver_parents,
            "bone_roll_axes": skeleton.roll_axes,
            "bone_deform": skeleton.deform,
            "bone_limits": skeleton.limits,
            **skeleton.kind_arguments,
            **skeleton.way_arguments,
            **self._poses(poses),
        }
        symmetry = symmetry_plane(skeleton, self.arguments["vertices"]) if symmetric else None
        if symmetry is not None:
            self.arguments["symmetry"] = symmetry
        if any(mesh.has_locks for mesh in meshes):
            self.arguments.update(self._locks(meshes, wholes))
        self.rigid_parts = rigid_parts
        goes_by_weights = rigid_parts == "DETECTED" and start == "PRESENT"
        self.found_rigid = parts_of_artist(meshes) if goes_by_weights else [[] for _mesh in meshes]
        self.unweighted: int | None = None
        if start == "PRESENT":
            self.start_from(self.present(meshes))
        self.arguments.update(self.edit_arguments([mesh.edits for mesh in meshes]))
        # For patches: the vertices of each mesh in the whole mesh.
        self.numbers: list[Integers] | None = None
        self._surface: Surface | None = None

    @property
    def surface(self) -> Surface:
        """The triangles and the data derived from them, rebuilt when the triangles change."""
        if self._surface is None or not self._surface.is_of(self):
            self._surface = Surface(self)
        return self._surface

    def solver(
        self, options: Options, threads: int = 0, progress: Listener | None = None, **more: Any
    ) -> engine.Solver:
        """The araplbs.Solver of this problem. Settings of the problem take precedence over the
        options (for example, complete poses determine pose_count), and `more` takes precedence over
        both."""
        closed = closed_vertices(self.surface)
        arguments = {**self.solver_arguments(options), **closed}
        unsolved = self.shared_twist_bones if "bone_deform" in more else ()
        if len(self.twist_bones) > len(unsolved) and not self.skeleton.flexible:
            poses = pose_set(self, options)  # the engine cannot pose twist bones
            arguments.update(poses=poses.transforms, **poses.weight_arguments, pose_count=0)
        arguments.update(more)
        return engine.Solver(**arguments, threads=threads, progress=progress)

    def solver_arguments(self, options: Options) -> dict[str, Any]:
        """Keyword arguments for araplbs.Solver, without those for closed_vertices()."""
        twists = self.skeleton.twist_arguments(options)
        return {**options.solver_arguments(), **twists, **self.arguments}

    @cached_property
    def twist_bones(self) -> list[TwistBone]:
        """The twist bones of the rig."""
        return find_twist_bones(self.skeleton, self.arguments.get("poses"))

    @cached_property
    def shared_twist_bones(self) -> list[TwistBone]:
        """The twist bones that take their weights from limbs after the solve: those of all limbs
        without locked weights or edits of the limb and its twist bones."""
        names = ("constraints", "influences", "released")
        held = {int(bone) for name in names for bone in self.arguments[name][1]}
        if self.twist_bones and "locked_bones" in self.arguments:
            rows = self.arguments["weights"]
            held |= set(np.flatnonzero(self.arguments["locked_bones"].any(axis=0)).tolist())
            kept = rows.bones[self.arguments["locked_vertices"][rows.vertices]]
            held |= set(kept.tolist()) & {twist.bone for twist in self.twist_bones}
        limbs = {twist.limb for twist in self.twist_bones if held & {twist.bone, twist.limb}}
        return [twist for twist in self.twist_bones if twist.limb not in limbs]

    @property
    def unshared_arguments(self) -> dict[str, Any]:
        """Arguments of a solver without the bones that get their weights afterward."""
        limbs = {twist.bone: twist.limb for twist in self.shared_twist_bones}
        if not limbs:
            return {}
        deform = self.skeleton.deform.copy()
        deform[list(limbs)] = False
        rows = self.arguments.get("weights")
        given = {} if rows is None else {"weights": merged_weights(rows, limbs)}
        return {"bone_deform": deform, **given}

    def with_twist_bones(self, rows: SparseWeights, rigid: Integers, most: int) -> SparseWeights:
        """Weights from a solver with unshared_arguments, shared with the twist bones. rigid: the
        rigid part of each vertex, -1 for none. most: the limit of influences, 0 for none."""
        bones = self.shared_twist_bones
        if not bones:
            return rows
        points, locked = self.arguments["vertices"], self.locked_entries(rows)
        found = share_weights(points, rows, bones, most, rigid, locked, to_cut=True)
        return found.cut_down(most, self.locked_entries(found))

    @property
    def parameters(self) -> Floats | None:
        """Positions along bones, (vertices of the problem, m), NaN for bones that blend linearly;
        or None."""
        return self.arguments.get("parameters")

    @parameters.setter
    def parameters(self, parameters: Floats | None) -> None:
        if parameters is not None:
            self.arguments["parameters"] = parameters

    def _poses(self, poses: Poses | None) -> dict[str, Any]:
        if poses is None or not len(poses):
            return {}
        joints = {"segment_poses": poses.joints} if self.skeleton.flexible else {}
        count = {"pose_count": 0} if poses.whole else {}
        return {"poses": poses.transforms, **poses.weight_arguments, **joints, **count}

    def images(self, mesh: int, vertices: Integers) -> tuple[Integers, Integers]:
        """Returns (indices in `vertices`, vertices of the problem): these vertices of a mesh and
        their images."""
        source = self.sources[mesh]
        if len(source) == self.sizes[mesh]:
            return np.arange(len(vertices)), vertices + self.first[mesh]
        order = np.argsort(source, kind="stable")
        low = np.searchsorted(source[order], vertices)
        counts = np.searchsorted(source[order], vertices, side="right") - low
        which = np.repeat(np.arange(len(vertices)), counts)
        return which, order[ranges(low, counts)] + self.first[mesh]

    def edit_arguments(self, edits: Sequence[Edits]) -> dict[str, Any]:
        """The arguments of Solver.edit for the Edits of all meshes."""
        constraints = influences = released = smoothed = Pairs()
        for mesh, (own, doubles) in enumerate(zip(edits, self.doubles, strict=True)):
            constraints += self._edit_images(mesh, own.constraints)
            influences += self._edit_images(mesh, own.influences)
            influences += self._edit_images(mesh, own.not_wanted(doubles))
            released += self._edit_images(mesh, own.released)
            which, vertices = self.images(mesh, own.smoothed.vertices)
            smoothed += Pairs(vertices, vertices, own.smoothed.values[which])
        # A bone with a given weight must be in the influence set.
        influences += constraints.of(constraints.values > 0)
        label = None if self.rigid_parts == "OFF" else labels(self, edits, self.found_rigid)
        return {
            "constraints": (constraints.vertices, constraints.bones, constraints.values),
            "influences": (influences.vertices, influences.bones, influences.values > 0),
            "released": (released.vertices, released.bones),
            "smoothed": (smoothed.vertices, smoothed.values),
            **({} if label is None else {"rigid_parts": label}),
        }

    def _edit_images(self, mesh: int, pairs: Pairs) -> Pairs:
        pairs = pairs.of(~self.skeleton.left_out[pairs.bones])
        which, vertices = self.images(mesh, pairs.vertices)
        bones = pairs.bones[which]
        flipped = self.flipped[mesh][vertices - self.first[mesh]]
        return Pairs(
            vertices, np.where(flipped, self.skeleton.opposite[bones], bones), pairs.values[which]
        )

    def present(self, meshes: Sequence[Mesh]) -> SparseWeights:
        """The SparseWeights of the whole problem, from the weights that these Meshes include."""
        return self.join([mesh.weights for mesh in meshes])

    def join(self, parts: Sequence[SparseWeights]) -> SparseWeights:
        """Combines the SparseWeights of each mesh into those of the whole problem, including the
        images of meshes. The inverse of split()."""
        opposite = self.skeleton.opposite
        wholes = [
            Whole(None, None, None, source, flipped)
            for source, flipped in zip(self.sources, self.flipped, strict=True)
        ]
        return join_sparse_weights(
            [image_rows(rows, whole, opposite) for rows, whole in zip(parts, wholes, strict=True)]
        )

    def start_from(self, rows: SparseWeights) -> None:
        """Uses these rows as initial weights. `unweighted` is set to the number of vertices without
        weights, which get fresh ones. If all vertices are unweighted, no weights are passed."""
        locked = self.arguments.get("locked_vertices", np.zeros(rows.count, bool))
        empty = (rows.sums() <= 0) & ~locked
        self.unweighted = int(np.count_nonzero(empty))
        if (empty | locked).all() and self.unweighted:
            return
        self.arguments.update(weights=rows, start_from_weights=True)

    def _locks(self, meshes: Sequence[Mesh], wholes: Sequence[Whole]) -> dict[str, Any]:
        """The locks of all meshes. Every mesh has two sets of locks: its own and, for images, the
        locks of the other side."""
        m = len(self.skeleton.names)
        opposite = self.skeleton.opposite
        rows, bones, vertices, sets = [], [], [], []
        for index, (mesh, whole) in enumerate(zip(meshes, wholes, strict=True)):
            n = len(mesh.vertices)
            present = empty_sparse_weights(n) if mesh.weights is None else mesh.weights
            rows.append(image_rows(present, whole, opposite))
            locked = np.zeros(m, bool) if mesh.locked_bones is None else mesh.locked_bones
            bones += [locked, locked[opposite]]
            vertices.append(mesh.vertex_locks[whole.source])
            sets.append(2 * index + whole.flipped)
        return {
            "weights": join_sparse_weights(rows),
            "locked_bones": np.array(bones),
            "locked_vertices": np.concatenate(vertices),
            "vertex_sets": np.concatenate(sets),
        }

    def split(self, rows: SparseWeights) -> list[SparseWeights]:
        """The SparseWeights of each mesh, without the rows of its images."""
        return [
            rows.slice(first, first + size)
            for first, size in zip(self.first, self.sizes, strict=False)
        ]

    def locked_entries(self, rows: SparseWeights) -> Bools:
        """Returns (entries,) bool: which of these weights are locked and therefore not solved."""
        locked = np.zeros(len(rows.bones), bool)
        if "locked_bones" in self.arguments:
            vertices = rows.vertices
            sets = self.arguments["vertex_sets"][vertices]
            locked |= self.arguments["locked_bones"][sets, rows.bones]
            locked |= self.arguments["locked_vertices"][vertices]
        return locked

    def misfit(self) -> Misfit | None:
        """The Misfit of the skeleton and the meshes. Patches are too small to tell."""
        if self.numbers is not None:
            return None
        return misfit_of(self.arguments["vertices"], self.skeleton)

    def limb_shifts(self) -> list[LimbShift]:
        """The limbs whose skin, by the current weights of all meshes, is off its bones."""
        weights = [rows for rows in self._earlier if rows is not None]
        if self.numbers is not None or len(weights) < len(self._earlier):
            return []
        vertices, triangles = self.arguments["vertices"], self.arguments["triangles"]
        found = limb_shifts(vertices, triangles, self.join(weights), self.skeleton)
        symmetry = self.arguments.get("symmetry")
        return found if symmetry is None else mirrored(found, symmetry)

    def far_from_bones(self) -> list[dict[str, Any]]:
        """Returns [{"object", "count", "vertex", "all"}] for objects with vertices far from all
        bones."""
        skeleton, vertices, found = self.skeleton, self.arguments["vertices"], []
        heads, tails = skeleton.heads[skeleton.deform], skeleton.tails[skeleton.deform]
        for name, first, size in zip(self.names, self.first, self.sizes, strict=False):
            far = far_from_bones(vertices[first : first + size], heads, tails)
            if len(far):
                vertex = self.place(first + far[0])[1]
                found.append(
                    {"object": name, "count": len(far), "vertex": vertex, "all": len(far) == size}
                )
        return found

    def by_mesh(self, vertices: Integers) -> list[tuple[int, Integers]]:
        """Returns [(mesh, vertices in it)] for vertices of the problem. Images count as their
        sources."""
        mesh_of = np.searchsorted(self.first, vertices, side="right") - 1
        return [
            (mesh, np.unique(self.sources[mesh][vertices[mesh_of == mesh] - self.first[mesh]]))
            for mesh in np.unique(mesh_of).tolist()
        ]

    def place(self, vertex: Index) -> tuple[str, int]:
        """Returns (name of the mesh, vertex in it) for a vertex of the problem. An image gives the
        name and vertex of its source."""
        mesh = int(np.searchsorted(self.first, vertex, side="right")) - 1
        source = self.sources[mesh][vertex - self.first[mesh]]
        return self.names[mesh], int(source if self.numbers is None else self.numbers[mesh][source])
