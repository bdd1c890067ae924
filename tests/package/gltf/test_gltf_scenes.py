"""Tests all arrangements of skins, meshes and primitives in glTF files. The meshes on one skeleton
are solved together, and no seam between parts opens."""

import numpy as np
import pytest
from gltf_files import (
    BONES,
    HEADS,
    TRIANGLES,
    VERTICES,
    Glb,
    bound_at,
    moves,
    of_several_parts,
    plain,
    rows,
)

N = len(VERTICES)
HEIGHTS = VERTICES[TRIANGLES, 2].mean(1) / VERTICES[:, 2].max()
LOWER, UPPER = TRIANGLES[HEIGHTS < 0.5], TRIANGLES[HEIGHTS >= 0.5]


def assert_closed(parts, seam_points):
    """Checks (positions, rows) of several parts: equal positions have equal rows."""
    found = {}
    for places, dense in parts:
        assert abs(dense.sum(1) - 1).max() < 1e-6 and (dense >= 0).all()
        for place, row in zip(np.round(places * 1e4).astype(int), dense, strict=True):
            found.setdefault(tuple(place), []).append(row)
    seam = [each for each in found.values() if len(each) > 1]
    assert len(found) == N and len(seam) >= seam_points
    assert max(np.ptp(each, axis=0).max() for each in seam) == 0


def test_seams_stay_closed(weigh):
    """Between materials of a mesh, and between two meshes bound at different positions, on a chain
    interrupted by another node."""
    file = weigh(of_several_parts())
    parts = [rows(file, 0, 0), rows(file, 0, 1), rows(file, 1, 0)]
    parts[2] = parts[2][0] - (3, 0, 1), parts[2][1]
    assert_closed(parts, 2 * 8)
    assert "JOINTS_0" not in file.json["meshes"][2]["primitives"][0]["attributes"]


def test_a_seam_of_texture_coordinates_stays_closed(weigh):
    """The same positions twice in one primitive, as at every seam of textures or normals."""
    glb = Glb()
    places = np.vstack([VERTICES, VERTICES])
    used, corners = np.unique(np.vstack([LOWER, UPPER + N]), return_inverse=True)
    glb.bind(glb.part(glb.attributes(places[used]), corners), glb.joints())
    assert_closed([rows(weigh(glb))], 8)


def test_primitives_that_share_their_vertices(weigh):
    """One array of vertices, and a list of triangles for each material."""
    glb = Glb()
    attributes = glb.attributes()
    parts = [glb.part(dict(attributes), triangles) for triangles in (LOWER, UPPER)]
    glb.node(mesh=glb.mesh(*parts), skin=glb.skin(glb.joints()))
    file = weigh(glb)
    assert moves(rows(file, 0, 0)[1]) and file.json == weigh.before.json


def test_skins_with_different_joints_of_one_skeleton(weigh):
    """Each skin gets the joints that its mesh needs. The old ones keep their indices."""
    glb = Glb()
    joints = glb.joints()
    for some, which in ((LOWER, [0, 1, 2]), (UPPER, [4, 3])):
        glb.bind(glb.primitive(some), [joints[k] for k in which], bound_at(HEADS[which]))
    file = weigh(glb, unused=True)
    parts = []
    for number, which in ((0, [0, 1, 2]), (1, [4, 3])):
        skin = file.json["skins"][number]
        order = [joint - joints[0] for joint in skin["joints"]]
        assert order[: len(which)] == which
        places, dense = rows(file, number, width=len(order))
        matrices = file.read(skin["inverseBindMatrices"])
        assert np.allclose(matrices[:, 12:15], -HEADS[order])
        whole = np.zeros((len(places), BONES))
        whole[:, order] = dense
        parts.append((places, whole))
    assert_closed(parts, 8)


def test_nodes_that_share_a_mesh_share_its_weights(weigh):
    glb = plain()
    glb.node(mesh=0, skin=0)
    assert moves(rows(weigh(glb))[1])


def test_two_characters_in_a_file(weigh):
    glb = plain()
    glb.bind(glb.primitive(TRIANGLES), glb.joints())
    file = weigh(glb)
    assert len(weigh.reports) == 2 and file.json["skins"] == weigh.before.json["skins"]
    assert moves(rows(file, 0)[1])
    places, dense = rows(file, 1)
    assert moves(dense, places)


def test_a_skin_without_matrices(weigh):
    """The meshes are then bound where the spaces of their joints place them."""
    glb = Glb()
    first = glb.node(children=[1])
    glb.node(translation=[0, 0, 1])
    glb.bind(glb.part(glb.attributes()), [first, 1], matrices=False)
    _places, dense = rows(weigh(glb), width=2)
    assert abs(dense.sum(1) - 1).max() < 1e-6


