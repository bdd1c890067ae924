"""Repeats experiments of the 2018 paper, in the paper's own energy and in the yardstick's measures.

paper.py ZIP OUTPUT_FOLDER [CHARACTER...]     (called by bench.py)"""

import sys
import time
from pathlib import Path
from types import SimpleNamespace

import araplbs
import numpy as np
import plots
import rigged
import shaded
import shapes
import spines
from results import say, table, write_page
from rigged import without_control_bones
from subdivide import subdivided
from yardstick import Yardstick

LARGEST = 3500  # vertices
UNSEEN = {"seed": 77, "swing": np.pi / 3}  # poses in which the energy is compared
PAPER = {
    "edge_power": 0, "bone_spring_stiffness": 0, "max_influences": 0, "min_gain": 3e-5,
    "pruning": (1, 0.95, 0.05), "expansion_rounds": 0, "peak_stiffness": 0, "attach": True,
    "neumann": True, "positivity": "penalty",
}  # fmt: skip
NO_ROWS = {"attach": False, "neumann": False, "positivity": "clip"}
SWITCHES = {  # from the paper, one at a time
    "as published": {},
    "no attach rows": {"attach": False},
    "no Neumann rows": {"neumann": False},
    "clipping for positivity rows": {"positivity": "clip"},
    "none of these rows": NO_ROWS,
    "pruning with .999, .001": {"pruning": (1, 0.999, 0.001)},
    "edge power 3": {"edge_power": 3},
    "springs (Firmness 16)": {"bone_spring_stiffness": 16},
    "2 rounds of expansion": {"expansion_rounds": 2},
    "at most 4 influences": {"max_influences": 4},
    "undesired attach rows dropped": {"drop_attachments": True},
    "1,000 clusters by position": {"position_clusters": 1000},
    "300 clusters by position": {"position_clusters": 300},
    "clusters by weights (0.1)": {"rotation_clusters": 0.1},
}
STEPS = {  # from the paper to the default, one after another
    "as published": {},
    "none of these rows": NO_ROWS,
    "edge power 3": {"edge_power": 3},
    "pruning with .999, .001": {"pruning": (1, 0.999, 0.001)},
    "2 rounds of expansion, Crispness": {"expansion_rounds": 2, "min_gain": 4e-3},
    "springs (Firmness 16)": {"bone_spring_stiffness": 16},
    "at most 4 influences": {"max_influences": 4},
}
DEFAULTS = {
    "default": {},
    "default, 1,000 clusters by position": {"position_clusters": 1000},
    "default, 300 clusters by position": {"position_clusters": 300},
    "default, clusters by weights (0.1)": {"rotation_clusters": 0.1},
}
INITIAL = ("heat", "bbw", "biharmonic", "boneglow", "nearest")
PROFILE = (1, 2, 5, 10, 20)  # iterations
UNIFORM_UNKNOWNS = 20_000  # nothing prunes uniform weights
EXEMPLARS = (8, 16, 32, 64, 128)
FINER = ("q_cat_wire", "q_rat", "cesium_man")
BRUSHED = ("mage", "m2m_dragon", "q_wasp")  # they have undesired attach rows
CUT = ("cesium_man", "mage", "q_rat", "q_wasp")
VERTEBRAE = 16
NEAR_BONES, BRUSH = 8, 0.05  # bones that the influence brush keeps; radius by diagonal
MEASURES = ("area", "p99", "drift")
NOTE = f"""\
Characters of at most {LARGEST:,} vertices, all relative to bone heat with any number of influences
(geometric means). *energy*: the paper's energy in 100 poses that were not used, with the paper's
range of rotations. *area*, *p99*, *drift*: the yardstick of the [main benchmark](seen.md) in its
random poses. This bone heat keeps its small weights. Blender's cuts them off, so it stretches more
and drifts less."""


def cumulative(steps):
    settings = {}
    for name, more in steps.items():
        settings = settings | more
        yield name, settings


class Character:
    def __init__(self, name, levels=0):
        arrays = rigged.model(name)
        for _ in range(levels):
            arrays["V"], arrays["F"] = subdivided(arrays["V"], arrays["F"])
            arrays["E_loose"] = np.zeros((0, 2), int)
        self.name, self.yardstick = name, Yardstick(arrays)
        self.arguments = without_control_bones(arrays)
        rig = [self.arguments[f"bone_{key}"] for key in ("heads", "tails", "parents")]
        poses = araplbs.sample_poses(*rig, 100, bone_deform=self.arguments["bone_deform"], **UNSEEN)
        self.unseen = poses[0] if isinstance(poses, tuple) else poses

    def energy(self, weights):
        own = self.arguments
        return araplbs.energy(
            own["vertices"], own["triangles"], weights, self.unseen, edges=own["edges"]
        )

    def judge(self, weights):
        seen = self.yardstick.judge(weights)["random"]
        return {"energy": self.energy(weights), **{name: seen[name] for name in MEASURES}}

    def solver(self, **settings):
        solver = araplbs.Solver(**self.arguments | PAPER | settings)
        solver.solve()
        return solver

    def start(self, method):
        if method == "uniform":
            deform = self.arguments["bone_deform"].astype(float)
            return np.tile(deform / deform.sum(), (len(self.arguments["vertices"]), 1))
        rows = araplbs.baseline_weights(**self.arguments, method=method, max_influences=0)
        return shapes.dense(rows, len(self.arguments["bone_heads"]))


