"""Unsupported contents of a glTF file are refused with one sentence that names them, and untrusted
files do no harm."""

import json
import struct

import numpy as np
import pytest
from araplbs.base.refusal import Refused
from fuzzing_files import spoil
from gltf_files import BONES, HEADS, TRIANGLES, VERTICES, Glb, of_several_parts, plain
from gltf_validity import File, faults

N = len(VERTICES)


def part_of(glb):
    return glb.json["meshes"][0]["primitives"][0]


def accessor_of(glb, name):
    return glb.json["accessors"][part_of(glb)["attributes"][name]]


def draco(glb):
    part_of(glb)["extensions"] = {"KHR_draco_mesh_compression": {"bufferView": 0}}


def meshopt(glb):
    view = glb.json["bufferViews"][accessor_of(glb, "POSITION")["bufferView"]]
    view["extensions"] = {"EXT_meshopt_compression": {"buffer": 0}}


def no_skin(glb):
    del glb.json["nodes"][-1]["skin"]
    glb.json["skins"] = []


def two_skins(glb):
    glb.joints()
    first = len(glb.json["nodes"]) - 5
    glb.json["nodes"].append({"children": [0, first]})
    glb.node(mesh=0, skin=glb.skin(list(range(first, first + 5))))


def joint_too_high(glb):
    glb.blob[glb.place_of(part_of(glb)["attributes"]["JOINTS_0"])] = 77


def index_too_high(glb):
    struct.pack_into("<H", glb.blob, glb.place_of(part_of(glb)["indices"]), 60000)


def set_in(name, key, value):
    def change(glb):
        accessor_of(glb, name)[key] = value

    change.__name__ = f"{name}_{key}_{value}"
    return change


def circle(glb):
    glb.json["nodes"][4]["children"] = [0]


def two_parents(glb):
    glb.json["nodes"][0]["children"] = [1, 3]


def not_finite(glb):
    begin = glb.place_of(part_of(glb)["attributes"]["POSITION"])
    struct.pack_into("<f", glb.blob, begin + 24, np.nan)


def flat_matrix(glb):
    begin = glb.place_of(glb.json["skins"][0]["inverseBindMatrices"])
    glb.blob[begin : begin + 64] = bytes(64)


def infinite_matrix(glb):
    begin = glb.place_of(glb.json["skins"][0]["inverseBindMatrices"])
    struct.pack_into("<f", glb.blob, begin + 64, np.nan)


def few_matrices(glb):
    glb.json["accessors"][glb.json["skins"][0]["inverseBindMatrices"]]["count"] = 2


def joint_twice(glb):
    glb.json["skins"][0]["joints"][1] = 0


def no_such_joint(glb):
    glb.json["skins"][0]["joints"][1] = 99


def no_joints(glb):
    glb.json["skins"][0]["joints"] = []


def no_such_mode(glb):
    part_of(glb)["mode"] = 9


def bad_place(glb):
    del glb.json["skins"][0]["inverseBindMatrices"]
    glb.json["nodes"][-1]["children"] = [0]
    glb.json["nodes"][-1]["scale"] = [1, "big", 1]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (draco, "KHR_draco_mesh_compression"),
        (meshopt, "EXT_meshopt_compression: unpack it first"),
        (no_skin, "has no skin: no mesh is bound to joints. Use the joints of another file with"),
        (two_skins, "is used with skins 0 and 1, which have different joints"),
        (joint_too_high, "refers to joint 77, but its skin has 5"),
        (index_too_high, "has a vertex index 60000, but only 202 vertices"),
        (set_in("POSITION", "count", 5000), "extends beyond the end of bufferView"),
        (
            set_in("POSITION", "byteOffset", -4),
            "its JSON has accessors[0].byteOffset -4: must be a whole number that is not neg",
        ),
        (set_in("POSITION", "type", "VEC9"), "has type 'VEC9'"),
        (set_in("POSITION", "type", "VEC2"), "has type 'VEC2': must be VEC3"),
        (set_in("POSITION", "componentType", 5124), "has component type 5124"),
        (set_in("POSITION", "bufferView", 99), "refers to bufferViews[99], but has"),
        (set_in("JOINTS_0", "componentType", 5126), "extends beyond the end of bufferView"),
        (set_in("WEIGHTS_0", "count", 3), "has 202 joints for 3 weights"),
        (not_finite, "has a value that is not finite (first: element 2)"),
        (circle, "node 0 is a child of two nodes|has nodes that are their own ancestors"),
        (two_parents, "node 3 is a child of two nodes"),
        (flat_matrix, "skin 0 has a bind matrix without volume (joint 'joint 0')"),
        (infinite_matrix, "skin 0 has a bind matrix that is not finite (joint 'joint 1')"),
        (few_matrices, "has 2 bind matrices for 5 joints"),
        (joint_twice, "skin 0 contains a joint twice"),
        (no_such_joint, "refers to nodes[99]"),
        (no_joints, "skin 0 has no joints"),
        (no_such_mode, "has a primitive of mode 9"),
        (bad_place, "node 5 has 'scale' [1, 'big', 1]"),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_refused_in_a_sentence(core, tmp_path, change, words):
    glb = plain()
    change(glb)
    path = glb.write(tmp_path / "in.glb")
    with pytest.raises(Refused) as found:
        core("gltf.character").load_characters(path)
    assert any(each in str(found.value) for each in words.split("|")), found.value


