"""Compare Methods: the command and the operator write a page, and change nothing in the file."""

import json

import araplbs
import bpy
import numpy as np
import pytest
from command import folder_of, run, save
from deep import deep_snapshot, difference, refused
from mathutils import Matrix
from scenes import (
    add_armature,
    add_mesh,
    add_tube,
    addon,
    auto_weight,
    bind,
    keyed,
    package,
    rotation,
    select,
    tube_and_rig,
    tube_arrays,
    weights,
)

NAMES = ["lower", "middle", "upper"]
FEW = ("--judged-poses", 3, "--judged-frames", 4)
QUICK = [each for name in ("present", "heat", "ours") for each in ("--method", name)]


def weighted_tube():
    tube, rig = tube_and_rig()
    auto_weight(tube, rig)
    return tube, rig


@pytest.fixture
def character(tmp_path):
    _tube, rig = weighted_tube()
    keyed(rig, "upper", {1: 0.0, 20: 0.9})
    return save(tmp_path / "in.blend")


def compare(*objects, folder, **options):
    if objects:
        select(*objects)
    options = {"judged_poses": 3, "judged_frames": 4, "methods": "present,heat,ours", **options}
    return bpy.ops.object.araplbs_compare("EXEC_DEFAULT", directory=str(folder), **options)


@pytest.mark.slow
def test_the_command(character, tmp_path, capfd):
    before = character.read_bytes()
    assert run("compare", character, "--output", tmp_path / "report", *FEW) == 0
    assert character.read_bytes() == before
    assert folder_of(tmp_path) == ["in.blend", "report"]
    assert folder_of(tmp_path / "report") == ["index.html", "report.json"]
    printed = capfd.readouterr().out
    assert "Rig:   0 % " in printed and "pictures" in printed and "methods compared" in printed
    content = json.loads((tmp_path / "report/report.json").read_text())
    assert content["generator"] == "araplbs compare" and content["version"] == araplbs.__version__
    (report,) = content["characters"]
    assert report["character"] == "Rig" and report["objects"] == ["Tube"]
    assert report["vertices"] == 192 and report["page"] == "index.html"
    assert report["poses"] == {"random": 3, "animation": 4}
    found = {method["identifier"]: method for method in report["methods"]}
    assert not [name for name, method in found.items() if method["reason"]]
    for kind in report["poses"]:  # ours are in the file, in single precision
        present, ours = (found[name]["measures"][kind] for name in ("PRESENT", "OURS"))
        assert present["surface_strain"] == pytest.approx(ours["surface_strain"], rel=1e-6)
    assert found["OURS"]["likeness"]["precision"] == 1 > found["NEAREST"]["likeness"]["recall"]
    assert found["BLENDER_HEAT"]["seconds"] > 0
    page = (tmp_path / "report/index.html").read_text()
    assert "<h1>Rig</h1>" in page and "Blender: Automatic Weights" in page


@pytest.mark.slow
def test_two_armatures(tmp_path):
    tube_and_rig()
    other = add_armature("Rig: 2")
    bind(add_tube("Other"), other)
    path = save(tmp_path / "in.blend")
    assert run("compare", path, "--output", tmp_path / "report", *FEW, *QUICK) == 0
    assert folder_of(tmp_path / "report") == [
        "Rig.html", "Rig_2.html", "index.html", "report.json",
    ]  # fmt: skip
    index = (tmp_path / "report/index.html").read_text()
    assert 'href="Rig.html"' in index and ">Rig: 2</a>" in index
    content = json.loads((tmp_path / "report/report.json").read_text())
    assert [each["page"] for each in content["characters"]] == ["Rig.html", "Rig_2.html"]
    reasons = [each["methods"][0]["reason"] for each in content["characters"]]
    assert reasons == ["the file has no weights for these bones"] * 2
    assert run("compare", path, "-o", tmp_path / "one", "--armature", "Rig", *FEW, *QUICK) == 0
    assert folder_of(tmp_path / "one") == ["index.html", "report.json"]


def test_refusals_of_the_command(character, tmp_path, capfd):
    def error(*arguments, code=2):
        assert run("compare", *arguments) == code
        return capfd.readouterr().err

    folder = tmp_path / "report"
    assert "--output" in error(character)
    glue = error(character, "-o", folder, "--method", "glue")
    assert "no method glue; available: present" in glue
    none = error(character, "-o", folder, "--judged-poses", 0)
    assert "--test-poses is 0: must be from 1 to 1000" in none
    assert "is not a folder" in error(character, "-o", character)
    assert "no armature 'None'" in error(character, "-o", folder, "--armature", "None", code=1)
    folder.mkdir()
    (folder / "index.html").write_text("<h1>mine</h1>")
    assert "already exists and is not a comparison" in error(character, "-o", folder)
    assert folder_of(folder) == ["index.html"]
    (folder / "index.html").unlink()
    (folder / "report.json").write_text("{}")
    assert "report.json' already exists" in error(character, "-o", folder)
    assert (folder / "report.json").read_text() == "{}"


