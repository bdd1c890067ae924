"""Creates small characters for the tests, and reads the parts of Blender's data that the tests
examine."""

import importlib
import math

import bpy
import numpy as np
from mathutils import Matrix

MODULE = "bl_ext.user_default.araplbs"


def addon(name):
    """A module of the installed add-on."""
    return importlib.import_module(f"{MODULE}.{name}")


def package(name):
    """A module of the package araplbs, which is installed from the add-on's wheel."""
    return importlib.import_module(f"araplbs.{name}")


def new_scene():
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


def add_object(name, data, matrix=None):
    ob = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(ob)
    if matrix is not None:
        ob.matrix_world = matrix
    return ob


def tube_arrays(length=3.0, rings=19, sides=10, radius=0.3, caps=True):
    """Vertices and faces of a tube along Z. The caps are fans, because different versions could
    triangulate n-gons in different ways."""
    angles = np.arange(sides) * 2 * math.pi / sides
    z = np.linspace(0, length, rings)
    vertices = [
        (radius * math.cos(a), radius * math.sin(a), height) for height in z for a in angles
    ]
    around = [(s, (s + 1) % sides) for s in range(sides)]
    faces = [
        (r * sides + a, r * sides + b, (r + 1) * sides + b, (r + 1) * sides + a)
        for r in range(rings - 1)
        for a, b in around
    ]
    if caps:
        bottom, top = rings * sides, rings * sides + 1
        vertices += [(0, 0, 0), (0, 0, length)]
        faces += [(bottom, b, a) for a, b in around]
        faces += [(top, (rings - 1) * sides + a, (rings - 1) * sides + b) for a, b in around]
    return np.array(vertices), faces


def add_mesh(name, vertices, faces, edges=(), matrix=None):
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([tuple(map(float, v)) for v in vertices], list(edges), list(faces))
    selected = mesh.attributes.get(".select_edge")
    if selected and selected.data_type != "BOOLEAN":  # Blender 5.0: pairs, read from beyond them
        mesh.attributes.remove(selected)
        mesh.edges.foreach_set("select", [True] * len(mesh.edges))  # as in the others
    return add_object(name, mesh, matrix)


def add_tube(name="Tube", matrix=None, shift=(0, 0, 0), **shape):
    vertices, faces = tube_arrays(**shape)
    return add_mesh(name, vertices + np.array(shift), faces, matrix=matrix)


def add_cube(name, at, size=0.05):
    corners = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]) - 0.5
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return add_mesh(name, corners * size + np.array(at), faces)


BONES = (  # along the tube
    ("lower", (0, 0, 0.05), (0, 0, 1), None),
    ("middle", (0, 0, 1), (0, 0, 2), "lower"),
    ("upper", (0, 0, 2), (0, 0, 2.95), "middle"),
)


def add_armature(name="Rig", bones=BONES, matrix=None):
    """Adds an armature. bones: [(name, head, tail, parent or None)]."""
    ob = add_object(name, bpy.data.armatures.new(name), matrix)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    for bone_name, head, tail, parent in bones:
        bone = ob.data.edit_bones.new(bone_name)
        bone.head, bone.tail = head, tail
        if parent:
            bone.parent = ob.data.edit_bones[parent]
    bpy.ops.object.mode_set(mode="OBJECT")
    return ob


def in_library(folder, *objects):
    """These objects, saved to a library and linked from it instead."""
    path, names = str(folder / "library.blend"), [ob.name for ob in objects]
    bpy.data.libraries.write(path, set(objects))
    for ob in objects:
        bpy.data.objects.remove(ob)
    with bpy.data.libraries.load(path, link=True) as (_there, here):
        here.objects = names
    for ob in here.objects:
        bpy.context.scene.collection.objects.link(ob)
    return here.objects


def two_sided_bones(x=0.6):
    """Spine and two arms with .L and .R names."""
    return [
        ("spine", (0, 0, 0), (0, 0, 1), None),
        ("arm.L", (0.1, 0, 0.9), (x, 0, 0.9), "spine"),
        ("hand.L", (x, 0, 0.9), (2 * x, 0, 0.9), "arm.L"),
        ("arm.R", (-0.1, 0, 0.9), (-x, 0, 0.9), "spine"),
        ("hand.R", (-x, 0, 0.9), (-2 * x, 0, 0.9), "arm.R"),
    ]


def select(*objects, active=None):
    layer = bpy.context.view_layer
    layer.update()  # new objects are not selectable before, removed ones still there
    for ob in layer.objects:
        ob.select_set(ob in objects)
    layer.objects.active = active or objects[-1]


def choose_bones(rig, *names):
    """Selects these bones and no others."""
    for flag in addon("blender.data.bones").bone_flags(rig):
        flag.select = flag.name in names