def examine(name):
    """All numbers of a character."""
    own, found = Character(name), {}
    found["heat"] = own.judge(own.start("heat"))
    found["switches"] = {way: own.judge(own.solver(**s).weights) for way, s in SWITCHES.items()}
    found["steps"] = {way: own.judge(own.solver(**s).weights) for way, s in cumulative(STEPS)}
    found["steps"] |= {way: own.judge(araplbs_default(own, **s)) for way, s in DEFAULTS.items()}
    found["initial"] = {
        method: [own.energy(own.start(method)), *(
            own.energy(own.solver(initial=method, **rows).weights) for rows in ({}, NO_ROWS)
        )]
        for method in INITIAL
    }  # fmt: skip
    found["exemplars"] = {
        way: [own.energy(own.solver(pose_count=k, **NO_ROWS | rows).weights) for k in EXEMPLARS]
        for way, rows in (("positivity", {}), ("no positivity", {"positivity": "none"}))
    }
    found["table 1"] = timings(own)
    if name in BRUSHED:
        found["brushes"] = brushed(own)
    if name in CUT:
        found["cut"] = cut(own)
    if int(own.arguments["bone_deform"].sum()) * len(own.arguments["vertices"]) < UNIFORM_UNKNOWNS:
        found["profiles"] = {method: profile(own, method) for method in (*INITIAL, "uniform")}
    half = np.arange(len(own.arguments["bone_heads"])) % 2 == 1
    locked = {"weights": own.start("heat"), "locked_bones": half}
    found["half"] = [own.energy(own.solver(**NO_ROWS | more).weights) for more in (locked, {})]
    say(name)
    return found


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def timings(own):
    """The columns of Table 1: the last is one stroke of the brush for weights and the iteration
    after it."""
    solvers = []
    first = seconds(lambda: solvers.append(araplbs.Solver(**own.arguments, **PAPER)))
    (solver,) = solvers
    first += seconds(solver.iterate)
    each = seconds(solver.solve) / max(solver.report["iterations"] - 1, 1)
    report, weights = solver.report, solver.weights

    def stroke():
        spot = ball(own, 0)
        solver.edit(constraints=(spot, np.full(len(spot), weights[0].argmax()), np.ones(len(spot))))
        solver.iterate()

    return [
        report["vertices"], int(own.arguments["bone_deform"].sum()), first,
        report["unknowns"] / report["vertices"], report["iterations"], each, seconds(stroke),
    ]  # fmt: skip


def ball(own, vertex):
    """The vertices under a brush."""
    points = own.arguments["vertices"]
    far = np.linalg.norm(points - points[vertex], axis=1)
    return np.flatnonzero(far <= BRUSH * np.linalg.norm(np.ptp(points, axis=0)))


def profile(own, method):
    """Energies of the initial weights and after PROFILE iterations."""
    more = {"initial": method}
    if method == "uniform":
        more = {"weights": own.start(method), "start_from_weights": True}
    plain = {"acceleration": 0, "tolerance": 0, "iterations": max(PROFILE), "coarsen": 0}
    solver = own.solver(**more, **NO_ROWS, **plain)
    energies, begin = solver.energies, max(solver.report["stage_starts"], default=0)
    return [energies[min(begin + k, len(energies) - 1)] for k in (0, *PROFILE)]


