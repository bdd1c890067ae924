"""A USD file that Blender wrote, weighted by the command, is read back by Blender with the same
weights."""

from pathlib import Path

import bpy
import numpy as np
import pytest
from scenes import new_scene, package, select, tube_and_rig, weights


def test_there_and_back(tmp_path, monkeypatch):
    # Blender brings the modules along, and its own program finds them.
    resources = Path(bpy.utils.resource_path("LOCAL"))
    for folder in resources.glob("python/lib/python*/site-packages"):
        monkeypatch.syspath_prepend(str(folder))
    pytest.importorskip("pxr", reason="this Blender has no USD for Python")
    usd = package("usd.character"), package("usd.stage")
    tube, rig = tube_and_rig()
    for name in ("upper", "lower"):
        tube.vertex_groups.new(name=name).add(range(len(tube.data.vertices)), 0.5, "REPLACE")
    select(tube, rig)
    source, target = tmp_path / "in.usdc", tmp_path / "out.usdc"
    bpy.ops.wm.usd_export(filepath=str(source), export_armatures=True, only_deform_bones=False)
    assert package("cli.main").main(["weight", str(source), "-o", str(target), "-q"]) == 0
    (character,) = usd[0].usd_characters(usd[1].UsdDocument(target))
    (rows,) = character.weights
    new_scene()
    bpy.ops.wm.usd_import(filepath=str(target))
    body = next(o for o in bpy.data.objects if o.type == "MESH" and o.find_armature())
    names = character.skeleton.names
    dense = np.zeros((rows.count, len(names)))
    dense[rows.vertices, rows.bones] = rows.weights
    assert (dense.max(axis=0) > 0.9).sum() >= 2
    np.testing.assert_allclose(weights(body, names), dense, atol=1e-6)
