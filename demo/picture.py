"""Draws pictures of posed characters side by side, with their Stretch as colors."""

import math

import bpy
import numpy as np
from mathutils import Vector

# Colors (linear RGB) of strain; the last color is for all larger values.
SCALE = (
    (0.00, (0.62, 0.63, 0.64)),
    (0.08, (0.62, 0.63, 0.64)),
    (0.20, (0.95, 0.66, 0.10)),
    (0.40, (0.85, 0.10, 0.02)),
    (0.80, (0.22, 0.00, 0.14)),
)
BELOW = 0.42  # of a figure's height: captions and legend
INK = (0.012, 0.013, 0.016)
PAPER = (0.72, 0.73, 0.75)


def colors(strain):
    """Return (n, 4) colors of (n,) strains; NaN (no weights) is drawn in blue."""
    stops, values = zip(*SCALE, strict=True)
    strain = np.asarray(strain, float)
    rgb = [np.interp(strain, stops, [value[c] for value in values]) for c in range(3)]
    result = np.stack([*rgb, np.ones_like(strain)], axis=1)
    result[np.isnan(strain)] = (0.05, 0.15, 0.75, 1)
    return result


def posed_copy(scene, source, strain):
    """Return a separate object in `scene`: the mesh of `source` as its modifiers currently deform
    it, colored by strain. strain: of the vertices of the base mesh, NaN for vertices without
    strain."""
    evaluated = source.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = bpy.data.meshes.new_from_object(evaluated)
    mesh.transform(source.matrix_world)
    if len(strain) != len(mesh.vertices):  # a modifier added vertices: the color of the nearest
        strain = np.resize(strain, len(mesh.vertices))
    attribute = mesh.color_attributes.new("Strain", "FLOAT_COLOR", "POINT")
    attribute.data.foreach_set("color", colors(strain).ravel())
    mesh.polygons.foreach_set("use_smooth", [True] * len(mesh.polygons))
    mesh.materials.clear()
    mesh.materials.append(skin_material())
    copy = bpy.data.objects.new(source.name, mesh)
    scene.collection.objects.link(copy)
    return copy


def material(name, color, roughness=0.6, emission=0.0):
    made = bpy.data.materials.get(name)
    if made:
        return made
    made = bpy.data.materials.new(name)
    if made.node_tree is None:
        made.use_nodes = True
    shader = made.node_tree.nodes["Principled BSDF"]
    shader.inputs["Base Color"].default_value = (*color, 1)
    shader.inputs["Roughness"].default_value = roughness
    if emission:
        shader.inputs["Emission Color"].default_value = (*color, 1)
        shader.inputs["Emission Strength"].default_value = emission
    return made


def skin_material():
    made = bpy.data.materials.get("Strain")
    if not made:
        made = material("Strain", (1, 1, 1), 0.55)
        nodes = made.node_tree.nodes
        attribute = nodes.new("ShaderNodeAttribute")
        attribute.attribute_name = "Strain"
        made.node_tree.links.new(
            attribute.outputs["Color"], nodes["Principled BSDF"].inputs["Base Color"]
        )
    return made


