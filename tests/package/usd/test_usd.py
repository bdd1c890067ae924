"""araplbs weight for USD files: everything except weights stays, read by UsdSkel itself."""

import json
import shutil
import zipfile
from pathlib import Path

import araplbs
import numpy as np
import pytest
from araplbs.base.refusal import Refused
from araplbs.cli.main import main
from araplbs.usd.stage import UsdDocument

usd_files = pytest.importorskip("usd_files", reason="needs the package usd-core")
from pxr import Gf, Sdf, Usd, UsdShade, UsdSkel, UsdUtils  # noqa: E402
from usd_files import BONES, ORDER, TUBE, influences, write_character  # noqa: E402

from araplbs.usd.character import usd_characters  # noqa: E402  isort: skip

WEIGHTS = ("primvars:skel:jointIndices", "primvars:skel:jointWeights")


def specs(path, keep=()):
    """Returns {path of a spec: its fields} of the root layer, apart from weights."""
    layer, found = Sdf.Layer.OpenAsAnonymous(str(path)), {}

    def visit(at):
        if at.IsPropertyPath() and at.name in (*WEIGHTS, *keep):
            return
        spec = layer.GetObjectAtPath(at)
        if at.IsTargetPath() or spec is None:
            return
        found[str(at)] = {key: str(spec.GetInfo(key)) for key in spec.ListInfoKeys()}

    layer.Traverse(Sdf.Path.absoluteRootPath, visit)
    return found


def weigh(source, target, *more):
    assert main(["weight", str(source), "-o", str(target), "--threads", "1", *more]) == 0
    return target


@pytest.mark.parametrize("suffix", [".usda", ".usdc", ".usd"])
@pytest.mark.parametrize("up", ["Y", "Z"])
def test_weights_alone_change(tmp_path, suffix, up):
    source = write_character(tmp_path / f"in{suffix}", up, elements=3)
    target = weigh(source, tmp_path / f"out{suffix}")
    assert target.read_bytes()[:4] == source.read_bytes()[:4], "text stays text"
    assert specs(source) == specs(target)
    body = influences(target, "Body")
    np.testing.assert_allclose(body.sum(axis=1), 1, atol=1e-6)
    assert (body.max(axis=0) > 0.9).all(), "each joint leads vertices"
    character = usd_characters(UsdDocument(source))[0]
    np.testing.assert_allclose(character.skeleton.heads, BONES.heads, atol=1e-6)
    np.testing.assert_allclose(character.meshes[0].vertices, TUBE[0], atol=1e-6)
    stage = Usd.Stage.Open(str(target))
    for name in ("Body", "Collar"):
        indices = UsdSkel.BindingAPI(stage.GetPrimAtPath(f"/Character/{name}"))
        size = indices.GetJointIndicesPrimvar().GetElementSize()
        assert size == indices.GetJointWeightsPrimvar().GetElementSize() <= 4


def test_the_same_weights_as_from_arrays(tmp_path):
    source = write_character(tmp_path / "in.usda")
    target = weigh(source, tmp_path / "out.usda")
    character = usd_characters(UsdDocument(source))[0]
    body, collar = character.meshes
    plain = araplbs.weights(
        np.concatenate([body.vertices, collar.vertices]),
        np.concatenate([body.triangles, collar.triangles + len(body.vertices)]),
        character.skeleton.heads,
        character.skeleton.parents,
        tails=character.skeleton.tails,
        roll_axes=character.skeleton.roll_axes,
        names=character.skeleton.names,
    )
    read = np.concatenate([influences(target, name) for name in ("Body", "Collar")])
    np.testing.assert_allclose(read, plain.toarray(), atol=1e-4)


def test_joints_of_a_mesh(tmp_path):
    """Indices count the joints that the mesh lists. Joints that it needs are added."""
    listed = [ORDER[2], ORDER[0]]
    source = write_character(tmp_path / "in.usda", joints=listed)
    np.testing.assert_array_equal(influences(source, "Body")[:, 2], 1)
    assert usd_characters(UsdDocument(source))[0].weights[0].bones.tolist() == [2] * len(TUBE[0])
    target = weigh(source, tmp_path / "out.usda")
    stage = Usd.Stage.Open(str(target))
    joints = list(UsdSkel.BindingAPI(stage.GetPrimAtPath("/Character/Body")).GetJointsAttr().Get())
    assert joints[:2] == listed and set(joints) == set(ORDER)
    whole = weigh(write_character(tmp_path / "all.usda"), tmp_path / "all_out.usda")
    for name in ("Body", "Collar"):
        np.testing.assert_array_equal(influences(target, name), influences(whole, name))