def brushed(own):
    """{brush: [energy, attach rows, unknowns per vertex, seconds per iteration]}"""
    points, bones, tails = (own.arguments[k] for k in ("vertices", "bone_heads", "bone_tails"))
    n, every = len(points), np.arange(len(points))
    tip = int(points[:, 1].argmin())
    spot, owner = ball(own, tip), own.start("heat")[tip].argmax()
    along = np.maximum(((tails - bones) ** 2).sum(1), 1e-12)
    share = np.clip(np.einsum("nbi,bi->nb", points[:, None] - bones, tails - bones) / along, 0, 1)
    far = np.linalg.norm(points[:, None] - bones - share[..., None] * (tails - bones), axis=2)
    far[:, ~own.arguments["bone_deform"]] = np.inf
    vertex, bone = np.nonzero(far.argsort(1).argsort(1) >= NEAR_BONES)
    found = {}
    for way, brush in {
        "no brush": {},
        "undesired attach rows removed": {"drop_attachments": True},
        "weights constrained to 1 at a tip": {
            "constraints": (spot, np.full(len(spot), owner), np.ones(len(spot)))
        },
        f"only the {NEAR_BONES} nearest bones": {
            "influences": (vertex, bone, np.zeros(len(bone), bool))
        },
        "smooth (0.1) everywhere": {"smoothed": (every, np.full(n, 0.1))},
    }.items():
        solver = own.solver(**brush)
        report = solver.report
        each = sum(report["seconds"].values()) / max(report["iterations"], 1)
        found[way] = [
            own.energy(solver.weights),
            sum(r["kind"] == "attach" and not r["released"] for r in solver.constraint_rows),
            report["unknowns"] / n,
            each,
        ]
    return found


def cut(own):
    """Energies with the whole skeleton, and with one cut at its branches, whose components stay or
    are displaced. Judged in poses of the whole one."""
    parents = own.arguments["bone_parents"]
    twins = [b for b in range(len(parents)) if parents[b] >= 0 and parents[b] in parents[:b]]
    loose = {"bone_parents": np.where(np.isin(np.arange(len(parents)), twins), -1, parents)}
    ways = ({}, loose | {"displace_components": False}, loose | {"displace_components": True})
    return [len(twins) + 1, *(own.energy(own.solver(**NO_ROWS | way).weights) for way in ways)]


def vertebrae(output):
    """[way, energy, ...] of a tail whose 16 bones share a bend of up to 150 degrees (Figure 14).
    Draws it with the weights of every second bone."""
    fig, panels = plots.figure(2, height=4)
    chain = spines.chain(spines.even(VERTEBRAE))
    poses = spines.shared(VERTEBRAE, [1.0, 0, 0], np.radians(np.linspace(-150, 150, 20)))
    mesh, settings = (spines.TAIL, spines.TRIANGLES), PAPER | {"pose_count": 80}
    small = araplbs.Solver(*mesh, *chain, **settings)
    small.solve()
    one = araplbs.spine_weights(*mesh, *chain, range(VERTEBRAE), **settings).toarray()
    ways = (f"{VERTEBRAE} small bones", small.weights), ("a spine, split", one)
    for panel, (way, weights) in zip(panels[0], ways, strict=True):
        largest = weights.max(0)
        posed = araplbs.linear_skinning(mesh[0], weights, poses[-1:])
        reached = spines.angle_between_ends(SimpleNamespace(vertices=mesh[0], posed=posed))
        yield [way, f"{araplbs.energy(*mesh, weights, poses):.4f}", f"{reached:.0f} of 150",
               int((largest > 0.5).sum()), f"{largest.min():.2f}"]  # fmt: skip
        grid = posed[0].reshape(spines.ALONG, spines.AROUND, 3)
        bands = 0.5 * weights[:, ::2].sum(1).reshape(grid.shape[:2])
        shaded.draw(panel, grid, bands, shaded.view(20, 14))
        panel.set_title(way)
    plots.save(fig, output, "paper_spine.png")


def finer(name):
    """[[name, vertices, energies relative to heat with and without the rows]] by level."""
    for levels in range(3):
        own = Character(name, levels)
        heat = own.energy(own.start("heat"))
        weights = [own.solver(**rows).weights for rows in ({}, {"neumann": False}, NO_ROWS)]
        cells = [f"{own.energy(w) / heat:.2f}" for w in weights]
        yield [name, f"{len(own.arguments['vertices']):,}", *cells]


def araplbs_default(own, **more):
    solver = araplbs.Solver(**own.arguments, **more)
    solver.solve()
    return solver.weights


def mean(values):
    return f"{np.exp(np.mean(np.log(np.maximum(values, 1e-9)))):.2f}"


def lines(rows, part):
    first = next(iter(rows.values()))[part]
    for way in first:
        cells = [
            mean([row[part][way][m] / row["heat"][m] for row in rows.values()])
            for m in ("energy", *MEASURES)
        ]
        yield [way, *cells]


