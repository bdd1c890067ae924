"""Computes the energy, its local and global steps, and heat weights in plain dense NumPy, as in
docs/energy.md: explicit sums without simplifications, only for tiny meshes."""

import itertools
from collections import Counter

import numpy as np
import scipy.optimize
import scipy.sparse
import shapes
from scipy.spatial.transform import Rotation

WIRE_AREA = 0.1  # vertices without faces have this share of the mean vertex area
LINK_SHARE = 0.05  # links weigh this share of wire edges
LAYER_SHARE = 0.5  # those between layers of cloth


def tet_volume(corners):
    return np.linalg.det(corners[1:] - corners[0]) / 6


def tet_surface(vertices, tets):
    """Faces of one tet, facing outward; for tets of positive volume."""
    sides = ((1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1))
    faces = [tuple(int(t[k]) for k in side) for t in tets for side in sides]
    count = Counter(frozenset(f) for f in faces)
    return [f for f in faces if count[frozenset(f)] == 1]


# The paper's energy, that of `araplbs.energy`; and with it, every influence that lowers it. With
# free weights it needs what keeps bones from dying.
PAPER_ENERGY = {"edge_power": 0, "bone_spring_stiffness": 0, "peak_stiffness": 0}
PAPER_HELD = {**PAPER_ENERGY, "peak_stiffness": 0.01}
PAPER = {**PAPER_ENERGY, "min_gain": 3e-5}

# Settings of a Solver that takes the two steps and nothing else, as this reference does.
BARE = {
    **PAPER,
    "pose_count": 0,
    "start_from_weights": True,
    "link_parts": False,
    "precision": "double",
    "max_influences": 0,
    "expansion_rounds": 0,
    "positivity": "none",
    "damping": 0,
    "acceleration": 0,
}


def edge_weights(vertices, triangles, wires=(), links=(), tets=(), layers=()):
    """Lambda (n,) and the directed a_ik = Lambda_i lambda_ik (n, n). Triangles in addition to tets
    are sheets as thick as volume over surface. Those of tets do not count."""
    n = len(vertices)
    area, a = np.zeros(n), np.zeros((n, n))
    for t in tets:
        volume = abs(tet_volume(vertices[t]))
        area[t] += volume / 4
        for i, k in itertools.permutations(t, 2):
            a[i, k] += volume / 6
    thickness = 1
    if len(tets):
        surface = [vertices[list(t)] for t in tet_surface(vertices, tets)]
        size = sum(np.linalg.norm(np.cross(q - p, r - p)) / 2 for p, q, r in surface)
        thickness = area.sum() / size
        of_tets = {frozenset(f) for t in tets for f in itertools.combinations(t.tolist(), 3)}
        triangles = [t for t in triangles if frozenset(t) not in of_tets]
    for t in triangles:
        p, q, r = vertices[t]
        third = thickness * np.linalg.norm(np.cross(q - p, r - p)) / 6
        for i in t:
            area[i] += third
        for i, k in itertools.permutations(t, 2):
            a[i, k] += third
    face_neighbors = (a > 0).sum(1)
    if (area > 0).any():
        wire_area = WIRE_AREA * area[area > 0].mean()
    else:
        diagonal = np.linalg.norm(np.ptp(vertices, axis=0))
        wire_area = WIRE_AREA * diagonal**2 / n
    area[area == 0] = wire_area
    taken = a > 0
    for pairs, share in ((wires, 1), (layers, LAYER_SHARE), (links, LINK_SHARE)):
        new = np.zeros((n, n), bool)
        for i, k in pairs:
            new[i, k] = new[k, i] = i != k
        new &= ~taken
        taken |= new
        for i in np.nonzero(new.any(1))[0]:
            count, faces = new[i].sum(), face_neighbors[i]
            part = min(0.5, count / faces) if faces else 0.5
            a[i, new[i]] += share * area[i] * 2 * part / count
    return area, a


