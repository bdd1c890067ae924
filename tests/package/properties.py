"""Defines cases for test_properties.py: every function and type of the module, in all variants that
differ internally, on small problems. A case consists of a function and its problem, whose arrays
need no conversion. They are contiguous and have exactly the type that is read."""

import ast
import functools
from pathlib import Path

import araplbs
import numpy as np
import shapes

ROOT = Path(__file__).parents[2]


def whole(array, kind=float):
    return np.array(array, kind, order="C")


class Body:
    """A tube of several chunks on a chain of bones, or a bar of tets."""

    def __init__(self, around, along, bones=3, cells=(2, 2, 6)):
        self.vertices, self.triangles = shapes.tube(around, along)
        self.triangles = whole(self.triangles, np.int32)
        self.chain = shapes.chain(bones)
        self.n, self.m = len(self.vertices), bones
        self.solid = shapes.bar(cells)
        self.rng = np.random.default_rng(7)
        turn = shapes.rotation((1, 0, 0), 0.1)
        self.limits = np.tile([-1.0, 1.0], (bones, 3, 1))
        self.swollen = self.vertices @ turn.T * [1.3, 1.3, 1]

    def mesh(self):
        return {"vertices": self.vertices.copy(), "triangles": self.triangles.copy()}

    def tets(self):
        return {"vertices": whole(self.solid[0]), "tets": whole(self.solid[1], np.int32)}

    def ends(self):
        return {"bone_heads": whole(self.chain.heads), "bone_tails": whole(self.chain.tails)}

    def bones(self):
        return {**self.ends(), "bone_parents": whole(self.chain.parents, np.int32)}

    def skeleton(self):
        return {
            **self.bones(),
            "bone_roll_axes": whole(self.chain.roll_axes),
            "bone_deform": np.ones(self.m, bool),
            "bone_limits": self.limits.copy(),
        }

    def poses(self, count=2):
        return whole(araplbs.sample_poses(*self.chain, count, **self.chain.more))

    def posed(self, count=2):
        skin = araplbs.linear_skinning(self.vertices, self.dense(), self.poses(count))
        return skin + self.rng.normal(0, 0.01, skin.shape)

    def dense(self, n=None):
        return shapes.random_weights(self.rng, n or self.n, self.m)

    def rows(self):
        weights = shapes.random_weights(self.rng, self.n, self.m, 0.3)
        start, bone, values = shapes.rows(weights > 0, weights)
        return whole(start, np.int64), whole(bone, np.int32), values

    def partners(self):
        return np.arange(self.m, dtype=np.int32), np.zeros(3), np.array([1.0, 0, 0])

    def edges(self):
        return np.array([[0, 7]], np.int32)

    def target(self):
        half = self.vertices * [1.05, 1.05, 1] + [0.5, 0, 0] * (self.vertices[:, 2:] > 1)
        return {"target_vertices": half, "target_triangles": self.triangles.copy()}


# Problems of a body.


def surface(b):
    return {
        **b.mesh(),
        **b.skeleton(),
        "edges": b.edges(),
        "bone_ranges": np.full((b.m, 4, 2), np.nan),
        "bone_stretch": np.ones(b.m, bool),
        "poses": b.poses(),
        "pose_weights": np.array([2.0, 0.5]),
        "weights": b.rows(),
        "start_from_weights": True,
        "locked_vertices": np.arange(b.n) % 7 == 0,
        "locked_bones": np.array([[0, 0, 0], [0, 1, 0]], bool),
        "vertex_sets": whole(np.arange(b.n) % 2, np.int32),
        **edits(b),
        "symmetry": b.partners(),
        **QUICK,
    }


def edits(_body):
    return {
        "constraints": (np.array([3, 8], np.int32), np.array([0, 2], np.int32), np.array([0.5, 1])),
        "influences": (np.array([5], np.int32), np.array([2], np.int32), np.ones(1, bool)),
        "smoothed": (np.array([6, 7], np.int32), np.array([0.5, 1])),
        "released": (np.array([4], np.int32), np.array([0], np.int32)),
    }


QUICK = {"pose_count": 6, "iterations": 3}
BENT = ["rigid", "bendy", "rigid"]


def bends_of(b, bone):
    bends = np.zeros((2, b.m, 4))
    bends[..., 3] = 1
    bends[:, bone, 0] = 0.4
    return bends


def bendy(b):
    return {
        **b.mesh(),
        **b.skeleton(),
        "bone_kinds": BENT,
        "bone_segments": np.array([0, 4, 0], np.int32),
        "poses": b.poses(),
        "bends": bends_of(b, 1),
        "parameters": np.full((b.n, b.m), np.nan),
        "weights": b.dense(),
        **QUICK,
    }


def segments(b):
    problem = {**bendy(b), "segment_poses": np.tile(np.eye(3, 4), (2, 5, 1, 1))}
    del problem["bends"]
    return problem