def test_weights_of_a_whole_mesh_and_at_times(tmp_path):
    """Constant weights become weights of vertices, and values at times do not stay above them."""
    source = write_character(tmp_path / "in.usda")
    stage = Usd.Stage.Open(str(source))
    binding = UsdSkel.BindingAPI(stage.GetPrimAtPath("/Character/Collar"))
    binding.CreateJointIndicesPrimvar(True, 1).Set([3])
    binding.CreateJointWeightsPrimvar(True, 1).GetAttr().Set([1.0])
    body = UsdSkel.BindingAPI(stage.GetPrimAtPath("/Character/Body")).GetJointWeightsPrimvar()
    body.Set(body.Get(), 3.0)
    stage.GetRootLayer().Save()
    del stage
    assert (usd_characters(UsdDocument(source))[0].weights[1].bones == 3).all()
    target = weigh(source, tmp_path / "out.usda")
    assert (influences(target, "Body").max(axis=0) > 0.9).all()
    np.testing.assert_allclose(influences(target, "Collar").sum(axis=1), 1, atol=1e-6)


def test_a_package_keeps_its_other_files(tmp_path):
    (tmp_path / "skin.png").write_bytes(b"\x89PNG a picture")
    plain, package = write_character(tmp_path / "in.usda"), tmp_path / "in.usdz"
    assert UsdUtils.CreateNewUsdzPackage(str(plain), str(package))
    target = weigh(package, tmp_path / "out.usdz")
    before, after = (zipfile.ZipFile(path) for path in (package, target))
    assert before.namelist() == after.namelist()
    assert [before.read(n) for n in before.namelist()[1:]] == [
        after.read(n) for n in after.namelist()[1:]
    ]
    alone = weigh(plain, tmp_path / "out.usda")
    np.testing.assert_array_equal(influences(target, "Body"), influences(alone, "Body"))
    assert main(["weight", str(package), "--in-place"]) == 0
    np.testing.assert_array_equal(influences(package, "Body"), influences(alone, "Body"))


def test_a_package_with_a_file_named_like_ours(tmp_path):
    plain, package = write_character(tmp_path / "in.usda"), tmp_path / "in.usdz"
    writers = Sdf if hasattr(Sdf, "ZipFileWriter") else Usd  # in older versions
    with writers.ZipFileWriter.CreateNew(str(package)) as writer:
        writer.AddFile(str(plain), "in.usda")
        (tmp_path / "other.usda").write_text("#usda 1.0\n")
        writer.AddFile(str(tmp_path / "other.usda"), "edited.usda")
    target = weigh(package, tmp_path / "out.usdz")
    assert zipfile.ZipFile(target).read("edited.usda") == b"#usda 1.0\n"


def test_compliance_is_that_of_the_input(tmp_path):
    """As `usdchecker` judges it."""
    UsdValidation = pytest.importorskip("pxr.UsdValidation", reason="needs usd-core 24.11")
    source = write_character(tmp_path / "in.usda")

    def faults(path):
        validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
        assert len(validators) > 10
        stage = Usd.Stage.Open(str(path))
        found = UsdValidation.ValidationContext(validators).Validate(stage)
        return sorted(each.GetErrorAsString().replace(path.name, "") for each in found)

    assert faults(weigh(source, tmp_path / "out.usda")) == faults(source)


def test_paths_in_another_folder(tmp_path):
    """A texture is found from the folder of the output."""
    (tmp_path / "skin.png").write_bytes(b"\x89PNG")
    (tmp_path / "made").mkdir()
    target = weigh(write_character(tmp_path / "in.usda"), tmp_path / "made" / "out.usda")
    stage = Usd.Stage.Open(str(target))
    found = stage.GetPrimAtPath("/Character/Steel/Texture").GetAttribute("inputs:file").Get()
    assert found.path == "../skin.png" and found.resolvedPath == str(tmp_path / "skin.png")


def test_poses_of_the_animation(tmp_path):
    character = usd_characters(UsdDocument(write_character(tmp_path / "in.usda")))[0]
    poses = character.poses(10).transforms
    np.testing.assert_allclose(poses[[0, 2]], np.tile(np.eye(3, 4), (2, 4, 1, 1)), atol=1e-9)
    assert abs(poses[1, 1:] - np.eye(3, 4)).max() > 0.3
    heads = np.concatenate([BONES.heads, np.ones((4, 1))], axis=1)
    at = np.einsum("mij,mj->mi", poses[1], heads)
    np.testing.assert_allclose(at[:2], BONES.heads[:2], atol=1e-9)
    steps = np.linalg.norm(np.diff(at, axis=0), axis=1)
    np.testing.assert_allclose(steps, np.linalg.norm(np.diff(BONES.heads, axis=0), axis=1))


