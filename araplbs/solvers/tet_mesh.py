"""Obtains tet meshes from files, which meshio reads, and from closed surfaces, which TetGen fills.

Neither package is included in the add-on. If one is missing, the error message gives the command
that installs it."""

import importlib.util
import math
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..base import child
from ..base.arrays import Floats, Integers
from ..base.engine import engine
from ..base.extent import sides_of, triangle_sides
from ..base.refusal import Refused

WELD = 1e-6  # share of the mesh size; vertices within this distance are merged
FILLER = "araplbs.solvers.fill_tets"  # the module that a child process runs
CHUNK = 500_000  # pairs of points and faces processed at once


@dataclass
class TetMesh:
    """A volume in which every vertex belongs to a tet."""

    vertices: np.ndarray  # (n, 3)
    tets: np.ndarray  # (t, 4)


def need(package: str, what: str, modules: str = "") -> None:
    """Raises Refused unless this Python has the package. modules: the folder into which the package
    should be installed, by default pip's own.

    The folder `modules` comes first in sys.path, and pip installs all dependencies of the package
    into it. NumPy must remain the version with which Blender is built.
    """
    if importlib.util.find_spec(package) is not None:
        return
    command = f'"{sys.executable}" -m pip install '
    if modules:
        command += f'--target "{modules}" numpy=={np.__version__} {package}'
    else:
        command += package
    raise Refused(
        f"{what} needs the Python package '{package}', which is not installed. Run this, then "
        f"restart Blender: {command}"
    )


def need_for_file(modules: str = "") -> None:
    """See need()."""
    need("meshio", "A volume from a file", modules)


def need_for_inside(modules: str = "") -> None:
    """See need()."""
    need("tetgen", "A volume inside a mesh", modules)


def compact(vertices: Floats, tets: Integers) -> TetMesh:
    """The TetMesh without the vertices that are in no tet."""
    used, tets = np.unique(tets, return_inverse=True)
    return TetMesh(np.asarray(vertices, float)[used], tets.reshape(-1, 4).astype(np.int32))


def read_tets(path: str) -> TetMesh:
    """Reads the tets of a file, in the file's own space. Only the corners of quadratic tets are
    used. Raises Refused."""
    need_for_file()
    import meshio

    if not Path(path).is_file():
        raise Refused(f"There is no file '{path}'")
    try:
        mesh = meshio.read(path)
    except (Exception, SystemExit) as error:  # meshio ends the program for unreadable files
        lines = str(error).strip().splitlines() or [""]
        reason = "not a format that meshio reads" if isinstance(error, SystemExit) else lines[0]
        raise Refused(f"'{path}' could not be read: {reason}") from None
    blocks = [block.data[:, :4] for block in mesh.cells if block.type in {"tetra", "tetra10"}]
    tets = np.concatenate(blocks) if blocks else np.zeros((0, 4), int)
    if not len(tets):
        others = ", ".join(sorted({block.type for block in mesh.cells})) or "nothing"
        raise Refused(f"'{path}' contains no tetrahedra (it contains: {others})")
    points = np.asarray(mesh.points, float)
    if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
        raise Refused(f"'{path}' has vertices with non-finite coordinates")
    if tets.min() < 0 or tets.max() >= len(points):
        raise Refused(f"'{path}' has tetrahedra that refer to missing vertices")
    return compact(points, tets)


def weld(vertices: Floats, triangles: Integers) -> tuple[Floats, Integers]:
    """Returns (points, faces) with coincident vertices merged and without faces that lose a
    corner."""
    size = max(sides_of(vertices, triangles).max(), 1e-300)
    _, first, place = np.unique(
        np.round(vertices / (WELD * size)), axis=0, return_index=True, return_inverse=True
    )
    faces = place.ravel()[triangles]
    a, b, c = faces.T
    return vertices[first], faces[(a != b) & (b != c) & (c != a)].astype(np.int32)


def open_edges(faces: Integers) -> int:
    """The number of edges that do not have exactly two faces."""
    edges = np.sort(triangle_sides(faces), axis=1)
    _, counts = np.unique(edges, axis=0, return_counts=True)
    return int(np.count_nonzero(counts != 2))


