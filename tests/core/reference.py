"""The energy, its local and global step, and heat weights in plain dense NumPy, as SPEC writes
them: explicit sums, nothing collapsed. For tiny meshes only."""

import itertools

import numpy as np

WIRE_AREA = 0.1  # vertices without faces have this share of the mean vertex area
LINK_SHARE = 0.05  # links weigh this share of wire edges


def edge_weights(vertices, triangles, wires=(), links=()):
    """Lambda (n,) and the directed a_ik = Lambda_i lambda_ik (n, n)."""
    n = len(vertices)
    area, a = np.zeros(n), np.zeros((n, n))
    for t in triangles:
        p, q, r = vertices[t]
        third = np.linalg.norm(np.cross(q - p, r - p)) / 6
        for i in t:
            area[i] += third
        for i, k in itertools.permutations(t, 2):
            a[i, k] += third
    face_neighbours = (a > 0).sum(1)
    if (area > 0).any():
        wire_area = WIRE_AREA * area[area > 0].mean()
    else:
        diagonal = np.linalg.norm(np.ptp(vertices, axis=0))
        wire_area = WIRE_AREA * diagonal**2 / n
    area[area == 0] = wire_area
    taken = a > 0
    for pairs, share in ((wires, 1), (links, LINK_SHARE)):
        new = np.zeros((n, n), bool)
        for i, k in pairs:
            new[i, k] = new[k, i] = i != k
        new &= ~taken
        taken |= new
        for i in np.nonzero(new.any(1))[0]:
            count, faces = new[i].sum(), face_neighbours[i]
            part = min(0.5, count / faces) if faces else 0.5
            a[i, new[i]] += share * area[i] * 2 * part / count
    return area, a


def posed(vertices, weights, poses):
    """(p, n, 3) sum_b w_ib T_b v_i."""
    each = np.einsum("pbij,nj->pnbi", poses[..., :3], vertices) + poses[:, None, :, :3, 3]
    return np.einsum("nb,pnbi->pni", weights, each)


def rotation_of(matrix):
    """argmax over rotations of tr(R^T matrix)."""
    u, _, vt = np.linalg.svd(matrix)
    u[:, 2] *= np.sign(np.linalg.det(u @ vt))
    return u @ vt


def edges_of(a):
    return [(i, k) for i, k in zip(*np.nonzero(a), strict=True)]


def local_step(vertices, a, points, clusters=None):
    """The rotations of one pose; clusters (n,): vertices of one number share theirs."""
    cov = np.zeros((len(vertices), 3, 3))
    for i, k in edges_of(a):
        cov[i] += a[i, k] * np.outer(points[k] - points[i], vertices[k] - vertices[i])
    shared = cov if clusters is None else [cov[clusters == c].sum(0) for c in clusters]
    return np.array([rotation_of(c) for c in shared]), cov


def vertex_energies(vertices, a, weights, poses, clusters=None):
    """E_i and its unit, sum over poses and neighbours of a_ik |e_ik|^2; each (n,)."""
    energy, unit = np.zeros(len(vertices)), np.zeros(len(vertices))
    for points in posed(vertices, weights, poses):
        rotations, _ = local_step(vertices, a, points, clusters)
        for i, k in edges_of(a):
            e = vertices[k] - vertices[i]
            energy[i] += a[i, k] * np.sum((points[k] - points[i] - rotations[i] @ e) ** 2)
            unit[i] += a[i, k] * np.sum(e**2)
    return energy, unit


def relative_energy(vertices, a, weights, poses, clusters=None):
    energy, unit = vertex_energies(vertices, a, weights, poses, clusters)
    return energy.sum() / unit.sum()


def normalised(weights, poses):
    """As `araplbs.energy` takes weights: rows sum to 1, empty ones stay at rest."""
    still = np.zeros((len(poses), 1, 3, 4))
    still[:, 0, :, :3] = np.eye(3)
    total = weights.sum(1, keepdims=True)
    full = np.concatenate([weights / np.where(total > 0, total, 1), total <= 0], axis=1)
    return full, np.concatenate([poses, still], axis=1)


