"""What weights that are optimized for linear blending come to with dual quaternions (Blender's
Preserve Volume), and what optimizing for these would gain.

preserve_volume.py ZIP OUTPUT_FOLDER [CHARACTER...]     (bench.py calls it)"""

import sys
from pathlib import Path

import araplbs
import numpy as np
import scipy.optimize
import scipy.sparse
from problems import problems
from results import say, table, write_page

MOST_OPTIMIZED = 2_000  # vertices: beyond, the optimization here takes minutes
POSES, STEPS = 40, 40  # of that optimization
NOTE = f"""\
Mean stretch (root of the ARAP energy, %) on 100 random poses that no optimization has seen, by
linear blending and with Preserve Volume. *Heat*: without a limit; *ours*: 4 influences, optimized
for linear blending. Characters of at most {MOST_OPTIMIZED:,} vertices: *free*, ours with
`peak_stiffness=0`,
and *for it*, what L-BFGS makes of these in {STEPS} steps on the energy with Preserve Volume itself,
of {POSES} random poses, with the same influences and weights >= 0; in parentheses by how much that
changes the energy of *free*. (Against ours it would look better than it is: it knows no hold.)"""


def axes_of(arguments):
    """(m, 3, 3) local axes of the bones as columns."""
    y = arguments["bone_tails"] - arguments["bone_heads"]
    y = y / np.linalg.norm(y, axis=1, keepdims=True)
    z = arguments["bone_roll_axes"]
    z = z - np.einsum("mc,mc->m", y, z)[:, None] * y
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    return np.stack([np.cross(y, z), y, z], axis=2)


def volume_energy(problem, weights, poses):
    a, total, step = problem.arguments, 0.0, 10
    for first in range(0, len(poses), step):
        some = poses[first : first + step]
        posed = araplbs.dual_quaternion_skinning(a["vertices"], weights, some, bone_axes=axes_of(a))
        total += len(some) * araplbs.posed_energy(
            a["vertices"], a["triangles"], posed, edges=a["edges"]
        )
    return total / len(poses)


def product(a, b):
    """Of quaternions (..., 4), w first."""
    aw, av, bw, bv = a[..., :1], a[..., 1:], b[..., :1], b[..., 1:]
    real = aw * bw - np.sum(av * bv, axis=-1, keepdims=True)
    return np.concatenate([real, aw * bv + bw * av + np.cross(av, bv)], axis=-1)


def conjugate(q):
    return q * np.array([1.0, -1, -1, -1])


def pure(v):
    return np.concatenate([np.zeros((*v.shape[:-1], 1)), v], axis=-1)


def quaternions(rotations):
    """(..., 4) of proper rotations (..., 3, 3), by Horn's matrix."""
    m = rotations
    k = np.empty((*m.shape[:-2], 4, 4))
    k[..., 0, 0] = m[..., 0, 0] + m[..., 1, 1] + m[..., 2, 2]
    for c in range(3):
        a, b = (c + 1) % 3, (c + 2) % 3
        k[..., 0, 1 + c] = k[..., 1 + c, 0] = m[..., b, a] - m[..., a, b]
        k[..., 1 + c, 1 + c] = m[..., c, c] - m[..., a, a] - m[..., b, b]
        k[..., 1 + a, 1 + b] = k[..., 1 + b, 1 + a] = m[..., a, b] + m[..., b, a]
    return np.linalg.eigh(k)[1][..., -1]


