"""Times the node groups of Deform With against the Armature modifier with Preserve Volume:

nodes_in_blender.py OUTPUT.json FILE.blend...     in a headless Blender 5.2 or later

Every bone turns in every frame. Blocks of frames alternate between the deformers, and the fastest
block counts, because other work of the machine only adds time."""

import importlib.util
import json
import sys
import time
from pathlib import Path

import bpy
import numpy as np

NODES = Path(__file__).resolve().parents[1] / "araplbs_addon/features/deform_with/nodes.py"
BLOCKS, FRAMES, TURN = 5, 10, 0.02


def load_nodes():
    spec = importlib.util.spec_from_file_location("nodes", NODES)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def play(ob, bones):
    """Milliseconds per frame."""
    start = time.perf_counter()
    for frame in range(FRAMES):
        for bone in bones:
            bone.rotation_euler.x += TURN if frame % 2 else -TURN
        bpy.context.view_layer.update()
        ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return 1000 * (time.perf_counter() - start) / FRAMES


def measure(path, nodes):
    bpy.ops.wm.open_mainfile(filepath=str(path))
    meshes = [o for o in bpy.data.objects if o.type == "MESH" and o.find_armature()]
    ob = max(meshes, key=lambda o: len(o.data.vertices))
    for other in [o for o in bpy.data.objects if o.type == "MESH" and o != ob]:
        bpy.data.objects.remove(other)
    rig = ob.find_armature()
    modifier = next((m for m in ob.modifiers if m.type == "ARMATURE"), None)
    modifier = modifier or ob.modifiers.new("Armature", "ARMATURE")
    modifier.object, modifier.use_deform_preserve_volume = rig, True
    for other in [m for m in ob.modifiers if m != modifier]:
        ob.modifiers.remove(other)
    used = [bone.name for bone in rig.data.bones if bone.use_deform]
    used = [name for name in used if name in ob.vertex_groups]
    bones = list(rig.pose.bones)
    for bone in bones:
        bone.rotation_mode = "XYZ"
    own = [modifier]
    if nodes.CENTER not in ob.data.attributes:
        center = ob.data.attributes.new(nodes.CENTER, "FLOAT_VECTOR", "POINT")
        points = np.empty(3 * len(ob.data.vertices), np.float32)
        ob.data.vertices.foreach_get("co", points)
        center.data.foreach_set("vector", 0.9 * points)
    # As slow as can be: every bone twists at both ends and stretches.
    twists = used[:1] + used[:-1], used[1:] + used[-1:], [1.0] * len(used)
    for more in ({}, {"has_centers": True}, {"twists": twists}):
        tree = bpy.data.node_groups.new("Deformer", "GeometryNodeTree")
        nodes.build(tree, rig, used, **more)
        own.append(ob.modifiers.new("Deformer", "NODES"))
        own[-1].node_group = tree
    times = [[] for _ in own]
    for _ in range(BLOCKS):
        for each, found in zip(own, times, strict=True):
            for other in own:
                other.show_viewport = other == each
            bpy.context.view_layer.update()
            found.append(play(ob, bones))
    names = ("armature", "dual", "centers", "twists")
    row = {"name": Path(path).stem, "vertices": len(ob.data.vertices), "bones": len(used)}
    return row | {n: float(min(t)) for n, t in zip(names, times, strict=True)}


def main(output, *files):
    rows = []
    if hasattr(bpy.types, "GeometryNodeBoneInfo"):
        nodes = load_nodes()
        rows = [measure(path, nodes) for path in files]
    Path(output).write_text(json.dumps(rows))


main(*sys.argv[sys.argv.index("--") + 1 :])
