"""Makes a small character in a USD file: a tube and a collar of faces of several sizes, bound to
four joints."""

import numpy as np
import pytest
import shapes

pxr = pytest.importorskip("pxr", reason="needs the package usd-core")
from pxr import Gf, Sdf, Usd, UsdGeom, UsdShade, UsdSkel, Vt  # noqa: E402

ORDER = ["Hips", "Hips/Spine", "Hips/Spine/Chest", "Hips/Spine/Chest/Head"]
BIND = Gf.Matrix4d().SetScale(2.0) * Gf.Matrix4d().SetTranslate(Gf.Vec3d(0, 1, 0))
TUBE = shapes.tube(12, 31, caps=True)
BONES = shapes.chain(4)
TO_Y_UP = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])
TURN = Gf.Matrix4d().SetRotate(Gf.Rotation(Gf.Vec3d(0, 0, 1), 40))


def write_character(path, up="Y", joints=None, elements=1, animated=True, instanced=False):
    """Writes the file. Points of the meshes are those of the rest pose before BIND."""
    stage = Usd.Stage.CreateNew(str(path))
    UsdGeom.SetStageUpAxis(stage, up)
    stage.SetDefaultPrim(UsdSkel.Root.Define(stage, "/Character").GetPrim())
    turn = TO_Y_UP if up == "Y" else np.eye(3)
    heads = BONES.heads @ turn.T
    at = [Gf.Matrix4d().SetTranslate(Gf.Vec3d(*head.tolist())) for head in heads]
    skeleton = UsdSkel.Skeleton.Define(stage, "/Character/Rig")
    skeleton.CreateJointsAttr(ORDER)
    skeleton.CreateBindTransformsAttr(Vt.Matrix4dArray(at))
    local = [own * (at[k - 1].GetInverse() if k else Gf.Matrix4d(1)) for k, own in enumerate(at)]
    skeleton.CreateRestTransformsAttr(Vt.Matrix4dArray(local))
    material = UsdShade.Material.Define(stage, "/Character/Steel")
    shader = UsdShade.Shader.Define(stage, "/Character/Steel/Texture")
    shader.CreateIdAttr("UsdUVTexture")
    shader.CreateInput("file", Sdf.ValueTypeNames.Asset).Set("./skin.png")
    collar = shapes.box((0.3, 0.3, 0.3))
    for name, (points, triangles) in {"Body": TUBE, "Collar": collar}.items():
        points = points + ([0, 0, 2.5] if name == "Collar" else [0, 0, 0])
        mesh = UsdGeom.Mesh.Define(stage, f"/Character/{name}")
        placed = (points @ turn.T - [0, 1, 0]) / 2  # before BIND
        mesh.CreatePointsAttr(Vt.Vec3fArray.FromNumpy(placed.astype(np.float32)))
        mesh.CreateExtentAttr(UsdGeom.PointBased.ComputeExtent(mesh.GetPointsAttr().Get()))
        corners, sizes = triangles.ravel().tolist(), [3] * len(triangles)
        if name == "Collar":
            UsdShade.MaterialBindingAPI.Apply(mesh.GetPrim()).Bind(material)
        else:  # a face of many corners: the lid
            quads = [(0, 1, 2, 3, 4, 5), (0, 5, 6, 7)]
            sizes += [len(quad) for quad in quads]
            corners += [corner for quad in quads for corner in quad]
        mesh.CreateFaceVertexIndicesAttr(corners)
        mesh.CreateFaceVertexCountsAttr(sizes)
        mesh.CreateOrientationAttr(UsdGeom.Tokens.leftHanded)
        mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
        mesh.CreateDisplayColorPrimvar(UsdGeom.Tokens.constant).Set([(0.2, 0.4, 0.6)])
        binding = UsdSkel.BindingAPI.Apply(mesh.GetPrim())
        binding.CreateSkeletonRel().SetTargets([skeleton.GetPath()])
        binding.CreateGeomBindTransformAttr(BIND)
        if joints is not None and name == "Body":
            binding.CreateJointsAttr(joints)
        which = np.zeros((len(points), elements), np.int32)
        values = np.zeros((len(points), elements), np.float32)
        values[:, 0] = 1
        binding.CreateJointIndicesPrimvar(False, elements).Set(which.ravel().tolist())
        binding.CreateJointWeightsPrimvar(False, elements).Set(values.ravel().tolist())
    if animated:
        clip = UsdSkel.Animation.Define(stage, "/Character/Clip")
        clip.CreateJointsAttr(ORDER)
        for time in (1, 5, 9):
            turned = [
                (TURN if time == 5 and k else Gf.Matrix4d(1)) * own for k, own in enumerate(local)
            ]
            clip.SetTransforms(Vt.Matrix4dArray(turned), Usd.TimeCode(time))
        root = UsdSkel.BindingAPI.Apply(skeleton.GetPrim())
        root.CreateAnimationSourceRel().SetTargets([clip.GetPath()])
    if instanced:
        stage.OverridePrim("/Class").SetSpecifier(Sdf.SpecifierClass)
        Sdf.CopySpec(stage.GetRootLayer(), "/Character/Body", stage.GetRootLayer(), "/Class/Skin")
        stage.RemovePrim("/Character/Body")
        made = UsdGeom.Xform.Define(stage, "/Character/Clone").GetPrim()
        made.GetReferences().AddInternalReference("/Class")
        made.SetInstanceable(True)
    stage.GetRootLayer().Save()
    return path


def influences(path, name):
    """Returns the dense weights of a mesh by the joints of its Skeleton, (n, 4), by UsdSkel."""
    stage = Usd.Stage.Open(str(path))
    cache, root = UsdSkel.Cache(), UsdSkel.Root(stage.GetPrimAtPath("/Character"))
    cache.Populate(root, Usd.PrimDefaultPredicate)
    query = cache.GetSkinningQuery(stage.GetPrimAtPath(f"/Character/{name}"))
    count = len(UsdGeom.Mesh(query.GetPrim()).GetPointsAttr().Get())
    which, values = (np.array(each).reshape(count, -1) for each in query.ComputeJointInfluences())
    joints = query.GetJointOrder()
    bone = np.array([ORDER.index(each) for each in (ORDER if joints is None else joints)])
    dense = np.zeros((count, len(ORDER)))
    np.add.at(dense, (np.arange(count)[:, None], bone[which]), values)
    return dense