class Stage:
    """A scene with floor, light and camera in which figures stand in a row along +X."""

    def __init__(self, size, step=0.95):
        """Create a stage. size: height of a figure; step: distance between figures, as a share of
        their height."""
        self.size, self.step = size, step * size
        self.scene = bpy.data.scenes.new("Picture")
        self.count = 0
        scene = self.scene
        scene.render.engine = "CYCLES"
        scene.cycles.samples = 32
        scene.cycles.use_denoising = True
        scene.view_settings.view_transform = "Standard"
        scene.world = bpy.data.worlds.new("Picture")
        if scene.world.node_tree is None:
            scene.world.use_nodes = True
        scene.world.node_tree.nodes["Background"].inputs["Color"].default_value = (*PAPER, 1)
        scene.world.node_tree.nodes["Background"].inputs["Strength"].default_value = 0.75
        self.light((math.radians(48), math.radians(-8), math.radians(-38)), 2.6, 8)
        self.light((math.radians(60), 0, math.radians(140)), 0.8, 30)

    def light(self, rotation, energy, angle):
        data = bpy.data.lights.new("Sun", "SUN")
        data.energy, data.angle = energy, math.radians(angle)
        sun = bpy.data.objects.new("Sun", data)
        sun.rotation_euler = rotation
        self.scene.collection.objects.link(sun)

    def add(self, copies, lines):
        """Place the objects of one figure and its caption; the first line is the title."""
        points = np.concatenate([world_points(copy) for copy in copies])
        middle = Vector((*(0.5 * (points.min(0) + points.max(0)))[:2], points[:, 2].min()))
        place = Vector((self.count * self.step, 0, 0))
        for copy in copies:
            copy.location = place - middle
        for i, line in enumerate(lines):
            size = (0.052 if i == 0 else 0.036) * self.size
            down = (0.08 + (0.015 + 0.055 * i if i else 0)) * self.size
            self.text(line, place + Vector((0, -0.35 * self.size, -down)), size)
        self.count += 1

    def text(self, body, location, size, align="CENTER"):
        curve = bpy.data.curves.new("Text", "FONT")
        curve.body, curve.size, curve.align_x = body, size, align
        curve.materials.append(material("Ink", INK, 1.0))
        text = bpy.data.objects.new("Text", curve)
        text.location = location
        text.rotation_euler = (math.radians(90), 0, 0)
        text.visible_shadow = False
        self.scene.collection.objects.link(text)

    def legend(self, location, width, height, title="Stretch"):
        """Add a color bar of the strain."""
        stops, _ = zip(*SCALE, strict=True)
        steps = 160
        x = np.linspace(0, 1, steps + 1)
        vertices = [(width * (u - 0.5), 0, v * height) for u in x for v in (0, 1)]
        faces = [(2 * i, 2 * i + 2, 2 * i + 3, 2 * i + 1) for i in range(steps)]
        mesh = bpy.data.meshes.new("Legend")
        mesh.from_pydata(vertices, [], faces)
        attribute = mesh.color_attributes.new("Strain", "FLOAT_COLOR", "POINT")
        attribute.data.foreach_set("color", colors(np.repeat(x * stops[-1], 2)).ravel())
        flat = material("Legend", (1, 1, 1), 1.0)
        nodes, links = flat.node_tree.nodes, flat.node_tree.links
        source = nodes.new("ShaderNodeAttribute")
        source.attribute_name = "Strain"
        shader = nodes["Principled BSDF"]
        links.new(source.outputs["Color"], shader.inputs["Base Color"])
        mesh.materials.append(flat)
        bar = bpy.data.objects.new("Legend", mesh)
        bar.location = location
        bar.visible_shadow = False
        self.scene.collection.objects.link(bar)
        for stop in (0, 0.2, 0.4, 0.6, 0.8):
            label = f"{stop:.0%}" + (" or more" if stop == 0.8 else "")
            at = Vector(location) + Vector((width * (stop / stops[-1] - 0.5), 0, -1.25 * height))
            self.text(label, at, 1.05 * height)
        self.text(title, Vector(location) + Vector((0, 0, 1.5 * height)), 1.15 * height)

    def render(self, path, legend="Stretch", width=1600):
        size, scene = self.size, self.scene
        center = 0.5 * (self.count - 1) * self.step
        self.legend((center, -0.35 * size, -0.36 * size), 0.8 * size, 0.024 * size, legend)
        data = bpy.data.cameras.new("Camera")
        data.type = "ORTHO"
        camera = bpy.data.objects.new("Camera", data)
        scene.collection.objects.link(camera)
        scene.camera = camera
        # A margin above a figure, and the captions and the legend below it.
        across, up = self.count * self.step, (1.04 + BELOW) * size
        camera.location = (center, -6 * size, (1.04 - BELOW) / 2 * size)
        camera.rotation_euler = (math.radians(90), 0, 0)
        data.clip_end = 100 * size
        data.ortho_scale = max(across, up)
        scene.render.resolution_x = width
        scene.render.resolution_y = round(width * up / across)
        scene.render.filepath = str(path)
        bpy.ops.render.render(write_still=True, scene=scene.name)


def world_points(item):
    flat = np.empty(3 * len(item.data.vertices))
    item.data.vertices.foreach_get("co", flat)
    return flat.reshape(-1, 3)
