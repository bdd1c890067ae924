"""Measures how close the inner loops come to the limits of the machine: its arithmetic and its
memory.

roofline.py ZIP OUTPUT_FOLDER [CHARACTER...]     (called by bench.py)

Operations per visited ring and pose, counted in csrc/energy/local_kernel.h, where a square root or
a division counts as one: for each bone of the ring, 36 multiplications and additions to sum T_b M_b
into the covariance and as many to sum T_b^T R into P_b; for the rotation, norm 19, scaling 10,
cofactors 27, determinant, norms and first root 26, four Newton steps of 15, k and z 5, B B^T 30,
its factors 5, R 90, R^T R 39, product 45, and 8 for the test that selects the exact path. Work that
is done once per ring, for all poses together (moments, scatter, gathering, quadratic part of the
energy), is not counted and appears as overhead in the ratio."""

import sys
from pathlib import Path

import machine
import numpy as np
import plots
from problems import problems
from results import say, table, write_page
from scipy.sparse import coo_array, csr_array

PER_BONE = 2 * (36 + 36)
PER_ROTATION = 19 + 10 + 27 + 26 + 4 * 15 + 5 + 30 + 5 + 90 + 39 + 45 + 8
ITERATIONS = 8  # of a stage, those of the last on the mesh itself; the fastest counts
NOTE = f"""\
The table covers iterations of the last stage, on the original mesh and on one thread. *Local*: time
of a local step with its right-hand side and energy, in nanoseconds per visited ring and pose.
*Visited*: the share of the one-rings that are computed. Rings in which no weight can change are
skipped. Examples are the rings of vertices that follow the same single bone as their neighbors. The
*limit* of *local* is the time of the kernel's operations alone at the measured speed of
single-precision matrix products: {PER_BONE} operations per bone in the influence maps and springs
of the ring, and {PER_ROTATION} for the rotation. This limit does not include sums that are computed
once per ring for all poses. *Solve*: a back-substitution and the rest of a global step. A solve
reads the factor twice. The *limit* of *solve* is the time to read an array of the same size twice,
from the cache if the array fits. All limits are measured with NumPy on this machine. A loop of
square roots, divisions and products with three columns cannot reach the speed of matrix products.
*Factor*: the last factorization, in single precision if it is supernodal (simplicial factorizations
of small systems use double precision). The *limit* of *factor* is the time of its multiplications
and additions at the speed of matrix products in the same precision."""


def rings(inside):
    """(mean number of bones of the visited rings; share of these rings): rings in which some map
    has more than one bone. Except for locked vertices, the weights of the others cannot change."""
    n = len(inside["ring"]) - 1
    owner = np.repeat(np.arange(n), np.diff(inside["start"]))
    bone = [inside["bone"]]
    tied = [owner]
    if "spring_start" in inside:
        spring = np.repeat(np.arange(n), np.diff(inside["spring_start"]))
        carried = inside["spring_share"] > 0
        tied.append(np.repeat(spring, carried.sum(1)))
        bone.append(inside["spring_column"][carried])
    columns = 1 + max(each.max(initial=0) for each in bone)
    maps = coo_array((np.ones(len(owner), int), (owner, bone[0])), shape=(n, columns)).tocsr()
    springs = coo_array(
        (np.ones(len(np.concatenate(tied)), int), (np.concatenate(tied), np.concatenate(bone))),
        shape=(n, columns),
    ).tocsr()
    around = np.repeat(np.arange(n), np.diff(inside["ring"]))
    pairs = (np.ones(len(around), int), (around, inside["neighbor"]))
    ring = csr_array(coo_array(pairs, shape=(n, n)))
    union = (ring @ maps + springs).astype(bool)
    movable = np.diff(inside["start"]) > 1
    visited = movable | (ring @ movable.astype(int) > 0)
    return np.diff(union.tocsr().indptr)[visited].mean() if visited.any() else 0.0, visited.mean()


