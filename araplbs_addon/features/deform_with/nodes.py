"""The node group that deforms a mesh with dual quaternions, centers of rotation, or
stretchable-twistable bones.

The group repeats over the bones. Each bone adds its share to a sum at the vertices that its vertex
group moves, as center_skinning.c, dual_blend.c and spines.c do for each vertex. The sum is an
attribute of 4x4 matrices:

    column 1: the sum of quaternions, xyzw
    column 2: dual part, moved centers or moved points, xyz; sum of the weights
    column 3: offsets from moved centers, xyz; w of the dual part

A stretchable-twistable bone first turns a point about the bone, by an angle that is linear between
the ends and constant beyond them: minus the twist of the bone relative to the bone `above` at the
head, and the twist of the bone `below` relative to the bone at the tail. In addition, the stretch
of the bone is removed beyond the ends. Then the pose moves the point.
"""

from math import pi

import bpy

SUM, CENTER = "araplbs_sum", "araplbs_center"
MIN_SUM = 1e-4  # minimum sum of weights of a vertex that moves
LAYOUT = 180  # distance of nodes in the editor


class _Graph:
    """Adds nodes to a node group. Every method returns output sockets."""

    def __init__(self, tree):
        self.tree, self.column = tree, 0

    def node(self, idname, *values, **settings):
        """Adds a node. values: for its visible inputs in order; None keeps the default."""
        node = self.tree.nodes.new(idname)
        node.location = self.column * LAYOUT, -(self.column % 4) * LAYOUT
        self.column += 1
        for name, value in settings.items():
            setattr(node, name, value)
        for socket, value in zip([s for s in node.inputs if s.enabled], values, strict=False):
            self.put(socket, value)
        return node

    def put(self, socket, value):
        if isinstance(value, bpy.types.NodeSocket):
            self.tree.links.new(value, socket)
        elif value is not None:
            socket.default_value = value

    def out(self, idname, *values, **settings):
        node = self.node(idname, *values, **settings)
        outs = [s for s in node.outputs if s.enabled]
        return outs[0] if len(outs) == 1 else outs

    def math(self, operation, *values):
        return self.out("ShaderNodeMath", *values, operation=operation)

    def vector(self, operation, *values):
        return self.out("ShaderNodeVectorMath", *values, operation=operation)

    def scale(self, vector, factor):
        return self.out("ShaderNodeVectorMath", vector, factor, operation="SCALE")

    def attribute(self, name, data_type):
        node = self.node("GeometryNodeInputNamedAttribute", name, data_type=data_type)
        return node.outputs["Attribute"]

    def axes_rotation(self, matrix):
        """The rotation of a bone's matrix: its Y axis, and its X axis as far as shear permits."""
        x, y = (
            self.out("FunctionNodeTransformDirection", axis, matrix)
            for axis in ((1, 0, 0), (0, 1, 0))
        )
        return self.out("FunctionNodeAxesToRotation", y, x, primary_axis="Y", secondary_axis="X")

    def turned(self, rotation, by):
        return self.out("FunctionNodeRotateRotation", rotation, by, rotation_space="GLOBAL")

    def unturned(self, rotation):
        return self.out("FunctionNodeInvertRotation", rotation)

    def dot4(self, a, a_w, b, b_w):
        return self.math("MULTIPLY_ADD", a_w, b_w, self.vector("DOT_PRODUCT", a, b))

    def sum_parts(self):
        """(vector, number) of the first three columns of the sum."""
        parts = self.node("FunctionNodeSeparateMatrix", self.attribute(SUM, "FLOAT4X4")).outputs
        return [
            (self.out("ShaderNodeCombineXYZ", *parts[k : k + 3]), parts[k + 3]) for k in (0, 4, 8)
        ]

    def matrix(self, *columns):
        """A matrix of (vector, number) for each column."""
        values = []
        for vector, number in columns:
            values += [*self.node("ShaderNodeSeparateXYZ", vector).outputs, number]
        return self.out("FunctionNodeCombineMatrix", *values)


def _repeat(graph, geometry, count):
    """(geometry inside, index, function that ends the zone and returns the geometry after it)"""
    begin = graph.node("GeometryNodeRepeatInput")
    end = graph.tree.nodes.new("GeometryNodeRepeatOutput")
    begin.pair_with_output(end)
    graph.put(begin.inputs["Iterations"], count)
    graph.put(begin.inputs["Geometry"], geometry)

    def finish(inner):
        graph.put(end.inputs["Geometry"], inner)
        end.location = graph.column * LAYOUT, 0
        return end.outputs["Geometry"]

    return begin.outputs["Geometry"], begin.outputs["Iteration"], finish