def glb_of(*chunks, version=2, length=None):
    body = b"".join(struct.pack("<II", len(data), kind) + data for kind, data in chunks)
    size = 12 + len(body) if length is None else length
    return struct.pack("<4sII", b"glTF", version, size) + body


JSON = 0x4E4F534A


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "does not begin with 'glTF'"),
        (b"glTF", "ends after 4 bytes"),
        (glb_of((JSON, b'{"asset":{"version":"1.0"}}')), "uses glTF version '1.0'"),
        (glb_of((JSON, b"{}")), "uses glTF version None"),
        (glb_of((JSON, b"{}"), version=1), "uses glTF version 1:"),
        (glb_of((JSON, b"{}"), length=999), "ends after 22 of 999 bytes"),
        (glb_of((1, b"{}  ")), "has no JSON in its first chunk"),
        (glb_of((JSON, b"[1, 2]  ")), "its JSON has [1, 2] at the top: must be an object"),
        (glb_of((JSON, b"{")), "its JSON cannot be read"),
        (glb_of((JSON, b"[" * 100000)), "its JSON cannot be read"),
        (
            glb_of((JSON, b'{"asset":{"version":"2.0"},"buffers":[{"byteLength":-1}]}')),
            "byteLength",
        ),
        (glb_of((JSON, b'{"asset":{"version":"2.0"},"nodes":7}')), "has nodes 7: must be a list"),
        (
            glb_of((JSON, b'{"asset":{"version":"2.0"},"nodes":[7]}')),
            "has nodes[0] 7: must be an object",
        ),
    ],
)
def test_no_gltf(core, tmp_path, content, words):
    path = tmp_path / "in.glb"
    path.write_bytes(content)
    with pytest.raises(Refused) as found:
        core("gltf.character").load_characters(path)
    assert words in str(found.value)


@pytest.mark.parametrize(
    ("uri", "words"),
    [
        ("../secret.bin", "which is outside its folder"),
        ("/etc/passwd", "which is outside its folder"),
        ("https://example.org/a.bin", "which is not a file in its folder"),
        ("file:///etc/passwd", "which is not a file in its folder"),
        ("//host/a.bin", "which is not a file in its folder"),
        ("..%2Fsecret.bin", "which is outside its folder"),
        ("a%00.bin", "which is not a file in its folder"),
        ("missing.bin", "cannot be read"),
        ("data:application/octet-stream;base64,!!!", "has a data URI that cannot be read"),
        ("data:text/plain,abc", "has a data URI that cannot be read"),
    ],
)
def test_files_elsewhere_are_not_read(core, tmp_path, uri, words):
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "secret.bin").write_bytes(bytes(100000))
    glb = plain()
    glb.json["buffers"][0]["byteLength"] = len(glb.blob)
    glb.json["buffers"][0]["uri"] = uri
    path = folder / "in.gltf"
    path.write_text(json.dumps(glb.json))
    with pytest.raises(Refused) as found:
        core("gltf.character").load_characters(path)
    assert words in str(found.value)


@pytest.fixture
def of_files(core, tmp_path):
    """The document of a weighted .gltf with its buffer and an image in separate files."""
    (tmp_path / "skin.png").write_bytes(b"\x89PNG no picture")
    path = plain().write_apart(tmp_path / "in.gltf", images=[{"uri": "skin.png", "name": "skin"}])
    (tmp_path / "data.bin").rename(tmp_path / "the data.bin")
    path.write_text(path.read_text().replace("data.bin", "the%20data.bin"))
    (tmp_path / "away").mkdir()
    document = core("gltf.file.container").read_document(path)
    each = core("gltf.character").characters_of(document)[0]
    found, _report = core("gltf.work").weigh_character(each, core("model.options").Options())
    each.write(found.rows)
    return document


def assert_weighted(core, path):
    again = core("gltf.character").load_characters(path)[0]
    assert np.allclose(again.weights[0].sums(), 1)
    assert (np.unique(again.weights[0].bones) == np.arange(len(HEADS))).all()


def test_data_in_a_file_beside_it(core, tmp_path, of_files):
    """The data is read and stays. The new weights are written into the .gltf, which stays in its
    folder."""
    before = (tmp_path / "the data.bin").read_bytes()
    save = core("gltf.file.container").save_document
    with pytest.raises(Refused, match=r"has data in other files \(the%20data.bin\)"):
        save(of_files, tmp_path / "away/out.gltf")
    save(of_files, tmp_path / "out.gltf")
    assert (tmp_path / "the data.bin").read_bytes() == before
    assert_weighted(core, tmp_path / "out.gltf")


