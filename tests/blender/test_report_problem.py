"""Report a Problem: a text and, when asked for, the problem itself, without names, which is solved
again to the same weights."""

import bpy
import numpy as np
import pytest
from scenes import addon, auto_weight, deform_names, select, tube_and_rig, weights


def report(path, **more):
    return bpy.ops.wm.araplbs_report_problem(filepath=str(path), **more)


def replay():
    return addon("core.base.native_module").replay()


def named():
    tube, rig = tube_and_rig()
    tube.name, tube.data.name, rig.name, rig.data.name = "Berta", "Berta's skin", "Carla", "Dora"
    for bone in rig.data.bones:
        bone.name = f"Emil_{bone.name}"
    select(tube, rig)
    return tube, rig


def test_the_text_alone(tmp_path):
    named()
    assert report(tmp_path / "a.txt") == {"FINISHED"}
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]
    text = (tmp_path / "a.txt").read_text("utf-8")
    assert bpy.app.version_string in text and "none was asked for" in text
    assert "Mesh: " in text and "Armature: 3 bones" in text
    assert not any(name in text for name in ("Berta", "Carla", "Dora", "Emil"))


def test_the_problem_gives_the_same_weights(tmp_path):
    tube, rig = named()
    assert report(tmp_path / "a.txt", with_problem=True) == {"FINISHED"}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.npz", "a.txt"]
    assert "python -m araplbs.replay a.npz" in (tmp_path / "a.txt").read_text("utf-8")
    data = (tmp_path / "a.npz").read_bytes()
    arguments, about = replay().load(tmp_path / "a.npz")
    for name in (b"Berta", b"Carla", b"Dora", b"Emil", b"upper"):
        assert name not in data
    assert about["volume"] == "NONE"
    solver, _seconds = replay().solve(arguments)
    assert not tube.vertex_groups  # nothing was written to the scene
    auto_weight(tube, rig)
    np.testing.assert_allclose(weights(tube, deform_names(rig)), solver.weights, atol=1e-6)


def test_what_cannot_be_read_is_said(tmp_path):
    _tube, rig = named()
    select(rig)
    bpy.data.objects.remove(bpy.data.objects["Berta"])
    assert report(tmp_path / "a.txt", with_problem=True) == {"FINISHED"}
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]
    text = (tmp_path / "a.txt").read_text("utf-8")
    assert "Problem file\n  none: " in text


def test_it_replaces_its_like_alone(tmp_path):
    named()
    for _ in range(2):
        assert report(tmp_path / "a.txt", with_problem=True) == {"FINISHED"}
    for name in ("a.txt", "a.npz"):
        kept = (tmp_path / name).read_bytes()
        (tmp_path / name).write_text("mine", encoding="utf-8")
        with pytest.raises(RuntimeError, match=r"a\.(txt|npz)"):
            report(tmp_path / "a.txt", with_problem=True)
        assert (tmp_path / name).read_text("utf-8") == "mine"
        (tmp_path / name).write_bytes(kept)


def test_without_a_file(tmp_path):
    named()
    with pytest.raises(RuntimeError, match="Choose the file"):
        bpy.ops.wm.araplbs_report_problem()