def main(_zip_path, output, *asked):
    small = [n for n in rigged.names(asked) if len(rigged.model(n)["V"]) <= LARGEST]
    rows = {name: examine(name) for name in small}
    head = ["", "energy", *MEASURES]
    every = rows.values()

    def relative(method, k):
        return mean([row["initial"][method][k] / row["heat"]["energy"] for row in every])

    starts = [[method, *(relative(method, k) for k in range(3))] for method in INITIAL]
    counts = [
        [way, *(
            mean([row["exemplars"][way][k] / row["exemplars"]["positivity"][-1]
                  for row in rows.values()])
            for k in range(len(EXEMPLARS))
        )]
        for way in ("positivity", "no positivity")
    ]  # fmt: skip
    first = [
        [name, f"{v:,}", bones, f"{begin:.2f}", f"{unknowns:.1f}", count, f"{each:.4f}",
         f"{stroke:.3f}"]
        for name, row in rows.items()
        for v, bones, begin, unknowns, count, each, stroke in [row["table 1"]]
    ]  # fmt: skip
    profiled = {n: row for n, row in rows.items() if "profiles" in row}
    profiles = [
        [method, *(
            mean([row["profiles"][method][k] / row["profiles"]["heat"][0]
                  for row in profiled.values()])
            for k in range(len(PROFILE) + 1)
        )]
        for method in (*INITIAL, "uniform")
        if profiled
    ]  # fmt: skip
    strokes = [
        [f"{name}: {way}" if not k else f"... {way}", f"{energy / row['heat']['energy']:.2f}",
         attached, f"{unknowns:.2f}", f"{each:.4f}"]
        for name, row in rows.items()
        for k, (way, cells) in enumerate(row.get("brushes", {}).items())
        for energy, attached, unknowns, each in [cells]
    ]  # fmt: skip
    pieces = [
        [name, row["cut"][0], *(f"{e / row['heat']['energy']:.2f}" for e in row["cut"][1:])]
        for name, row in rows.items()
        if "cut" in row
    ]
    halves = [mean([row["half"][k] / row["heat"]["energy"] for row in every]) for k in range(2)]
    write_page(
        Path(output), "paper", "Experiments of the 2018 paper",
        f"{NOTE} {len(rows)} characters: {', '.join(rows)}.",
        "## From the paper, one switch at a time", table(head, lines(rows, "switches")),
        "## From the paper to the default, one step after another",
        table(head, lines(rows, "steps")),
        "## Energy by initial weights (Figure 9)\n\nRelative to the energy of bone heat.",
        table(["", "before", "as published", "none of the rows"], starts),
        "## Profiles of the energy by initial weights (Figure 9)\n\nRelative to the initial energy "
        "of bone heat, in the poses of the solver, without the paper's rows, acceleration and "
        f"coarse meshes. Nothing prunes uniform weights, so this table has the characters "
        f"with fewer than {UNIFORM_UNKNOWNS:,} weights: {', '.join(profiled)}. *nearest*: one "
        "influence per vertex, so nothing is left to optimize.",
        table(["iterations", "0", *PROFILE], profiles),
        "## Energy on finer meshes\n\nEach triangle is split into four, in its plane. The paper's "
        "characters have 5,000 to 43,000 vertices.",
        table(["", "vertices", "as published", "no Neumann rows", "none of the rows"],
              [line for name in FINER if not asked or name in asked for line in finer(name)]),
        "## Number of exemplars, with and without positivity\n\n"
        "Energy in unseen poses relative to that with 128 exemplars and positivity, without the "
        "paper's other rows.",
        table(["", *EXEMPLARS], counts),
        "## Some of the bones\n\nEnergy relative to bone heat, without the paper's rows.",
        table(["all bones", "every second bone locked with the weights of bone heat"],
              [halves[::-1]]),
        "## Brushes (Figures 9 and 15)\n\nEnergy relative to bone heat, as published. The weight "
        f"brush has a radius of {BRUSH:.0%} of the diagonal, around the foremost vertex.",
        table(["", "energy", "attach rows", "unknowns per vertex", "s per iteration"], strokes),
        "## Disconnected skeletons (Figure 12)\n\nThe second and further children of every bone "
        "are cut off. Energy relative to bone heat, in poses of the whole skeleton, without the "
        "paper's rows.",
        table(["", "components", "whole", "cut", "cut, displaced"], pieces),
        f"## A spine and small bones (Figure 14)\n\nA tail of {len(spines.TAIL):,} vertices, as "
        "published. The joints share a bend of up to 150 degrees. *reached*: bend of the skin. "
        "*used*: bones with a weight above 0.5. *least*: the smallest of the largest weights of "
        "all bones.",
        table(["", "energy", "reached", "used", "least"], vertebrae(Path(output))),
        "The color shows the weights of every second bone:\n\n"
        "![A tail with 16 small bones, and with a spine](paper_spine.png)",
        "## Table 1\n\nThe paper lists 0.4 to 52 s to begin, 0.14 to 2 s per iteration and up "
        "to 60 s of interaction, on larger characters and an older laptop. *begin*: initial "
        "weights, factorization and the first iteration. *stroke*: a stroke of the weight brush "
        "with one local and global step.",
        table(["", "vertices", "bones", "s to begin", "unknowns per vertex", "iterations",
               "s per iteration", "s of a stroke"], first),
        rows=rows,
    )  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