def test_the_operator_changes_nothing(tmp_path):
    tube, rig = weighted_tube()
    keyed(rig, "upper", {1: 0.0, 20: 0.9})
    tube.vertex_groups["lower"].lock_weight = True
    rig.pose.bones["middle"].location.x = 0.25
    tube.matrix_world = rotation(20, "X") @ Matrix.Translation((0, 0.1, 0))
    other = add_tube("Bystander", shift=(3, 0, 0))
    select(other)
    bpy.context.scene.frame_set(7)
    select(tube, rig)
    before = deep_snapshot()
    assert compare(tube, rig, folder=tmp_path / "report") == {"FINISHED"}
    assert difference(before, deep_snapshot()) == {}
    assert folder_of(tmp_path / "report") == ["index.html", "report.json"]


@pytest.mark.slow
def test_in_other_modes(tmp_path):
    """The weights are the same as in Object mode, without the other mesh and without locks."""
    tube, rig = weighted_tube()
    reports = []
    for mode in ("OBJECT", "POSE", "WEIGHT_PAINT"):
        bpy.ops.object.mode_set(mode="OBJECT")
        select(tube, rig, active=rig if mode == "POSE" else tube)
        bpy.ops.object.mode_set(mode=mode)
        before = deep_snapshot()
        assert compare(folder=tmp_path) == {"FINISHED"}
        assert difference(before, deep_snapshot()) == {}
        (report,) = json.loads((tmp_path / "report.json").read_text())["characters"]
        reports.append([(m["identifier"], m["reason"], m["measures"]) for m in report["methods"]])
        tube.vertex_groups["middle"].lock_weight = True
    assert reports[0] == reports[1] == reports[2]


def test_the_scene_has_settings(tmp_path):
    weighted_tube()
    settings = bpy.context.scene.araplbs.comparison
    assert settings.directory == "//comparison/" and settings.judged_poses == 24
    page_of_file = addon("features.compare.operator").page_of_file
    assert page_of_file() is None
    save(tmp_path / "scene.blend")
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "scene.blend"))
    assert compare(bpy.data.objects["Tube"], bpy.data.objects["Rig"], folder="//comparison/") == {
        "FINISHED"
    }
    assert page_of_file() == tmp_path / "comparison/index.html"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "other.blend"), copy=True)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "other.blend"))
    assert page_of_file() is None, "it is that of another file in this folder"
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "scene.blend"))
    assert page_of_file() == tmp_path / "comparison/index.html", "made before it was opened"
    (tmp_path / "comparison/index.html").unlink()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "scene.blend"))
    assert page_of_file() is None


def test_a_page_of_the_command_line_is_found(character, tmp_path):
    """The page is in the folder that the scene of the file names."""
    assert run("compare", character, "-o", tmp_path / "comparison", *FEW, *QUICK) == 0
    bpy.ops.wm.open_mainfile(filepath=str(character))
    page = addon("features.compare.operator").page_of_file()
    assert page == tmp_path / "comparison/index.html"


@pytest.mark.parametrize("report", ["", "{", "[]", '{"generator": "araplbs compare", "file": 3}'])
def test_a_damaged_report_names_no_page(report, tmp_path):
    save(tmp_path / "scene.blend")
    (tmp_path / "comparison").mkdir()
    (tmp_path / "comparison/index.html").write_text("page")
    (tmp_path / "comparison/report.json").write_text(report)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "scene.blend"))
    assert addon("features.compare.operator").page_of_file() is None


def test_refusals_of_the_operator(tmp_path):
    tube, rig = tube_and_rig()

    def refuse(reason, folder):
        with pytest.raises(RuntimeError, match=reason):
            compare(tube, rig, folder=folder)

    refuse("save the file first", "//comparison/")
    refuse("Specify a folder", "  ")
    (tmp_path / "file").write_text("x")
    refuse("is not a folder", tmp_path / "file")
    (tmp_path / "index.html").write_text("mine")
    refuse("already exists and is not a comparison", tmp_path)
    with pytest.raises(RuntimeError, match="no method glue"):
        compare(tube, rig, folder=tmp_path / "other", methods="heat, glue")
    assert folder_of(tmp_path) == ["file", "index.html"]
    with pytest.raises(RuntimeError, match="No page has been created for this file"):
        bpy.ops.object.araplbs_open_comparison()


