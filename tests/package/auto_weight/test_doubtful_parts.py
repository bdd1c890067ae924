"""Loose parts that two bones fit equally well are listed, a choice moves the whole part, and both
the package and the command remember it."""

import json
from pathlib import Path

import araplbs
import numpy as np
import pytest
import shapes
from araplbs.measures.doubtful_parts import LEAST
from gltf_files import HEADS, Glb
from refusals import refuse

NAMES = ["lower", "upper"]
JOINT = 1.0  # height


def character(*heights, side=0.1):
    """A limb of two bones, with a pair of small boxes next to it at each of these heights."""
    limb = shapes.tube(16, 21, 0.2, 2.0)
    boxes = [shapes.box([side] * 3, (x, 0, z)) for z in heights for x in (0.27, -0.27)]
    return shapes.join(limb, *boxes)


def weighed(mesh, **options):
    bones = shapes.chain(2)
    names = {"tails": bones.tails, "names": NAMES, "threads": 1}
    return araplbs.weights(*mesh, bones.heads, bones.parents, **names, **options)


def whole(found, part):
    """The bone that moves all of a part, or None."""
    rows = found.toarray()[part["vertex"] : part["vertex"] + part["size"]]
    bones = np.flatnonzero((rows > 0.999).all(axis=0))
    return NAMES[bones[0]] if len(bones) else None


def test_a_part_at_the_joint_is_listed():
    """The boxes away from the joint, and the bending limb, are not."""
    found = weighed(character(JOINT, 0.3, 1.7))
    assert [part["vertex"] for part in found.doubtful_parts] == [336, 344]
    for k, part in enumerate(found.doubtful_parts):
        assert {part["bone"], part["others"][0]} == set(NAMES) and part["doubt"] >= LEAST
        assert part["mirror"] == 1 - k and not part["chosen"] and part["name"].startswith("mesh (")
        line = f"Loose part {part['name']}: {part['bone']} (or {', '.join(part['others'])})"
        assert line in found.lines


def test_a_choice_is_kept():
    """The list of a run can be given to the next one, and also back."""
    mesh = character(JOINT, 0.3)
    first = weighed(mesh)
    given = [{**part, "bone": part["others"][0]} for part in first.doubtful_parts]
    second = weighed(mesh, parts=given)
    assert [whole(second, part) for part in given] == [part["others"][0] for part in given]
    assert [(p["vertex"], p["bone"], p["chosen"]) for p in second.doubtful_parts] == [
        (p["vertex"], p["bone"], True) for p in given
    ]
    assert not any("Loose part" in line for line in second.lines)
    back = weighed(mesh, parts=first.doubtful_parts)
    assert [whole(back, part) for part in given] == [
        part["others"][0] for part in second.doubtful_parts
    ]


def test_without_symmetry_parts_have_no_partner():
    found = weighed(character(JOINT), symmetric=False)
    assert found.doubtful_parts and {part["mirror"] for part in found.doubtful_parts} == {-1}


@pytest.mark.parametrize(
    ("pattern", "choice"),
    [
        ('must have a "vertex" and a "bone"', {"vertex": 336}),
        ("parts.0. names the object 'body', but there are mesh",
         {"object": "body", "vertex": 336, "bone": "lower"}),
        ("has the vertex 999, but there are 352 vertices", {"vertex": 999, "bone": "lower"}),
        ("has the vertex True", {"vertex": True, "bone": "lower"}),
        ("names the bone 'head', which does not exist", {"vertex": 336, "bone": "head"}),
        ("names the bone 2, which does not exist", {"vertex": 336, "bone": 2}),
    ],
)  # fmt: skip
def test_refused(pattern, choice):
    refuse(ValueError, pattern, weighed, mesh=character(JOINT), parts=[choice])


def test_bone_that_does_not_deform():
    pattern = "names the bone 'upper', which does not deform"
    choice = {"vertex": 336, "bone": "upper"}
    arguments = {"mesh": character(JOINT), "deform": [True, False]}
    refuse(ValueError, pattern, weighed, **arguments, parts=[choice])


@pytest.fixture
def main(main, tmp_path):
    """The command, in a folder with a file in.glb of a limb with boxes at its second joint."""
    mesh = shapes.join(
        shapes.tube(8, 25, caps=True),
        *(shapes.box([0.1] * 3, (x, 0, HEADS[2][2])) for x in (0.27, -0.27)),
    )
    file = Glb()
    joints = file.joints()
    part = file.part({"POSITION": file.add(mesh[0], "<f4", "VEC3")}, mesh[1])
    file.node(name="Suit", mesh=file.mesh(part), skin=file.skin(joints))
    file.write(tmp_path / "in.glb")
    return main


def test_command(main, capsys):
    """--save-parts writes the list, and --parts takes it with other bones."""
    assert main(["weight", "in.glb", "-o", "out.glb", "--save-parts", "parts.json"]) == 0
    content = json.loads(Path("parts.json").read_text("utf-8"))
    assert len(content["parts"]) == 2 and "Loose part" in capsys.readouterr().out
    for part in content["parts"]:
        part["bone"] = part["others"][0]
    with open("parts.json", "w", encoding="utf-8") as file:
        json.dump(content, file)
    given = ["--parts", "parts.json", "--json", "report.json", "-q"]
    assert main(["weight", "in.glb", "-o", "out.glb", *given]) == 0
    report = json.loads(Path("report.json").read_text("utf-8"))
    found = report["files"][0]["characters"][0]["doubtful_parts"]
    assert [part["chosen"] for part in found] == [True, True]
    wanted = {part["vertex"]: part["bone"] for part in content["parts"]}
    assert {part["vertex"]: part["bone"] for part in found} == wanted


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "cannot be read"),
        ("{", "is not a list of parts as JSON"),
        ("[" * 100000, "is not a list of parts as JSON"),
        ('{"parts": [3]}', "must be a list of objects"),
        ('{"parts": [{"object": "Hat", "vertex": 0, "bone": "a"}]}', "there is no mesh 'Hat'"),
        ('{"parts": [{"object": [1], "vertex": 0, "bone": "a"}]}', "there is no mesh [1]"),
        ('{"parts": [{"object": "Suit", "vertex": 0, "bone": "a"}]}', "the bone 'a', which does"),
    ],
)
def test_command_refuses(main, capsys, content, words):
    if content is not None:
        with open("parts.json", "w", encoding="utf-8") as file:
            file.write(content)
    assert main(["weight", "in.glb", "-o", "out.glb", "--parts", "parts.json"]) > 0
    assert words in capsys.readouterr().err


def test_several_files_are_refused(main, capsys):
    arguments = ["weight", "in.glb", "in.glb", "-o", "out", "--save-parts", "parts.json"]
    assert main(arguments) > 0
    assert "--save-parts is for one file" in capsys.readouterr().err
