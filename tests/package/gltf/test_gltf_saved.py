"""A written glTF file can be read by other programs and refers to the files that its input used.
Neither the file nor a report replaces one of them."""

import json
import os
import re
import struct
import subprocess
import sys

import numpy as np
import pytest
from araplbs.base.refusal import Refused
from gltf_files import TRIANGLES, VERTICES, Glb, moves, plain, rows
from gltf_validity import File
from paths import environment

posix = pytest.mark.skipif(os.name == "nt", reason="Windows reports a closed pipe differently")


@pytest.fixture
def container(core):
    return core("gltf.file.container")


def with_text(path, glb, more):
    """Writes a .gltf with further members, as text that Python's own writer might not produce."""
    glb.write(path)
    path.write_text(path.read_text().rstrip()[:-1] + f", {more}}}")
    return path


def text_of(path):
    """The JSON of a file as strict UTF-8."""
    content = path.read_bytes()
    if content[:4] == b"glTF":
        content = content[20 : 20 + struct.unpack_from("<I", content, 12)[0]]
    return content.decode("utf-8")


@pytest.mark.parametrize("suffix", [".glb", ".gltf"])
def test_half_of_a_character_stays_an_escape(container, tmp_path, suffix):
    """Names cut in UTF-16 have it. UTF-8 does not."""
    path = with_text(
        tmp_path / "in.gltf", plain(), r'"extras": {"a\uDFFF": ["\ud800b", "\ud83d\ude00"]}'
    )
    container.save_document(container.read_document(path), tmp_path / f"out{suffix}")
    text = text_of(tmp_path / f"out{suffix}")
    assert json.loads(text)["extras"] == {"a\udfff": ["\ud800b", "\U0001f600"]}
    assert r"\ud800" in text and "\U0001f600" in text


@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN", "Infinity", "-Infinity"])
def test_numbers_that_json_does_not_have(container, tmp_path, number):
    path = with_text(tmp_path / "in.gltf", plain(), f'"extras": {{"a": [0, {number}]}}')
    words = f"its JSON has extras.a[1] {number}: must be a finite number"
    with pytest.raises(Refused, match=re.escape(words)):
        container.read_document(path)


def test_of_doubled_names_the_last_stays(container, tmp_path):
    more = '"extras": {"a": 1e999, "a": 1E5}'
    path = with_text(tmp_path / "in.gltf", plain(), more)
    container.save_document(container.read_document(path), path)
    assert json.loads(path.read_text())["extras"] == {"a": 100000.0}


@pytest.mark.parametrize("depth", [600, 2000])
def test_deep_entries(container, tmp_path, depth):
    """They are written or refused in a sentence, also if the buffer moves into the file."""
    path = plain().write_apart(tmp_path / "in.gltf")
    path.write_text(path.read_text()[:-1] + ', "extras": ' + "[" * depth + "]" * depth + "}")
    try:
        container.save_document(container.read_document(path), tmp_path / "out.glb")
    except Refused as error:
        assert depth > 1000, error
    else:
        assert depth < 1000


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda content: content[:-4], "it could not be read again"),
        (lambda content: content.replace(b"joint 3", b"joint 4"), "the written JSON differs"),
        (lambda content: content[:-8] + b"otherbin", "the written buffer 0 differs"),
    ],
)
def test_what_cannot_be_read_again_replaces_nothing(container, tmp_path, monkeypatch, spoil, words):
    """The writer or the disk makes an error."""
    path = plain().write(tmp_path / "in.glb")
    before, document = path.read_bytes(), container.read_document(path)
    as_bytes = container.as_bytes
    monkeypatch.setattr(container, "as_bytes", lambda *given: spoil(as_bytes(*given)))
    with pytest.raises(Refused, match=words):
        container.save_document(document, path)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["in.glb"]


SOUND = {"extensions": {"KHR_audio": {"audio": [{"uri": "a%20sound.mp3"}]}}}
SCHEMA = {"extras": [{"schemaUri": "../a%20sound.mp3"}]}


@pytest.mark.parametrize("more", [SOUND, SCHEMA], ids=["extension", "above the folder"])
@pytest.mark.parametrize("target", ["away/out.glb", "away/out.gltf"])
def test_files_of_extensions_are_not_lost(container, tmp_path, more, target):
    for folder in ("own", "away"):
        (tmp_path / folder).mkdir()
    path = plain().write_apart(tmp_path / "own/in.gltf", **more)
    (tmp_path / "own" / ("../a sound.mp3" if more is SCHEMA else "a sound.mp3")).write_bytes(b"ID3")
    document = container.read_document(path)
    with pytest.raises(Refused, match=r"has data in other files \(.*\): write it to the same fol"):
        container.save_document(document, tmp_path / target)
    container.save_document(document, tmp_path / "own/out.glb")
    assert os.listdir(tmp_path / "away") == []