@pytest.mark.parametrize("scale", [0.01, 100.0])
def test_a_skeleton_in_another_unit(weigh, scale):
    """Exporters leave a node with this scale above the joints, and matrices that undo the scale."""
    glb = Glb()
    joints = glb.joints()
    for node in glb.json["nodes"]:
        node["translation"] = (np.array(node["translation"]) / scale).tolist()
    glb.node(name="Armature", children=[joints[0]], scale=[scale] * 3)
    glb.bind(glb.part(glb.attributes()), joints, bound_at(HEADS, scale))
    assert moves(rows(weigh(glb))[1])


@pytest.mark.parametrize("mode", [5, 6])
def test_strips_and_fans(weigh, core, mode):
    """The triangles of a strip have the same orientation, and those of a fan share their first
    corner."""
    shape = core("gltf.meshes")._shape
    glb = plain()
    corners = glb.add([0, 1, 2, 3, 4], "<u2", "SCALAR")
    strip = {"attributes": {}, "indices": corners, "mode": mode}
    path = glb.write(weigh.folder / "strip.glb")
    document = core("gltf.file.container").read_document(path)
    faces, lines, used = shape(document, strip, 5, "strip")
    expected = {5: [[0, 1, 2], [1, 3, 2], [2, 3, 4]], 6: [[0, 1, 2], [0, 2, 3], [0, 3, 4]]}
    assert faces.tolist() == expected[mode] and not len(lines) and used.tolist() == [*range(5)]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [(1, [[0, 1], [2, 3]]), (2, [[0, 1], [1, 2], [2, 3], [3, 0]]), (3, [[0, 1], [1, 2], [2, 3]])],
)
def test_lines(core, weigh, mode, expected):
    glb = plain()
    lines = {"attributes": {}, "indices": glb.add([0, 1, 2, 3], "<u2", "SCALAR"), "mode": mode}
    document = core("gltf.file.container").read_document(glb.write(weigh.folder / "lines.glb"))
    faces, found, _used = core("gltf.meshes")._shape(document, lines, 4, "lines")
    assert found.tolist() == expected and not len(faces)


def test_triangles_without_indices(weigh):
    glb = Glb()
    attributes = glb.attributes(VERTICES[TRIANGLES.ravel()])
    glb.bind({"attributes": attributes}, glb.joints())
    places, dense = rows(weigh(glb))
    assert moves(dense, places)
    assert_closed([(places, dense)], 8)


def test_vertices_that_nothing_draws_keep_their_weights(weigh):
    glb = Glb()
    places = np.vstack([VERTICES, [[9, 9, 9]]])
    old = np.tile([[0.25, 0.75, 0, 0]], (N + 1, 1))
    attributes = {
        "POSITION": glb.add(places, "<f4", "VEC3"),
        "JOINTS_0": glb.add(np.tile([[3, 1, 0, 0]], (N + 1, 1)), "u1", "VEC4"),
        "WEIGHTS_0": glb.add(old, "<f4", "VEC4"),
    }
    glb.bind(glb.part(attributes), glb.joints())
    dense = rows(weigh(glb))[1]
    assert moves(dense[:N]) and dense[N].tolist() == [0, 0.75, 0, 0.25, 0]


def test_control_joints_get_no_weight(weigh):
    """A root apart from the body and distant targets, by name and position."""
    glb = Glb()
    joints = glb.joints()
    target = glb.node(name="IK_target", translation=[4, 0, 1])
    glb.node(name="Armature", children=[joints[0], target])
    matrices = bound_at(np.vstack([HEADS, [[4, 0, 1]]]))
    glb.bind(glb.part(glb.attributes()), [*joints, target], matrices)
    dense = rows(weigh(glb), width=BONES + 1)[1]
    assert moves(dense[:, :BONES]) and dense[:, BONES].max() == 0
    assert "IK_target" in weigh.reports[0]["control_bones"]


def test_rigid_parts_by_material_and_mesh(weigh):
    def parts():
        glb = Glb()
        joints = glb.joints()
        glb.json["materials"] = [{"name": "cloth"}, {"name": "metal"}]
        body = glb.primitive(LOWER, material=0), glb.primitive(UPPER, material=1)
        glb.node(mesh=glb.mesh(*body, name="Body"), skin=glb.skin(joints), name="body node")
        return glb

    soft = rows(weigh(parts()), 0, 1)[1]
    assert np.ptp(soft, axis=0).max() > 0.5
    hard = weigh(parts(), rigid=(["metal"], []))
    assert np.ptp(rows(hard, 0, 1)[1], axis=0).max() < 1e-6
    for name in ("Body", "body node"):
        whole = weigh(parts(), rigid=([], [name]))
        assert np.ptp(rows(whole, 0, 0)[1], axis=0).max() < 1e-6
