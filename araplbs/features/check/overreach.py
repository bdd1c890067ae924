"""Finds limbs that move skin of another limb, without earlier weights to compare with.

Such skin goes along with the limb and does not stretch, so strain does not reveal it. The bone that
a vertex belongs to is the nearest one through the inside of the mesh (araplbs.skin_owners), among
the bones that have weights. Skin is foreign to a bone if it belongs neither to the bone's chain,
which consists of the bone and its descendants, nor to the parent of the bone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...base.engine import engine
from .quantities import counted, ramp

if TYPE_CHECKING:
    from ...base.arrays import Bools, Integers
    from .findings import Finding
    from .inspected import Inspected

LIMB = 0.01, 0.9  # shares of the skin of the bones that are examined: a limb, not the body
MUCH, OF_OWN = 0.01, 0.2  # shares of all skin and of the bone's own skin; less is not reported
CLEARLY = 0.25  # weight on foreign skin that counts for the first of these shares
HELD = 0.1  # weight of the owner of foreign skin; with less, the owner may be wrong
OVER = MUCH, 0.05  # share of all skin that a limb moves clearly: visible, and worst


class Overreach(NamedTuple):
    """bone: moves the vertices clearly, which belong to other limbs, most of them to the owner.
    area: share of the surface; weight: the largest weight of the bone and its descendants there."""

    bone: int
    owner: int
    vertices: Integers
    area: float
    weight: float


def overreaching(look: Inspected) -> Iterator[Finding]:
    """Finds OVERREACH: bones that move skin of another limb."""
    for bone, owner, vertices, area, weight in overreaches(look):
        words = (
            f"{look.name(bone)} moves {counted(len(vertices))} that belong to {look.name(owner)}, "
            f"{100 * area:.1f} % of the surface, by up to {100 * weight:.0f} %"
        )
        severity = ramp(area, OVER)
        about = severity, vertices, weight, words, bone
        yield from look.finding("OVERREACH", *about, others=(int(owner),))


def overreaches(look: Inspected) -> list[Overreach]:
    """Lists bones with chains that move skin of another limb. If several bones of a chain do so,
    the list contains only the bone that moves most of the skin."""
    rows, skeleton = look.rows, look.skeleton
    moving = skeleton.deform & (look.bone_counts > 0)
    if not len(look.triangles) or not moving.any():
        return []
    owner = engine.skin_owners(
        look.vertices,
        look.triangles,
        skeleton.heads,
        skeleton.tails,
        skeleton.parents,
        edges=look.edges,
        bone_ways=skeleton.ways,
        bone_deform=moving,
        threads=look.threads,
    )
    areas = look.outward[1]
    hangs = look.hangs_on & moving & moving[:, None]
    foreign_to = _foreign(hangs)
    by_owner = look.shares * (rows.bones == owner[rows.vertices])
    held = np.bincount(rows.vertices, by_owner, len(look)) > HELD
    far = held[rows.vertices] & foreign_to[rows.bones, owner[rows.vertices]]
    taken = np.bincount(rows.bones, look.shares * areas[rows.vertices] * far, len(hangs))
    own = np.bincount(owner[owner >= 0], areas[owner >= 0], len(hangs)) @ hangs
    every = max(float(areas.sum()), 1e-300)
    limb = (own > LIMB[0] * every) & (own < LIMB[1] * every)
    limb &= taken @ hangs > OF_OWN * own  # the chain takes at most this
    found = []
    for bone in np.flatnonzero(limb).tolist():
        share = np.bincount(rows.vertices, look.shares * hangs[rows.bones, bone], len(look))
        mine = (owner >= 0) & hangs[owner, bone]
        foreign = held & foreign_to[bone, owner] & np.isin(look.parts, look.parts[mine])
        vertices = np.flatnonzero(foreign & (share > CLEARLY))
        area, moved = float(areas[vertices].sum()) / every, areas * share
        if area > MUCH and moved[foreign].sum() > OF_OWN * own[bone]:
            of = int(np.bincount(owner[vertices], moved[vertices]).argmax())
            found.append(Overreach(bone, of, vertices, area, float(share[vertices].max())))
    return [
        each
        for each in found
        if not any(
            taken[kin.bone] > taken[each.bone]
            for kin in found
            if hangs[kin.bone, each.bone] or hangs[each.bone, kin.bone]
        )
    ]


def _foreign(hangs: Bools) -> Bools:
    """Returns (m, m + 1) bool: whether the skin of bone k is foreign to bone i. hangs (m, m):
    whether bone i is bone k or hangs on it, for bones that move skin. Bones without a common
    ancestor among these are not compared, because in many rigs feet hang from a control bone. The
    last column, for skin without an owner, is off."""
    others = np.where(np.eye(len(hangs), dtype=bool), 0, hangs * hangs.sum(1))
    parent = np.where(others.any(1), others.argmax(1), -1)
    related = hangs.astype(np.float32)  # products of bool arrays are slow
    foreign = (related @ related.T > 0) & ~hangs.T
    foreign[np.arange(len(hangs)), parent] &= parent < 0
    return np.column_stack([foreign, np.zeros(len(hangs), bool)])
