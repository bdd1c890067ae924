"""Meshes compressed with Draco are read with the package DracoPy, and written plain."""

import sys

import numpy as np
import pytest
from araplbs.base.refusal import Refused
from gltf_files import VERTICES, Weigher, moves, of_several_parts, plain, rows
from gltf_validity import File

NAME = "KHR_draco_mesh_compression"


def compressed(glb, folder):
    """The Glb, with all primitives compressed by Draco."""
    DracoPy = pytest.importorskip("DracoPy", reason="needs the package DracoPy")
    file = File(glb.write(folder / "plain.glb"))
    for mesh in glb.json["meshes"]:
        for part in mesh["primitives"]:
            names = {n: a for n, a in part["attributes"].items() if n != "POSITION"}
            arrays = {k: file.read(number) for k, number in enumerate(names.values())}
            position = file.read(part["attributes"]["POSITION"])
            faces = file.read(part["indices"]).reshape(-1, 3)
            data = DracoPy.encode(
                position, faces, 20, preserve_order=True, generic_attributes=arrays
            )
            (own,) = {a["unique_id"] for a in DracoPy.decode(data).attributes} - set(arrays)
            keys = dict(zip(names, arrays, strict=True)) | {"POSITION": own}
            part["extensions"] = {NAME: {"bufferView": glb.view(data), "attributes": keys}}
            for number in (part["indices"], *part["attributes"].values()):
                del glb.json["accessors"][number]["bufferView"]
    glb.json["extensionsUsed"] = [NAME, "KHR_other"]
    glb.json["extensionsRequired"] = [NAME]
    return glb


def test_weighted_like_the_plain_file(core, tmp_path):
    weigh = Weigher(core, tmp_path)
    expected = rows(weigh(plain(weights="<f4")))
    found = weigh(compressed(plain(weights="<f4"), tmp_path))
    assert NAME in weigh.before.json["extensionsUsed"]
    assert found.json["extensionsUsed"] == ["KHR_other"]
    assert "extensionsRequired" not in found.json
    assert "extensions" not in found.json["meshes"][0]["primitives"][0]
    places, dense = rows(found)
    assert np.abs(places - VERTICES).max() < 1e-4
    assert moves(dense)
    assert np.abs(dense - expected[1]).max() < 1e-3


def test_several_parts_and_one_without_skin(core, tmp_path):
    found = Weigher(core, tmp_path)(compressed(of_several_parts(), tmp_path))
    assert not any(
        NAME in p.get("extensions", {}) for m in found.json["meshes"] for p in m["primitives"]
    )
    before = File(of_several_parts().write(tmp_path / "plain.glb"))
    for number, mesh in enumerate(before.json["meshes"]):
        for k, part in enumerate(mesh["primitives"]):
            own = found.json["meshes"][number]["primitives"][k]
            assert (found.read(own["indices"]) == before.read(part["indices"])).all()
            name = "POSITION"
            pair = found.read(own["attributes"][name]), before.read(part["attributes"][name])
            assert np.abs(pair[0] - pair[1]).max() < 1e-4


def test_data_of_two_primitives_and_bytes_of_three(core, tmp_path):
    """Vertices begin at multiples of 4 bytes, and shared arrays stay shared."""
    glb = plain()
    part = glb.json["meshes"][0]["primitives"][0]
    colors = np.random.default_rng(0).integers(0, 255, (len(VERTICES), 3))
    part["attributes"]["COLOR_0"] = glb.add(colors, "u1", "VEC3", normalized=True)
    compressed(glb, tmp_path)
    glb.json["meshes"][0]["primitives"].append(part | {"material": 0})
    glb.json["materials"] = [{}]
    found = Weigher(core, tmp_path)(glb)
    first, second = found.json["meshes"][0]["primitives"]
    assert first["attributes"] == second["attributes"]
    assert (found.read(first["attributes"]["COLOR_0"]) == colors).all()
    assert len(found.json["accessors"]) == len(glb.json["accessors"])


@pytest.mark.parametrize("command", ["weight", "repair", "check", "compare"])
def test_by_command(core, tmp_path, capsys, command):
    source = compressed(plain(), tmp_path).write(tmp_path / "in.glb")
    out = {"check": "", "compare": "page.html"}.get(command, "out.glb")
    arguments = [command, str(source), "--picture", str(tmp_path / "sheet.png")]
    arguments += ["-o", str(tmp_path / out)] if out else []
    assert core("cli.main").main(arguments) in (0, 3)
    assert (tmp_path / "sheet.png").exists()
    assert ("out.glb without compression\n" in capsys.readouterr().out) == (out == "out.glb")


def test_refused_without_the_package(core, tmp_path, monkeypatch):
    path = compressed(plain(), tmp_path).write(tmp_path / "in.glb")
    monkeypatch.setitem(sys.modules, "DracoPy", None)
    with pytest.raises(
        Refused, match=r"needs the package DracoPy: run pip install 'araplbs\[draco\]'"
    ):
        core("gltf.character").load_characters(path)


def spoil_data(glb, part):
    glb.blob[glb.json["bufferViews"][part["extensions"][NAME]["bufferView"]]["byteOffset"]] ^= 255


def other_count(glb, part):
    glb.json["accessors"][part["attributes"]["JOINTS_0"]]["count"] -= 1


def no_attribute(glb, part):
    part["extensions"][NAME]["attributes"]["JOINTS_0"] = 99


def two_views(glb, part):
    again = glb.view(b"DRACO")
    other = {NAME: part["extensions"][NAME] | {"bufferView": again}}
    glb.json["bufferViews"][again] = dict(
        glb.json["bufferViews"][part["extensions"][NAME]["bufferView"]]
    )
    glb.json["meshes"][0]["primitives"].append(part | {"extensions": other})


def no_number(glb, part):
    part["extensions"][NAME]["bufferView"] = "a"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (spoil_data, f"has data of {NAME} that cannot be read: "),
        (other_count, f"has 201 elements of VEC4, but {NAME} has (202, 4) of uint8"),
        (no_attribute, f"has 202 elements of VEC4, but {NAME} has nothing"),
        (two_views, f"belongs to two meshes compressed by {NAME}"),
        (no_number, f"extensions.{NAME}.bufferView 'a': must be a whole number"),
    ],
)
def test_damaged_data_is_refused(core, tmp_path, change, words):
    glb = compressed(plain(), tmp_path)
    change(glb, glb.json["meshes"][0]["primitives"][0])
    with pytest.raises(Refused) as found:
        core("gltf.character").load_characters(glb.write(tmp_path / "in.glb"))
    assert words in str(found.value)
