"""--picture: the commands draw characters, and refuse what they cannot write."""

import json
import os
import zlib

import numpy as np
import pytest
from gltf_files import VERTICES, plain
from paths import environment

HEAD = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def main(main, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", environment()["PYTHONPATH"])
    plain().write(tmp_path / "in.glb")
    return main


def size(path):
    """(width, height) of a PNG file that can be decoded."""
    content = path.read_bytes()
    assert content.startswith(HEAD)
    width, height = (int.from_bytes(content[k : k + 4], "big") for k in (16, 20))
    start = content.index(b"IDAT")
    length = int.from_bytes(content[start - 4 : start], "big")
    assert len(zlib.decompress(content[start + 4 : start + 4 + length])) == height * (3 * width + 1)
    return width, height


def two_meshes(path):
    """The tube twice, in two meshes of one skeleton, named Body and Shirt."""
    file = plain()
    file.json["meshes"][0]["name"] = "Body"
    file.json["meshes"].append(file.json["meshes"][0] | {"name": "Shirt"})
    node = next(n for n in file.json["nodes"] if "mesh" in n)
    file.node(**{**node, "mesh": 1, "name": "Shirt"})
    file.write(path)


def test_weight_check_and_repair(main, tmp_path):
    for _again in range(2):  # a picture may replace that of before
        words = ["in.glb", "-o", "out.glb", "--picture", "w.png", "--json", "r.json"]
        assert main(["weight", *words]) == 0
    result = json.loads((tmp_path / "r.json").read_text())["files"][0]
    assert result["picture"] == "w.png"
    wide, tall = size(tmp_path / "w.png")
    assert main(["check", "out.glb", "--picture", "new/c.png", "-q"]) == 0
    width, height = size(tmp_path / "new/c.png")
    assert width == wide and height < tall, "before and after, and one set of weights"
    assert main(["repair", "in.glb", "-o", "r.glb", "--picture", "r.png", "-q"]) == 0
    assert size(tmp_path / "r.png")[0] == wide


def test_compare_and_transfer(main, tmp_path):
    words = ["--method", "present", "--method", "ours", "--method", "heat", "--picture", "c.png"]
    assert main(["compare", "in.glb", "-o", "page/", *words]) == 0
    size(tmp_path / "c.png")
    two_meshes(tmp_path / "two.glb")
    words = ["--source", "Body", "--target", "Shirt", "--picture", "t.png"]
    assert main(["transfer", "two.glb", "-o", "out.glb", *words]) == 0
    size(tmp_path / "t.png")


def test_comparison_in_a_file(main, tmp_path, capsys):
    """A .html file is the page alone, and no folder of this name is made."""
    words = ["in.glb", "--method", "present", "-q", "--json", "r.json", "-o"]
    for _again in range(2):
        assert main(["compare", *words, "page.html"]) == 0
    assert (tmp_path / "page.html").read_text("utf-8").startswith("<!DOCTYPE html>")
    assert sorted(os.listdir()) == ["in.glb", "page.html", "r.json"]
    (tmp_path / "own.html").write_text("<p>mine")
    assert main(["compare", *words, "own.html"]) == 2
    assert "already exists and is not a comparison" in capsys.readouterr().err
    (tmp_path / "folder.html").mkdir()
    assert main(["compare", *words, "folder.html"]) == 0
    assert (tmp_path / "folder.html/index.html").exists()


def test_file_without_weights(main, tmp_path):
    """Only the new weights are drawn."""
    assert main(["weight", "in.glb", "-o", "out.glb", "--picture", "both.png", "-q"]) == 0
    file = plain()
    del file.json["meshes"][0]["primitives"][0]["attributes"]["WEIGHTS_0"]
    del file.json["meshes"][0]["primitives"][0]["attributes"]["JOINTS_0"]
    file.write(tmp_path / "bare.glb")
    assert main(["weight", "bare.glb", "-o", "out.glb", "--picture", "one.png", "-q"]) == 0
    assert size(tmp_path / "one.png")[1] < size(tmp_path / "both.png")[1] - 500


def test_several_files(main, tmp_path):
    """A picture for each, the same whether files are processed together or apart."""
    plain().write(tmp_path / "b.glb")
    words = ["check", "in.glb", "b.glb", "-q"]
    assert main([*words, "--picture", "one"]) == 0
    assert main([*words, "--picture", "two/", "--jobs", "2", "--report", "page.html"]) == 0
    assert sorted(os.listdir("one")) == sorted(os.listdir("two")) == ["b.glb.png", "in.glb.png"]
    for name in os.listdir("one"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    assert (tmp_path / "page.html").read_text().count("data:image/png") == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["in.glb", "b.glb", "--picture", "x.png"], "x.png is one file, but there are 2 inputs"),
        (["in.glb", "--picture", ""], "--picture is empty"),
        (["in.glb", "--picture", "x.jpg"], "x.jpg: is neither a .png file nor a folder"),
        (["in.glb", "--picture", "own.png"], "'own.png' already exists and is not a picture"),
    ],
)
def test_refused_pictures(main, tmp_path, capsys, words, message):
    plain().write(tmp_path / "b.glb")
    (tmp_path / "own.png").write_bytes(HEAD + b"of an artist")
    before = sorted(os.listdir())
    assert main(["check", *words]) == 2
    assert message in capsys.readouterr().err and sorted(os.listdir()) == before


def test_picture_that_the_file_uses(main, tmp_path, capsys):
    """A texture is not replaced by the picture of the character, even if both are ours."""
    assert main(["check", "in.glb", "--picture", "skin.png", "-q"]) == 0
    own = (tmp_path / "skin.png").read_bytes()
    file = plain()
    file.json["images"] = [{"uri": "skin.png"}]
    file.write(tmp_path / "in.glb")
    assert main(["check", "in.glb", "--picture", "skin.png"]) == 1
    assert "would replace" in capsys.readouterr().err
    assert (tmp_path / "skin.png").read_bytes() == own


def test_from_python(core, main, tmp_path):
    """araplbs.picture() and GltfCharacter.picture() draw the same forms of weights."""
    import araplbs
    from gltf_files import HEADS, PARENTS, TRIANGLES

    character = araplbs.load_gltf("in.glb").characters[0]
    made = character.weigh()
    assert character.picture().startswith(HEAD)
    both = character.picture(made)
    assert both.startswith(HEAD) and character.picture(made.toarray()) == both
    words = VERTICES, TRIANGLES, HEADS, PARENTS
    found = araplbs.picture(*words, made, before=made.rows.to_scipy(), up=(0, 0, 2))
    assert found.startswith(HEAD) and found == araplbs.picture(*words, made, before=made.rows)
    for wrong, message in (
        ({"up": (0, 0, 0)}, "up is"),
        ({"up": (1, 2)}, "up is"),
        ({"before": np.ones((3, 3))}, "before has shape"),
    ):
        with pytest.raises(ValueError, match=message):
            araplbs.picture(*words, made, **wrong)
    with pytest.raises(ValueError, match="weights has shape"):
        araplbs.picture(*words, np.ones((3, 3)))
    with pytest.raises(ValueError, match="no surface"):
        araplbs.picture(VERTICES, [], HEADS, PARENTS, made)