@pytest.mark.parametrize(
    "uri",
    ["https://example.org/a.mp3", "//host/a.mp3", "data:,a", "missing.mp3", "//[x/", "\ud800"],
)
def test_addresses_are_not_files(container, tmp_path, uri):
    """They mean the same in every folder."""
    (tmp_path / "away").mkdir()
    path = plain().write_apart(tmp_path / "in.gltf", extras={"uri": uri})
    container.save_document(container.read_document(path), tmp_path / "away/out.glb")


@pytest.mark.parametrize("uri", ["//[x/", "\ud800.bin"])
def test_addresses_that_are_none(container, tmp_path, uri):
    path = plain().write_apart(tmp_path / "in.gltf")
    path.write_text(path.read_text().replace('"data.bin"', json.dumps(uri)))
    with pytest.raises(Refused, match="which is not a file in its folder"):
        container.read_document(path)


def test_an_output_replaces_no_used_file(main, tmp_path, capsys):
    glb = plain()
    glb.blob[:4] = b"glTF"
    (tmp_path / "data.glb").write_bytes(glb.blob)
    glb.json["buffers"][0] |= {"uri": "data.glb", "byteLength": len(glb.blob)}
    page = '<!DOCTYPE html>\n<html><meta name="generator" content="araplbs reports">'
    (tmp_path / "used.html").write_text(page)
    glb.json["images"] = [{"uri": "used.html"}]
    for name in ("in.gltf", "in2.gltf"):
        text = json.dumps({key: value for key, value in glb.json.items() if value})
        (tmp_path / name).write_text(text)
    for options in (
        ["weight", "in.gltf", "-o", "data.glb"],
        ["weight", "in.gltf", "-o", "out.gltf", "--report", "used.html"],
        ["check", "in.gltf", "--report", "used.html"],
        ["check", "in.gltf", "in2.gltf", "--jobs", "2", "--report", "used.html"],
    ):
        assert main(options) == 1
        assert "which the file uses" in capsys.readouterr().err
    assert (tmp_path / "data.glb").read_bytes() == glb.blob
    assert (tmp_path / "used.html").read_text() == page
    assert sorted(os.listdir(tmp_path)) == ["data.glb", "in.gltf", "in2.gltf", "used.html"]


@pytest.mark.parametrize("command", ["weight", "joints", "quantize", "reduce-bones", "repair"])
def test_refused_before_the_work(core, main, tmp_path, capsys, monkeypatch, command):
    """A .gltf with separate data cannot be written to another folder."""

    def work(_document):
        raise AssertionError("the work has begun")

    monkeypatch.setattr(core("gltf.character"), "characters_of", work)
    plain().write_apart(tmp_path / "in.gltf")
    (tmp_path / "away").mkdir()
    assert main([command, "in.gltf", "-o", "away/"]) == 1
    assert "has data in other files (data.bin)" in capsys.readouterr().err


@posix
def test_a_reader_that_has_gone(tmp_path):
    """The file is written, and nothing is said."""
    plain().write(tmp_path / "in.glb")
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-P", "-m", "araplbs", "weight", "in.glb", "-o", "out.glb"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment(), stdout=writer, stderr=subprocess.PIPE, text=True
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")
    assert moves(rows(File(tmp_path / "out.glb"))[1])


def test_reports_have_only_json_numbers(core, tmp_path):
    outputs = core("disk.outputs")
    outputs.write_json(tmp_path / "a.json", outputs.RESULTS, {"a": [np.inf, -np.inf, np.nan, 1.5]})

    def wrong(word):
        raise AssertionError(word)

    found = json.loads((tmp_path / "a.json").read_text(), parse_constant=wrong)
    assert found == {"generator": "araplbs results", "a": [None, None, None, 1.5]}


def no_matrices(glb):
    del glb.json["skins"][0]["inverseBindMatrices"]


