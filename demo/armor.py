"""Creates plate armor for the generated character from pieces of its skin, which are cut out by
planes, lifted and thickened. The armor is one mesh of many loose parts that should keep their
shape, as in game characters."""

import bmesh
import bpy
from character import bones
from mathutils import Matrix, Vector

THICK = 0.006  # meters


def between(bone, begin, end):
    """Return the planes across a bone, at two shares of its length."""
    head, tail, *_rest = bones()[bone]
    head, along = Vector(head), Vector(tail) - Vector(head)
    return (
        (head + begin * along, -along.normalized()),
        (head + end * along, along.normalized()),
    )


def middle(bone, at):
    head, tail, *_rest = bones()[bone]
    return Vector(head).lerp(Vector(tail), at)


def level(low, high):
    return ((0, 0, low), (0, 0, -1)), ((0, 0, high), (0, 0, 1))


def beyond(x, lean=0.0):
    """Return the plane that keeps larger x."""
    return (x, 0, 1.33), (-1, 0, lean)


def up_to(x, lean=0.0):
    """Return the plane that keeps smaller x."""
    return (x, 0, 1.33), (1, 0, lean)


def above(z):
    return (0, 0, z), (0, 0, -1)


FRONT, BACK = ((0, 0, 0), (0, 1, 0)), ((0, 0.01, 0), (0, -1, 0))
CHEST = beyond(-0.135), up_to(0.135)

# (a point near the piece, planes whose outer side is cut off, the distance by which the piece is
# lifted)
MIDDLE_PIECES = (
    ((0, -0.1, 1.22), (*level(1.125, 1.335), FRONT, *CHEST), 0.016),
    ((0, 0.1, 1.22), (*level(1.125, 1.345), BACK, *CHEST), 0.016),
    ((0, -0.1, 1.08), level(1.062, 1.115), 0.013),
    ((0, -0.1, 1.03), level(1.000, 1.053), 0.016),
    ((0, -0.1, 0.96), level(0.930, 0.990), 0.020),
    ((0, -0.05, 1.40), between("neck", 0.10, 0.55), 0.012),
    ((0, 0.0, 1.72), level(1.628, 2), 0.014),
)
LEFT_PIECES = (
    ((0.19, 0.0, 1.40), (beyond(0.115), up_to(0.262, -0.2), above(1.325)), 0.020),
    (middle("upper_arm.L", 0.62), between("upper_arm.L", 0.48, 0.80), 0.010),
    (middle("forearm.L", 0.5), between("forearm.L", 0.16, 0.88), 0.011),
    ((0.09, -0.09, 0.75), (*between("thigh.L", 0.16, 0.46), FRONT, beyond(0.025)), 0.016),
    (middle("thigh.L", 0.7), between("thigh.L", 0.54, 0.84), 0.011),
    (middle("shin.L", 0.5), between("shin.L", 0.18, 0.86), 0.011),
    ((0.68, 0.0, 1.25), (beyond(0.648), up_to(0.706), above(1.222)), 0.008),
)


def piece(skin, near, planes, lift):
    """Return a bmesh of the piece of skin within the planes that is nearest to a point."""
    mesh = skin.copy()
    for point, outwards in planes:
        everything = [*mesh.verts, *mesh.edges, *mesh.faces]
        bmesh.ops.bisect_plane(
            mesh, geom=everything, plane_co=point, plane_no=outwards, clear_outer=True
        )
    first = min(mesh.verts, key=lambda vertex: (vertex.co - Vector(near)).length)
    kept, front = {first}, [first]
    while front:
        vertex = front.pop()
        found = {edge.other_vert(vertex) for edge in vertex.link_edges} - kept
        kept |= found
        front += found
    others = [vertex for vertex in mesh.verts if vertex not in kept]
    bmesh.ops.delete(mesh, geom=others, context="VERTS")
    mesh.normal_update()
    for _step in range(3):
        bmesh.ops.smooth_vert(
            mesh, verts=[v for v in mesh.verts if not v.is_boundary], factor=0.5,
            use_axis_x=True, use_axis_y=True, use_axis_z=True,
        )  # fmt: skip
    mesh.normal_update()
    moves = {vertex: lift * vertex.normal for vertex in mesh.verts}
    for vertex, move in moves.items():
        vertex.co += move
    bmesh.ops.solidify(mesh, geom=mesh.faces[:], thickness=-THICK)
    return mesh


