"""Measures how late the module may notice a cancellation: for every function and type that takes
`progress`, on large problems, the longest time between two calls of `progress` in this thread.

`python tests/package/gaps.py [NAME...]` prints processor seconds on one thread, so a busy machine
does not lengthen them."""

import sys
import time

import araplbs
import numpy as np
import shapes


class Gaps:
    """A progress function that measures the time between its calls."""

    def __init__(self):
        self.calls, self.longest, self.where = 0, 0.0, ""
        self.last, self.stage = time.thread_time(), "the start"

    def __call__(self, stage, fraction=0.0):
        now = time.thread_time()
        self.calls += 1
        if now - self.last > self.longest:
            self.longest = now - self.last
            self.where = stage if stage == self.stage else f"{self.stage}, then {stage}"
        self.last, self.stage = now, stage


def tube(vertices, sides=40):
    return shapes.tube(sides, vertices // sides, 0.3, height=10.0, caps=True)


def chain(bones):
    """A chain of bones along the tube."""
    z = np.linspace(0, 10, bones + 1)
    ends = np.column_stack([np.zeros((bones + 1, 2)), z])
    return shapes.Bones(ends[:-1], ends[1:], np.arange(bones) - 1)


def band(vertices, bones, most):
    """Rows of `most` neighboring bones of the chain."""
    rng = np.random.default_rng(0)
    first = (vertices[:, 2] / 10 * (bones - most)).astype(int).clip(0, bones - most)
    n = len(vertices)
    bone = (first[:, None] + np.arange(most)).ravel()
    return np.arange(n + 1) * most, bone, rng.random(n * most) + 0.1


def cloud(mesh, bones, parents):
    """Bones anywhere at the mesh: heat of nearly all of them reaches every vertex."""
    rng = np.random.default_rng(0)
    heads = 0.9 * mesh[0][rng.integers(0, len(mesh[0]), bones)]
    heads += 0.05 * rng.normal(size=(bones, 3))
    return shapes.Bones(heads, heads + 0.1 * rng.normal(size=(bones, 3)), parents)


def solver(vertices, bones, sides=40, skeleton=None, **settings):
    settings = {"pose_count": 20, "iterations": 2, **settings}

    def solve(progress):
        mesh = tube(vertices, sides)
        solver = araplbs.Solver(
            *mesh, *(skeleton(mesh, bones) if skeleton else chain(bones)), progress=progress,
            threads=1, **settings
        )  # fmt: skip
        solver.solve()

    return solve


def crowd(vertices, bones, **settings):
    """One chain in a cloud."""
    return solver(vertices, bones, skeleton=lambda m, b: cloud(m, b, np.arange(b) - 1), **settings)


def roots(vertices, bones, **settings):
    """Each bone moves by itself."""
    return solver(vertices, bones, skeleton=lambda m, b: cloud(m, b, np.full(b, -1)), **settings)


def many_poses(vertices, bones, poses):
    few = {"initial": "nearest", "expansion_rounds": 0, "bone_spring_stiffness": 0.0, "coarsen": 0}
    return solver(vertices, bones, 10, pose_count=poses, **few)


def rigid(vertices, bones, part, **settings):
    """Many vertices anywhere that share one row."""
    mesh = tube(vertices, 20)
    labels = np.full(len(mesh[0]), -1)
    labels[np.random.default_rng(0).permutation(len(labels))[:part]] = 0

    def solve(progress):
        araplbs.Solver(
            *mesh, *chain(bones), rigid_parts=labels, pose_count=10, iterations=2,
            progress=progress, threads=1, **settings
        ).solve()  # fmt: skip

    return solve


def joints(vertices, bones):
    def solve(progress):
        araplbs.JointSolver(
            *tube(vertices), *chain(bones), pose_count=4, iterations=2, progress=progress,
            threads=1
        ).solve()  # fmt: skip

    return solve


def automatic(vertices, bones, method):
    return lambda progress: araplbs.baseline_weights(
        *tube(vertices), *chain(bones), method=method, progress=progress, threads=1
    )


def centers(vertices, bones, most):
    mesh = tube(vertices)
    rows = band(mesh[0], bones, most)
    return lambda progress: araplbs.rotation_centers(*mesh, rows, progress=progress, threads=1)


def control(vertices, bones):
    return lambda progress: araplbs.control_bones(
        *tube(vertices), *chain(bones), progress=progress, threads=1
    )


def directions(vertices, bones):
    heads, _tails, parents = chain(bones)
    return lambda progress: araplbs.bone_directions(
        *tube(vertices), heads, None, parents, progress=progress, threads=1
    )


def transfer(vertices, bones):
    source, target = tube(vertices), tube(vertices // 2, 30)
    half = target[0] * np.where(target[0][:, 2:] > 5, 1.02, 2.0)
    rows = band(source[0], bones, 4)
    return lambda progress: araplbs.transfer_weights(
        *source, rows, half, target[1], progress=progress, threads=1
    )


def shapes_for(vertices, count):
    source, target = tube(vertices), tube(vertices // 2, 30)
    half = target[0] * np.where(target[0][:, 2:] > 5, 1.02, 2.0)
    bent = source[0] + 0.1 * np.sin(np.arange(count))[:, None, None] * source[0][:, [1, 2, 0]]
    return lambda progress: araplbs.transfer_shapes(
        *source, bent, half, target[1], progress=progress, threads=1
    )


def match(vertices):
    source, target = tube(vertices), tube(vertices // 2, 30)
    return lambda progress: araplbs.match_surfaces(*source, *target, progress=progress, threads=1)


def bake(vertices, bones, frames, **settings):
    mesh, skeleton = tube(vertices), chain(bones)
    poses = araplbs.sample_poses(*skeleton, frames)
    posed = araplbs.linear_skinning(mesh[0], band(mesh[0], bones, 4), poses)

    def run(progress):
        given = None if "new_bones" in settings else poses
        araplbs.bake(mesh[0], posed, given, iterations=2, progress=progress, threads=1, **settings)

    return run


def elastic(vertices, bones, **settings):
    mesh, skeleton = tube(vertices), chain(bones)
    poses = araplbs.sample_poses(*skeleton, 3)
    return lambda progress: araplbs.elastic_poses(
        *mesh, poses, skeleton.heads, skeleton.tails, iterations=3, progress=progress, threads=1,
        **settings
    )  # fmt: skip


def deformation(vertices, bones):
    mesh, skeleton = tube(vertices), chain(bones)
    poses = araplbs.sample_poses(*skeleton, 40)
    rows = band(mesh[0], bones, 8)
    ends = skeleton.heads, skeleton.tails
    return lambda progress: araplbs.deformation(
        *mesh, rows, poses, *ends, progress=progress, threads=1
    )


def mixed(vertices, bones):
    mesh, skeleton = tube(vertices), chain(bones)
    poses = araplbs.sample_poses(*skeleton, 1)
    return lambda progress: araplbs.mixed_elasticity(
        *mesh, poses, skeleton.heads, skeleton.tails, progress=progress, threads=1
    )


def inspection(vertices, bones):
    mesh = tube(vertices)
    rows = band(mesh[0], bones, 4)
    return lambda progress: araplbs.inspect_weights(*mesh, rows, progress=progress, threads=1)


def owners(vertices, bones):
    mesh, skeleton = tube(vertices), chain(bones)
    ends = skeleton.heads, skeleton.tails, skeleton.parents
    return lambda progress: araplbs.skin_owners(*mesh, *ends, progress=progress, threads=1)


def nearest(vertices):
    mesh = tube(vertices)
    points = mesh[0] * 1.1
    return lambda progress: araplbs.nearest_points(*mesh, points, progress=progress, threads=1)


def doubts(vertices, bones):
    mesh = tube(vertices)
    rows, skeleton = band(mesh[0], bones, 4), chain(bones)
    ends = skeleton.heads, skeleton.tails, skeleton.parents
    return lambda progress: araplbs.part_doubts(*mesh, rows, *ends, progress=progress, threads=1)


# Each entry names what is large in it. It is here because such inputs took long without a call.
PROBLEMS = {
    "solver, vertices": lambda: solver(20_000, 12),
    "solver, poses": lambda: solver(10_000, 12, pose_count=800, coarsen=0, expansion_rounds=0),
    "solver, bones": lambda: solver(2_000, 400),
    "solver, unlimited": lambda: solver(6_000, 60, max_influences=0),
    "solver, as published": lambda: solver(
        4_000, 20, neumann=True, attach=True, bone_spring_stiffness=0.0
    ),
    "solver, dual quaternions": lambda: solver(6_000, 30, deformer="dual_quaternions"),
    "rigid parts": lambda: rigid(2_000, 176, 1_544),
    "rigid parts, blended": lambda: rigid(1_000, 176, 800, rigid_influences=4),
    "solver, a chain": lambda: solver(3_000, 1_000),
    "solver, a chain in a cloud": lambda: crowd(1_000, 2_000, initial="boneglow"),
    "solver, bones without parents": lambda: roots(1_000, 1_000),
    "solver, 10,000 poses": lambda: many_poses(60, 500, 10_000),
    "joints": lambda: joints(2_000, 150),
    "joints, a chain": lambda: joints(1_500, 600),
    "heat": lambda: automatic(30_000, 60, "heat"),
    "boneglow": lambda: automatic(6_000, 30, "boneglow"),
    "bbw": lambda: automatic(3_000, 40, "bbw"),
    "biharmonic": lambda: automatic(6_000, 40, "biharmonic"),
    "nearest": lambda: automatic(60_000, 200, "nearest"),
    "centers": lambda: centers(3_000, 30, 12),
    "control bones": lambda: control(2_000, 1_000),
    "bone directions": lambda: directions(20_000, 1_000),
    "transfer": lambda: transfer(30_000, 60),
    "shapes": lambda: shapes_for(30_000, 20),
    "match": lambda: match(60_000),
    "bake": lambda: bake(6_000, 30, 60, max_influences=8, move_bones=True),
    "bake, new bones": lambda: bake(4_000, 10, 30, new_bones=12),
    "elastic": lambda: elastic(20_000, 20),
    "elastic, mixed": lambda: elastic(1_500, 6, method="mixed"),
    "elastic, a look inside": lambda: mixed(1_500, 6),
    "inspection": lambda: inspection(60_000, 60),
    "owners": lambda: owners(30_000, 1_000),
    "nearest points": lambda: nearest(100_000),
    "part doubts": lambda: doubts(100_000, 60),
    "deformation": lambda: deformation(30_000, 60),
}

# For the page alone: too long for a test, which takes some others smaller in what they are not
# large for.
LARGE = {
    "solver, 10,000 vertices, 1,000 bones": lambda: solver(10_000, 1_000, pose_count=80),
    "solver, 100,000 vertices": lambda: solver(100_000, 60),
    "solver, 1,000,000 vertices": lambda: solver(1_000_000, 60, sides=200),
    "solver, 1,000,000 vertices, thick": lambda: solver(1_000_000, 50, sides=1_000),
}
TESTED = {
    **PROBLEMS,
    "solver, a chain": lambda: solver(1_000, 1_000),
    "solver, a chain in a cloud": lambda: crowd(500, 1_000, initial="boneglow"),
    "solver, bones without parents": lambda: roots(500, 500),
    "joints, a chain": lambda: joints(700, 600),
    "centers": lambda: centers(2_000, 30, 12),
}


def measure(name, problems=None):
    """The Gaps of a problem, including the time after its last call."""
    work = (problems or {**PROBLEMS, **LARGE})[name]()
    gaps = Gaps()
    work(gaps)
    gaps("the end")
    return gaps


if __name__ == "__main__":
    for name in sys.argv[1:] or [*PROBLEMS, *LARGE]:
        begin = time.thread_time()
        found = measure(name)
        print(
            f"{name:28} {time.thread_time() - begin:6.1f} s, {found.calls:5} calls, "
            f"longest {found.longest:.3f} s: {found.where}",
            flush=True,
        )