UNIT = 0.02  # of the size of the mesh
SHORTEST = 0.01  # shorter edges, in mean lengths, count as so long
LINK_VERTICES = 16  # of a part: its links count as long as its edges would be with so many


def parts_of(joined):
    """[indices] of the connected parts with at least two vertices, joined (n, n) bool."""
    reach, label = joined | joined.T | np.eye(len(joined), dtype=bool), -1
    while label != (label := reach.sum()):
        reach = reach @ reach
    each = {tuple(np.flatnonzero(row)) for row in reach if row.sum() > 1}
    return [list(members) for members in each]


def balanced(vertices, a, power, unit, links=(), wires=(), triangles=()):
    """Directed a_ik (unit / mean)^2 (mean / length)^power, for a of `edge_weights`. mean: the
    geometric mean of the part; longer wires count as having this length. Links count as having the
    length of the edges of a part of LINK_VERTICES vertices with these triangles, and do not change
    the mean."""
    if not power:
        return a
    length = np.linalg.norm(vertices[:, None] - vertices, axis=2)
    linked = np.zeros(a.shape, bool)
    for i, k in links:
        linked[i, k] = linked[k, i] = True
    own = np.where(linked, 0, a)
    mean, link = np.empty((len(a), 1)), np.empty((len(a), 1))
    corners = np.array([vertices[list(t)] for t in triangles]).reshape(-1, 3, 3)
    crosses = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas = np.linalg.norm(crosses, axis=1) / 2
    for members in parts_of(own > 0):
        at = np.ix_(members, members)
        logs = np.log(length[at] + (length[at] == 0))
        mean[members] = np.exp((own[at] * logs).sum() / own[at].sum())
        area = sum(size for size, t in zip(areas, triangles, strict=True) if t[0] in members)
        link[members] = np.sqrt(2 / np.sqrt(3) * area / LINK_VERTICES) if area else mean[members]
    long = np.zeros(a.shape, bool)
    for i, k in wires:
        long[i, k], long[k, i] = length[i, k] > mean[i, 0], length[i, k] > mean[k, 0]
    shares = np.where(long, 1, np.maximum(length / mean, SHORTEST)) ** -power
    return a * np.where(linked, (unit / link) ** 2, (unit / mean) ** 2 * shares)


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
    """The rotations of one pose; clusters (n,): vertices with the same number share a rotation."""
    cov = np.zeros((len(vertices), 3, 3))
    for i, k in edges_of(a):
        cov[i] += a[i, k] * np.outer(points[k] - points[i], vertices[k] - vertices[i])
    shared = cov if clusters is None else [cov[clusters == c].sum(0) for c in clusters]
    return np.array([rotation_of(c) for c in shared]), cov


def vertex_energies(vertices, a, weights, poses, clusters=None):
    """E_i and its unit, the sum over poses and neighbors of a_ik |e_ik|^2; each (n,)."""
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


def normalized(weights, poses):
    """Weights as `araplbs.energy` uses them: rows sum to 1, and vertices with empty rows stay at
    rest."""
    still = np.zeros((len(poses), 1, 3, 4))
    still[:, 0, :, :3] = np.eye(3)
    total = weights.sum(1, keepdims=True)
    full = np.concatenate([weights / np.where(total > 0, total, 1), total <= 0], axis=1)
    return full, np.concatenate([poses, still], axis=1)


def with_springs(vertices, a, weights, inside, shares=None):
    """The same with one additional vertex for each spring, as a one-way neighbor: (vertices, a,
    weights). Its weights are `shares` (springs, bones), by default 1 for the bone of the spring."""
    n, count = len(vertices), len(inside["spring_bone"])
    whole = np.zeros((n + count, n + count))
    whole[:n, :n] = a
    owner = np.repeat(np.arange(n), np.diff(inside["spring_start"]))
    whole[owner, n + np.arange(count)] = inside["spring_weight"]
    if shares is None:
        shares = np.eye(weights.shape[1])[inside["spring_bone"]]
    return (
        np.concatenate([vertices, inside["spring_point"]]),
        whole,
        np.concatenate([weights, shares]),
    )


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