def measure(problem, speeds):
    """speeds: operations per second, single and double precision."""
    solver = problem.solver(threads=1, tolerance=0, iterations=ITERATIONS)
    local, solve, stage, factor = [], [], None, 0.0
    while not solver.done:
        before, visits = solver.report, solver._inside["visits"]
        solver.iterate(1)
        after = solver.report
        more = solver._inside["visits"] - visits
        spent = after["seconds"]["factor"] - before["seconds"]["factor"]
        factor = spent or factor
        if stage != after["stage_starts"]:  # new maps, and what belongs to them
            local, solve, stage = [], [], after["stage_starts"]
        elif more > 0:
            local.append((after["seconds"]["local"] - before["seconds"]["local"]) / more)
            solve.append(after["seconds"]["solve"] - before["seconds"]["solve"])
    inside = solver._inside
    bones, visited = rings(inside)
    report = solver.report
    size, flops = int(report["factor_bytes"]), report["factor_flops"]
    speed = speeds[0]
    row = {
        "name": problem.name,
        "visited": visited,
        "bones": bones,
        "poses": len(inside["transform"]),
        "local": min(local) / len(inside["transform"]),
        "local_limit": (PER_BONE * bones + PER_ROTATION) / speed,
        "factor_mib": size / 2**20,
        "solve": min(solve),
        "solve_limit": 2 * machine.read_seconds(size // 8),
        "factor": factor,
        "factor_flops": flops,
        "factor_limit": flops / speeds[size == 8 * report["factor_size"]],
    }
    say(*row.values())
    return row


def abilities():
    """(table of the machine's performance, single-precision operations per second of one
    thread)."""
    counts = sorted({1, machine.processors()})
    head = ["measured", *(f"{n} thread{'s' if n > 1 else ''}" for n in counts)]
    tests = {
        "add two arrays, GB/s": (machine.add_bandwidth, ()),
        "read an array, GB/s": (machine.read_bandwidth, ()),
        "single-precision products, Gflop/s": (machine.arithmetic, (np.float32,)),
        "double-precision products, Gflop/s": (machine.arithmetic, (np.float64,)),
    }
    found = {name: [test(n, *more) for n in counts] for name, (test, more) in tests.items()}
    lines = [[name, *(f"{value / 1e9:.1f}" for value in values)] for name, values in found.items()]
    return table(head, lines), found


def draw(rows, bandwidth, output):
    fig, [[local, solve]] = plots.figure(2, width=9, height=4.2)
    local.scatter(
        [row["bones"] for row in rows], [1e9 * row["local"] for row in rows],
        color=plots.BLUE, label="local step", zorder=3,
    )  # fmt: skip
    bones = np.array([0, 1.05 * max(row["bones"] for row in rows)])
    speed = (PER_BONE * rows[0]["bones"] + PER_ROTATION) / rows[0]["local_limit"]
    limit = 1e9 * (PER_BONE * bones + PER_ROTATION) / speed
    local.plot(bones, limit, color=plots.BLACK, label="arithmetic limit")
    local.set_xlim(bones)
    local.set_ylim(0)
    local.set_xlabel("bones of a visited ring, mean")
    local.set_ylabel("ns per ring and pose")
    size = np.array([row["factor_mib"] for row in rows])
    order = np.argsort(size)
    solve.scatter(
        size, [1e3 * row["solve"] for row in rows], color=plots.ORANGE, marker="s", zorder=3,
        label="back-substitution",
    )  # fmt: skip
    limits = np.array([1e3 * row["solve_limit"] for row in rows])
    solve.plot(size[order], limits[order], color=plots.BLACK, label="reading twice, measured")
    solve.plot(
        size[order], 2e3 * size[order] * 2**20 / bandwidth, color=plots.GRAY, linestyle="--",
        label="the same, from memory",
    )  # fmt: skip
    solve.set_xscale("log")
    solve.set_yscale("log")
    for axis in (solve.xaxis, solve.yaxis):
        plots.plain_numbers(axis)
    solve.set_xlabel("size of the factor in MiB")
    solve.set_ylabel("ms")
    for axes in (local, solve):
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return plots.save(fig, output, "roofline.png")


def main(zip_path, output, *names):
    output = Path(output)
    what, found = abilities()
    speeds = [found[f"{kind}-precision products, Gflop/s"][0] for kind in ("single", "double")]
    rows = [measure(problem, speeds) for problem in problems(Path(zip_path), names)]
    head = (
        "character", "visited %", "bones of the ring", "poses", "local ns", "limit ns", "ratio",
        "factor MiB", "solve ms", "limit ms", "ratio", "factor ms", "Gflop/s", "limit ms", "ratio",
    )  # fmt: skip
    lines = [
        (
            row["name"], f"{100 * row['visited']:.0f}", f"{row['bones']:.1f}", row["poses"],
            f"{1e9 * row['local']:.1f}",
            f"{1e9 * row['local_limit']:.1f}", f"{row['local'] / row['local_limit']:.1f}",
            f"{row['factor_mib']:.1f}", f"{1e3 * row['solve']:.3g}",
            f"{1e3 * row['solve_limit']:.3g}", f"{row['solve'] / row['solve_limit']:.1f}",
            f"{1e3 * row['factor']:.3g}", f"{row['factor_flops'] / row['factor'] / 1e9:.1f}",
            f"{1e3 * row['factor_limit']:.3g}", f"{row['factor'] / row['factor_limit']:.1f}",
        )
        for row in rows
    ]  # fmt: skip
    bandwidth = found["read an array, GB/s"][0]
    write_page(
        output, "roofline", "Compared with the limits of the machine", what, NOTE,
        table(head, lines),
        pictures=[draw(rows, bandwidth, output)], rows={"machine": found, "rows": rows},
    )  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
