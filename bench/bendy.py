"""Draws the pictures of a tail on bendy bones, on plain bones, and after export to glTF
(docs/bendy).

tools/run_blender.sh bench/bendy.py dist/araplbs-VERSION.zip

The first picture shows the three tails side by side, the second shows other numbers of bones.
Colors mark the strongest bone or group; captions state the largest distance from the bendy tail in
this pose."""

import colorsys
import itertools
import math
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "demo"))

import bpy
import numpy as np
from compare import install_extension, part, select
from mathutils import kdtree
from picture import Stage, material, posed_copy

FOLDER = Path(__file__).resolve().parents[1] / "docs/bendy"
NAMES = ("lower", "middle", "upper")
SEGMENTS, LENGTH, POSED = 6, 3.0, 11  # POSED: frame


class Row(Stage):
    def legend(self, *_place):
        """These figures show no scale of errors."""

    def save(self, path):
        self.scene.render.image_settings.color_mode = "RGB"
        self.scene.render.image_settings.compression = 100
        self.render(path, width=1000)


def make_tail():
    """(rig, mesh) of a tapered tail along Z, keyed from rest to its pose at frame POSED."""
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(rig)
    select(rig, [])
    bpy.ops.object.mode_set(mode="EDIT")
    above = None
    for i, name in enumerate(NAMES):
        bone = rig.data.edit_bones.new(name)
        bone.head, bone.tail = (0, 0, i * LENGTH / 3), (0, 0, (i + 1) * LENGTH / 3)
        bone.parent, bone.use_connect, bone.bbone_segments = above, i > 0, SEGMENTS
        above = bone
    bpy.ops.object.mode_set(mode="OBJECT")
    mesh = make_mesh()
    bpy.context.scene.collection.objects.link(mesh)
    mesh.parent = rig
    mesh.modifiers.new("Armature", "ARMATURE").object = rig
    bpy.context.view_layer.update()
    for bone, angle in zip(rig.pose.bones, (-25, 75, -120), strict=True):
        bone.rotation_mode = "XYZ"
        bone.keyframe_insert("rotation_euler", frame=1)
        bone.rotation_euler.z = math.radians(angle)
        bone.keyframe_insert("rotation_euler", frame=POSED)
    bpy.context.scene.frame_set(POSED)
    return rig, mesh


def make_mesh(rings=90, sides=24):
    angles = np.arange(sides) * 2 * math.pi / sides
    heights = np.linspace(0, LENGTH, rings)
    radii = 0.30 - 0.24 * (heights / LENGTH) ** 1.3
    vertices = [
        (r * math.cos(a), r * math.sin(a), z)
        for r, z in zip(radii, heights, strict=True)
        for a in angles
    ]
    faces = [
        (k * sides + i, k * sides + (i + 1) % sides,
         (k + 1) * sides + (i + 1) % sides, (k + 1) * sides + i)
        for k in range(rings - 1)
        for i in range(sides)
    ]  # fmt: skip
    faces += [tuple(range(sides))[::-1], tuple(range((rings - 1) * sides, rings * sides))]
    data = bpy.data.meshes.new("Tail")
    data.from_pydata(vertices, [], faces)
    data.polygons.foreach_set("use_smooth", [True] * len(faces))  # so exporters split no vertex
    ob = bpy.data.objects.new("Tail", data)
    # Each bone moves a third, and a quarter of a third on either side is shared.
    place = np.repeat(heights, sides) / LENGTH * 3
    for i, name in enumerate(NAMES):
        weights = np.minimum(
            np.clip((place - i) * 2 + 0.5, 0, 1) if i else 1,
            np.clip((i + 1 - place) * 2 + 0.5, 0, 1) if i < 2 else 1,
        )
        group = ob.vertex_groups.new(name=name)
        for vertex in np.flatnonzero(weights).tolist():
            group.add([vertex], float(weights[vertex]), "REPLACE")
    return ob


def posed(ob):
    return part("blender.poses.posed").posed_vertices(ob, bpy.context.evaluated_depsgraph_get())


def add_figure(stage, rig, ob, lines):
    """Adds the mesh in its pose, colored by its strongest groups, with the bones next to it."""
    copy = posed_copy(stage.scene, ob, np.zeros(len(ob.data.vertices)))
    copy.data.attributes["Strain"].data.foreach_set("color", group_colors(ob).ravel())
    stage.add([copy, bones_of(stage.scene, rig)], lines)


def group_colors(ob):
    """(n, 4) colors in which neighboring groups differ clearly."""
    count = len(ob.vertex_groups)
    palette = [
        colorsys.hsv_to_rgb(0.58 + 0.62 * i / max(count, 4), 0.55, 0.75 if i % 2 else 0.45)
        for i in range(count)
    ]
    strongest = [max(v.groups, key=lambda g: g.weight).group for v in ob.data.vertices]
    return np.array([(*palette[i], 1) for i in strongest])