def spines(b):
    kinds = ["rigid", "stb", "spine"]
    return {**b.mesh(), **b.skeleton(), "bone_kinds": kinds, **QUICK}


def plain(**settings):
    return lambda b: {**b.mesh(), **b.bones(), **QUICK, **settings}


def mirrored(b):
    return {**plain()(b), "symmetry": b.partners()}


def stretched(b):
    scale = b.rng.uniform(0.7, 1.4, (5, b.m, 1, 1)) * np.eye(3, 4)
    return {**plain()(b), "poses": scale, "bone_stretch": np.ones(b.m, bool)}


def parts(b):
    z = b.vertices[:, 2]
    return {**plain()(b), "rigid_parts": whole(np.where((z > 0.5) & (z < 1), 0, -1), np.int32)}


def apart(b):
    """Each bone is a skeleton of its own."""
    return {**plain(pose_count=21)(b), "bone_parents": np.full(b.m, -1, np.int32)}


def solid(b):
    return {**b.tets(), "triangles": None, **b.skeleton(), "coarsen": 100, **QUICK}


def joints(b):
    return {
        **b.mesh(),
        **b.skeleton(),
        "edges": b.edges(),
        "poses": b.poses(),
        "weights": b.rows(),
        "pinned": np.zeros((b.m, 2), bool),
        "joint_stiffness": np.full((b.m, 2), 0.1),
        "tangential": np.full((b.m, 2), 0.1),
        "symmetry": b.partners(),
        "pose_count": 6,
        "iterations": 2,
    }


def joints_together(b):
    return {**joints(b), "method": "together"}


def joints_of_spines(method):
    few = {"pose_count": 2, "iterations": 1, "method": method}
    return lambda b: {**spines(b), **few, "weights": b.dense()}


def skinned(b):
    return {**b.mesh(), "weights": b.dense(), "poses": b.poses(40)}


def skinned_bendy(b):
    return {**skinned(b), **of_bends(b), "poses": b.poses()}


def of_bends(b):
    kinds = {"bone_kinds": BENT, "bone_segments": np.array([0, 4, 0], np.int32)}
    return {**b.ends(), **kinds, "bends": bends_of(b, 1), "parameters": np.full((b.n, b.m), 0.5)}


def without(name, problem):
    return lambda b: {key: value for key, value in problem(b).items() if key != name}


def blended(b):
    axes = np.tile(np.eye(3), (b.m, 1, 1))
    return {
        "vertices": b.vertices.copy(), "weights": b.rows(), "poses": b.poses(40), "bone_axes": axes
    }  # fmt: skip


def deforming(b):
    return {**skinned(b), **b.ends(), "bone_deform": np.ones(b.m, bool), "weights": b.rows()}


def frames(b):
    return {
        "vertices": b.vertices.copy(), "frames": b.posed(12), "transforms": b.poses(12),
        "triangles": b.triangles.copy(), "weights": b.rows(),
        "locked_vertices": np.arange(b.n) % 7 == 0, "locked_bones": np.arange(b.m) == 1,
        "candidates": np.ones((b.n, b.m), bool), "new_bones": 2, "smoothness": 1e-4,
        "iterations": 2,
    }  # fmt: skip


def elastic(b):
    body = {**b.mesh(), "poses": b.poses(3), **b.ends(), "weights": b.rows()}
    return {**body, "bone_deform": np.ones(b.m, bool), "edges": b.edges(), "iterations": 3}


def elements(b):
    return {**b.mesh(), "poses": b.poses(3), **b.ends(), "samples": 3}


def automatic(method):
    return lambda b: {**b.mesh(), **b.bones(), "edges": b.edges(), "method": method}


def controls(b):
    return {**b.mesh(), **b.bones(), "bone_evidence": np.zeros(b.m), "edges": b.edges()}


def joints_alone(b):
    return {**b.mesh(), **b.bones(), "bone_tails": None, "edges": b.edges()}


def sampled(b):
    ranges = np.full((b.m, 4, 2), np.nan)
    more = {"bone_ranges": ranges, "symmetry": b.partners(), "reach_poses": 0.5}
    return {**b.skeleton(), "count": 6, **more}


def reaching(b):
    skeleton = without("bone_deform", Body.skeleton)(b)
    return {**skeleton, "effector": b.m - 1, "targets": np.array([[0.3, 0.2, 1.0]])}


def points(b):
    more = {"owners": np.full(400, -1, np.int32), "radius": np.full(400, 2.0)}
    return {**b.mesh(), "points": b.rng.uniform(-1, 1, (400, 3)), **more, "edges": b.edges()}


def inspected(b):
    return {**b.mesh(), "weights": b.dense(), "edges": b.edges(), "links": b.edges() + 3}


