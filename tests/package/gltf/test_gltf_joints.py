"""Joints of glTF files move to better positions: nodes, bind matrices and animations agree, so
nothing else moves."""

import json

import numpy as np
import pytest
from gltf_files import BONES, HEADS, VERTICES, Glb, bound_at, moves, rows
from gltf_validity import File, new_faults

N = len(VERTICES)
ASIDE = HEADS.copy()
ASIDE[2] += [0.12, 0.05, 0.1]  # a joint out of the middle of the tube


def character(scale=1.0):
    """A tube whose middle joint is displaced, an attachment on it, and an animation."""
    glb = Glb()
    joints = glb.joints()
    for k, node in enumerate(glb.json["nodes"]):
        up = ASIDE[k - 1] if k else np.zeros(3)
        node["translation"] = ((ASIDE[k] - up) / scale).tolist()
    glb.json["nodes"][2]["children"].append(glb.node(name="button", translation=[0.1, 0, 0]))
    glb.node(name="Armature", children=[joints[0]], scale=[scale] * 3)
    glb.bind(glb.part(glb.attributes(weights="<f4")), joints, bound_at(ASIDE, scale))
    rest = np.array(glb.json["nodes"][2]["translation"])
    glb.animate(2, "translation", [rest, rest + np.array([0, 0, 0.1])])
    return glb


def bound(core, path):
    """(j, 4, 4) world x bind matrix of each joint, the identity where the mesh is at rest; and the
    world matrices of all nodes."""
    document = core("gltf.file.container").read_document(path)
    nodes = core("gltf.nodes").Nodes(document)
    (skin,) = core("gltf.armature").read_skins(document)
    world = np.array([nodes.world(node) for node in range(len(nodes.items))])
    return world[skin.joints] @ skin.to_joint, world


@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_joints(core, main, tmp_path, capsys, scale):
    character(scale).write(tmp_path / "in.glb")
    before, old = bound(core, "in.glb")
    assert np.allclose(before, np.eye(4), atol=1e-5)
    arguments = ["joints", "in.glb", "-o", "out.glb", "--json", "r.json", "--anchor", "0"]
    assert main(arguments) == 0
    assert "bones moved" in capsys.readouterr().out
    assert all(fault.endswith("not used") for fault in new_faults("in.glb", "out.glb"))
    after, new = bound(core, "out.glb")
    assert np.allclose(after, np.eye(4), atol=1e-4), "the mesh at rest stays"
    off = [np.linalg.norm(world[2, :2, 3]) for world in (old, new)]
    assert off[1] < 0.6 * off[0], "nearer to the middle"
    assert np.allclose(old[BONES, :3, 3], new[BONES, :3, 3], atol=1e-5), "the attachment stays"
    assert moves(rows(File("out.glb"))[1])
    file = File("out.glb")
    (animation,) = file.json["animations"]
    (channel,) = animation["channels"]
    values = file.read(animation["samplers"][channel["sampler"]]["output"])
    assert np.allclose(values[0], file.json["nodes"][2]["translation"], atol=1e-5)
    assert np.allclose(values[1] - values[0], [0, 0, 0.1], atol=1e-5)
    report = json.loads((tmp_path / "r.json").read_text())["files"][0]["characters"][0]
    assert "joint 2" in report["moved_bones"] and report["vertices"] == N


def test_joints_for_the_weights_that_are_there(core, main, tmp_path):
    character().write(tmp_path / "in.glb")
    assert main(["weight", "in.glb", "-o", "good.glb", "-q"]) == 0
    assert main(["joints", "good.glb", "-o", "out.glb", "--no-also-weights", "-q"]) == 0
    assert (rows(File("good.glb"))[1] == rows(File("out.glb"))[1]).all()
    _after, new = bound(core, "out.glb")
    _before, old = bound(core, "good.glb")
    assert abs(new[2] - old[2]).max() > 1e-3