def bar(begin, end, wide, thick, steps=24):
    """Return a bmesh of a flat bar that consists of many segments, such as a sword."""
    mesh = bmesh.new()
    along = Vector(end) - Vector(begin)
    bmesh.ops.create_cube(mesh, size=1)
    sides = [e for e in mesh.edges if abs((e.verts[0].co - e.verts[1].co).z) > 0.5]
    bmesh.ops.subdivide_edges(mesh, edges=sides, cuts=steps)
    turn = along.to_track_quat("Z", "Y").to_matrix().to_4x4()
    size = Matrix.Diagonal((wide, thick, along.length, 1))
    mesh.transform(Matrix.Translation((Vector(begin) + Vector(end)) / 2) @ turn @ size)
    return mesh


# Begin, end, width and thickness of the items that hang on the character as a whole.
BARS = (
    ((-0.30, 0.175, 0.78), (0.34, 0.165, 1.66), 0.050, 0.014),  # blade of a sword on the back
    ((0.34, 0.165, 1.66), (0.42, 0.163, 1.77), 0.024, 0.020),  # its grip
    ((0.265, 0.165, 1.715), (0.415, 0.165, 1.605), 0.024, 0.022),  # its guard
    ((0.165, -0.06, 0.99), (0.235, 0.22, 0.40), 0.036, 0.020),  # a scabbard on the hip
)


def make_armor(collection, body):
    skin = bmesh.new()
    skin.from_mesh(body.data)
    made = bpy.data.meshes.new("Armor")
    whole = bmesh.new()
    pieces = [(place, planes, lift, False) for place, planes, lift in MIDDLE_PIECES]
    pieces += [(*each, mirrored) for each in LEFT_PIECES for mirrored in (False, True)]
    for near, planes, lift, mirrored in pieces:
        part = piece(skin, near, planes, lift)
        if mirrored:
            part.transform(Matrix.Diagonal((-1, 1, 1, 1)))
            bmesh.ops.reverse_faces(part, faces=part.faces[:])
        part.to_mesh(made)
        part.free()
        whole.from_mesh(made)
    for each in BARS:
        part = bar(*each)
        part.to_mesh(made)
        part.free()
        whole.from_mesh(made)
    whole.to_mesh(made)
    whole.free()
    skin.free()
    made.polygons.foreach_set("use_smooth", [True] * len(made.polygons))
    armor = bpy.data.objects.new("Armor", made)
    collection.objects.link(armor)
    return armor


# Degrees about local X, Y and Z, as in character.POSE: turned and bent, one knee up, arms apart.
POSE = {
    "hips": (2, -10, 0), "spine": (14, -16, -10), "chest": (10, -16, -10), "neck": (-8, 14, 0),
    "head": (-8, 16, 6),
    "shoulder.L": (10, 0, 0), "upper_arm.L": (30, 0, -10), "forearm.L": (62, 20, 0),
    "hand.L": (-14, 0, 0),
    "shoulder.R": (-4, 0, 6), "upper_arm.R": (-34, 0, 26), "forearm.R": (-8, 10, 52),
    "hand.R": (16, 0, 0),
    "thigh.L": (64, 0, -16), "shin.L": (-56, 0, 0), "foot.L": (4, 0, 0),
    "thigh.R": (-22, 0, 12), "shin.R": (-14, 0, 0), "foot.R": (20, 0, 0), "toe.R": (14, 0, 0),
}  # fmt: skip