def winding_numbers(points: Floats, faces: Integers, at: Floats) -> Floats:
    """The winding number of the surface around each point, (p,) (Van Oosterom & Strackee 1983)."""
    out = np.zeros(len(at))
    step = max(1, CHUNK // max(1, len(faces)))
    for begin in range(0, len(at), step):
        a, b, c = (points[faces[:, k]] - at[begin : begin + step, None] for k in range(3))
        la, lb, lc = (np.linalg.norm(v, axis=2) for v in (a, b, c))
        dot = [np.einsum("pfc,pfc->pf", *pair) for pair in ((a, b), (b, c), (c, a))]
        volume = np.einsum("pfc,pfc->pf", a, np.cross(b, c))
        angle = np.arctan2(volume, la * lb * lc + dot[0] * lc + dot[1] * la + dot[2] * lb)
        out[begin : begin + step] = angle.sum(1) / (2 * np.pi)
    return out


def _within(head: Floats, tail: Floats, low: Floats, high: Floats) -> tuple[float, float]:
    """Returns (begin, end) of the part of a bone inside a box, as shares of its length; begin > end
    if the bone is outside."""
    begin, end = 0.0, 1.0
    for x, along, lo, hi in zip(head, tail - head, low, high, strict=True):
        if along == 0:
            if not lo <= x <= hi:
                return 1.0, 0.0
            continue
        near_end, far_end = sorted(((lo - x) / along, (hi - x) / along))
        begin, end = max(begin, near_end), min(end, far_end)
    return min(begin, 1.0), max(end, 0.0)


def points_on_bones(points: Floats, faces: Integers, heads: Floats, tails: Floats) -> Floats:
    """Points on bones inside the surface, about one edge length apart, without the bones' ends.
    Only the part of a bone inside the surface's bounding box is considered."""
    edges = points[faces[:, 1]] - points[faces[:, 0]]
    step = np.linalg.norm(edges, axis=1).mean()
    found = [np.zeros((0, 3))]
    corners = points[faces].reshape(-1, 3)
    low, high = corners.min(axis=0), corners.max(axis=0)
    for head, tail in zip(heads, tails, strict=True):
        count = max(1, round(np.linalg.norm(tail - head) / step))
        begin, end = _within(head, tail, low, high)
        first, last = math.floor(begin * count - 1), math.ceil(end * count + 1)
        share = (np.arange(max(first, 0), min(last, count)) + 0.5) / count
        found.append(head + share[:, None] * (tail - head))
    at = np.unique(np.concatenate(found).round(9), axis=0)
    return at[np.abs(winding_numbers(points, faces, at)) > 0.5]


def fill(
    name: str,
    vertices: Floats,
    triangles: Integers,
    heads: Floats,
    tails: Floats,
    cancelled: Callable[[], bool] = lambda: False,
) -> TetMesh:
    """Returns the TetMesh inside a closed surface, with the vertices of the surface and some
    vertices on the bones.

    Raises Refused if this is impossible, and araplbs.Cancelled when cancelled() is true.
    """

    def check() -> None:
        if cancelled():
            raise engine.Cancelled("cancelled during tets")

    need_for_inside()
    points, faces = weld(vertices, triangles)
    if not len(faces):
        raise Refused(f"'{name}' has no faces that could enclose a volume")
    count = open_edges(faces)
    if count:
        raise Refused(
            f"'{name}' is not closed ({count} edges do not have exactly two faces): close it, "
            "weight its surface, or provide a file with a volume"
        )
    inner = points_on_bones(points, faces, heads, tails)
    with tempfile.TemporaryDirectory(prefix="araplbs-") as folder:
        source, target = Path(folder, "in.npz"), Path(folder, "out.npz")
        np.savez(source, points=np.concatenate([points, inner]), faces=faces)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
        code, _output, errors = child.run(
            [FILLER, str(source), str(target)], check, folder=folder, environment=environment
        )
        lines = errors.strip().splitlines() or [f"it exited with code {code}"]
        if code:
            raise Refused(
                f"'{name}' could not be filled by TetGen (does its surface intersect "
                f"itself?): {lines[-1]}"
            )
        with np.load(target) as made:
            return compact(made["nodes"], made["tets"])