class Quadratic:
    """E(w) = |design w - target|^2 with the rotations of `weights` fixed, over all entries."""

    def __init__(self, vertices, a, weights, poses, clusters=None):
        n, m = weights.shape
        homogeneous = np.column_stack([vertices, np.ones(n)])
        reach = np.einsum("pbij,nj->pnbi", poses, homogeneous)  # T_b v_n
        design, target = [], []
        for p, points in enumerate(posed(vertices, weights, poses)):
            rotations, _ = local_step(vertices, a, points, clusters)
            for i, k in edges_of(a):
                block = np.zeros((3, n, m))
                block[:, k] += reach[p, k].T
                block[:, i] -= reach[p, i].T
                design.append(np.sqrt(a[i, k]) * block.reshape(3, n * m))
                target.append(np.sqrt(a[i, k]) * rotations[i] @ (vertices[k] - vertices[i]))
        self.design, self.target = np.concatenate(design), np.concatenate(target)
        self.shape = n, m

    @property
    def product_matrix(self):
        return self.design.T @ self.design

    @property
    def right_side(self):
        return self.design.T @ self.target

    def energy(self, weights):
        return np.sum((self.design @ np.ravel(weights) - self.target) ** 2)

    def step(self, weights, free, rows=()):
        """The minimum over the entries of `free` (n, m) with the sum of every row kept; `rows`
        are penalties (vertex, bone, target, stiffness)."""
        n, m = self.shape
        basis = []
        for i in range(n):
            first, *others = np.nonzero(free[i])[0] if free[i].any() else [None]
            for b in others:
                z = np.zeros((n, m))
                z[i, b], z[i, first] = 1, -1
                basis.append(z.ravel())
        basis = np.array(basis).T.reshape(n * m, len(basis))
        design, target = [self.design], [self.target]
        for vertex, bone, aim, stiffness in rows:
            line = np.zeros((n, m))
            line[vertex, bone] = np.sqrt(stiffness)
            design.append(line.reshape(1, -1))
            target.append([np.sqrt(stiffness) * aim])
        design, target = np.concatenate(design), np.concatenate(target)
        start = np.ravel(weights)
        x = np.linalg.lstsq(design @ basis, target - design @ start, rcond=1e-13)[0]
        return (start + basis @ x).reshape(n, m)


def normalise_to_solver(vertices, poses):
    """Vertices and poses in the solver's own coordinates, and the diagonal."""
    low, high = vertices.min(0), vertices.max(0)
    centre, diagonal = (low + high) / 2, np.linalg.norm(high - low)
    moved = np.array(poses, float)
    moved[..., 3] = (poses[..., :3] @ centre + poses[..., 3] - centre) / diagonal
    return (vertices - centre) / diagonal, moved, diagonal


def size(vertices, triangles):
    """The root of twice the surface."""
    corners = vertices[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return np.sqrt(np.linalg.norm(normals, axis=1).sum())


def gram(poses):
    """G_bc = sum over poses of T_b^T T_c."""
    return np.einsum("pbki,pckj->bcij", poses, poses)


def segment_distance(point, a, b):
    length2 = np.sum((b - a) ** 2)
    t = np.clip((point - a) @ (b - a) / length2, 0, 1) if length2 else 0.0
    return np.linalg.norm(point - a - t * (b - a))


def laplacian(vertices, triangles):
    """(n, n), cotangents of the faces, not divided by areas; L w is 0 for harmonic w."""
    out = np.zeros((len(vertices), len(vertices)))
    for t in triangles:
        for c in range(3):
            i, j, k = t[c], t[(c + 1) % 3], t[(c + 2) % 3]
            u, v = vertices[j] - vertices[i], vertices[k] - vertices[i]
            half = 0.5 * (u @ v) / np.linalg.norm(np.cross(u, v))
            out[[j, k], [k, j]] -= half
            out[[j, k], [j, k]] += half
    return out


def heat_weights(vertices, triangles, heads, tails):
    """(L + M H) w = M H chi where every vertex sees its nearest bone, bones without gaps."""
    n = len(vertices)
    mass = np.zeros(n)
    for t in triangles:
        p, q, r = vertices[t]
        mass[t] += np.linalg.norm(np.cross(q - p, r - p)) / 6
    bones = list(zip(heads, tails, strict=True))
    distance = np.array([[segment_distance(p, *bone) for bone in bones] for p in vertices])
    nearest = distance.min(1)
    chi = (distance <= nearest[:, None] + 1e-9).astype(float)
    chi /= chi.sum(1, keepdims=True)
    source = mass / nearest**2
    heat = np.linalg.solve(laplacian(vertices, triangles) + np.diag(source), source[:, None] * chi)
    heat = np.maximum(heat, 0)
    return heat / heat.sum(1, keepdims=True), nearest