@pytest.mark.parametrize("name", ["out.glb", "away/out.glb"])
def test_a_gltf_becomes_one_glb(core, tmp_path, of_files, name):
    core("gltf.file.container").save_document(of_files, tmp_path / name)
    assert faults(tmp_path / name) == []
    assert_weighted(core, tmp_path / name)
    file = File(tmp_path / name)
    (image,) = file.json["images"]
    view = file.json["bufferViews"][image["bufferView"]]
    begin = view["byteOffset"]
    assert file.blob[begin : begin + view["byteLength"]] == b"\x89PNG no picture"
    assert image == {"name": "skin", "bufferView": image["bufferView"], "mimeType": "image/png"}
    assert len(file.json["buffers"]) == 1 and "uri" not in file.json["buffers"][0]


def test_an_image_that_is_no_image_is_not_packed(core, tmp_path, of_files):
    of_files.json["images"][0]["uri"] = "in.gltf"
    with pytest.raises(Refused, match="has an image of an unknown kind: in"):
        core("gltf.file.container").save_document(of_files, tmp_path / "out.glb")


def test_other_files_are_not_replaced(core, tmp_path):
    container = core("gltf.file.container")
    document = container.read_document(plain().write(tmp_path / "in.glb"))
    (tmp_path / "notes.glb").write_text("not a model")
    with pytest.raises(Refused, match="already exists"):
        container.save_document(document, tmp_path / "notes.glb")
    assert (tmp_path / "notes.glb").read_text() == "not a model"


@pytest.mark.parametrize("names", [(["gold"], []), ([], ["Sword"])])
def test_rigid_parts_that_are_nowhere(weigh, names):
    with pytest.raises(Refused, match="has no material or mesh"):
        weigh(plain(), rigid=names)


def test_a_rigid_mesh_of_one_of_two_characters(core):
    """The other character needs no mesh of this name."""
    glb, character = Glb(), core("gltf.character")
    for name in ("Ogre", "Imp"):
        joints = glb.joints([f"{name} {k}" for k in range(BONES)])
        glb.node(name=name, mesh=glb.mesh(glb.primitive(TRIANGLES)), skin=glb.skin(joints))
    glb.json["buffers"][0]["byteLength"] = len(glb.blob)
    document = core("gltf.file.container").Document("two.glb", glb.json, True, [glb.blob])
    [[ogre], [imp]] = character.rigid_parts(character.characters_of(document), [], ["Imp"])
    assert ogre == [] and [len(part) for part in imp] == [len(VERTICES)]


def test_chunks_after_the_second_stay(core, tmp_path):
    content = bytearray(plain().write(tmp_path / "in.glb").read_bytes())
    content += struct.pack("<II", 8, 0x12345678) + b"whatever"
    content[8:12] = struct.pack("<I", len(content))
    (tmp_path / "in.glb").write_bytes(content)
    container = core("gltf.file.container")
    document = container.read_document(tmp_path / "in.glb")
    assert container.as_bytes(document, True).endswith(b"whatever")


def test_a_file_comes_out_as_it_went_in(core, tmp_path):
    """A file without any spare byte."""
    glb = Glb()
    glb.bind(glb.primitive(TRIANGLES), glb.joints())
    glb.blob += bytes(-len(glb.blob) % 4)
    path = glb.write(tmp_path / "in.glb")
    text = json.loads(
        path.read_bytes()[20 : 20 + int.from_bytes(path.read_bytes()[12:16], "little")]
    )
    container = core("gltf.file.container")
    document = container.read_document(path)
    again = container.as_bytes(document, True)
    (tmp_path / "out.glb").write_bytes(again)
    assert container.read_document(tmp_path / "out.glb").json == text
    assert again[-len(glb.blob) :] == bytes(glb.blob)


def test_whatever_a_file_has_it_is_read_or_refused(core, tmp_path):
    """No other exception is raised: 400 files with random faults, all of whose contents are
    read."""
    character, poses_of = core("gltf.character"), core("gltf.animations").poses_of
    as_bytes, counts = core("gltf.file.container").as_bytes, {"read": 0, "refused": 0}
    for seed in range(400):
        random = np.random.default_rng(seed)
        glb = of_several_parts() if seed % 2 else plain(weights=("u1", "<u2", "<f4")[seed % 3])
        glb.animate(2, "rotation", [[0, 0, 0, 1], [0, 0, 1, 0]])
        spoil(glb, random)
        path = tmp_path / "in.glb"
        try:
            glb.write(path)
        except (TypeError, KeyError, IndexError):  # the test's own program
            continue
        try:
            with np.errstate(all="ignore"):
                for each in character.load_characters(path):
                    each.facts(each.skeleton)
                    poses_of(each.nodes, each.armature, each.clips, 5)
                    each.write(each.weights)
                    as_bytes(each.document, True)
            counts["read"] += 1
        except Refused:
            counts["refused"] += 1
    assert min(counts.values()) > 20, counts
