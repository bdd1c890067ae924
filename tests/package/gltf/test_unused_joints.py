"""Joints that no vertex uses leave the skins of a file. Everything else keeps its meaning: each
vertex follows the same nodes with the same bind matrices, and nodes, animations and extensions
stay."""

import numpy as np
import pytest
from gltf_files import BONES, VERTICES, Glb
from gltf_validity import File, new_faults

N = len(VERTICES)
USED = [0, 1, 4]


def attributes(glb, used=USED, shift=(0, 0, 0), kind="u1", **more):
    """Half of the weight of each vertex is on one used joint, and half is on the next one. Slots
    without weight name any joints."""
    joints = np.tile([0, 0, 2, 3], (N, 1))
    joints[:, 0] = np.resize(used, N)
    joints[:, 1] = np.resize(np.roll(used, 1), N)
    weights = np.tile(np.float32([0.5, 0.5, 0, 0]), (N, 1))
    number = glb.add(joints, kind, "VEC4", min=[0, 0, 2, 3], max=[4, 4, 2, 3])
    return {
        "POSITION": glb.add(VERTICES + shift, "<f4", "VEC3"),
        "JOINTS_0": number,
        "WEIGHTS_0": glb.add(weights, "<f4", "VEC4"),
    } | more


def mesh(glb, attributes, **more):
    return glb.mesh(glb.part(attributes), **more)


def one_skin(glb, joints):
    glb.node(mesh=mesh(glb, attributes(glb)), skin=glb.skin(joints))


def without_matrices(glb, joints):
    glb.node(mesh=mesh(glb, attributes(glb, kind="<u2")), skin=glb.skin(joints, matrices=False))


def a_mesh_under_two_skins(glb, joints):
    """The skins share their matrices, and one of them has another mesh, which uses one more
    joint."""
    number = mesh(glb, attributes(glb))
    skins = [glb.skin(joints), glb.skin(joints)]
    matrices = [skin["inverseBindMatrices"] for skin in glb.json["skins"]]
    glb.json["skins"][1]["inverseBindMatrices"] = matrices[0]
    for skin in skins:
        glb.node(mesh=number, skin=skin)
    glb.node(mesh=mesh(glb, attributes(glb, [0, 3])), skin=skins[1])


def meshes_that_share_joints(glb, joints):
    """Two meshes under skins of their own, with one array of joint indices for both."""
    first = attributes(glb)
    other = attributes(glb) | {"JOINTS_0": first["JOINTS_0"]}
    for each in (first, other):
        glb.node(mesh=mesh(glb, each), skin=glb.skin(joints))


def interleaved(glb, joints):
    """An accessor that begins in the middle of the array of joints."""
    own = attributes(glb)
    accessor = glb.json["accessors"][own["JOINTS_0"]]
    glb.json["accessors"].append(accessor | {"count": N - 1, "byteOffset": 4})
    number = len(glb.json["accessors"]) - 1
    glb.node(mesh=mesh(glb, own), skin=glb.skin(joints))
    glb.node(mesh=mesh(glb, {"POSITION": own["POSITION"], "_OTHER": number}))


CASES = {
    each.__name__: (each, left)
    for each, left in (
        (one_skin, [3]),
        (without_matrices, [3]),
        (a_mesh_under_two_skins, [4, 4]),
        (meshes_that_share_joints, [3, 3]),
        (interleaved, [3]),
    )
}


def meaning(file):
    """What moves each vertex: {(node, primitive): [{(joint node, bind matrix): weight}]}."""
    found = {}
    for number, node in enumerate(file.json["nodes"]):
        if "skin" not in node:
            continue
        skin = file.json["skins"][node["skin"]]
        matrices = [None] * len(skin["joints"])
        if "inverseBindMatrices" in skin:
            matrices = [tuple(row) for row in file.read(skin["inverseBindMatrices"]).tolist()]
        for k, primitive in enumerate(file.json["meshes"][node["mesh"]]["primitives"]):
            own = primitive["attributes"]
            joints, weights = file.read(own["JOINTS_0"]), file.read(own["WEIGHTS_0"])
            found[number, k] = [
                {
                    (skin["joints"][j], matrices[j]): float(w)
                    for j, w in zip(each, values, strict=True)
                    if w > 0
                }
                for each, values in zip(joints.tolist(), weights, strict=True)
            ]
    return found


@pytest.mark.parametrize("name", CASES)
def test_every_vertex_follows_the_same_nodes(core, tmp_path, name):
    make, left = CASES[name]
    glb = Glb()
    joints = glb.joints()
    make(glb, joints)
    glb.json["skins"][0]["skeleton"] = joints[0]
    glb.animate(joints[3], "rotation", [[0, 0, 0, 1], [0, 1, 0, 0]])
    bones = {name: {"node": node} for name, node in zip("abcde", joints, strict=True)}
    glb.json["extensions"] = {"VRMC_vrm": {"humanoid": {"humanBones": bones}}}
    source, target = tmp_path / "in.glb", tmp_path / "out.glb"
    glb.write(source)
    container = core("gltf.file.container")
    document = container.read_document(source)
    numbers = range(len(glb.json["skins"]))
    found = core("gltf.unused_joints").drop_unused_joints(document, numbers)
    container.save_document(document, target)
    assert list(found.values()) == left and new_faults(source, target) == []
    before, after = File(source), File(target)
    assert meaning(after) == meaning(before)
    for key in ("nodes", "animations", "extensions", "scenes"):
        assert after.json.get(key) == before.json.get(key)
    if name == "interleaved":
        number = after.json["meshes"][1]["primitives"][0]["attributes"]["_OTHER"]
        assert (after.read(number) == before.read(number)).all()
    document = container.read_document(target)
    found = core("gltf.unused_joints").drop_unused_joints(document, numbers)
    assert container.as_bytes(document, binary=True) == target.read_bytes(), "nothing is left to do"


def test_other_characters_stay(core, tmp_path):
    """Only the skins of the character are changed; a skin without vertices keeps one joint."""
    glb = Glb()
    one_skin(glb, glb.joints())
    one_skin(glb, glb.joints())
    bare = attributes(glb)
    bare["WEIGHTS_0"] = glb.add(np.zeros((N, 4)), "<f4", "VEC4")
    glb.node(mesh=mesh(glb, bare), skin=glb.skin(glb.joints()))
    document = core("gltf.file.container").read_document(glb.write(tmp_path / "in.glb"))
    drop = core("gltf.unused_joints").drop_unused_joints
    assert drop(document, [0]) == {0: 3}
    assert [len(skin["joints"]) for skin in document.json["skins"]] == [3, BONES, BONES]
    assert drop(document, [2]) == {2: 1}