def test_rigid_parts_by_material_and_mesh(tmp_path):
    source = write_character(tmp_path / "in.usda")
    for k, more in enumerate((["--rigid-material", "Steel"], ["--rigid-mesh", "Collar"])):
        found = influences(weigh(source, tmp_path / f"out{k}.usda", *more), "Collar")
        np.testing.assert_array_equal(found, np.tile(found[:1], (len(found), 1)))


def test_other_commands(tmp_path):
    """Each reads the weights of the file, and keeps those that it does not change, bit by bit."""
    source = write_character(tmp_path / "in.usda")
    weighted = weigh(source, tmp_path / "weighted.usda")
    for more in ([], ["--baseline", str(source)]):
        assert main(["check", str(weighted), "--fail-on", "never", *more]) == 0
    assert main(["repair", str(weighted), "-o", str(tmp_path / "x.usda")]) == 0
    assert (influences(tmp_path / "x.usda", "Body") > 0).any()
    page, picture = tmp_path / "page.html", tmp_path / "page.png"
    methods = ["--method", "present", "--method", "ours"]
    assert main(["compare", str(weighted), "-o", str(page), *methods]) == 0
    assert main(["check", str(weighted), "--fail-on", "never", "--picture", str(picture)]) == 0
    assert page.exists() and picture.read_bytes()[:4] == b"\x89PNG"
    part = weigh(weighted, tmp_path / "part.usda", "--keep-mesh", "Collar", "--seed", "5")
    np.testing.assert_array_equal(influences(part, "Collar"), influences(weighted, "Collar"))
    arm = weigh(weighted, tmp_path / "arm.usda", "--only-bones", "Chest/", "--swing", "80")
    kept = influences(weighted, "Body")[:, :2]
    np.testing.assert_array_equal(influences(arm, "Body")[:, :2], kept)
    assert (influences(arm, "Body") != influences(weighted, "Body")).any()
    assert main(["quantize", str(weighted), "-o", str(tmp_path / "q.usda")]) == 0
    whole = influences(tmp_path / "q.usda", "Body") * 255
    np.testing.assert_allclose(whole, np.round(whole), atol=1e-4)


def test_from_python(tmp_path):
    file = araplbs.load_usd(write_character(tmp_path / "in.usda"))
    [character] = file.characters
    assert character.name == "Character" and character.mesh_names == ["Body", "Collar"]
    made = character.weigh(threads=1)
    character.set_weights(made)
    file.save(tmp_path / "out.usda")
    plain = weigh(tmp_path / "in.usda", tmp_path / "plain.usda")
    for name in character.mesh_names:
        np.testing.assert_array_equal(
            influences(tmp_path / "out.usda", name), influences(plain, name)
        )
    assert character.picture()[:4] == b"\x89PNG"
    again = araplbs.load_usd(tmp_path / "out.usda").characters[0]
    np.testing.assert_allclose(again.weights.toarray(), made.toarray(), atol=1e-6)


def edited(path, edit):
    stage = Usd.Stage.Open(str(path))
    edit(stage)
    stage.GetRootLayer().Save()


def set_attribute(prim, name, value):
    return lambda stage: stage.GetPrimAtPath(f"/Character/{prim}").GetAttribute(name).Set(value)


def add_part(stage, faces):
    """Gives faces of the body a material."""
    body = UsdShade.MaterialBindingAPI.Apply(stage.GetPrimAtPath("/Character/Body"))
    part = body.CreateMaterialBindSubset("Part", faces)
    material = UsdShade.Material(stage.GetPrimAtPath("/Character/Steel"))
    UsdShade.MaterialBindingAPI.Apply(part.GetPrim()).Bind(material)


def test_a_material_of_no_faces_is_no_part(tmp_path):
    source = write_character(tmp_path / "in.usda")
    edited(source, lambda stage: add_part(stage, []))
    [character] = usd_characters(UsdDocument(source))
    assert [len(vertices) for _name, vertices in character.skinned[0].materials] == [0]


def test_open_documents_of_one_file_share_no_edits(tmp_path):
    source = write_character(tmp_path / "in.usda")
    first, second = (araplbs.load_usd(source).characters[0] for _ in range(2))
    before = second.weights.toarray()
    first.set_weights(first.weigh(threads=1))
    third = araplbs.load_usd(source).characters[0]
    np.testing.assert_array_equal(third.weights.toarray(), before)
    shutil.copyfile(weigh(source, tmp_path / "out.usda"), source)
    assert (araplbs.load_usd(source).characters[0].weights.toarray() != before).any()


