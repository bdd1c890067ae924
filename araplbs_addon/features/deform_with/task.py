"""The task of Deform With: reads the weights, computes centers of rotation, and replaces the
Armature modifier by a Geometry Nodes modifier or the other way around."""

from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from araplbs.base.affine import moved
from araplbs.base.arrays import Floats, Integers
from araplbs.base.progress import Listener, Progress
from araplbs.base.refusal import Refused
from araplbs.base.steps import Steps
from araplbs.features.deform_with import ARMATURE, CENTERS, STRETCH_TWIST, SharedTwists
from araplbs.measures.deformer_preview import DeformerPreview
from araplbs.model.options import Options
from araplbs.reports.report import names_in_line
from araplbs.skeleton.skeleton import Skeleton
from bpy.types import Modifier, NodeTree, Object, ViewLayer

from ...blender.data.binding import (
    BONES,
    CENTERS_OLD,
    DEFORMER,
    armature_modifiers,
    deform_nodes,
)
from ...blender.data.references import Subjects
from ...blender.read.deformation_errors import read_weighted
from ...blender.read.other_modifiers import MAKES_VERTICES
from ...blender.read.read_armature import read_armature
from ...blender.read.read_mesh import present_weights, refuse_mesh
from ...blender.read.targets import Targets
from ...task import Task
from .nodes import CENTER, build

# Settings that the Geometry Nodes modifier takes over from the Armature modifier, and gives back.
SHOWN = ("show_viewport", "show_render", "show_in_editmode", "show_on_cage")


@dataclass(frozen=True)
class Reading:
    subjects: Subjects
    bones: list[Integers]  # for each mesh, those that move it
    previews: list[DeformerPreview | None]
    skeleton: Skeleton
    twists: SharedTwists


class DeformWithTask(Task):
    centers: list[Floats | None] = ()  # type: ignore[assignment]  # in armature space, each (n, 3)

    def read_in_steps(self, targets: Targets, view_layer: ViewLayer) -> Steps[None]:
        self.warnings = list(targets.skipped)
        armature, bones, previews = targets.armature, [], []
        skeleton = read_armature(armature, use_joint_limits=False)
        rigid = [bone.araplbs_deformer == "RIGID" for bone in armature.data.bones]
        for ob in targets.meshes:
            yield
            refuse_mesh(ob)
            modifier = _only_modifier(ob, armature)
            used, preview = np.zeros(0, int), None
            if self.options.deformer != ARMATURE:
                used = np.unique(present_weights(ob, skeleton).bones)
                _refuse_unlike(ob, modifier, armature, [skeleton.names[b] for b in used])
            if self.options.deformer == CENTERS:
                _refuse_new_vertices(ob, modifier)
                _armature, problem, rows = read_weighted(ob, view_layer, Options())
                preview = DeformerPreview(problem, rows, self.threads)
            bones.append(used)
            previews.append(preview)
        twists = SharedTwists.of(skeleton, np.array(rigid))
        subjects = Subjects.of(armature, targets.meshes)
        self.reading = Reading(subjects, bones, previews, skeleton, twists)

    def solve(self, progress: Listener | None = None) -> None:
        self.centers, progress = [], Progress.of(progress)
        previews = self.reading.previews
        for k, preview in enumerate(previews):
            progress.check("centers of rotation", k / len(previews))
            part = progress.part(k / len(previews), 1 / len(previews))
            self.centers.append(None if preview is None else _finite(preview, part))

    def apply(self) -> dict[str, Any]:
        armature, objects = self.find_objects()
        trees: list[NodeTree | None] = []
        try:
            for ob, bones in zip(objects, self.reading.bones, strict=True):
                trees.append(self._tree(ob, armature, bones))
        except BaseException:
            for tree in filter(None, trees):
                bpy.data.node_groups.remove(tree)
            raise
        for ob, tree, centers in zip(objects, trees, self.centers, strict=True):
            _choose_armature(ob, armature)
            if tree:
                _choose_nodes(ob, armature, tree, centers)
        done = [{"name": ob.name} for ob in objects]
        return {"armature": armature.name, "deformer": self.options.deformer, "objects": done}

    def _tree(self, ob: Object, armature: Object, bones: Integers) -> NodeTree | None:
        """The node group that deforms a mesh; None for the Armature modifier."""
        deformer = self.options.deformer
        if deformer == ARMATURE:
            return None
        tree = bpy.data.node_groups.new(f"{ob.name} Deformer", "GeometryNodeTree")
        try:
            tree[DEFORMER] = deformer
            names, shared = self.reading.skeleton.names, self.reading.twists
            used, above, below = (
                [names[b] for b in of] for of in (bones, shared.above[bones], shared.below[bones])
            )
            twists = None
            if deformer == STRETCH_TWIST:
                twists = above, below, shared.exponents[bones].tolist()
            build(tree, armature, used, deformer == CENTERS, twists)
            tree[BONES] = sorted({*used, *above, *below} if twists else used)
        except BaseException:
            bpy.data.node_groups.remove(tree)
            raise
        return tree