def matched(b):
    return {**b.mesh(), **b.target(), "target_edges": b.edges()}


# How they are run: (what is run, its problem).


def made(kind, *results):
    """All results of a type after it is done."""

    def run(problem, **how):
        one = kind(**problem, **how)
        one.solve()
        found = [getattr(one, name) for name in results]
        return flat([*found, one._inside["transform"]] if kind is araplbs.Solver else found)

    return run


def of(function):
    return lambda problem, **how: flat(function(**problem, **how))


def positional(function):
    return lambda problem, **how: flat(function(*problem.values(), **how))


def edited(problem, progress=None, **how):
    """Progress from the edits on, whose arrays are tested."""
    begun = []

    def later(*call):
        return progress(*call) if begun and progress else None

    solver = araplbs.Solver(**plain()(edited.body), progress=later, **how)
    solver.iterate(2)
    begun.append(True)
    solver.edit(**problem)
    solver.solve()
    return flat(solver.sparse_weights)


def measured(problem, progress=None, **how):
    """The measures of points, then of poses."""
    problem = dict(problem)
    skin = {name: problem.pop(name) for name in ("weights", "poses", "bends", "parameters")}
    posed, poses, bends = problem.pop("posed"), skin["poses"], skin["bends"]
    seen = araplbs.Deformation(**problem, **how)
    seen.add(posed, poses, bends=bends)
    seen.skin(**skin, progress=progress)
    return flat(seen.measures(per_triangle=True, per_vertex=True))


def flat(result):
    """All arrays and numbers of a result, except seconds."""
    if isinstance(result, dict):
        return [
            x for key, value in result.items() if not key.endswith("seconds") for x in flat(value)
        ]
    if isinstance(result, (tuple, list)):
        return [x for value in result for x in flat(value)]
    return [] if result is None else [np.asarray(result)]


solver = made(araplbs.Solver, "sparse_weights", "energies", "energy", "report")
joint_solver = made(araplbs.JointSolver, "heads", "tails", "poses", "bends", "weights", "energies")
VOLUME = {"deformer": "dual_quaternions"}