def _choice(graph, index, values, data_type):
    """The value of the bone."""
    switch = graph.node("GeometryNodeIndexSwitch", data_type=data_type)
    while len(switch.index_switch_items) < len(values):
        switch.index_switch_items.new()
    for socket, value in zip(switch.inputs, (index, *values), strict=False):
        graph.put(socket, value)
    return switch.outputs[0]


class _Bone:
    """The sockets of a bone. turn: its rotation in armature space."""

    def __init__(self, graph, armature, name):
        info = graph.node("GeometryNodeBoneInfo", armature, name).outputs
        self.pose, _local, _transform, self.rest, self.length = list(info)[:5]
        self.rest_axes = graph.out("FunctionNodeSeparateTransform", self.rest)[1]
        self.pose_axes = graph.axes_rotation(self.pose)
        self.turn = graph.turned(graph.unturned(self.rest_axes), self.pose_axes)
        self.to_rest = graph.node("FunctionNodeInvertMatrix", self.rest).outputs[0]


def _half_twist(graph, first, then):
    """Half of the angle by which rotation `then` turns about the Y axis relative to `first`."""
    turn = graph.out(
        "FunctionNodeRotateRotation", graph.unturned(first), then, rotation_space="LOCAL"
    )
    w, _x, y, _z = graph.node("FunctionNodeRotationToQuaternion", turn).outputs
    return graph.math("WRAP", graph.math("ARCTAN2", y, w), pi / 2, -pi / 2)


def _stretched_twisted(graph, point, bone, above, below, exponent):
    """The point to which a stretchable-twistable bone alone moves a point."""
    at_head, at_tail = (graph.turned(bone.rest_axes, other.turn) for other in (above, below))
    own = bone.pose_axes
    head, tail = _half_twist(graph, at_head, own), _half_twist(graph, own, at_tail)
    slope = graph.math(
        "DIVIDE", graph.math("ADD", head, tail), graph.math("MULTIPLY", bone.length, 0.5)
    )
    local = graph.out("FunctionNodeTransformPoint", point, bone.to_rest)
    y = graph.node("ShaderNodeSeparateXYZ", local).outputs[1]
    along = graph.out("ShaderNodeClamp", y, 0.0, bone.length)
    angle = graph.math("MULTIPLY_ADD", along, slope, graph.math("MULTIPLY", head, -2.0))
    turned = graph.out("ShaderNodeVectorRotate", local, None, angle, rotation_type="Y_AXIS")
    scale = graph.out("FunctionNodeSeparateTransform", bone.pose)[2]
    width, length, depth = graph.node("ShaderNodeSeparateXYZ", scale).outputs
    across = graph.math("SQRT", graph.math("MULTIPLY", width, depth))
    ratio = graph.math("DIVIDE", across, graph.math("ABSOLUTE", length))
    change = graph.math("SUBTRACT", graph.math("POWER", ratio, exponent), 1.0)
    beyond = graph.math("MULTIPLY", graph.math("SUBTRACT", y, along), change)
    straight = graph.vector("ADD", turned, graph.out("ShaderNodeCombineXYZ", None, beyond))
    return graph.out("FunctionNodeTransformPoint", straight, bone.pose)


def _add_point(graph, geometry, weight, moved):
    """Adds the moved point of one bone to the sum."""
    first, (other, total), third = graph.sum_parts()
    summed = graph.vector("ADD", other, graph.scale(moved, weight))
    return _store(
        graph,
        geometry,
        _moves(graph, weight),
        graph.matrix(first, (summed, graph.math("ADD", total, weight)), third),
    )


def _moves(graph, weight):
    return graph.out("FunctionNodeCompare", weight, 0.0, operation="GREATER_THAN")


def _add_bone(graph, geometry, point, center, weight, bone):
    """Adds the share of one bone to the sum. center: None for dual quaternions."""
    transform = graph.out("FunctionNodeMatrixMultiply", bone.pose, bone.to_rest)
    turn = bone.turn
    w, x, y, z = graph.node("FunctionNodeRotationToQuaternion", turn).outputs
    xyz = graph.out("ShaderNodeCombineXYZ", x, y, z)
    (real, real_w), (other, total), (third, third_w) = graph.sum_parts()
    opposite = graph.out(
        "FunctionNodeCompare", graph.dot4(xyz, w, real, real_w), 0.0, operation="LESS_THAN"
    )
    signed = graph.math("MULTIPLY", weight, graph.math("MULTIPLY_ADD", opposite, -2.0, 1.0))
    quaternion = (
        graph.vector("ADD", real, graph.scale(xyz, signed)),
        graph.math("MULTIPLY_ADD", w, signed, real_w),
    )
    total = graph.math("ADD", total, weight)
    if center is None:
        moved = graph.out("FunctionNodeTransformPoint", point, transform)
        shift = graph.vector("SUBTRACT", moved, graph.out("FunctionNodeRotateVector", point, turn))
        half = graph.math("MULTIPLY", signed, 0.5)
        dual = graph.vector("ADD", graph.scale(shift, w), graph.vector("CROSS_PRODUCT", shift, xyz))
        along = graph.math("MULTIPLY", graph.vector("DOT_PRODUCT", shift, xyz), half)
        more = (
            (graph.vector("ADD", other, graph.scale(dual, half)), total),
            (third, graph.math("SUBTRACT", third_w, along)),
        )
    else:
        moved = graph.out("FunctionNodeTransformPoint", center, transform)
        offset = graph.vector("SUBTRACT", point, center)
        turned = graph.out("FunctionNodeTransformDirection", offset, transform)
        unturned = graph.out("FunctionNodeRotateVector", turned, graph.unturned(turn))
        more = (
            (graph.vector("ADD", other, graph.scale(moved, weight)), total),
            (graph.vector("ADD", third, graph.scale(unturned, weight)), third_w),
        )
    return _store(graph, geometry, _moves(graph, weight), graph.matrix(quaternion, *more))


