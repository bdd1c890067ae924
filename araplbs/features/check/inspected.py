"""The input of the weight checks: a Problem with its weights and poses. Data that several checks
need is derived from this input once."""

from concurrent.futures import ThreadPoolExecutor, wait
from functools import cached_property
from threading import Event
from typing import Any

import numpy as np

from ...base.arrays import Bools, Floats, Index, Integers, components
from ...base.engine import engine
from ...base.extent import triangle_normals, triangle_sides, vertex_sums
from ...base.progress import Listener, Progress
from ...character.mesh_faults import Shell, find_islands, find_shells, noise
from ...character.problem import Problem
from ...measures.deformation import bones_of, deformation_of, joints_of, skin
from ...model.options import Options
from ...model.sparse_weights import SparseWeights
from ...skeleton.poses import Poses
from ...skeleton.skeleton import hanging
from ...skeleton.symmetry import on_one_side, reflected
from .findings import Finding
from .quantities import factors

# The strain of the smallest collapse that counts, in one pose. Stretch that counts causes more
# strain. Triangles with less strain, summed over the poses, are skipped.
CANDIDATE = 0.8

# Shares of the size of the character.
TOUCHES = 0.01  # a part sits on a surface within this distance
COVERED = 0.02  # skin at this depth below cloth is covered by it
SIDES = 0.002  # tolerance for vertices at their image, as a share of the size

SAMPLES = 0.15, 0.5, 0.85  # samples along each bone, for which the nearest skin is sought
LOOK = 0.05  # seconds between two progress checks
PLACE = np.array([1.0, np.sqrt(2), np.sqrt(3)])

# Properties that do not depend on weights and are expensive to compute.
OF_MESH = (
    *("axes", "corners", "has_face", "image_points", "nearest", "parts", "links", "areas", "area"),
    *("normals", "orientation", "outward", "seen", "shells", "islands", "noises"),
)


def usable(rows: SparseWeights) -> SparseWeights:
    """The positive weights, without those that are not numbers."""
    return rows.of(np.isfinite(rows.weights) & (rows.weights > 0))


