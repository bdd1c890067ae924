"""Random problems, as difficult as possible, and the guarantees that hold for every one of them:

either the module refuses the problem with a message (without NaN in it), or it returns weights that
are finite, >= 0 and sum to 1, with at most the requested number of influences, for every vertex; it
finishes within a generous time, and stops at once when progress requests it.

Each seed stands for one problem. `python tests/package/fuzzing.py SECONDS [FIRST_SEED]` runs as
many as fit into the time and prints the seeds that fail; `python tests/package/fuzzing.py =SEED`
runs one."""

import itertools
import sys
import time
import traceback

import araplbs
import fuzzing_dense
import fuzzing_mirrored
import numpy as np
import shapes

LONGEST = 120.0  # seconds of the processor for one problem, under sanitizers
LONGEST_STEP = 20.0  # of those between two calls of progress: cancellation is not noticed sooner
MOST_CALLS = 100_000  # of progress
MIRRORED = DENSE = 5


class Broken(AssertionError):
    """A broken guarantee."""


def promise(kept, *said):
    if not kept:
        raise Broken(" ".join(map(str, said)))


def slivers(rng):
    """A strip of faces whose height is a millionth to a hundred-millionth of their length."""
    count = int(rng.integers(2, 20))
    x = np.arange(count) / count
    height = 10.0 ** rng.uniform(-9, -5)
    vertices = np.column_stack([x, np.arange(count) % 2 * height, np.zeros(count)])
    i = np.arange(count - 2)
    return vertices, np.column_stack([i, i + 1, i + 2])


def any_soup(rng):
    """Random corners: repeated faces, faces without area or with one vertex, and random edges."""
    count = int(rng.integers(1, 40))
    vertices = rng.normal(size=(count, 3)) * 10.0 ** rng.integers(-3, 2, 3)
    return vertices, rng.integers(0, count, (int(rng.integers(0, 80)), 3))


def grid(rng):
    """A sheet of equal squares, with ties in every distance."""
    n, m = rng.integers(2, 9, 2)
    x, y = np.meshgrid(np.arange(n), np.arange(m), indexing="ij")
    vertices = np.column_stack([x.ravel(), y.ravel(), np.zeros(n * m)]) / n
    i = (np.arange(n - 1)[:, None] * m + np.arange(m - 1)).ravel()
    quads = np.column_stack([i, i + m, i + m + 1, i, i + m + 1, i + 1])
    return vertices, quads.reshape(-1, 3)


def dense(rng):
    """Enough vertices for a coarser mesh."""
    return shapes.tube(int(rng.integers(16, 24)), int(rng.integers(60, 80)), 0.3, caps=True)


NO_FACES = np.zeros((0, 3), int)
MESHES = {
    "tube": lambda rng: shapes.tube(*map(int, rng.integers(3, 14, 2)), rng.uniform(0.01, 1)),
    "sphere": lambda rng: shapes.sphere(*map(int, rng.integers(3, 9, 2))),
    "box": lambda rng: shapes.box(10.0 ** rng.uniform(-3, 1, 3)),
    "moebius": lambda rng: shapes.moebius(int(rng.integers(6, 20))),
    "fan": lambda rng: shapes.fan(int(rng.integers(1, 6))),
    "soup": lambda rng: shapes.soup(int(rng.integers(1, 40)), int(rng.integers(99))),
    "split": lambda rng: shapes.split(*shapes.tube(5, 5)),
    "slivers": slivers,
    "any soup": any_soup,
    "grid": grid,
    "dense": dense,
    "points": lambda rng: (rng.normal(size=(int(rng.integers(1, 30)), 3)), NO_FACES),
    "one place": lambda rng: (np.ones((int(rng.integers(1, 9)), 3)), NO_FACES),
    "bar": None,  # of tets
}
FREQUENT = ["tube", "sphere", "soup", "any soup", "slivers", "grid", "bar"]