def _store(graph, geometry, selection, value):
    node = graph.node("GeometryNodeStoreNamedAttribute", data_type="FLOAT4X4", domain="POINT")
    for name, each in (
        ("Geometry", geometry),
        ("Selection", selection),
        ("Name", SUM),
        ("Value", value),
    ):
        graph.put(node.inputs[name], each)
    return node.outputs["Geometry"]


def _moved_point(graph, point, has_centers, has_twists):
    """(position in armature space, whether the vertex moves)"""
    (real, real_w), (other, total), (third, third_w) = graph.sum_parts()
    moves = graph.out("FunctionNodeCompare", total, MIN_SUM, operation="GREATER_THAN")
    part = graph.math("DIVIDE", 1.0, total)
    if has_twists:
        return graph.scale(other, part), moves
    turn = graph.out(
        "FunctionNodeQuaternionToRotation",
        real_w,
        *graph.node("ShaderNodeSeparateXYZ", real).outputs,
    )
    if has_centers:
        turned = graph.out("FunctionNodeRotateVector", third, turn)
        return graph.scale(graph.vector("ADD", other, turned), part), moves
    # 2 Im(D Q*) / |Q|^2
    shift = graph.vector(
        "SUBTRACT",
        graph.vector("SUBTRACT", graph.scale(other, real_w), graph.scale(real, third_w)),
        graph.vector("CROSS_PRODUCT", other, real),
    )
    factor = graph.math("DIVIDE", 2.0, graph.dot4(real, real_w, real, real_w))
    turned = graph.out("FunctionNodeRotateVector", point, turn)
    return graph.vector("ADD", turned, graph.scale(shift, factor)), moves


def build(tree, armature, names, has_centers=False, twists=None):
    """Fills an empty node group. names: of the bones, which are those of the vertex groups. twists:
    for stretchable-twistable bones, `above`, `below` and `exponents` of SharedTwists, with names.
    """
    graph = _Graph(tree)
    for direction in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=direction, socket_type="NodeSocketGeometry")
    geometry = graph.node("NodeGroupInput").outputs[0]
    info = graph.node("GeometryNodeObjectInfo", armature, transform_space="RELATIVE")
    from_armature = info.outputs["Transform"]
    to_armature = graph.node("FunctionNodeInvertMatrix", from_armature).outputs[0]
    position = graph.out("GeometryNodeInputPosition")
    point = graph.out("FunctionNodeTransformPoint", position, to_armature)
    center = None
    if has_centers:
        center = graph.attribute(CENTER, "FLOAT_VECTOR")
        center = graph.out("FunctionNodeTransformPoint", center, to_armature)
    zero = graph.node("FunctionNodeCombineMatrix", *[0.0] * 16).outputs[0]
    inner, index, finish = _repeat(graph, _store(graph, geometry, True, zero), len(names))
    name = _choice(graph, index, names, "STRING")
    weight, bone = graph.attribute(name, "FLOAT"), _Bone(graph, armature, name)
    if twists:
        kinds = zip(twists, ("STRING", "STRING", "FLOAT"), strict=True)
        above, below, exponent = (_choice(graph, index, *each) for each in kinds)
        others = (_Bone(graph, armature, other) for other in (above, below))
        moved = _stretched_twisted(graph, point, bone, *others, exponent)
        added = _add_point(graph, inner, weight, moved)
    else:
        added = _add_bone(graph, inner, point, center, weight, bone)
    summed = finish(added)
    moved, moves = _moved_point(graph, point, has_centers, bool(twists))
    placed = graph.out("FunctionNodeTransformPoint", moved, from_armature)
    deformed = graph.out("GeometryNodeSetPosition", summed, moves, placed)
    clean = graph.out("GeometryNodeRemoveAttribute", deformed)
    node = clean.node
    graph.put(node.inputs["Name"], SUM)
    graph.node("NodeGroupOutput", clean)