def test_layers_are_files_of_a_file(tmp_path, monkeypatch, capsys):
    """No output replaces a layer, and --resume sees that a layer has changed."""
    monkeypatch.chdir(tmp_path)
    body, root = write_character(tmp_path / "body.usda"), Sdf.Layer.CreateNew("in.usda")
    root.subLayerPaths.append("./body.usda")
    root.Save()
    before = body.read_bytes()
    assert main(["weight", "in.usda", "-o", "body.usda"]) == 1
    assert "body.usda, which the file uses" in capsys.readouterr().err
    assert body.read_bytes() == before
    words = ["weight", "in.usda", "-o", "out.usda", "--report", "r/", "--resume", "-q", "--json"]
    for content, wanted in ((before, 1), (before, 0), (before + b"# changed", 1)):
        body.write_bytes(content)
        assert main([*words, "r.json"]) == 0
        assert len(json.loads(Path("r.json").read_text())["files"]) == wanted


def test_text_that_is_not_utf8(tmp_path):
    source = write_character(tmp_path / "in.usda")
    source.write_bytes(source.read_bytes().replace(b'"Y"', b'"\xb0', 1))
    with pytest.raises(Refused, match="its text is not UTF-8"):
        UsdDocument(source)


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (set_attribute("Body", WEIGHTS[0], [9] * len(TUBE[0])), "joint index outside of its 4"),
        (set_attribute("Body", WEIGHTS[0], [0, 1]), "influences that do not fit|joint indices"),
        (set_attribute("Body", "points", []), "/Character/Body has no points"),
        (set_attribute("Body", "faceVertexCounts", [3, 3]), "corners for faces of 6 corners"),
        (set_attribute("Collar", "faceVertexIndices", [99] * 36), "outside of its 8 points"),
        (set_attribute("Rig", "bindTransforms", []), "has 0 bindTransforms for 4 joints"),
        (
            set_attribute("Rig", "bindTransforms", [Gf.Matrix4d(0)] * 4),
            "a bindTransform without volume",
        ),
        (set_attribute("Body", "points", [[np.nan] * 3] * len(TUBE[0])), "points .* not finite"),
        (
            set_attribute("Body", "primvars:skel:geomBindTransform", Gf.Matrix4d(np.inf)),
            "geomBindTransform that are not finite",
        ),
        (lambda stage: add_part(stage, [3, 999]), "/Character/Body/Part has the face 999"),
    ],
)
def test_refusals(tmp_path, capsys, edit, words):
    source = write_character(tmp_path / "in.usda")
    edited(source, edit)
    with pytest.raises(Refused, match=words):
        usd_characters(UsdDocument(source))
    assert main(["weight", str(source), "-o", str(tmp_path / "out.usda")]) != 0
    assert not (tmp_path / "out.usda").exists() and "Traceback" not in capsys.readouterr().err


def test_other_refusals(tmp_path, capsys):
    source = write_character(tmp_path / "in.usda", instanced=True)
    with pytest.raises(Refused, match="/Character/Clone/Skin is part of an instance"):
        usd_characters(UsdDocument(source))
    wrong = write_character(tmp_path / "joints.usda", joints=["Nobody"])
    with pytest.raises(Refused, match="lists the joint 'Nobody'"):
        usd_characters(UsdDocument(wrong))
    empty = tmp_path / "empty.usda"
    empty.write_text("#usda 1.0\n")
    with pytest.raises(Refused, match="has no skin"):
        usd_characters(UsdDocument(empty))
    for name, content in (("a.usda", b"#usda 1.0\n("), ("b.usdz", b"PK"), ("c.usdc", b"")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(Refused):
            UsdDocument(tmp_path / name)
    with zipfile.ZipFile(tmp_path / "d.usdz", "w") as archive:
        archive.writestr("../out.usda", "#usda 1.0")
    with pytest.raises(Refused, match="outside of the package"):
        UsdDocument(tmp_path / "d.usdz")
    with zipfile.ZipFile(tmp_path / "f.usdz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("in.usda", "#usda 1.0\n" + "#" * 100000)
    with pytest.raises(Refused, match="its files are compressed"):
        UsdDocument(tmp_path / "f.usdz")
    with zipfile.ZipFile(tmp_path / "e.usdz", "w") as archive:
        archive.writestr("skin.png", "")
    with pytest.raises(Refused, match="does not begin with a layer"):
        UsdDocument(tmp_path / "e.usdz")
    shutil.copyfile(source, tmp_path / "f.usda")
    with pytest.raises(Refused, match=r"\.usdz stays \.usdz"):
        UsdDocument(tmp_path / "f.usda").save(tmp_path / "f.usdz")
    for words in (["-o", "out.glb"], ["-o", "o.usda", "--skeleton", str(source)]):
        assert main(["weight", str(source), *words]) == 2
    assert "cannot become" in capsys.readouterr().err


def test_without_the_package(tmp_path, monkeypatch):
    (tmp_path / "in.usda").write_text("#usda 1.0\n")
    monkeypatch.setitem(__import__("sys").modules, "pxr", None)
    with pytest.raises(Refused, match=r"usd-core: run pip install 'araplbs\[usd\]'"):
        UsdDocument(tmp_path / "in.usda")