def matrix_of_the_step(inside):
    """(the matrix of the global step, the changes of the entries of the maps by its unknowns): an
    unknown adds to its entry and subtracts the same from the one that balances it."""
    unknowns, entry = len(inside["entry"]), inside["entry"]
    shape = unknowns, unknowns
    lower = scipy.sparse.csc_matrix((inside["value"], inside["row"], inside["column"]), shape)
    lower = lower.toarray()
    assert not np.triu(lower, 1).any()
    z = np.zeros((len(inside["bone"]), unknowns))
    z[entry, np.arange(unknowns)] = 1
    z[inside["balance"], np.arange(unknowns)] -= 1
    return lower + np.tril(lower, -1).T, z


def edge_matrix(inside, name="edge_weight"):
    """(n, n) of the values that the solver stores for each neighbor."""
    return shapes.dense((inside["ring"], inside["neighbor"], inside[name]), len(inside["area"]))


def normalize_to_solver(vertices, poses):
    """Vertices and poses in the solver's own coordinates, and the diagonal."""
    low, high = vertices.min(0), vertices.max(0)
    center, diagonal = (low + high) / 2, np.linalg.norm(high - low)
    moved = np.array(poses, float)
    moved[..., 3] = (poses[..., :3] @ center + poses[..., 3] - center) / diagonal
    return (vertices - center) / diagonal, moved, diagonal


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


def distances(points, heads, tails):
    """(n, m) of points from bones."""
    bones = list(zip(heads, tails, strict=True))
    return np.array([[segment_distance(p, *bone) for bone in bones] for p in points])


def tet_laplacian(vertices, tets):
    """Linear finite elements: the gradients of the hat functions, exactly."""
    matrix = np.zeros((len(vertices), len(vertices)))
    for t in tets:
        gradients = np.linalg.inv(np.column_stack([np.ones(4), vertices[t]]))[1:]
        matrix[np.ix_(t, t)] += abs(tet_volume(vertices[t])) * gradients.T @ gradients
    return matrix


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
    """(L + M H) w = M H chi if the nearest bone is visible from every vertex, for bones without
    gaps."""
    n = len(vertices)
    mass = np.zeros(n)
    for t in triangles:
        p, q, r = vertices[t]
        mass[t] += np.linalg.norm(np.cross(q - p, r - p)) / 6
    distance = distances(vertices, heads, tails)
    nearest = distance.min(1)
    chi = (distance <= nearest[:, None] + 1e-9).astype(float)
    chi /= chi.sum(1, keepdims=True)
    source = mass / nearest**2
    heat = np.linalg.solve(laplacian(vertices, triangles) + np.diag(source), source[:, None] * chi)
    heat = np.maximum(heat, 0)
    return heat / heat.sum(1, keepdims=True), nearest


def bounded_biharmonic(q, handles, bones):
    """(n, bones) that minimize w' q w with w from 0 to 1 for each bone, 1 at its handles and 0 at
    those of others, {vertex: bone}: a bounded least-squares problem. Not normalized."""
    held = np.array(sorted(handles))
    free = np.setdiff1d(np.arange(len(q)), held)
    root = np.linalg.cholesky(q[np.ix_(free, free)]).T
    weights = np.zeros((len(q), bones))
    for bone in range(bones):
        weights[held, bone] = [handles[i] == bone for i in held]
        pull = -q[np.ix_(free, held)] @ weights[held, bone]
        found = scipy.optimize.lsq_linear(
            root, np.linalg.solve(root.T, pull), (0, 1), method="bvls", max_iter=5000, tol=1e-13
        )
        weights[free, bone] = found.x
    return weights


def biharmonic(q, handles, bones):
    """The same without bounds."""
    held = np.array(sorted(handles))
    free = np.setdiff1d(np.arange(len(q)), held)
    weights = np.zeros((len(q), bones))
    weights[held, [handles[i] for i in held]] = 1
    weights[free] = np.linalg.solve(q[np.ix_(free, free)], -q[np.ix_(free, held)] @ weights[held])
    return weights


