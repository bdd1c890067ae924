"""Provides garments on the characters of ../shared/data: garments that they wear, and generated
ones."""

from dataclasses import dataclass, field

import numpy as np
from problems import DATA
from yardstick import normalized

SKIN = 0.006  # of the size: how far a generated shirt stands off


@dataclass
class Garment:
    """A garment and the body below it, at rest."""

    name: str
    model: dict  # the arrays of the character
    body: tuple  # (vertices, triangles)
    body_weights: np.ndarray
    mesh: tuple  # (vertices, triangles)
    peers: dict = field(default_factory=dict)  # Blender's result for it


def model_of(name):
    with np.load(DATA / f"{name}.npz", allow_pickle=True) as file:
        return dict(file)


def part(vertices, triangles, kept):
    """(indices of the vertices, vertices, triangles) of the triangles whose corners are all
    kept."""
    triangles = triangles[kept[triangles].all(1)]
    used = np.unique(triangles)
    return used, vertices[used], np.searchsorted(used, triangles)


def vertex_normals(vertices, triangles):
    a, b, c = vertices[triangles].swapaxes(0, 1)
    flat, normals = np.cross(b - a, c - a), np.zeros_like(vertices)
    for corner in range(3):
        np.add.at(normals, triangles[:, corner], flat)
    return normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)


def edges_of(triangles):
    """(edges, the three edges of each triangle): those after its first, second and third corner."""
    pairs = np.concatenate([triangles[:, [c, (c + 1) % 3]] for c in range(3)])
    edges, which = np.unique(np.sort(pairs, 1), axis=0, return_inverse=True)
    return edges, which.reshape(3, -1).T


def quarters(triangles, middles):
    """Returns four triangles in place of each. middles (3, n): the vertices in the middle of the
    edges after its first, second and third corner."""
    (a, b, c), (ab, bc, ca) = triangles.T, middles
    corners = [(a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca)]
    return np.concatenate([np.column_stack(each) for each in corners])


def subdivided(vertices, triangles):
    edges, which = edges_of(triangles)
    fine = quarters(triangles, (which + len(vertices)).T)
    return np.concatenate([vertices, vertices[edges].mean(1)]), fine


def smoothed(vertices, triangles, times):
    edges, _ = edges_of(triangles)
    i, j = np.concatenate([edges, edges[:, ::-1]]).T
    counts = np.bincount(i, minlength=len(vertices))[:, None]
    for _ in range(times):
        sums = np.zeros_like(vertices)
        np.add.at(sums, i, vertices[j])
        vertices = (vertices + sums / counts) / 2
    return vertices


def shirt(model):
    """A surface that covers trunk and upper arms at a distance from the skin, smoothed and split
    into other triangles."""
    vertices, triangles = model["V"].astype(float), model["F"]
    size = np.linalg.norm(np.ptp(vertices, axis=0))
    covers = ("pelvis", "spine", "clavicle", "upperarm", "lowerarm")
    bones = [str(name).startswith(covers) for name in model["bone_names"]]
    x, _, z = vertices.T
    kept = (model["W"][:, bones].sum(1) > 0.6) & (abs(x) < 0.4) & (z > 0.02) & (z < 0.56)
    used, points, faces = part(vertices, triangles, kept)
    points = points + SKIN * size * vertex_normals(vertices, triangles)[used]
    return subdivided(smoothed(points, faces, 3), faces)


def skirt(model, around=96, along=60):
    """Rings around the hull of waist and thighs, which widen downward."""
    vertices = model["V"].astype(float)
    size = np.linalg.norm(np.ptp(vertices, axis=0))
    trunk = vertices[abs(vertices[:, 0]) < 0.3]
    turn = np.arange(around) * 2 * np.pi / around
    out = np.column_stack([np.cos(turn), np.sin(turn)])
    rings, last = [], 0
    for height in np.linspace(0.13, -0.38, along):
        level = trunk[abs(trunk[:, 2] - height) < 0.03]
        last = np.maximum((level[:, :2] @ out.T).max(0) + 0.01 * size, last * 1.006 ** (60 / along))
        rings.append(np.column_stack([last[:, None] * out, np.full(around, height)]))
    i = np.arange(around)
    k = (i + 1) % around
    triangles = []
    for j in range(along - 1):
        a, b = j * around + i, j * around + k
        triangles += [np.column_stack([a, a + around, b]),
                      np.column_stack([b, a + around, b + around])]  # fmt: skip
    return np.concatenate(rings), np.concatenate(triangles)


def worn(name, model, below, above):
    """Parts of a character worn over other parts of it."""
    names = [str(each) for each in model["part_names"]]
    vertices, triangles = model["V"].astype(float), model["F"]

    def of(wanted):
        kept = np.isin(model["part_id"], [names.index(each) for each in wanted])
        return part(vertices, triangles, kept)

    used, *body = of(below)
    _, *garment = of(above)
    return Garment(name, model, tuple(body), normalized(model["W"][used]), tuple(garment))


def garments():
    body = model_of("mh_game")
    whole = body["V"].astype(float), body["F"]
    for name, make in (("shirt", shirt), ("skirt", skirt)):
        yield Garment(f"mh_game: {name}", body, whole, normalized(body["W"]), make(body))
    ranger = model_of("ranger")
    for name, below, above in (
        ("bracers", ["Arms"], ["Arms_Bracer"]),
        ("belts", ["Body"], ["Body_Belt_1", "Body_Belt_2"]),
        ("pauldron", ["Arms", "Body"], ["Acc_Pauldron"]),
        ("boots", ["Legs"], ["Feet_Boots"]),
    ):
        full = [[f"Male_Ranger_{each}" for each in names] for names in (below, above)]
        yield worn(f"ranger: {name}", ranger, *full)
    sintel = model_of("sintel")
    yield worn("sintel: belt, pouch", sintel, ["MainMesh"], ["Belt", "Pouch"])
    yield worn("sintel: hair", sintel, ["MainMesh"], ["Hair"])
    limbs = [f"Mage_{each}" for each in ("ArmLeft", "ArmRight", "LegLeft", "LegRight", "Head")]
    yield worn("mage: robe", model_of("mage"), limbs, ["Mage_Body"])
