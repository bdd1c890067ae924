"""Quantized results pass through Blender's own glTF exporter and importer: no warning, no neutral
bone, and the same weights."""

import json
import struct
import sys

import bpy
import numpy as np
import pytest
from paths import DATA, shared_file, shared_names
from scenes import assert_good, auto_weight, deform_names, new_scene, select, weights

NAMES = shared_names(DATA, "*.blend")
ALWAYS = {"knight", "m2m_human"}  # in every Blender, whose exporters differ
# mh_base with four times the vertices; people and animals of which smaller ones are tested.
LARGE = {"mh_subdiv1", "mh_game", "human_game_engine", "sintel", "dog"}
# For quick weights: their values do not matter here.
QUICK = {"pose_count": 8, "iterations": 1, "expansion_rounds": 0, "bone_spring_stiffness": 0.0}
BYTES = {5121: np.uint8, 5123: np.uint16, 5126: np.float32}
SIZES = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}


def read_glb(path):
    """(JSON, binary chunk) of a .glb file."""
    data = path.read_bytes()
    size = struct.unpack_from("<I", data, 12)[0]
    return json.loads(data[20 : 20 + size]), data[28 + size :]


def accessor(gltf, binary, index):
    """(n, components), and the type of a component."""
    about = gltf["accessors"][index]
    view = gltf["bufferViews"][about["bufferView"]]
    kind = np.dtype(BYTES[about["componentType"]]).newbyteorder("<")
    begin = view.get("byteOffset", 0) + about.get("byteOffset", 0)
    width = SIZES[about["type"]]
    step = view.get("byteStride") or width * kind.itemsize
    found = np.ndarray((about["count"], width), kind, binary, begin, (step, kind.itemsize))
    return found.astype(float), about["componentType"]


def exported_weights(gltf, binary):
    """The weights (n, all influences) of each primitive of a skinned mesh, from 0 to 1."""
    skinned = {node["mesh"] for node in gltf["nodes"] if "skin" in node and "mesh" in node}
    for mesh in skinned:
        for primitive in gltf["meshes"][mesh]["primitives"]:
            sets = [key for key in primitive["attributes"] if key.startswith("WEIGHTS_")]
            columns = []
            for key in sorted(sets):
                values, kind = accessor(gltf, binary, primitive["attributes"][key])
                columns.append(values / {5121: 255, 5123: 65535, 5126: 1}[kind])
            yield np.concatenate(columns, axis=1)


@pytest.fixture(autouse=True)
def gltf_addon():
    """Enables the add-on. At first use, Blender names each library that Debian's build lacks."""
    bpy.ops.preferences.addon_enable(module="io_scene_gltf2")
    for library in ("draco", "meshopt"):
        is_available = getattr(sys.modules["io_scene_gltf2"], f"is_{library}_available", None)
        if is_available:
            is_available()


def export(path, most):
    bpy.ops.export_scene.gltf(
        filepath=str(path), export_format="GLB", export_animations=False, export_morph=False,
        export_skins=True, export_all_influences=not most, export_influence_nb=max(most, 4),
        use_selection=True,
    )  # fmt: skip


def load(name):
    """(meshes, rig), which are then the only selected objects of the file."""
    bpy.ops.wm.open_mainfile(filepath=str(shared_file(DATA, f"{name}.blend")))
    rig = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
    return [ob for ob in bpy.data.objects if ob.type == "MESH" and ob.find_armature() == rig], rig


def check_round_trip(meshes, rig, path, steps, most, log):
    """Exports the quantized mesh, checks the file, imports it, and checks the result."""
    names = deform_names(rig)
    before = {ob.name: weights(ob, names) for ob in meshes}
    select(*meshes, rig)
    log.readouterr()
    export(path, most)
    told = log.readouterr()
    for line in (told.out + told.err).splitlines():
        assert "WARNING" not in line.upper() and "ERROR" not in line.upper(), line
    gltf, binary = read_glb(path)
    assert not [n["name"] for n in gltf["nodes"] if "neutral" in n.get("name", "")]
    seen = 0
    for values in exported_weights(gltf, binary):
        seen += len(values)
        assert not most or (values > 0).sum(1).max() <= most
        if steps:
            whole = np.round(values * steps)
            assert np.abs(values * steps - whole).max() < 0.01 * steps / 255
            assert (whole.sum(1) == steps).all()
        else:
            assert np.abs(values.sum(1) - 1).max() < 1e-5
    shown = [corners(ob) for ob in meshes]  # vertices of no face are not exported, or as lines
    assert seen >= sum(map(len, shown))
    every = {tuple(row) for dense in before.values() for row in in_steps(dense, steps)}
    expected = {
        tuple(row)
        for ob, which in zip(meshes, shown, strict=True)
        for row in in_steps(before[ob.name][which], steps)
    }
    new_scene()
    bpy.ops.import_scene.gltf(filepath=str(path))
    assert not [b.name for ob in bpy.data.objects if ob.type == "ARMATURE"
                for b in ob.data.bones if "neutral" in b.name]  # fmt: skip
    if steps:
        back = [ob for ob in bpy.data.objects if ob.type == "MESH" and ob.vertex_groups]
        found = {tuple(row) for ob in back for row in in_steps(weights(ob, names), steps)}
        assert expected <= found <= every


def mark_of(name):
    return "named" if name in LARGE else "slow"


def corners(ob):
    """Vertices of faces."""
    return sorted({index for face in ob.data.polygons for index in face.vertices})


def in_steps(dense, steps):
    return np.round(dense * (steps or 1)).astype(int)


def run_character(name, tmp_path, log, bits, platform):
    meshes, rig = load(name)
    assert auto_weight(*meshes, rig, max_influences=8, **QUICK) == {"FINISHED"}
    for mesh in meshes:
        assert_good(mesh, rig, 8)
    assert bpy.ops.object.araplbs_quantize(bits=bits, platform=platform) == {"FINISHED"}
    steps = {"8": 255, "16": 65535, "NONE": 0}[bits]
    most = {"MOBILE": 2, "GAME": 4, "FILM": 0}[platform]
    check_round_trip(meshes, rig, tmp_path / "out.glb", steps, most, log)


@pytest.mark.parametrize("name", [
    name if name in ALWAYS else pytest.param(name, marks=getattr(pytest.mark, mark_of(name)))
    for name in NAMES
])  # fmt: skip
def test_character(name, tmp_path, capfd):
    run_character(name, tmp_path, capfd, "8", "GAME")


@pytest.mark.parametrize(("bits", "platform"), [("16", "MOBILE"), ("16", "FILM"), ("NONE", "GAME")])
def test_stored_in_other_ways(bits, platform, tmp_path, capfd):
    run_character("q_rat", tmp_path, capfd, bits, platform)


def test_what_it_is_good_for(tmp_path, capfd):
    """A mesh without weights gets a neutral bone, which shows that the checks above can fail."""
    meshes, rig = load("q_rat")
    auto_weight(*meshes, rig, max_influences=8, **QUICK)
    for group in meshes[0].vertex_groups:
        group.remove([0])
    with pytest.raises(AssertionError, match=r"neutral|WARNING"):
        check_round_trip(meshes, rig, tmp_path / "out.glb", 0, 8, capfd)