def turn(vectors):
    """The rotations (..., 3, 3) by rotation vectors (..., 3)."""
    return Rotation.from_rotvec(vectors).as_matrix()


def spine_point(head, tail, bend, u, point):
    """The position to which a spine moves a point, with its base at rest: the curve of its joints
    by quadrature of its definition, R(x) E sigma, and the rest offset rotated by R(u)."""
    along, node, weight = tail - head, *np.polynomial.legendre.leggauss(40)
    steps = turn(np.outer(u * (1 + node) / 2, bend[:3])) @ along
    curve = head + bend[3] * u / 2 * np.tensordot(weight, steps, 1)
    return curve + turn(u * bend[:3]) @ (point - head - u * along)


def along_bone(head, tail, points):
    """u by default: the position along the bone."""
    return np.clip((points - head) @ (tail - head) / np.sum((tail - head) ** 2), 0, 1)


class Spines:
    """A rig with spines in the solver's coordinates: phi (p, n, m, 3), the positions to which each
    bone moves each vertex, and the Jacobians (p, n, m, 3, 3), by central differences of
    `spine_point` along the gradient of u, the least-squares one along the bone."""

    def __init__(self, vertices, a, poses, heads, tails, bends, parameters):
        p, m, n = len(poses), len(heads), len(vertices)
        homogeneous = np.column_stack([vertices, np.ones(n)])
        self.phi = np.einsum("pbij,nj->pnbi", poses, homogeneous)
        self.jacobian = np.broadcast_to(poses[:, None, :, :, :3], (p, n, m, 3, 3)).copy()
        h = 1e-5
        for b in range(m):
            if np.isnan(parameters[:, b]).all():
                continue  # rigid
            u, line = parameters[:, b], tails[b] - heads[b]
            for i in range(n):
                k = np.nonzero(a[i])[0]
                step = (vertices[k] - vertices[i]) @ line
                gradient = (a[i, k] * step) @ (u[k] - u[i]) / ((a[i, k] * step) @ step) * line
                for q in range(p):
                    base, t = poses[q, b, :, :3], poses[q, b, :, 3]
                    spine = heads[b], tails[b], bends[q, b]
                    self.phi[q, i, b] = base @ spine_point(*spine, u[i], vertices[i]) + t
                    for c, e in enumerate(np.eye(3)):
                        up, down = (
                            spine_point(*spine, u[i] + s * h * gradient[c], vertices[i] + s * h * e)
                            for s in (1, -1)
                        )
                        self.jacobian[q, i, b, :, c] = base @ (up - down) / (2 * h)

    def transforms(self, vertices, a, weights):
        """R (p, n, 3, 3), as rigid as desired (paper section 4.1)."""
        posed = np.einsum("nb,pnbi->pni", weights, self.phi)
        out = np.zeros((*posed.shape, 3))
        for p, points in enumerate(posed):
            _, covariances = local_step(vertices, a, points)
            for i, cov in enumerate(covariances):
                u, _, vt = np.linalg.svd(cov)
                u[:, 2] *= np.sign(np.linalg.det(u @ vt))
                stretch = [weights[i] @ np.linalg.norm(self.jacobian[p, i] @ v, axis=1) for v in vt]
                out[p, i] = u @ np.diag(stretch) @ vt
        return out

    def quadratic(self, vertices, a, weights, transforms):
        """|design w - target|^2 is the energy for these R, over all entries."""
        n, m = weights.shape
        design, target = [], []
        for p, reach in enumerate(self.phi):
            for i, k in edges_of(a):
                block = np.zeros((3, n, m))
                block[:, k] += reach[k].T
                block[:, i] -= reach[i].T
                design.append(np.sqrt(a[i, k]) * block.reshape(3, n * m))
                target.append(np.sqrt(a[i, k]) * transforms[p, i] @ (vertices[k] - vertices[i]))
        return np.concatenate(design), np.concatenate(target)
