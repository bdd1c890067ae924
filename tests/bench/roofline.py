"""How near the inner loops are to what the machine can do: its arithmetic and its memory.

roofline.py ZIP OUTPUT_FOLDER [CHARACTER...]     (bench.py calls it)

Operations per vertex and pose, counted in csrc/energy/local_kernel.h; square roots and divisions
count as one. Per bone of the one-ring, 36 multiplications and additions each to sum T_b M_b into
the covariance and as many to sum T_b^T R into P_b. For the rotation: norm 19, scaling 10, cofactors
27, determinant, norms and first root 26, four Newton steps of 15, k and z 5, B B^T 30, its
factors 5, R 90, R^T R 39, product 45, the test for flat ones 4. What is done once per vertex, for
all poses together (moments, scatter, quadratic part of the energy), is not counted: it is
overhead in the ratio."""

import sys
from pathlib import Path

import machine
import numpy as np
import plots
from problems import problems
from results import say, table, write_page
from scipy.sparse import coo_array, csr_array

PER_BONE = 2 * (36 + 36)
PER_ROTATION = 19 + 10 + 27 + 26 + 4 * 15 + 5 + 30 + 5 + 90 + 39 + 45 + 4
ITERATIONS = 12  # of which the fastest counts
NOTE = f"""\
On one thread. *Local*: nanoseconds of a local step with its energy, per vertex and pose; its
*limit* is the time of the operations alone, {PER_BONE} per bone of the one-ring (of the final
weights) and {PER_ROTATION} for the rotation, at the measured speed of single-precision matrix
products. *Solve*: a back-substitution with all that belongs to a global step; it reads the factor
twice, and its *limit* is the time to read an array of that size twice, from the cache that holds
it if one does. Limits are measured by NumPy on this machine. Factorizations are not compared:
CHOLMOD's count of operations is not in the report."""


def ring_bones(problem, solver):
    """Mean number of bones that influence a vertex or its neighbors."""
    vertices, triangles = problem.arguments["vertices"], problem.arguments["triangles"]
    _, place = np.unique(vertices, axis=0, return_inverse=True)
    place = place.ravel()
    n = place.max() + 1
    pairs = [triangles[:, [a, b]] for a, b in ((0, 1), (1, 2), (2, 0))]
    edges = place[np.concatenate([*pairs, problem.arguments["edges"]])]
    i = np.concatenate([edges[:, 0], edges[:, 1], np.arange(n)])
    k = np.concatenate([edges[:, 1], edges[:, 0], np.arange(n)])
    start, bones, weights = solver.sparse_weights
    owner = place[np.repeat(np.arange(len(vertices)), np.diff(start))]
    shape = (n, len(problem.arguments["bone_heads"]))
    influences = coo_array((weights > 0, (owner, bones)), shape=shape).astype(int).tocsr()
    ring = csr_array((np.ones(len(i), int), (i, k)), shape=(n, n))
    return (ring @ influences).nnz / n, n


def measure(problem, speed):
    solver = problem.solver(threads=1, tolerance=0, iterations=ITERATIONS)
    local, solve = [], []
    while not solver.done:
        before = solver.report["seconds"]
        solver.iterate(1)
        after = solver.report["seconds"]
        local.append(after["local"] - before["local"])
        solve.append(after["solve"] - before["solve"])
    bones, vertices = ring_bones(problem, solver)
    report = solver.report
    last = report["stage_starts"][-1] + 1 - len(solver.energies)  # iterations of the last stage
    size = int(report["factor_size"])
    row = {
        "name": problem.name,
        "bones": bones,
        "local": min(local[last:]) / (vertices * report["poses"]),
        "local_limit": (PER_BONE * bones + PER_ROTATION) / speed,
        "factor_mib": 8 * size / 2**20,
        "solve": min(solve[last:]),
        "solve_limit": 2 * machine.read_seconds(size),
    }
    say(*row.values())
    return row


def abilities():
    """(table of what the machine can do, single-precision operations per second of one thread)."""
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
    local.set_yscale("log")
    plots.plain_numbers(local.yaxis)
    local.set_xlim(bones)
    local.set_xlabel("bones of the one-ring, mean")
    local.set_ylabel("ns per vertex and pose")
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
    speed = found["single-precision products, Gflop/s"][0]
    rows = [measure(problem, speed) for problem in problems(Path(zip_path), names)]
    head = (
        "character", "bones of the ring", "local ns", "limit ns", "ratio", "factor MiB",
        "solve ms", "limit ms", "ratio",
    )  # fmt: skip
    lines = [
        (
            row["name"], f"{row['bones']:.1f}", f"{1e9 * row['local']:.1f}",
            f"{1e9 * row['local_limit']:.1f}", f"{row['local'] / row['local_limit']:.1f}",
            f"{row['factor_mib']:.1f}", f"{1e3 * row['solve']:.3g}",
            f"{1e3 * row['solve_limit']:.3g}", f"{row['solve'] / row['solve_limit']:.1f}",
        )
        for row in rows
    ]  # fmt: skip
    bandwidth = found["read an array, GB/s"][0]
    write_page(
        output, "roofline", "Beside the limits of the machine", what, NOTE, table(head, lines),
        pictures=[draw(rows, bandwidth, output)], rows={"machine": found, "rows": rows},
    )  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
