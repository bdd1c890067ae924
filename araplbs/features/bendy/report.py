"""Describes the result of a conversion of bendy bones to plain bones."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...reports.report import names_in_line

GAME_INFLUENCES = 4  # influences per vertex, in most engines and by default in the glTF exporter


@dataclass
class Converted:
    """The result. difference: for each visible mesh that keeps its number of vertices, the largest
    distance from its shape with bendy bones, as a fraction of the bounding box."""

    names: dict[str, list[str]] = field(default_factory=dict)  # for each bendy bone: its new bones
    meshes: list[str] = field(default_factory=list)
    difference: dict[str, float] = field(default_factory=dict)
    locked: dict[str, str] = field(default_factory=dict)  # bones left alone: the mesh with the lock
    kept_groups: list[tuple[str, str]] = field(default_factory=list)  # (mesh, group) used elsewhere
    most_influences: int = 0
    sheared: list[str] = field(default_factory=list)  # new bones that shear in this pose


def converted_summary(done: Converted) -> str:
    """A one-line summary for the user."""
    bones = sum(len(names) for names in done.names.values())
    one = len(done.names) == 1
    line = f"{len(done.names)} bendy bone{'' if one else 's'} became {bones} bones"
    if not done.meshes:
        return f"{line}; no mesh has their vertex groups"
    line += f", with groups in {names_in_line(done.meshes)}"
    if not done.difference:
        return f"{line}; no visible mesh shows the difference"
    worst = max(done.difference, key=done.difference.__getitem__)
    return (
        f"{line}; in this pose no vertex moved by more than {done.difference[worst]:.1e} of the "
        f"size of '{worst}'"
    )


def converted_warnings(done: Converted) -> list[str]:
    """Lines that an artist should read."""
    lines = [
        f"'{bone}' stays unchanged because its vertex group in '{ob}' is locked"
        for bone, ob in done.locked.items()
    ]
    lines += [
        f"'{ob}': the vertex group '{group}' was kept because it has other uses"
        for ob, group in done.kept_groups
    ]
    if done.most_influences > GAME_INFLUENCES:
        lines.append(
            f"Some vertices have {done.most_influences} influences, but exporters keep "
            f"only {GAME_INFLUENCES} by default"
        )
    if done.sheared:
        lines.append(
            f"{len(done.sheared)} of the new bones shear in this pose (first: "
            f"'{done.sheared[0]}'), which glTF cannot store"
        )
    return lines