def keyed(rig, bone, keys, name="Bend"):
    """A new action of the armature with {frame: angle about X} of a bone, whose pose stays at
    rest."""
    data = rig.animation_data or rig.animation_data_create()
    data.action = bpy.data.actions.new(name)
    posed = rig.pose.bones[bone]
    posed.rotation_mode = "XYZ"
    for frame, angle in keys.items():
        posed.rotation_euler = (angle, 0, 0)
        posed.keyframe_insert("rotation_euler", frame=frame)
    posed.rotation_euler = (0, 0, 0)
    return data.action


def auto_weight(*objects, **options):
    """Runs the operator on these objects, the last of which is active."""
    if objects:
        select(*objects)
    return bpy.ops.object.araplbs_auto_weight("EXEC_DEFAULT", **options)


def weighting(rig, *meshes, threads=0, **options):
    """A WeightingTask that has read its data."""
    kind = addon("weighting").WeightingTask
    task = kind(package("model.options").Options(**options), threads)
    task.read(addon("blender.read.targets").Targets(rig, list(meshes)), bpy.context.view_layer)
    return task


def tube_and_rig(matrix=None, rig_matrix=None):
    """A tube bound with an Armature modifier and a parent, without weights."""
    rig = add_armature(matrix=rig_matrix)
    tube = add_tube(matrix=matrix)
    bind(tube, rig)
    return tube, rig


def bind(mesh, rig):
    bpy.context.view_layer.update()
    world = mesh.matrix_world.copy()
    mesh.parent = rig
    mesh.matrix_parent_inverse = (
        rig.matrix_world.inverted_safe() @ world @ (mesh.matrix_basis.inverted_safe())
    )
    modifier = mesh.modifiers.new("Armature", "ARMATURE")
    modifier.object = rig
    return modifier


def entries(ob):
    """[(group, weight)] of each vertex, sorted, for an exact comparison of weights."""
    return [sorted((g.group, g.weight) for g in v.groups) for v in ob.data.vertices]


def weights(ob, names):
    """(n, names) dense float64. A missing group counts as 0."""
    index = {
        group.index: names.index(group.name) for group in ob.vertex_groups if group.name in names
    }
    dense = np.zeros((len(ob.data.vertices), len(names)))
    for vertex in ob.data.vertices:
        for element in vertex.groups:
            if element.group in index:
                dense[vertex.index, index[element.group]] = element.weight
    return dense


def deform_names(rig):
    return [bone.name for bone in rig.data.bones if bone.use_deform]


def assert_good(ob, rig, most=4):
    """Checks the guarantees that apply to every result, and returns the dense weights."""
    dense = weights(ob, deform_names(rig))
    assert np.isfinite(dense).all() and (dense >= 0).all()
    assert np.abs(dense.sum(axis=1) - 1).max() <= 1e-6
    assert (dense > 0).any(axis=1).all()
    if most:
        assert (dense > 0).sum(axis=1).max() <= most
    assert dense[dense > 0].min() >= 0.001 - 1e-9
    return dense


def snapshot():
    """All data that the operator could have changed, for an exact comparison."""
    context = bpy.context
    state = {
        "mode": context.mode,
        "active": context.view_layer.objects.active and context.view_layer.objects.active.name,
        "frame": (context.scene.frame_current, context.scene.frame_subframe),
        "counts": {
            kind: sorted(x.name for x in getattr(bpy.data, kind))
            for kind in ("objects", "meshes", "armatures", "actions", "scenes", "collections")
        },
    }
    for ob in bpy.data.objects:
        data = ob.animation_data
        state[ob.name] = {
            "selected": ob.select_get(),
            "parent": (ob.parent and ob.parent.name, ob.parent_type, ob.parent_bone),
            "inverse": [tuple(row) for row in ob.matrix_parent_inverse],
            "world": [tuple(row) for row in ob.matrix_world],
            "basis": [tuple(row) for row in ob.matrix_basis],
            "modifiers": [(m.name, m.type) for m in ob.modifiers],
            "animation": data
            and (
                data.action and data.action.name,
                getattr(data, "action_slot", None) and data.action_slot.identifier,
                getattr(data, "last_slot_identifier", None),
                data.use_nla,
            ),
        }
        if ob.type == "MESH":
            state[ob.name]["groups"] = [(g.name, g.lock_weight) for g in ob.vertex_groups]
            state[ob.name]["active group"] = ob.vertex_groups.active_index
            state[ob.name]["weights"] = entries(ob)
        if ob.type == "ARMATURE":
            state[ob.name]["pose"] = [
                (
                    tuple(b.location),
                    tuple(b.rotation_quaternion),
                    tuple(b.rotation_euler),
                    tuple(b.scale),
                )
                for b in ob.pose.bones
            ]
            state[ob.name]["position"] = ob.data.pose_position
    return state


def rotation(degrees, axis):
    return Matrix.Rotation(math.radians(degrees), 4, axis)


def look(view):
    """The result of a view of operators/mesh_view.py after its required number of updates."""
    for _ in range(3):
        view._changed = 0.0
        view.look(bpy.context)
        if view._worker:
            view._worker.join()
    return view.result