def test_the_dialog_passes_refusals_on():
    """A file that was never saved has no folder next to which the page could be written."""
    tube, rig = tube_and_rig()
    said = refused("compare_methods", tube, rig)
    assert "save the file first" in said and "program" not in said


def read(*objects, **options):
    select(*objects)
    task = addon("features.compare.task").CompareTask(
        package("features.compare.options").CompareOptions(judged_poses=3, **options), 1
    )
    task.read(addon("blender.read.targets").find_targets(bpy.context), bpy.context.view_layer)
    return task


def dense(rows):
    result = np.zeros((rows.count, 3))
    result[rows.vertices, rows.bones] = rows.weights
    return result


def test_blenders_own_weights(tmp_path):
    """The weights equal those that Blender's operator computes when the user calls it."""
    matrix = Matrix.Translation((0.3, 0, 0)) @ rotation(30, "Y")
    tube, rig = add_tube(matrix=matrix), add_armature(matrix=matrix)
    bind(tube, rig)
    task = read(tube, rig, max_influences=0)
    copy = add_tube("Copy", matrix=matrix)
    for kind, parent in addon("blender.read.blender_weights").KINDS.items():
        copy.vertex_groups.clear()
        copy.modifiers.clear()
        select(copy, rig)
        bpy.ops.object.parent_set(type=parent)
        expected = weights(copy, NAMES)
        expected /= np.maximum(expected.sum(1, keepdims=True), 1e-9)
        found = dense(task.case.given[kind])
        np.testing.assert_allclose(found, expected, atol=2e-3)
        assert (expected > 0).sum() > 192


def test_blender_fails():
    """Blender's bone heat fails on a part from which no bone is visible, and the page states the
    reason."""
    vertices, faces = tube_arrays()
    count = len(vertices)
    shell = [(x, y, z + 1.5) for x in (-1, 1) for y in (-1, 1) for z in (-3, 3)]
    far = [(5 + x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    boxes = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    more = [tuple(count + 8 * k + i for i in face) for k in range(2) for face in boxes]
    ob, rig = (
        add_mesh("Odd", np.concatenate([vertices, shell, far]), [*faces, *more]),
        add_armature(),
    )
    bind(ob, rig)
    given = read(ob, rig).case.given["BLENDER_HEAT"]
    failed = "Bone Heat" in given if isinstance(given, str) else (given.sums() <= 0).any()
    assert failed


def test_stopped_while_it_computes(character, tmp_path):
    """After Esc, the data is freed and nothing is written."""
    bpy.ops.wm.open_mainfile(filepath=str(character))
    before = deep_snapshot()
    task = read(bpy.data.objects["Tube"], bpy.data.objects["Rig"])
    asked = []

    def progress(stage, fraction, _energy):
        asked.append(stage)
        return stage != "pictures"

    with pytest.raises(araplbs.Cancelled):
        task.solve(progress)
    assert asked[-1] == "pictures" and len(set(asked)) > 5
    select(*[ob for ob in bpy.data.objects if name_selected(before, ob)])
    assert difference(before, deep_snapshot()) == {}


def name_selected(snapshot, ob):
    return any(
        value == "True" and key.endswith("selected") and repr(ob.name) in key
        for key, value in snapshot.items()
    )


def test_without_action_and_weights():
    tube, rig = tube_and_rig()
    task = read(tube, rig)
    assert list(task.case.poses) == ["random"] and task.case.present is None


def test_rigs_that_move_themselves_are_posed_by_their_controls():
    """The weights are judged in poses of the rig, which differ from those used for optimization."""
    tube, rig = weighted_tube()
    constraint = rig.pose.bones["upper"].constraints.new("COPY_ROTATION")
    constraint.target, constraint.subtarget = rig, "middle"
    constraint.owner_space = constraint.target_space = "LOCAL"
    task = read(tube, rig)
    judged = task.case.poses["random"].transforms
    own = task.problem.arguments["poses"]
    assert len(judged) == 3 and len(own) == 100
    assert np.abs(judged[0] - own[0]).max() > 0.05
    turns = judged[:, :, :3, :3]
    in_parents = np.swapaxes(turns[:, :2], -1, -2) @ turns[:, 1:]
    np.testing.assert_allclose(in_parents[:, 0], in_parents[:, 1], atol=1e-4)