def _choose_nodes(ob: Object, armature: Object, tree: NodeTree, centers: Floats | None) -> None:
    """Puts the nodes in the place of the Armature modifier. centers: in armature space, or None."""
    if centers is not None:
        matrix = np.array(ob.matrix_world.inverted_safe() @ armature.matrix_world, np.float64)
        own = moved(centers, matrix)
        attribute = ob.data.attributes.new(CENTER, "FLOAT_VECTOR", "POINT")
        attribute.data.foreach_set("vector", own.astype(np.float32).ravel())
        tree[CENTER] = attribute.name  # another one than that of an object with the same mesh
        for node in tree.nodes:
            if "Name" in node.inputs and node.inputs["Name"].default_value == CENTER:
                node.inputs["Name"].default_value = attribute.name
    (modifier,) = armature_modifiers(ob, armature)
    nodes = ob.modifiers.new("Deformer", "NODES")
    nodes.node_group = tree
    ob.modifiers.move(len(ob.modifiers) - 1, list(ob.modifiers).index(modifier) + 1)
    for name in SHOWN:
        setattr(nodes, name, getattr(modifier, name))
    modifier.show_viewport = modifier.show_render = False


def _only_modifier(ob: Object, armature: Object) -> Modifier:
    """The Armature modifier of a mesh. Raises Refused if there is not exactly one."""
    modifiers = armature_modifiers(ob, armature)
    if len(modifiers) != 1:
        raise Refused(
            f"'{ob.name}' has {len(modifiers)} Armature modifiers of '{armature.name}': "
            "one is needed"
        )
    return modifiers[0]


def _refuse_unlike(ob: Object, modifier: Modifier, armature: Object, names: list[str]) -> None:
    """Raises Refused if the modifier deforms by more than the transforms of bones."""
    if not names:
        raise Refused(f"No vertex of '{ob.name}' has weights for deform bones")
    bones = [armature.data.bones[name] for name in names]
    bendy = [f"'{bone.name}'" for bone in bones if bone.bbone_segments > 1]
    if bendy:
        raise Refused(f"Convert bendy bones to bones first: {names_in_line(bendy)}")
    for used, what in (
        (modifier.use_bone_envelopes or not modifier.use_vertex_groups, "Bone Envelopes"),
        (any(bone.use_envelope_multiply for bone in bones), "Multiply Vertex Group by Envelope"),
        (modifier.vertex_group, "a vertex group of the modifier"),
        (modifier.use_multi_modifier, "Multi Modifier"),
    ):
        if used:
            raise Refused(f"'{ob.name}' is deformed with {what}, which these deformers do not have")


def _refuse_new_vertices(ob: Object, modifier: Modifier) -> None:
    """Raises Refused if the vertices at the Armature modifier are not those of the mesh."""
    for other in ob.modifiers:
        if other == modifier:
            return
        shown = other.show_viewport or other.show_render
        if shown and other.type in {*MAKES_VERTICES, "NODES"}:
            raise Refused(
                f"'{other.name}' comes before the Armature modifier of '{ob.name}' and may add "
                "vertices, which have no centers of rotation: move it below"
            )


def _finite(preview: DeformerPreview, progress: Listener) -> Floats:
    """The centers. A vertex without one rotates about itself."""
    centers = preview.centers(progress)
    return np.where(np.isfinite(centers), centers, preview.vertices)


def _choose_armature(ob: Object, armature: Object) -> None:
    """Removes our nodes and their centers, and gives the Armature modifier their visibility."""
    ob.data.pop(CENTERS_OLD, None)
    nodes = deform_nodes(ob)
    (modifier,) = armature_modifiers(ob, armature)
    if not nodes:
        if not modifier.show_viewport and not modifier.show_render:  # nodes were removed by hand
            modifier.show_viewport = modifier.show_render = True
        return
    for name in SHOWN:
        setattr(modifier, name, getattr(nodes, name))
    tree = nodes.node_group
    attribute = ob.data.attributes.get(tree.get(CENTER, ""))
    ob.modifiers.remove(nodes)
    if attribute and (not tree.users or ob.data.users == 1):
        ob.data.attributes.remove(attribute)
    if not tree.users:
        bpy.data.node_groups.remove(tree)