def make_mesh(rng):
    """{vertices, triangles, edges, tets}."""
    kind = str(rng.choice(FREQUENT if rng.random() < 0.6 else list(MESHES)))
    tets = None
    if kind == "bar":
        vertices, tets = shapes.bar(tuple(map(int, rng.integers(1, 5, 3))))
        triangles = NO_FACES
    else:
        vertices, triangles = MESHES[kind](rng)
    if rng.random() < 0.25 and tets is None:
        vertices, triangles = shapes.join(
            (vertices, triangles), shapes.box(rng.uniform(0.01, 1, 3), rng.normal(size=3))
        )
    vertices = np.array(vertices, float)
    if rng.random() < 0.2:  # flat or thin
        vertices[:, int(rng.integers(3))] *= 10.0 ** rng.uniform(-14, 0) * (rng.random() < 0.7)
    if rng.random() < 0.2:
        vertices += rng.normal(size=vertices.shape) * 10.0 ** rng.uniform(-12, 0)
    if rng.random() < 0.15:  # some at one place
        some = rng.integers(0, len(vertices), max(1, len(vertices) // 5))
        vertices[some] = vertices[some[0]]
    n = len(vertices)
    edges = rng.integers(0, n, (int(rng.integers(0, 12)), 2)) if rng.random() < 0.3 else None
    return vertices, np.asarray(triangles, int).reshape(-1, 3), edges, tets


def make_bones(rng, vertices):
    """Chains, trees, stars and random bones, some of them at vertices."""
    style = rng.choice(["chain", "tree", "star", "anyhow", "many"], p=[0.3, 0.15, 0.2, 0.28, 0.07])
    if style == "tree":
        return shapes.tree()
    if style == "chain":
        return shapes.chain(int(rng.integers(1, 8)))
    count = int(rng.integers(100, 301)) if style == "many" else int(rng.integers(1, 12))
    near = vertices[rng.integers(0, len(vertices), (2, count))]
    heads, tails = near + rng.normal(size=near.shape) * 10.0 ** rng.uniform(-3, 0)
    parents = np.array([int(rng.integers(-1, b)) for b in range(count)])
    if style == "star":
        heads[:] = heads[0]
    hanging = (parents >= 0) & (rng.random(count) < 0.5)
    heads[hanging] = tails[parents[hanging]]
    if rng.random() < 0.3:  # without length
        some = rng.random(count) < 0.3
        tails[some] = heads[some]
    if rng.random() < 0.2:  # very long
        tails[int(rng.integers(count))] *= 10.0 ** rng.uniform(0, 7)
    deform = rng.random(count) < 0.8
    deform[int(rng.integers(count))] = True
    return shapes.Bones(heads, tails, parents, deform=deform if rng.random() < 0.3 else None)


def add_oddities(rng, arguments):
    """Vertices on joints, distant vertices, other units, other positions."""
    vertices = arguments["vertices"]
    heads, tails = arguments["bone_heads"], arguments["bone_tails"]
    if rng.random() < 0.2:
        vertices = np.concatenate([vertices, heads[:3], tails[:2]])
    if rng.random() < 0.15:
        stray = rng.normal(size=(int(rng.integers(1, 3)), 3)) * 10.0 ** rng.uniform(1, 12)
        vertices = np.concatenate([vertices, stray])
        if rng.random() < 0.5:
            n = len(vertices)
            face = [[n - 1, 0, min(1, n - 1)]]
            arguments["triangles"] = np.concatenate([arguments["triangles"], face])
    scale = 10.0 ** rng.uniform(-12, 12) if rng.random() < 0.3 else 1.0
    shift = rng.normal(size=3) * 10.0 ** rng.uniform(-2, 7) if rng.random() < 0.2 else np.zeros(3)
    own = 10.0 ** rng.uniform(-10, 3) if rng.random() < 0.1 else 1.0  # of the mesh alone
    arguments["vertices"] = (vertices * own + shift) * scale
    arguments["bone_heads"], arguments["bone_tails"] = (
        (heads + shift) * scale,
        (tails + shift) * scale,
    )


def odd_weights(rng, n, m):
    weights = shapes.random_weights(rng, n, m, 0.5) * 10.0 ** rng.uniform(-3, 1, (n, 1))
    if rng.random() < 0.3:
        weights[rng.random(n) < 0.3] = 0
    if rng.random() < 0.3:
        weights[rng.random(n) < 0.3] = rng.choice([5e-324, 1e-310, 1e-300, 1e-30, 1e29])
    return weights


def add_given(rng, arguments):
    """Poses, weights, locks, edits, rigid parts and a mirror."""
    n, m = len(arguments["vertices"]), len(arguments["bone_heads"])
    ends = [arguments[key] for key in ("bone_heads", "bone_tails", "bone_parents")]
    size = float(np.abs(arguments["vertices"]).max())
    if rng.random() < 0.2:
        poses = np.zeros((int(rng.integers(1, 4)), m, 3, 4))
        poses[..., :3] = shapes.random_rotations(rng, *poses.shape[:2])
        poses[..., :3] *= 10.0 ** rng.uniform(-3, 1) if rng.random() < 0.3 else 1
        poses[..., 3] = rng.normal(size=poses.shape[:3]) * size
        arguments["poses"] = poses
        # Of a stream of their own: all that comes after it is the same with and without them.
        own = np.random.default_rng(np.frombuffer(poses.tobytes(), np.uint32)[-8:])
        if own.random() < 0.5:
            arguments["pose_weights"] = 10.0 ** own.uniform(-6, 6, len(poses))
    if rng.random() < 0.35:
        arguments["weights"] = odd_weights(rng, n, m)
        arguments["start_from_weights"] = bool(rng.random() < 0.5)
        if rng.random() < 0.5:
            arguments["locked_vertices"] = rng.random(n) < rng.random()
        if rng.random() < 0.5:
            arguments["locked_bones"] = rng.random(m) < rng.random()
    if rng.random() < 0.2:
        k = int(rng.integers(1, 9))
        pairs = [rng.integers(0, n, k), rng.integers(0, m, k)]
        arguments["constraints"] = (*pairs, rng.uniform(-0.2, 1.2, k).clip(0, 1))
        arguments["influences"] = (rng.integers(0, n, k), pairs[1], rng.random(k) < 0.5)
        arguments["released"] = (pairs[0], pairs[1])
        arguments["smoothed"] = (pairs[0], rng.random(k))
    if rng.random() < 0.2:
        partners = np.arange(m)
        arguments["symmetry"] = (partners, np.zeros(3), np.eye(3)[int(rng.integers(3))])
    if rng.random() < 0.15:
        kinds = rng.choice(["rigid", "stb", "spine", "bendy"], m, p=[0.4, 0.1, 0.1, 0.4])
        arguments["bone_kinds"] = [str(kind) for kind in kinds]
        arguments["bone_segments"] = rng.integers(1, 6, m)
        arguments.pop("symmetry", None)
    if rng.random() < 0.2:
        arguments["bone_stretch"] = rng.random(m) < 0.5
    if rng.random() < 0.2:
        arguments["rigid_parts"] = rng.integers(-1, int(rng.integers(1, 5)), n).astype(np.int32)
    return ends


def add_settings(rng, arguments):
    usual = {
        "max_influences": lambda: int(rng.choice([0, 1, 2, 4, 8])),
        "pose_count": lambda: int(rng.choice([0, 1, 2, 7, 30])),
        "precision": lambda: str(rng.choice(["single", "double"])),
        "expansion_rounds": lambda: int(rng.integers(0, 4)),
        "min_weight": lambda: float(rng.choice([0, 1e-3, 0.25])),
        "bone_spring_stiffness": lambda: float(rng.choice([0, 12, 1e6])),
        "peak_stiffness": lambda: float(rng.choice([0, 0.01, 1e3])),
        "edge_power": lambda: float(rng.uniform(0, 4)),
        "harmonic": lambda: float(rng.choice([0, 1e-4, 1])),
        "damping": lambda: float(rng.choice([0, 1e-6, 1])),
        "heat_floor": lambda: float(rng.choice([0, 1e-6, 0.2])),
        "link_parts": lambda: bool(rng.random() < 0.5),
        "attach": lambda: True,
        "drop_attachments": lambda: True,
        "neumann": lambda: True,
        "positivity": lambda: str(rng.choice(["clip", "penalty", "none"])),
        "filter": lambda: str(rng.choice(["none", "all", "extrema"])),
        "acceleration": lambda: int(rng.choice([0, 5, 20])),
        "rotation_clusters": lambda: float(rng.choice([0, 0.02, 1])),
        "position_clusters": lambda: int(rng.choice([0, 5, 1000])),
        "coarsen": lambda: int(rng.choice([0, 10, 1000])),
        "reach_poses": lambda: float(rng.choice([0, 0.5, 1])),
        "swing": lambda: float(rng.uniform(0, 3.1)),
        "rigid_influences": lambda: int(rng.choice([0, 1, 3])),
        "rigid_departure": lambda: float(rng.choice([1e-3, 1])),
        "displace_components": lambda: bool(rng.random() < 0.5),
    }
    for name, draw in usual.items():
        if rng.random() < 0.12:
            arguments[name] = draw()
    if rng.random() < 0.3:
        arguments["initial"] = str(rng.choice(["nearest", "boneglow", "bbw", "biharmonic"]))
    arguments["iterations"] = int(rng.integers(1, 8))
    arguments["threads"] = int(rng.choice([1, 2, 3]))
    arguments["seed"] = int(rng.integers(99))
    arguments.setdefault("pose_count", 10)


def make_mirrored(rng):
    """The arguments of a Solver: a body that is its own mirror image, with everything else except
    what would make its sides differ in kind."""
    arguments = fuzzing_mirrored.make(rng)
    own = {key: arguments[key] for key in ("symmetry", "rigid_parts") if key in arguments}
    add_given(rng, arguments)
    for key in ("bone_kinds", "bone_segments", "bone_stretch"):
        arguments.pop(key, None)
    add_settings(rng, arguments)
    return arguments | own


def make_dense(rng):
    """The arguments of a Solver: few vertices, all of them edited."""
    given = fuzzing_dense.make(rng)
    own = {key: given[key] for key in ("max_influences",) if key in given}
    add_settings(rng, given)
    return given | own


def make(seed):
    """(random generator, arguments of a Solver). Every MIRRORED-th problem is a mirrored body, and
    every DENSE-th a small mesh with a dense system."""
    rng = np.random.default_rng(seed)
    if seed % DENSE == 0:
        return rng, make_dense(rng)
    if seed % MIRRORED == MIRRORED - 1:
        return rng, make_mirrored(rng)
    vertices, triangles, edges, tets = make_mesh(rng)
    bones = make_bones(rng, vertices)
    arguments = {
        "vertices": vertices,
        "triangles": triangles,
        "edges": edges,
        "tets": tets,
        "bone_heads": bones.heads,
        "bone_tails": bones.tails,
        "bone_parents": bones.parents,
        "bone_deform": bones.deform,
    }
    add_oddities(rng, arguments)
    add_given(rng, arguments)
    add_settings(rng, arguments)
    return rng, arguments


def check_weights(arguments, solver):
    weights = solver.weights
    n, m = len(arguments["vertices"]), len(arguments["bone_heads"])
    promise(weights.shape == (n, m), "weights of shape", weights.shape)
    promise(np.isfinite(weights).all(), "weights that are not finite")
    promise((weights >= 0).all(), "negative weights", weights.min())
    free = np.ones(n, bool)
    kept = np.zeros(m, bool)
    if "locked_vertices" in arguments:
        free &= ~arguments["locked_vertices"]
        same = weights[~free] == arguments["weights"][~free]
        deforms = arguments["bone_deform"]
        promise(same[:, deforms if deforms is not None else slice(None)].all(), "locked rows moved")
    if "locked_bones" in arguments:
        kept = arguments["locked_bones"]
    if kept.any() or not free.all():  # a lock of one vertex holds for all that are welded to it
        weld = solver._inside["weld"]
        free &= np.bincount(weld)[weld] == 1
    given = weights[:, kept].sum(1)
    sums = weights.sum(1)
    wrong = free & (np.abs(sums - 1) > 1e-6) & (given < 1)
    promise(not wrong.any(), "sums", sums[wrong][:3])
    promise((sums[free] > 0).all(), "vertices without weight")
    most = arguments.get("max_influences", 4)
    if most and solver.done:
        count = (weights[:, ~kept] > 0).sum(1)[free]
        promise(not len(count) or count.max() <= most, "influences", count.max(initial=0))
    if "rigid_parts" in arguments and free.all() and not kept.any():
        label = arguments["rigid_parts"]
        for part in range(int(label.max(initial=-1)) + 1):
            rows = weights[label == part]
            promise((rows == rows[:1]).all(), "part", part, "is not rigid")
    promise(np.isfinite(solver.energies).all() and solver.energy >= 0, "energies", solver.energies)


class Watch:
    """A progress function that counts calls, and stops the work from the given one on. Work that
    never ends also calls it, so it ends such work."""

    def __init__(self, stop_at):
        self.calls, self.stop_at, self.longest = 0, stop_at, 0.0
        self.begin = self.last = time.process_time()

    def __call__(self, stage, fraction):
        now = time.process_time()
        self.calls, self.longest, self.last = (
            self.calls + 1,
            max(self.longest, now - self.last),
            now,
        )
        promise(0 <= fraction <= 1, "fraction", fraction, "of", stage)
        promise(self.calls <= MOST_CALLS, "too many calls of progress")
        promise(now - self.begin < LONGEST, "no end of", stage, "after", now - self.begin, "s")
        return self.calls < self.stop_at


def edits_later(rng, arguments):
    n, m = len(arguments["vertices"]), len(arguments["bone_heads"])
    k = int(rng.integers(1, 6))
    pairs = rng.integers(0, n, k), rng.integers(0, m, k)
    return {
        "constraints": (*pairs, rng.random(k)),
        "influences": (*pairs, rng.random(k) < 0.7),
        "smoothed": (pairs[0], rng.random(k)),
        "rigid_parts": arguments.get("rigid_parts"),
    }


def solve(rng, arguments, edits=edits_later):
    """Solves, checks the weights on the way, sometimes edits, and measures at the end."""
    stop_at = int(rng.integers(1, 40)) if rng.random() < 0.25 else MOST_CALLS
    watch = Watch(stop_at)
    try:
        solver = araplbs.Solver(**arguments, progress=watch)
        if rng.random() < 0.3:
            check_weights(arguments, solver)
        solver.iterate(2)
        if rng.random() < 0.2:
            solver.edit(**edits(rng, arguments))
        solver.solve()
    except araplbs.Cancelled:
        promise(
            watch.calls == stop_at, "cancelled after", watch.calls, "calls in place of", stop_at
        )
        return "cancelled"
    promise(watch.calls < stop_at, "went on when asked to stop")
    promise(watch.longest < LONGEST_STEP, "no progress for", watch.longest, "s")
    check_weights(arguments, solver)
    solver.report  # noqa: B018
    if "bone_kinds" not in arguments and len(arguments["triangles"]) and "poses" in arguments:
        mesh = arguments["vertices"], arguments["triangles"]
        energy = araplbs.energy(*mesh, solver.weights, arguments["poses"])
        promise(energy >= 0, "energy", energy)
    return "solved"


def edits_of_all(rng, arguments):
    return fuzzing_dense.edits(rng, len(arguments["vertices"]), len(arguments["bone_heads"]))


def joints(rng, arguments):
    """Runs some of the same checks on a JointSolver."""
    taken = {
        key: arguments[key]
        for key in (
            "edges",
            "bone_deform",
            "poses",
            "pose_weights",
            "symmetry",
            "max_influences",
            "pose_count",
        )
        if arguments.get(key) is not None
    }
    mesh = (arguments["vertices"], arguments["triangles"])
    ends = [arguments[key] for key in ("bone_heads", "bone_tails", "bone_parents")]
    watch = Watch(MOST_CALLS)
    solver = araplbs.JointSolver(*mesh, *ends, **taken, iterations=3, progress=watch)
    solver.solve()
    for name in ("heads", "tails", "energies"):
        promise(np.isfinite(getattr(solver, name)).all(), name, "not finite")
    asked = {key: value for key, value in arguments.items() if key != "rigid_parts"}
    check_weights({**asked, "max_influences": 0}, _Handed(solver))
    return "joints"


class _Handed:
    """Weights of a JointSolver, which iterates by itself."""

    def __init__(self, solver):
        self.weights, self.energies, self.energy, self.done = (
            solver.weights,
            solver.energies,
            solver.energies[-1],
            True,
        )


def run(seed):
    """The outcome of the problem; raises Broken if a guarantee is broken."""
    rng, arguments = make(seed)
    begin = time.process_time()
    plain = not any(key in arguments for key in ("weights", "bone_kinds", "locked_vertices"))
    few = len(arguments["bone_heads"]) < 20 and arguments["tets"] is None
    try:
        as_joints = plain and few and rng.random() < 0.1
        edits = edits_later if seed % DENSE else edits_of_all
        result = joints(rng, arguments) if as_joints else solve(rng, arguments, edits)
    except ValueError as error:
        promise("nan" not in str(error).lower(), "message:", error)
        result = f"refused: {error}"
    except araplbs.SolverError as error:
        if "increase joint_stiffness" in str(error):  # of joints: can be followed
            return "refused: joints"
        raise Broken(f"no solution: {error}") from error
    promise(time.process_time() - begin < LONGEST, "it took", time.process_time() - begin, "s")
    return result


def main(argument, first="0", run=run):
    if argument.startswith("="):
        print(run(int(argument[1:])))
        return 0
    end = time.monotonic() + float(argument)
    counts, failed = {}, []
    for seed in itertools.count(int(first)):
        if time.monotonic() > end:
            break
        print(f"\r{seed}", end="", file=sys.stderr, flush=True)  # the last one before a crash
        try:
            result = run(seed).split(":")[0]
        except Exception as error:
            result = "failed"
            failed.append(seed)
            where = "" if isinstance(error, Broken) else traceback.format_exc()
            print(f"\nseed {seed}: {type(error).__name__}: {error}\n{where}", flush=True)
        counts[result] = counts.get(result, 0) + 1
    print(f"\n{sum(counts.values())} problems: {counts}; failed: {failed}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