def not_affine(glb):
    begin = glb.place_of(glb.json["skins"][0]["inverseBindMatrices"])
    struct.pack_into("<f", glb.blob, begin + 64 + 4 * 7, 0.5)  # of the second joint


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (no_matrices, "skin 0 has no inverse bind matrices"),
        (not_affine, "matrices that are not affine, of which the last row is ignored: joint 1"),
    ],
)
def test_doubtful_matrices_are_named(core, main, tmp_path, capsys, change, words):
    glb = plain()
    change(glb)
    glb.write(tmp_path / "in.glb")
    assert main(["check", "in.glb", "--json", "found.json"]) == 0
    (warning,) = json.loads((tmp_path / "found.json").read_text())["files"][0]["warnings"]
    assert words in warning and "joint 1" in warning
    assert warning.partition(": ")[2] in capsys.readouterr().out
    (character,) = core("api.gltf").load_gltf(tmp_path / "in.glb").characters
    assert words in character.doubts[0]
    plain().write(tmp_path / "in.glb")
    assert core("api.gltf").load_gltf(tmp_path / "in.glb").characters[0].doubts == []


@pytest.mark.parametrize("name", ["POSITION", "WEIGHTS_0", "indices", "inverseBindMatrices"])
def test_elements_without_data_are_bounded(core, tmp_path, name):
    """A small file must not ask for gigabytes."""
    glb = plain()
    part = glb.json["meshes"][0]["primitives"][0]
    entries = part["attributes"] | part | glb.json["skins"][0]
    accessor = glb.json["accessors"][entries[name]]
    del accessor["bufferView"]
    accessor["count"] = len(glb.blob) + 1
    words = f"has {len(glb.blob) + 1:,} elements without data, but the file has only"
    with pytest.raises(Refused, match=words):
        core("gltf.character").load_characters(glb.write(tmp_path / "in.glb"))


def of_parts(count):
    glb = Glb()
    parts = [glb.primitive(TRIANGLES[k : k + 1]) for k in range(count)]
    glb.node(mesh=glb.mesh(*parts), skin=glb.skin(glb.joints()))
    return glb


def test_work_grows_with_the_primitives(core, tmp_path, monkeypatch):
    """Each range of bytes is determined once, and compared with a few others."""
    uses, found = core("gltf.file.uses"), []
    counts = {"_range": 0, "_meet": 0}

    def counting(owner, name):
        before = getattr(owner, name)

        def counted(*given):
            counts[name] += 1
            return before(*given)

        monkeypatch.setattr(owner, name, counted)

    counting(uses.Uses, "_range")
    counting(uses, "_meet")
    for parts in (50, 100):
        counts.update(_range=0, _meet=0)
        path = of_parts(parts).write(tmp_path / "in.glb")
        (character,) = core("gltf.character").load_characters(path)
        character.write(character.weights)
        found.append(dict(counts))
    assert 100 < found[1]["_range"] < 2.2 * found[0]["_range"]
    assert found[1]["_meet"] <= 2.2 * found[0]["_meet"] + 10


def test_ancestors_are_visited_once(core):
    """A chain of joints that are all named."""
    nodes_of, armature = core("gltf.nodes"), core("gltf.armature")
    count, visited = 2000, 0
    head = {"nodes": [{"children": [k + 1]} for k in range(count - 1)] + [{}]}
    document = core("gltf.file.container").Document("", head, True, [])
    nodes = nodes_of.Nodes(document)

    class Counted(list):
        def __getitem__(self, key):
            nonlocal visited
            visited += 1
            return super().__getitem__(key)

    nodes.parents = Counted(nodes.parents)
    head["skins"] = [{"joints": list(range(count))}]
    (found,) = armature.find_armatures(document, nodes, armature.read_skins(document))
    assert found.bones == list(range(count)) and nodes.common_ancestor([5, 9, 7]) == 5
    assert visited < 10 * count


def test_joints_of_one_name_are_numbered(core):
    document = core("gltf.file.container").Document("", {}, True, [])
    names = ["a", "a", "a.001", "a", "b", "a.001"]
    document.json["nodes"] = [{"name": name} for name in names]
    document.json["skins"] = [{"joints": list(range(len(names)))}]
    armature = core("gltf.armature")
    nodes = core("gltf.nodes").Nodes(document)
    found = armature.find_armatures(document, nodes, armature.read_skins(document))
    assert [name for each in found for name in each.skeleton.names][:1] == ["a"]
    numbered = ["a", "a.001", "a.001.001", "a.002", "b", "a.001.002"]
    assert armature.unique_names(names) == numbered


def test_vertices_that_are_not_drawn_count_as_vertices(core, tmp_path):
    """The rows of a rig as text are read only for the vertices of the mesh."""
    text = "joints a 0 0 0\njoints b 0 0 1\nhier a b\nroot a\nskin 0 a 1\nskin 2000000000 b 1\n"
    (tmp_path / "rig.txt").write_text(text)
    rig = core("gltf.rig_text").read_rig_text(tmp_path / "rig.txt")
    assert rig.count == 2_000_000_001 and rig.rows(len(VERTICES)).sums().tolist()[:2] == [1, 0]