class Inspected:
    """A Problem with its weights and poses, and the derived data that several checks need."""

    def __init__(
        self,
        problem: Problem,
        rows: SparseWeights,
        poses: Poses,
        options: Options,
        threads: int = 0,
        like: "Inspected | None" = None,
    ) -> None:
        """like: an Inspected of the same problem with other weights, whose mesh data is reused."""
        known = vars(like) if like else {}
        vars(self).update({name: known[name] for name in OF_MESH if name in known})
        self.problem, self.poses, self.options, self.threads = problem, poses, options, threads
        self.raw = rows
        self.rows = usable(rows)
        self.skeleton = problem.skeleton
        self.surface = surface = problem.surface
        self.vertices, self.triangles = surface.vertices, surface.triangles
        self.edges, self.size = surface.edges, surface.size
        self.sums = self.rows.sums()
        self._stopped = Event()

    def _go_on(self, *_said: object) -> bool:
        """Callback for `progress`."""
        return not self._stopped.is_set()

    def __len__(self) -> int:
        return len(self.vertices)

    @cached_property
    def hangs_on(self) -> Bools:
        """The result of hanging() for the bones."""
        return hanging(self.skeleton.parents)

    @cached_property
    def axes(self) -> Floats:
        """The coordinates of the vertices as consecutive arrays, (3, n)."""
        return np.ascontiguousarray(self.vertices.T)

    @cached_property
    def corners(self) -> Integers:
        """The corners of the triangles as consecutive arrays, (3, f)."""
        return np.ascontiguousarray(self.triangles.T)

    @cached_property
    def outward(self) -> tuple[Floats, Floats]:
        """Returns (area-weighted sums of the outward normals of the faces (n, 3), areas (n,)) at
        the vertices. Both vectors are zero at a vertex without a face."""
        faces = self.orientation * self.normals / 2
        sums = vertex_sums(self.triangles, np.column_stack([faces, self.areas / 3]), len(self))
        return sums[:, :3], sums[:, 3]

    @cached_property
    def normals(self) -> Floats:
        """The triangle_normals(), (f, 3)."""
        return triangle_normals(self.vertices, self.triangles)

    @cached_property
    def orientation(self) -> int:
        """1, or -1 if most faces of the mesh point inward."""
        first = self.vertices[self.corners[0]] - self.vertices.mean(axis=0)
        return 1 if (first * self.normals).sum() >= 0 else -1

    @cached_property
    def normalized(self) -> SparseWeights:
        """The rows, scaled to sum to 1."""
        return self.rows.normalized()

    @property
    def shares(self) -> Floats:
        """Weights normalized to sum 1, (entries,)."""
        return self.normalized.weights

    @cached_property
    def of_vertex(self) -> Integers:
        """The vertex of each entry, (entries,)."""
        return self.rows.vertices

    @cached_property
    def bone_counts(self) -> Integers:
        """The number of vertices that each bone moves, (m,)."""
        return np.bincount(self.rows.bones, minlength=len(self.skeleton.names))

    @cached_property
    def has_face(self) -> Bools:
        """Returns (n,) bool: whether a triangle or edge contains the vertex."""
        found = np.zeros(len(self), bool)
        found[self.triangles] = True
        found[self.edges] = True
        return found

    @cached_property
    def strained(self) -> tuple[Integers, Floats, Floats]:
        """Returns (triangles (t,), largest and smallest stretch factors (p, t)) for triangles that
        may be strained too much."""
        if not len(self.triangles):
            return np.zeros(0, int), np.zeros((0, 0)), np.zeros((0, 0))
        least = CANDIDATE / np.sqrt(len(self.poses))  # root mean square over the poses
        some = np.flatnonzero(self.measures["triangle_strain"] >= least)
        corners = self.triangles[some]
        used, local = np.unique(corners, return_inverse=True)
        posed = self.posed(used)[:, local.reshape(-1, 3)]
        return some, *factors(self.vertices[corners], posed)

    def posed(self, which: Integers, some: slice = slice(None)) -> Floats:
        """The positions of these vertices in the poses, (p, k, 3)."""
        poses = self.poses[some]
        more: dict[str, Any] = {}
        if self.skeleton.flexible:
            bones = bones_of(self.skeleton)
            del bones["bone_deform"]
            parameters = self.problem.parameters
            more = {**bones, **joints_of(self.skeleton, poses)}
            more["parameters"] = None if parameters is None else parameters[which]
        return engine.linear_skinning(
            self.vertices[which],
            tuple(self.rows.of_vertices(which)),
            poses.transforms,
            threads=self.threads,
            **more,
        )

    def posed_on(
        self, vertices: Integers, corners: Integers, at: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Positions in the poses: of vertices (k,), as (p, k, 3), of triangles with these corners
        (k, 3), as (p, k, 3, 3), and of the points with the coordinates `at` (k, 3) in them, as
        (p, k, 3)."""
        used, local = np.unique(np.column_stack([vertices, corners]), return_inverse=True)
        posed = self.posed(used)[:, local.reshape(-1, 4)]
        points = np.einsum("pkci,kc->pki", posed[:, :, 1:], at)
        return posed[:, :, 0], posed[:, :, 1:], points

    @cached_property
    def measures(self) -> dict[str, Any]:
        """The arrays of araplbs.Deformation, including the strain of triangles."""
        skin(self.seen, self.problem, self.rows, self.poses, self._go_on)
        return self.seen.measures(per_triangle=True)

    @cached_property
    def seen(self) -> "engine.Deformation":
        return deformation_of(self.problem, self.threads)

    @cached_property
    def shells(self) -> list[Shell]:
        return find_shells(self.surface, self.threads)

    @cached_property
    def islands(self) -> list[tuple[int, Integers, int]]:
        return find_islands(self.surface, self.threads)

    @cached_property
    def noises(self) -> list[tuple[float, int]]:
        return [noise(self.surface, mesh) for mesh in range(len(self.problem.names))]

    def prepare(self, progress: Listener | None = None) -> None:
        """Computes the data that several checks need in advance, because parts of the computation
        would otherwise not run in parallel."""
        steps = [["strained"], ["nearest", "inspection"]]
        progress = Progress.of(progress)
        progress.check("surface strain", 0)

        def work(names: list[str]) -> None:
            for name in names:
                if not self._stopped.is_set():
                    getattr(self, name)

        with ThreadPoolExecutor(max_workers=len(steps)) as pool:
            waiting = [pool.submit(work, names) for names in steps]
            try:
                while wait(waiting, timeout=LOOK)[1]:
                    progress.check("surface strain", 0)
            except BaseException:
                self._stopped.set()
                raise
            for each in waiting:
                each.result()

    @cached_property
    def image_points(self) -> Integers:
        """Indices of the vertices on one side whose images are sought on the other side. Empty
        without symmetry."""
        symmetry = self.problem.arguments.get("symmetry")
        return on_one_side(self.vertices, symmetry, SIDES * self.size)

    @cached_property
    def nearest(self) -> tuple[Integers, Floats, Floats, Integers]:
        """The result of araplbs.nearest_points for three sets of points, in this order: all
        vertices, with the nearest point on another part; samples of all bones; images of
        `image_points`."""
        skeleton, vertices = self.skeleton, self.vertices
        along = skeleton.tails - skeleton.heads
        bones = [skeleton.heads + share * along for share in SAMPLES]
        images = reflected(vertices[self.image_points], self.problem.arguments.get("symmetry"))
        points = np.concatenate([vertices, *bones, images])
        owners = np.full(len(points), -1)
        owners[: len(vertices)] = np.arange(len(vertices))
        radius = np.full(len(points), np.inf)
        radius[: len(vertices)] = max(COVERED, TOUCHES) * self.size
        radius[len(points) - len(images) :] = SIDES * self.size
        return engine.nearest_points(
            vertices,
            self.triangles,
            points,
            owners=owners,
            radius=radius,
            edges=self.edges,
            progress=self._go_on,
            threads=self.threads,
        )

    @property
    def neighbors(self) -> tuple[Integers, Floats, Floats, Integers]:
        """Returns (corners (n, 3), coordinates (n, 3), heights (n,), parts (n,)): the nearest point
        on another part for each vertex."""
        corners, at, heights, parts = self.nearest
        n = len(self)
        return corners[:n], at[:n], heights[:n], parts

    @property
    def around_bones(self) -> tuple[Integers, Floats]:
        """Returns (corners (samples, m, 3), heights (samples, m)) for SAMPLES of all bones."""
        corners, _at, heights, _parts = self.nearest
        n, m = len(self), len(self.skeleton.names)
        here = slice(n, n + len(SAMPLES) * m)
        return corners[here].reshape(-1, m, 3), heights[here].reshape(-1, m)

    @property
    def on_other_side(self) -> tuple[Integers, Floats]:
        """Returns (corners (k, 3), coordinates (k, 3)) for the images of `image_points`."""
        corners, at, _heights, _parts = self.nearest
        first = len(self) + len(SAMPLES) * len(self.skeleton.names)
        return corners[first:], at[first:]

    @cached_property
    def parts(self) -> Integers:
        """The connected component of each vertex, (n,). Coincident vertices count as one."""
        return self.neighbors[3]

    @cached_property
    def links(self) -> Integers:
        """Edges (k, 2) between parts that lie on each other."""
        if not len(self.triangles) or not self.parts.max(initial=0):
            return np.zeros((0, 2), int)
        corners, at, heights, _parts = self.neighbors
        near = np.flatnonzero(np.abs(heights) <= TOUCHES * self.size)
        return np.column_stack([near, corners[near, at[near].argmax(1)]])

    @cached_property
    def inspection(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Returns (contrast (n,), roughness (n,), straight (e,), along (e,)) of
        araplbs.inspect_weights, in which coincident vertices are connected."""
        return engine.inspect_weights(
            self.vertices,
            self.triangles,
            tuple(self.rows),
            edges=self.edges,
            links=self.links,
            progress=self._go_on,
            threads=self.threads,
        )

    @cached_property
    def areas(self) -> Floats:
        """Areas of the triangles, (f,)."""
        return np.asarray(np.linalg.norm(self.normals, axis=1) / 2)

    @cached_property
    def area(self) -> float:
        return max(float(self.areas.sum()), 1e-300)

    def area_of(self, vertices: Integers) -> float:
        """The area of the triangles with all corners in this set."""
        chosen = np.zeros(len(self), bool)
        chosen[vertices] = True
        a, b, c = chosen[self.corners]
        return float(self.areas[a & b & c].sum())

    def regions(self, bad: Bools) -> list[Integers]:
        """Groups the bad vertices, (n,) bool, into regions connected by edges or coincident
        vertices."""
        ids = np.flatnonzero(bad)
        if not len(ids):
            return []
        place = np.full(len(bad), -1)
        # The numbers are equal for equal positions, and almost never equal for others.
        _, same = np.unique(self.vertices[ids] @ PLACE, return_inverse=True)
        place[ids] = same.reshape(-1)
        a, b, c = bad[self.corners]
        corners = place[self.triangles[a & b | b & c | c & a]]
        pairs = np.concatenate([triangle_sides(corners), place[self.edges]])
        label = components(int(same.max()) + 1, pairs[(pairs >= 0).all(1)])[place[ids]]
        order = np.argsort(label, kind="stable")
        return np.split(ids[order], np.flatnonzero(np.diff(label[order])) + 1)

    def finding(
        self,
        kind: str,
        severity: float,
        vertices: Integers,
        value: float,
        words: str,
        bone: Index = -1,
        pose: int = -1,
        others: tuple[int, ...] = (),
    ) -> list[Finding]:
        """Findings at these vertices of the problem, one for each mesh that contains some of the
        vertices. Images are replaced by their originals."""
        about = float(value), words, pose, others
        return [
            Finding(kind, float(severity), mesh, int(bone), own, *about)
            for mesh, own in self.problem.by_mesh(vertices)
        ]

    def largest_finding(
        self, kind: str, severity: float, vertices: Integers, value: float, words: str, bone: Index
    ) -> list[Finding]:
        """The finding() with the most vertices, [] without vertices."""
        found = self.finding(kind, severity, vertices, value, words, bone)
        return sorted(found, key=lambda finding: -len(finding.vertices))[:1]

    def name(self, bone: Index) -> str:
        return f"'{self.skeleton.names[bone]}'" if bone >= 0 else "no bone"

    def leading(self, vertices: Integers, but: Index = -1) -> int:
        """The bone with the most weight over these vertices, ignoring the bone `but`."""
        rows = self.normalized.of_vertices(np.unique(vertices))
        rows = rows.of(rows.bones != but)
        return int(np.bincount(rows.bones, rows.weights).argmax()) if len(rows.bones) else -1