CASES = {
    "Solver": (solver, surface),
    "Solver, bendy bones": (solver, bendy),
    "Solver, joints of bendy bones": (solver, segments),
    "Solver, spines": (solver, spines),
    "Solver, tets": (solver, solid),
    "Solver, dual quaternions": (solver, plain(**VOLUME)),
    "Solver, as published": (solver, plain(attach=True, neumann=True, positivity="penalty")),
    "Solver, harmonic": (solver, plain(harmonic=0.1)),
    "Solver, clusters": (solver, plain(rotation_clusters=0.1)),
    "Solver, levels": (solver, plain(coarsen=100)),
    "Solver, unlimited": (solver, plain(max_influences=0, precision="double")),
    "Solver, poses that reach": (solver, plain(reach_poses=0.5)),
    "Solver, mirrored": (solver, mirrored),
    "Solver, stretch": (solver, stretched),
    "Solver, rigid parts": (solver, parts),
    "Solver, components": (solver, apart),
    "Solver, tets, bounded biharmonic": (solver, lambda b: {**solid(b), "initial": "bbw"}),
    "Solver.edit": (edited, edits),
    "JointSolver": (joint_solver, joints),
    "JointSolver, together": (joint_solver, joints_together),
    "JointSolver, spines": (joint_solver, joints_of_spines("alternate")),
    "JointSolver, spines together": (joint_solver, joints_of_spines("together")),
    "optimize_joints": (of(araplbs.optimize_joints), joints),
    "energy": (of(araplbs.energy), skinned),
    "energy, bendy bones": (of(araplbs.energy), skinned_bendy),
    "posed_energy": (
        of(araplbs.posed_energy), lambda b: {**b.mesh(), "posed": b.posed(), "edges": b.edges()}
    ),
    "surface_strain": (of(araplbs.surface_strain), lambda b: {**b.mesh(), "posed": b.posed()}),
    "deformation": (of(araplbs.deformation), deforming),
    "Deformation": (measured, lambda b: {**skinned_bendy(b), "posed": b.posed()}),
    "linear_skinning": (of(araplbs.linear_skinning), without("triangles", skinned)),
    "linear_skinning, bendy bones": (
        of(araplbs.linear_skinning), without("triangles", skinned_bendy)
    ),
    "dual_quaternion_skinning": (of(araplbs.dual_quaternion_skinning), blended),
    "center_of_rotation_skinning": (
        of(araplbs.center_of_rotation_skinning),
        lambda b: {**blended(b), "centers": b.vertices.copy()},
    ),
    "rotation_centers": (
        of(araplbs.rotation_centers), lambda b: {**b.mesh(), "weights": b.rows()}
    ),
    "bake": (of(araplbs.bake), frames),
    "elastic_poses": (of(araplbs.elastic_poses), elastic),
    "elastic_poses, mixed": (
        of(araplbs.elastic_poses), lambda b: {**elements(b), "method": "mixed", "iterations": 2}
    ),
    "mixed_elasticity": (
        of(araplbs.mixed_elasticity), lambda b: {**elements(b), "turns": np.zeros((3, 3))}
    ),
    "baseline_weights, heat": (of(araplbs.baseline_weights), automatic("heat")),
    "baseline_weights, nearest": (of(araplbs.baseline_weights), automatic("nearest")),
    "baseline_weights, boneglow": (of(araplbs.baseline_weights), automatic("boneglow")),
    "baseline_weights, bbw": (of(araplbs.baseline_weights), automatic("bbw")),
    "baseline_weights, biharmonic": (of(araplbs.baseline_weights), automatic("biharmonic")),
    "skin_owners": (of(araplbs.skin_owners), joints_alone),
    "diffuse_parameters": (
        of(araplbs.diffuse_parameters), lambda b: {**b.mesh(), **b.bones(), "edges": b.edges()}
    ),
    "control_bones": (of(araplbs.control_bones), controls),
    "control_bones, joints": (of(araplbs.control_bones), joints_alone),
    "bone_directions": (of(araplbs.bone_directions), joints_alone),
    "sample_poses": (of(araplbs.sample_poses), sampled),
    "forward_kinematics": (
        positional(araplbs.forward_kinematics),
        lambda b: {**b.bones(), "rotations": whole(b.poses(4)[..., :3])},
    ),
    "inverse_kinematics": (of(araplbs.inverse_kinematics), reaching),
    "reach_chains": (of(araplbs.reach_chains), Body.bones),
    "nearest_rotations": (
        positional(araplbs.nearest_rotations),
        lambda b: {"matrices": b.rng.normal(size=(9, 3, 3))},
    ),
    "embed": (
        of(araplbs.embed), lambda b: {**b.tets(), "points": b.rng.uniform(-1, 1, (400, 3))}
    ),
    "nearest_points": (of(araplbs.nearest_points), points),
    "mesh_extent": (of(araplbs.mesh_extent), lambda b: {**b.mesh(), "edges": b.edges()}),
    "inspect_weights": (of(araplbs.inspect_weights), inspected),
    "part_doubts": (
        of(araplbs.part_doubts),
        lambda b: {**b.mesh(), "weights": b.rows(), **b.bones(), "edges": b.edges()},
    ),
    "match_surfaces": (of(araplbs.match_surfaces), matched),
    "transfer_weights": (
        of(araplbs.transfer_weights), lambda b: {**matched(b), "weights": b.rows()}
    ),
    "transfer_shapes": (
        of(araplbs.transfer_shapes),
        lambda b: {**matched(b), "shapes": np.stack([b.swollen, b.vertices])},
    ),
    "prune": (
        of(araplbs.prune),
        lambda b: {
            **b.mesh(), "weights": b.dense(), "min_influences": 1, "prune_sum": 0.9,
            "prune_ratio": 0.1
        },
    ),
}  # fmt: skip


def problem_of(name, body):
    """A new problem each time, with the same numbers."""
    body.rng = np.random.default_rng(7)
    edited.body = body
    return CASES[name][1](body)


def run(name, problem, **how):
    return CASES[name][0](problem, **how)


def arrays_of(problem):
    """{name: array} of every array in the arguments."""
    found = {}
    for name, value in problem.items():
        parts = value if isinstance(value, tuple) else (value,)
        for k, part in enumerate(parts):
            if isinstance(part, np.ndarray):
                found[f"{name}[{k}]" if len(parts) > 1 else name] = part
    return found


@functools.cache
def declared():
    """{function or type: {argument: its annotation}}, according to the stubs; for a type, those of
    all its methods."""
    tree = ast.parse((ROOT / "araplbs/_engine.pyi").read_text(encoding="utf-8"))
    return {
        part.name: {
            each.arg: ast.unparse(each.annotation)
            for each in ast.walk(part) if isinstance(each, ast.arg) and each.annotation
        }
        for part in tree.body
        if isinstance(part, (ast.FunctionDef, ast.ClassDef)) and not part.name.startswith("_")
    }  # fmt: skip


def arguments_of(name):
    """optimize_joints accepts the same as JointSolver."""
    kind = name.split(",")[0].split(".")[0]
    return declared()[{"optimize_joints": "JointSolver"}.get(kind, kind)]


def takes(name, how):
    return how in arguments_of(name)


def needed(name):
    """The arrays that must be given. Joints may be None as well, for the default."""
    kinds = arguments_of(name).items()
    found = {key for key, kind in kinds if "ArrayLike" in kind and "None" not in kind}
    return found - {"joint_stiffness", "tangential"}
