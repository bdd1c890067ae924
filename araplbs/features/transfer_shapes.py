"""Transfers the shape keys of a mesh to other meshes worn on it. This module contains the options,
the work and the report, and does not use bpy."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.arrays import Floats, Integers
from ..base.engine import engine
from ..base.extent import size_of
from ..base.option_table import OptionTable, option, option_of, setting
from ..base.progress import Listener, Progress
from ..base.refusal import Refused
from ..character.mirror_modifier import Reflection, reflect, reflect_moves
from ..reports.report import names_in_line
from .transfer.options import NEAR, TransferOptions
from .transfer.transfer import FEW, few_match

# Shares of the time: the start and duration of each part.
STAGES = {
    "matching": (0.0, 0.1),
    "following": (0.1, 0.2),
    "inpainting": (0.3, 0.3),
    "lifting": (0.6, 0.4),
}
EFFECT = 1e-4  # share of a mesh's size; keys with smaller displacements are skipped


@dataclass(frozen=True)
class ShapeOptions(OptionTable):
    """The options of Transfer Shape Keys."""

    distance: float = option_of(TransferOptions, "distance")
    angle: float = option_of(TransferOptions, "angle")
    two_sided: bool = option_of(TransferOptions, "two_sided")
    keep_above: bool = setting(
        "SHAPES",
        "keep_above",
        "Keep Above",
        "Vertices above the surface stay above it at the full value of every key",
    )
    sliders: str = option(
        "NONE",
        "Sliders",
        "Settings that the new keys get from the body's keys",
        choices=(
            (
                "NONE",
                "As New",
                "Give new keys the range 0 to 1 and the value 0. Existing keys keep their settings",
            ),
            ("COPY", "Copy", "Copy the ranges, values and drivers of the active mesh's keys"),
            (
                "FOLLOW",
                "Follow",
                "Copy the ranges, and add a driver that gives each key the value of the "
                "same key of the active mesh",
            ),
        ),
    )


@dataclass
class Wearer:
    """The mesh that has the keys. The arrays are in the space of the mesh."""

    name: str
    vertices: np.ndarray  # (n, 3) at rest
    triangles: np.ndarray
    edges: np.ndarray
    reflections: list[Reflection]  # of Mirror modifiers
    keys: list[str]  # names
    shapes: np.ndarray  # (k, n, 3) at value 1, each alone

    def whole(self) -> tuple[Floats, Integers, Floats]:
        """Returns (vertices, triangles, shapes), including the images of Mirror modifiers."""
        whole = reflect(self.vertices, self.triangles, self.edges, self.reflections)
        moves = reflect_moves(self.vertices, self.shapes - self.vertices, self.reflections)
        return whole.vertices, whole.triangles, whole.vertices + moves


@dataclass
class Worn:
    """A mesh that receives keys, in its own space."""

    name: str
    vertices: np.ndarray  # (n, 3) at rest
    triangles: np.ndarray
    edges: np.ndarray
    matrix: np.ndarray  # (4, 4) to the space of the Wearer


@dataclass
class TransferredShapes:
    """The result for one mesh, with the keys that affect it in the order of the Wearer."""

    keys: list[str]  # names
    shapes: np.ndarray  # (k, n, 3) in its own space
    without: list[str]  # names of the keys that do not affect it
    matched: np.ndarray  # (n,) bool
    lifted: dict[str, int]  # {key: vertices that were lifted}
    below: dict[str, int]  # {key: vertices above at rest that still end below}


def transfer_shapes(
    wearer: Wearer,
    meshes: Sequence[Worn],
    options: ShapeOptions,
    threads: int = 0,
    progress: Listener | None = None,
) -> list[TransferredShapes]:
    """Returns the TransferredShapes of each Worn.

    Raises Refused if nothing matches, and araplbs.Cancelled when progress (a Listener) stops it.
    """
    progress, count, given = Progress.of(progress), len(meshes), wearer.whole()
    return [
        _transfer_to(wearer, given, mesh, options, threads, progress.part(k / count, 1 / count))
        for k, mesh in enumerate(meshes)
    ]


def _transfer_to(
    wearer: Wearer,
    given: tuple[Floats, Integers, Floats],
    mesh: Worn,
    options: ShapeOptions,
    threads: int,
    progress: Progress,
) -> TransferredShapes:
    def staged(stage: str, fraction: float) -> bool:
        begin, size = STAGES[stage]
        return progress(stage, begin + size * fraction)

    to, back = mesh.matrix, np.linalg.inv(mesh.matrix)[:3, :3]
    vertices, triangles, shapes = given
    rest = mesh.vertices @ to[:3, :3].T + to[:3, 3]
    try:
        found, matched, _distances, _angles, lifted, below = engine.transfer_shapes(
            vertices,
            triangles,
            shapes,
            rest,
            mesh.triangles,
            target_edges=mesh.edges,
            threads=threads,
            progress=staged,
            **options.engine_arguments("transfer_shapes"),
            near=NEAR,
        )
    except ValueError as error:
        raise Refused(
            f"'{mesh.name}' cannot take shape keys from '{wearer.name}': {error}"
        ) from None
    moves = found - rest
    size = size_of(rest, mesh.triangles, mesh.edges)
    effect = np.linalg.norm(moves, axis=2).max(axis=1, initial=0) > EFFECT * size
    which = np.flatnonzero(effect)
    names = [wearer.keys[k] for k in which]
    return TransferredShapes(
        keys=names,
        shapes=mesh.vertices + moves[which] @ back.T,
        without=[name for name, has in zip(wearer.keys, effect, strict=True) if not has],
        matched=matched,
        lifted=dict(zip(names, lifted[which].tolist(), strict=True)),
        below=dict(zip(names, below[which].tolist(), strict=True)),
    )


def shapes_report(
    wearer: Wearer,
    done: Sequence[TransferredShapes],
    options: ShapeOptions,
    written: Sequence[dict[str, Any]],
    started: float,
) -> dict[str, Any]:
    """The report for programs. written: {"name", "new", "replaced", "locked"} for each mesh, with
    key names."""
    return {
        "source": wearer.name,
        "objects": [
            {
                "vertices": len(each.matched),
                "matched": int(each.matched.sum()),
                "keys": each.keys,
                "without_effect": each.without,
                "lifted": each.lifted,
                "below": each.below,
                **facts,
            }
            for each, facts in zip(done, written, strict=True)
        ],
        "seconds": time.perf_counter() - started,
        "options": options.as_dict(),
    }


def shapes_summary(report: dict[str, Any]) -> str:
    """A one-line summary for the user."""
    objects = report["objects"]
    written = sum(len(each["new"]) + len(each["replaced"]) for each in objects)
    lifted = sum(sum(each["lifted"].values()) for each in objects)
    where = names_in_line([f"'{each['name']}'" for each in objects])
    line = f"{written} shape key{'s' * (written != 1)} of '{report['source']}' for {where}"
    if lifted:
        line += f", {lifted:,} vertices kept above the surface"
    return f"{line}, in {report['seconds']:.1f} s"


def shapes_warnings(report: dict[str, Any]) -> list[str]:
    """Lines about parts of the mesh that an artist should check."""
    lines = []
    for each in report["objects"]:
        name = each["name"]
        lines += few_match(each, FEW)
        if not each["keys"]:
            lines.append(f"no shape key of '{report['source']}' moves '{name}'")
        if each["locked"]:
            lines.append(
                f"'{name}' has locked shape keys, which stay unchanged: "
                f"{names_in_line(each['locked'])}"
            )
        stuck = [f"{key} ({count})" for key, count in each["below"].items() if count]
        if stuck:
            lines.append(f"'{name}' still has vertices below the surface: {names_in_line(stuck)}")
    return lines