class VolumeEnergy:
    """The energy with Preserve Volume of the weights of given influences, and its gradient, in
    which the rotations may be held, since they are the best ones."""

    def __init__(self, problem, rows, poses):
        a = problem.arguments
        solver = problem.solver(
            pose_count=1, link_parts=False, widenings=0, iterations=1, coarsen=0
        )
        inside = solver._inside
        self.weld = inside["weld"]
        first = np.unique(self.weld, return_index=True)[1]
        self.points, self.ring = a["vertices"][first], inside["ring"]
        n = len(first)
        self.i = np.repeat(np.arange(n), np.diff(self.ring))
        self.k, self.a = inside["neighbor"], inside["edge_weight"]
        self.rest = self.points[self.k] - self.points[self.i]
        count = np.arange(len(self.i))
        ones = np.ones(len(self.i))
        self.from_edges = scipy.sparse.csr_array((ones, (self.i, count)), (n, len(self.i)))
        self.to_edges = scipy.sparse.csr_array((ones, (self.k, count)), (n, len(self.i)))
        start, bones, weights = rows
        entries = np.concatenate([np.arange(start[v], start[v + 1]) for v in first])
        self.vertex = np.repeat(np.arange(n), np.diff(start)[first])
        self.bone, self.start = bones[entries], weights[entries]
        self.first_entry = np.flatnonzero(np.diff(self.vertex, prepend=-1))
        self.poses, self.turns = poses, quaternions(poses[:, :, :, :3])
        self.unit = len(poses) * float(self.a @ np.sum(self.rest**2, axis=1))

    def __call__(self, weights):
        """(energy, gradient) of the weights of the entries."""
        energy, gradient = 0.0, np.zeros_like(weights)
        for pose, turns in zip(self.poses, self.turns, strict=True):
            e, g = self._in_pose(weights, pose, turns)
            energy, gradient = energy + e, gradient + g
        return energy / self.unit, gradient / self.unit

    def _in_pose(self, weights, pose, turns):
        v, q = self.points, turns[self.bone]
        at = v[self.vertex]
        t = pose[self.bone]
        moved = np.einsum("ecd,ed->ec", t[:, :, :3], at) + t[:, :, 3]
        own = product(product(q, pure(at)), conjugate(q))[:, 1:]
        d = 0.5 * product(pure(moved - own), q)
        # The way round: by the first bone of the vertex, which is the sum so far for two.
        sign = np.where(np.sum(q * q[self.first_entry][self.vertex], axis=1) < 0, -1.0, 1.0)
        q, d = sign[:, None] * q, sign[:, None] * d
        real = np.add.reduceat(weights[:, None] * q, self.first_entry)
        dual = np.add.reduceat(weights[:, None] * d, self.first_entry)
        length2 = np.sum(real**2, axis=1, keepdims=True) + 1e-300
        turned = product(product(real, pure(v)), conjugate(real))[:, 1:]
        posed = (turned + 2 * product(dual, conjugate(real))[:, 1:]) / length2
        edge = posed[self.k] - posed[self.i]
        outer = (self.a[:, None] * edge)[:, :, None] * self.rest[:, None]
        rotation = araplbs.nearest_rotations(
            (self.from_edges @ outer.reshape(-1, 9)).reshape(-1, 3, 3)
        )
        off = edge - np.einsum("ecd,ed->ec", rotation[self.i], self.rest)
        pull = 2 * self.a[:, None] * off
        force = (self.to_edges @ pull - self.from_edges @ pull)[self.vertex]
        big, small = real[self.vertex], dual[self.vertex]
        change = (
            product(product(q, pure(at)), conjugate(big))
            + product(product(big, pure(at)), conjugate(q))
            + 2 * product(d, conjugate(big))
            + 2 * product(small, conjugate(q))
        )[:, 1:]
        change -= 2 * np.sum(big * q, axis=1, keepdims=True) * posed[self.vertex]
        change /= length2[self.vertex]
        return float(self.a @ np.sum(off**2, axis=1)), np.sum(force * change, axis=1)


def optimized(problem, rows):
    """(n, m) weights by L-BFGS from these rows."""
    a = problem.arguments
    poses = araplbs.sample_poses(
        a["bone_heads"], a["bone_tails"], a["bone_parents"], POSES,
        bone_roll_axes=a["bone_roll_axes"], bone_deform=a["bone_deform"],
        bone_limits=a["bone_limits"],
    )  # fmt: skip
    energy = VolumeEnergy(problem, rows, poses)
    found = scipy.optimize.minimize(
        energy, energy.start, jac=True, method="L-BFGS-B",
        bounds=[(0, None)] * len(energy.start), options={"maxiter": STEPS},
    )  # fmt: skip
    weights = np.zeros((len(energy.points), len(a["bone_heads"])))
    weights[energy.vertex, energy.bone] = found.x
    return weights[energy.weld]


def measure(problem):
    row = {"name": problem.name, "vertices": problem.vertices}
    solver = problem.solver()
    weights = {"heat": solver.initial_weights}
    solver.solve()
    weights["ours"] = solver.sparse_weights
    if problem.artist is not None:
        weights["artist"] = problem.artist
    for name, w in weights.items():
        row[name] = problem.energy(w, problem.unseen)
        row[f"{name} volume"] = volume_energy(problem, w, problem.unseen)
    if problem.vertices <= MOST_OPTIMIZED:
        solver = problem.solver(peak_stiffness=0)
        solver.solve()
        free = solver.sparse_weights
        row["free volume"] = volume_energy(problem, free, problem.unseen)
        row["for it"] = volume_energy(problem, optimized(problem, free), problem.unseen)
    say(row)
    return row


def cells(row):
    def stretch(key):
        return f"{100 * np.sqrt(row[key]):.1f}" if key in row else "-"

    gained = "-"
    if "for it" in row:
        gained = f"{stretch('for it')} ({100 * (row['for it'] / row['free volume'] - 1):+.0f} %)"
    names = ("artist", "heat", "ours")
    return [
        row["name"], f"{row['vertices']:,}", *map(stretch, names),
        *(stretch(f"{name} volume") for name in (*names, "free")), gained,
    ]  # fmt: skip


def main(zip_path, output, *names):
    rows = [measure(problem) for problem in problems(Path(zip_path), names)]
    head = ("character", "vertices", "linear: artist", "heat", "ours")
    head += ("Preserve Volume: artist", "heat", "ours", "free", "for it")
    better = sum(row["ours volume"] < row["heat volume"] for row in rows)
    text = f"With Preserve Volume ours are below heat for {better} of {len(rows)} characters."
    write_page(
        Path(output), "preserve_volume", "Preserve Volume", NOTE, table(head, [*map(cells, rows)]),
        text, rows=rows,
    )  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
