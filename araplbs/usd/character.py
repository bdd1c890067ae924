"""Loads the characters of a USD file. Each character is a Skeleton of UsdSkel with all meshes bound
to it.

The rest pose is the bind pose: joints lie at their bindTransforms, and points are moved by the
geomBindTransform of their mesh. Both are in the space of the skeleton. Only the primvars
skel:jointIndices and skel:jointWeights are written, and skel:joints if a mesh gets weights of a
joint that it does not list.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.arrays import Bools, Floats, Integers, ranges
from ..base.refusal import Refused
from ..character.mesh import Mesh
from ..gltf.armature import AXES, bone_lengths
from ..gltf.character import LoadedCharacter, welded
from ..model.sparse_weights import SparseWeights, summed_entries
from ..skeleton.bone_facts import BoneFacts
from ..skeleton.poses import Poses
from ..skeleton.skeleton import Skeleton
from .stage import UsdDocument, reason

NO_SKIN = "has no skin: no mesh is bound to a Skeleton (UsdSkel)"


@dataclass
class UsdMesh:
    """A mesh prim. joints: the bone of each joint that its weights can name. stored: the numbers of
    these joints and the weights in the file, (n, k) each."""

    prim: Any
    joints: list[int]
    stored: tuple[Integers, Floats]
    mesh: Mesh
    materials: list[tuple[str, np.ndarray]]  # with the vertices of each

    @property
    def names(self) -> set[str]:
        return {self.mesh.name}


@dataclass
class UsdCharacter(LoadedCharacter):
    """A Skeleton of the file and the meshes bound to it, with Z up."""

    document: UsdDocument
    name: str
    skeleton: Skeleton
    skinned: list[UsdMesh]
    order: list[str]  # the paths of the joints in the Skeleton
    axes: np.ndarray  # (4, 4) from the file to the space of the skeleton
    animation: Any  # UsdSkelSkeletonQuery

    def facts(self, skeleton: Skeleton) -> BoneFacts:
        """The file contains only names and parents of bones."""
        return BoneFacts(skeleton.names, skeleton.deform, skeleton.parents, skeleton.other_side)

    def poses(self, most: int) -> Poses:
        """At most this many poses, evenly spread over the time samples of its animation."""
        query = self.animation.GetAnimQuery()
        times = query.GetJointTransformTimeSamples() if query else []
        pick = np.unique(np.linspace(0, len(times) - 1, min(most, len(times))).round())
        found: list[Floats] = [np.zeros((0, len(self.order), 4, 4))]
        for k in pick.astype(int).tolist():
            found.append(_matrices(self.animation.ComputeSkinningTransforms(times[k]))[None])
        transforms = self.axes @ np.concatenate(found) @ self.axes.T
        if not np.isfinite(transforms).all():
            raise Refused("has non-finite poses in its animation")
        return Poses(transforms[:, :, :3], np.zeros((len(transforms), 0, 3, 4)))

    def write(
        self,
        rows: Sequence[SparseWeights],
        component: int | None = None,
        changed: Sequence[Bools] | None = None,
    ) -> None:
        """Stores SparseWeights of its meshes in the stage without changing the file itself. USD has
        floats only, so `component` has no effect. changed: for each mesh, (n,) bool; other vertices
        keep their joints and weights, bit by bit."""
        for k, (each, own) in enumerate(zip(self.skinned, rows, strict=True)):
            _write(each, own, self.order, None if changed is None else changed[k])


def usd_characters(document: UsdDocument) -> list[UsdCharacter]:
    """The characters of an open file. Raises Refused."""
    from pxr import Tf

    try:
        return _characters(document)
    except Tf.ErrorException as error:
        raise Refused(f"cannot be used: {reason(error)}") from None


def _characters(document: UsdDocument) -> list[UsdCharacter]:
    from pxr import Usd, UsdGeom, UsdSkel

    stage, cache, found = document.stage, UsdSkel.Cache(), []
    instances = Usd.TraverseInstanceProxies(Usd.PrimDefaultPredicate)
    up = UsdGeom.GetStageUpAxis(stage)
    axes = AXES if up == UsdGeom.Tokens.y else np.eye(4)
    roots = iter(Usd.PrimRange.Stage(stage, instances))
    for prim in roots:
        if not prim.IsA(UsdSkel.Root):
            continue
        roots.PruneChildren()
        root = UsdSkel.Root(prim)
        cache.Populate(root, instances)
        for binding in cache.ComputeSkelBindings(root, instances):
            targets = [
                each for each in binding.GetSkinningTargets() if each.GetPrim().IsA(UsdGeom.Mesh)
            ]
            if targets:
                query = cache.GetSkelQuery(binding.GetSkeleton())
                found.append(_character(document, query, targets, axes))
    if not found:
        raise Refused(NO_SKIN)
    return found


def _character(
    document: UsdDocument, query: Any, targets: Sequence[Any], axes: Floats
) -> UsdCharacter:
    prim = query.GetPrim()
    order, topology = [str(each) for each in query.GetJointOrder()], query.GetTopology()
    m = len(order)
    binds = query.GetJointWorldBindTransforms()
    if not m or binds is None or len(binds) != m:
        raise Refused(f"{prim.GetPath()} has {len(binds or [])} bindTransforms for {m} joints")
    rest = axes @ _matrices(binds) @ axes.T
    if not np.isfinite(rest).all() or (np.abs(np.linalg.det(rest)) <= 0).any():
        raise Refused(f"{prim.GetPath()} has a bindTransform without volume, or that is not finite")
    parents = np.array([topology.GetParent(joint) for joint in range(m)], np.int32)
    skeleton = _skeleton(order, parents, rest @ axes)
    skinned = [_mesh(each, order, axes) for each in targets]
    used = [bone for each in skinned for bone in each.joints]
    skeleton.deform = np.isin(np.arange(m), used)
    above = prim.GetParent()
    name = prim.GetName() if above.IsPseudoRoot() else above.GetName()
    return UsdCharacter(document, name, skeleton, welded(skinned), order, axes, query)


def _skeleton(order: list[str], parents: Integers, rest: Floats) -> Skeleton:
    heads, m = rest[:, :3, 3].copy(), len(order)
    steps = np.linalg.norm(heads - np.where(parents[:, None] < 0, 0, heads[parents]), axis=1)
    sizes = np.linalg.norm(rest[:, :3, :3], axis=1)  # of the axes of joints
    along, across = (rest[:, :3, axis] / sizes[:, None, axis] for axis in (1, 2))
    names = [path.rsplit("/", 1)[-1] for path in order]
    if len(set(names)) < m:
        names = order
    # In any unit: a child is near if it is so relative to the longest step.
    unit = steps[parents >= 0].max(initial=0) or 1.0
    lengths = bone_lengths(parents, steps / unit) * unit
    return Skeleton(
        names=list(names),
        heads=heads,
        tails=heads + lengths[:, None] * along,
        parents=parents,
        roll_axes=across,
        deform=np.ones(m, bool),
        limits=np.full((m, 3, 2), np.nan),
        opposite=np.arange(m),
    )


def _mesh(query: Any, order: list[str], axes: Floats) -> UsdMesh:
    from pxr import UsdGeom

    prim = query.GetPrim()
    name, path = prim.GetName(), prim.GetPath()
    if prim.IsInstanceProxy():
        raise Refused(f"{path} is part of an instance, which cannot have weights of its own")
    own, place = query.GetJointOrder(), {joint: bone for bone, joint in enumerate(order)}
    named = order if own is None else [str(each) for each in own]
    unknown = [joint for joint in named if joint not in place]
    if unknown:
        raise Refused(f"{path} lists the joint '{unknown[0]}', which its Skeleton does not have")
    joints = [place[joint] for joint in named]
    mesh = UsdGeom.Mesh(prim)
    points = np.array(mesh.GetPointsAttr().Get() or [], np.float64).reshape(-1, 3)
    if not len(points):
        raise Refused(f"{path} has no points")
    corners = np.array(mesh.GetFaceVertexIndicesAttr().Get() or [], np.int64)
    sizes = np.array(mesh.GetFaceVertexCountsAttr().Get() or [], np.int64)
    if (sizes < 0).any() or sizes.sum() != len(corners):
        raise Refused(f"{path} has {len(corners)} corners for faces of {sizes.sum()} corners")
    if len(corners) and not 0 <= corners.min() <= corners.max() < len(points):
        raise Refused(f"{path} has corners outside of its {len(points)} points")
    triangles = _fans(corners, sizes)
    if mesh.GetOrientationAttr().Get() == UsdGeom.Tokens.leftHanded:
        triangles = np.ascontiguousarray(triangles[:, ::-1])
    with np.errstate(all="ignore"):
        bind = axes @ _matrices([query.GetGeomBindTransform()])[0]
        placed = points @ bind[:3, :3].T + bind[:3, 3]
    if not np.isfinite(placed).all():
        raise Refused(f"{path} has points or a geomBindTransform that are not finite")
    stored = _stored(query, len(points), path)
    made = Mesh(
        name=name,
        vertices=np.ascontiguousarray(placed),
        triangles=triangles,
        edges=np.zeros((0, 2), np.int64),
        matrix=np.eye(4),
        weights=_present(*stored, joints, path),
    )
    return UsdMesh(prim, joints, stored, made, _materials(prim, corners, sizes))


def _fans(corners: Integers, sizes: Integers) -> Integers:
    """The triangles (f, 3) of faces of any size."""
    first = np.cumsum(sizes) - sizes
    count = np.maximum(sizes - 2, 0)
    face = np.repeat(np.arange(len(sizes)), count)
    k = ranges(np.zeros_like(count), count)
    at = np.stack([first[face], first[face] + k + 1, first[face] + k + 2], axis=1)
    return corners[at].reshape(-1, 3)


def _stored(query: Any, count: int, path: Any) -> tuple[Integers, Floats]:
    """The joints and weights in the file. Weights of a whole mesh apply to all its vertices."""
    found = query.ComputeVaryingJointInfluences(count)
    if not found:
        raise Refused(f"{path} has joint influences that do not fit to its {count} points")
    which, values = (np.array(each) for each in found)
    if len(which) % count or len(which) != len(values):
        raise Refused(f"{path} has {len(which)} joint indices for {len(values)} weights")
    return which.reshape(count, -1), values.reshape(count, -1)


def _present(which: Integers, weights: Floats, joints: list[int], path: Any) -> SparseWeights:
    count, width = which.shape
    values = weights.ravel().astype(np.float64)
    keep = np.isfinite(values) & (values > 0)
    vertices = np.repeat(np.arange(count), width)[keep]
    which, values = which.ravel()[keep].astype(np.int64), values[keep]
    if len(which) and not 0 <= which.min() <= which.max() < len(joints):
        raise Refused(f"{path} has a joint index outside of its {len(joints)} joints")
    bones = np.array(joints, np.int64)[which]
    return summed_entries(count, vertices, bones, values)


def _materials(prim: Any, corners: Integers, sizes: Integers) -> list[tuple[str, Integers]]:
    """The vertices of each material: of the whole mesh, or of a subset of its faces."""
    from pxr import UsdShade

    found: dict[str, Integers] = {}
    ends = np.cumsum(sizes)
    parts = [(prim, None)]
    parts += [
        (subset.GetPrim(), subset.GetIndicesAttr().Get())
        for subset in UsdShade.MaterialBindingAPI(prim).GetMaterialBindSubsets()
    ]
    for part, faces in parts:
        material = UsdShade.MaterialBindingAPI(part).ComputeBoundMaterial()[0]
        if not material:
            continue
        own = [corners] if faces is None else [corners[:0]]
        for f in np.array([] if faces is None else faces, np.int64).tolist():
            if not 0 <= f < len(sizes):
                raise Refused(f"{part.GetPath()} has the face {f}, which its mesh does not have")
            own.append(corners[ends[f] - sizes[f] : ends[f]])
        name = material.GetPrim().GetName()
        found[name] = np.union1d(found.get(name, np.zeros(0, np.int64)), np.concatenate(own))
    return list(found.items())


def _write(
    each: UsdMesh, rows: SparseWeights, order: list[str], changed: Bools | None = None
) -> None:
    from pxr import UsdSkel, Vt

    if changed is not None and not changed.any():
        return
    binding = UsdSkel.BindingAPI(each.prim)
    used = np.unique(rows.bones).tolist()
    more = [bone for bone in used if bone not in each.joints]
    if more:
        each.joints += more
        binding.CreateJointsAttr().Set([order[bone] for bone in each.joints])
    place = np.zeros(len(order), np.int32)
    place[each.joints] = np.arange(len(each.joints))
    width = max(1, int(np.diff(rows.start).max(initial=0)))
    if changed is not None:
        width = max(width, each.stored[0].shape[1])
    joints, weights = np.zeros((rows.count, width), np.int32), np.zeros((rows.count, width), "f4")
    slots = rows.vertices, rows.ranks()
    joints[slots], weights[slots] = place[rows.bones], rows.weights
    if changed is not None:
        for new, old in zip((joints, weights), each.stored, strict=True):
            new[~changed] = 0
            new[~changed, : old.shape[1]] = old[~changed]
    made: list[tuple[Callable[..., Any], Any]] = [
        (binding.CreateJointIndicesPrimvar, Vt.IntArray.FromNumpy(joints.ravel())),
        (binding.CreateJointWeightsPrimvar, Vt.FloatArray.FromNumpy(weights.ravel())),
    ]
    for create, values in made:
        primvar = create(False, width)
        primvar.GetAttr().Clear()  # also values at times
        if primvar.IsIndexed():
            primvar.BlockIndices()
        primvar.Set(values)


def _matrices(found: Any) -> Floats:
    """Matrices of USD, which multiply rows, as (k, 4, 4) that multiply columns."""
    return np.array(found, np.float64).reshape(-1, 4, 4).swapaxes(1, 2)