def bones_of(scene, rig):
    """An object with the deform bones in front of the mesh, and bendy ones with their segments."""
    vertices, faces = [], []
    for bone in rig.pose.bones:
        if not bone.bone.use_deform:
            continue
        # glTF has no tails, so bones imported from it have arbitrary lengths.
        joints = [bone.head, bone.head + bone.vector.normalized() * LENGTH / 3 / SEGMENTS]
        if bone.bone.bbone_segments > 1:
            joints = [
                bone.matrix @ bone.bbone_segment_matrix(k).translation
                for k in range(bone.bone.bbone_segments + 1)
            ]
        for ends in itertools.pairwise(joints):
            head, tail = (np.array(rig.matrix_world @ end) for end in ends)
            add_stick(vertices, faces, head, tail)
    data = bpy.data.meshes.new("Bones")
    data.from_pydata(vertices, [], faces)
    data.materials.append(material("Bone", (0.012, 0.013, 0.016), 1.0))
    ob = bpy.data.objects.new("Bones", data)
    ob.visible_shadow = False
    scene.collection.objects.link(ob)
    return ob


def add_stick(vertices, faces, head, tail, front=0.4):
    """Adds an octahedron, as Blender draws bones; the view direction is along Y."""
    along = tail - head
    across = np.cross(along, (0, 1, 0)) * 0.16
    deep = np.array((0, 1, 0)) * np.linalg.norm(across)
    middle = head + 0.25 * along
    first = len(vertices)
    ring = [middle + across, middle + deep, middle - across, middle - deep]
    vertices += [tuple(p - (0, front, 0)) for p in (head, *ring, tail)]
    for i in range(4):
        a, b = first + 1 + i, first + 1 + (i + 1) % 4
        faces += [(first, a, b), (first + 5, b, a)]


def convert(rig, **options):
    select(rig, [])
    if bpy.ops.object.araplbs_bendy(**options) != {"FINISHED"}:
        raise RuntimeError("not converted")
    bpy.context.view_layer.update()


def through_gltf():
    """(rig, mesh) after export and import, at frame POSED."""
    bpy.ops.preferences.addon_enable(module="io_scene_gltf2")
    there = set(bpy.data.objects)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "tail.glb")
        bpy.ops.export_scene.gltf(
            filepath=path, export_def_bones=True, export_optimize_animation_size=False
        )
        bpy.ops.import_scene.gltf(filepath=path, bone_heuristic="BLENDER")
    new = [ob for ob in bpy.data.objects if ob not in there]
    rig = next(ob for ob in new if ob.type == "ARMATURE")
    bpy.context.scene.frame_set(POSED)
    return rig, next(ob for ob in new if ob.parent == rig and ob.type == "MESH")


def share(before, ob, rest):
    """The largest distance of a mesh from `before`; vertices are matched by their rest
    positions."""
    tree = kdtree.KDTree(len(rest))
    for i, point in enumerate(rest):
        tree.insert(point, i)
    tree.balance()
    match = [tree.find(ob.matrix_world @ vertex.co)[1] for vertex in ob.data.vertices]
    distance = np.linalg.norm(posed(ob) - before[match], axis=1).max()
    return distance / np.linalg.norm(np.ptp(before, axis=0))


def rest_points(ob):
    return [ob.matrix_world @ vertex.co for vertex in ob.data.vertices]


def draw_exact(path):
    stage = Row(0.8 * LENGTH)
    rig, ob = make_tail()
    before, rest = posed(ob), rest_points(ob)
    add_figure(stage, rig, ob, ["Bendy bones", f"{len(NAMES)} bones of {SEGMENTS} segments"])
    convert(rig)
    count = sum(bone.use_deform for bone in rig.data.bones)
    add_figure(
        stage, rig, ob, ["Converted", f"{count} bones, off by {share(before, ob, rest):.0e}"]
    )
    rig, ob = through_gltf()
    add_figure(stage, rig, ob, ["Back from glTF", f"off by {share(before, ob, rest):.0e}"])
    stage.save(path)


def draw_numbers(path):
    stage = Row(0.8 * LENGTH)
    for number in (2, 3, 4, SEGMENTS + 1):
        rig, ob = make_tail()
        before, rest = posed(ob), rest_points(ob)
        convert(rig, count=number)
        off = share(before, ob, rest)
        off = f"{100 * off:.1f} %" if off > 1e-4 else f"{off:.0e}"
        add_figure(stage, rig, ob, [f"{number} bones for each", f"off by {off}"])
    stage.save(path)


def main(zip_path):
    install_extension(zip_path)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for draw, name in ((draw_exact, "tail.png"), (draw_numbers, "numbers.png")):
        bpy.ops.wm.read_homefile(use_empty=True)
        draw(FOLDER / name)


if __name__ == "__main__":
    main(*sys.argv[sys.argv.index("--") + 1 :])
