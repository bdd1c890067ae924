"""Random problems for the functions of the module (fuzzing.py draws those for its solvers): scales
from 1e-300 to 1e150, meshes and poses of all kinds, rows of weights that underflow.

Each function either refuses its problem with a message or returns finite numbers, complete rows,
errors that do not rise, and the same bits with one thread and with three.

`python tests/package/fuzzing_functions.py SECONDS [FIRST_SEED]` and `=SEED`, as for fuzzing.py."""

import sys
import time

import araplbs
import fuzzing
import fuzzing_dense
import fuzzing_mirrored
import numpy as np
import shapes
from fuzzing import LONGEST, MOST_CALLS, Watch, promise

FANS = 10
HUGE = 1e75  # in sizes of the mesh: such numbers are squared twice


def scaled(rng, vertices):
    """Other units, other positions, distant vertices."""
    draw = rng.random()
    if draw < 0.05:
        vertices = vertices * 10.0 ** rng.uniform(-300, 150)
    elif draw < 0.12:
        vertices = vertices * 10.0 ** rng.uniform(-40, 40)
    elif draw < 0.2:
        vertices = vertices * 10.0 ** rng.uniform(-12, 12)
    elif draw < 0.3:
        vertices = vertices + rng.normal(size=3) * 10.0 ** rng.uniform(-2, 8)
    if rng.random() < 0.15:
        stray = rng.normal(size=(int(rng.integers(1, 4)), 3)) * 10.0 ** rng.uniform(0, 150)
        vertices = np.concatenate([vertices, stray])
    return vertices


def make_mesh(rng):
    vertices, triangles, edges, tets = fuzzing.make_mesh(rng)
    # Of a stream of their own: all else that is drawn is the same with and without them.
    own = np.random.default_rng(np.frombuffer(vertices.tobytes(), np.uint32)[-7:])
    if own.random() < 0.15:
        vertices, triangles, edges, _part = fuzzing_mirrored.make_mesh(own)
        tets = None
    vertices = scaled(rng, vertices)
    if rng.random() < 0.1:
        triangles = np.concatenate([triangles, triangles[::-1], triangles[:3, ::-1]])
    if rng.random() < 0.05:
        triangles = triangles[:0]
    return vertices, triangles, edges, tets


def make_weights(rng, n, m):
    """(dense weights, the same as a dense array or as rows)"""
    weights = fuzzing.odd_weights(rng, n, m)
    if rng.random() < 0.1:
        weights = np.round(weights / np.maximum(weights.max(1, keepdims=True), 1e-300))
    if rng.random() < 0.1:
        weights = np.eye(m)[np.full(n, int(rng.integers(m)))]
    return weights, shapes.rows(weights > 0, weights) if rng.random() < 0.5 else weights


def make_poses(rng, bones, count):
    """Sampled poses; scaled, mirrored, flattened, distant and noisy ones."""
    try:
        poses = araplbs.sample_poses(*bones, count, seed=int(rng.integers(99)))
    except ValueError:
        poses = np.tile(np.eye(3, 4), (count, len(bones.parents), 1, 1))
    draw = rng.random()
    if draw < 0.12:
        poses = poses * 10.0 ** rng.uniform(-5, 5)
    elif draw < 0.15:
        poses = poses * 10.0 ** rng.uniform(-300, 155)
    elif draw < 0.25:
        poses[..., :3] *= -1
    elif draw < 0.35:
        poses[:, int(rng.integers(poses.shape[1])), :, :3] = 0
    elif draw < 0.4:
        poses[..., 3] = rng.normal(size=poses.shape[:3]) * 10.0 ** rng.uniform(-3, 9)
    elif draw < 0.45:
        poses = poses + rng.normal(size=poses.shape) * 10.0 ** rng.uniform(-8, 2)
    return poses


def check_rows(rows, n, m, most, sums=True):
    start, bone, weight = rows
    promise(len(start) == n + 1 and start[0] == 0 and start[-1] == len(bone), "starts", start)
    promise(np.isfinite(weight).all() and (weight >= 0).all(), "weights", weight)
    promise(((bone >= 0) & (bone < m)).all(), "bones", bone)
    counts = np.diff(start)
    promise(not most or counts.max(initial=0) <= most, "influences", counts.max(initial=0))
    if sums:
        total = np.bincount(np.repeat(np.arange(n), counts), weight, minlength=n)
        promise((np.abs(total - 1) < 1e-6).all(), "sums", total[np.abs(total - 1) >= 1e-6][:3])


def same(one, other):
    """Whether arrays of any kind are bit-identical."""
    if isinstance(one, dict):
        return all(same(one[key], other[key]) for key in one)
    if isinstance(one, (tuple, list)):
        return all(same(a, b) for a, b in zip(one, other, strict=True))
    if one is None or isinstance(one, str):
        return one == other
    return np.array_equal(one, other, equal_nan=True)


def call(rng, function, *arguments, **options):
    """The result; sometimes stopped by its progress function, sometimes with three threads as well
    as one."""
    watch = Watch(int(rng.integers(1, 20)) if rng.random() < 0.1 else MOST_CALLS)
    result = function(*arguments, threads=1, progress=watch, **options)
    if rng.random() < 0.2:
        promise(same(result, function(*arguments, threads=3, **options)), "threads change bits")
    return result


def transfer(rng):
    vertices, triangles, edges, _ = make_mesh(rng)
    m = int(rng.integers(1, 6))
    _, given = make_weights(rng, len(vertices), m)
    if rng.random() < 0.6:
        size = np.abs(vertices).max(initial=0) * 10.0 ** rng.uniform(-9, 0)
        target, faces = vertices + rng.normal(size=vertices.shape) * size, triangles
        if rng.random() < 0.5:
            faces = faces[rng.random(len(faces)) < 0.8]
        if rng.random() < 0.3:
            target = scaled(rng, target)
        if rng.random() < 0.3:
            target = np.concatenate([target, [[10.0 ** rng.uniform(-3, 150), 0, 0]]])
    else:
        target, faces, edges, _ = make_mesh(rng)
    options = {
        "distance": float(rng.choice([0.05, 0, 1, 1e-9, 0.5])),
        "two_sided": bool(rng.random() < 0.4),
        "near": float(rng.choice([0, 0.01, 1])),
        "angle": float(rng.choice([0.5, 0, 3.14])),
        "target_edges": edges,
    }
    most = int(rng.choice([0, 1, 2, 4]))
    mesh = vertices, triangles
    found = call(
        rng, araplbs.transfer_weights, *mesh, given, target, faces, max_influences=most, **options
    )
    check_rows(found[0], len(target), m, most)
    promise(all(np.isfinite(facts).all() for facts in found[1:]), "distances, angles", found[1:])
    size = np.abs(vertices).max(initial=0) * 10.0 ** rng.uniform(-6, 0.5)
    moves = rng.normal(size=(int(rng.integers(3)), *vertices.shape)) * size
    moves *= rng.random(moves.shape[:2])[..., None] < rng.choice([0, 0.3, 1])
    lifted = call(
        rng, araplbs.transfer_shapes, *mesh, vertices + moves, target, faces,
        keep_above=bool(rng.random() < 0.7), **options,
    )  # fmt: skip
    promise(all(np.isfinite(facts).all() for facts in lifted), "shapes", lifted)
    matches = call(rng, araplbs.match_surfaces, *mesh, target, faces, **options)
    promise(all(np.isfinite(facts).all() for facts in matches), "matches", matches)


def bake(rng):
    vertices, triangles, edges, _ = make_mesh(rng)
    bones = fuzzing.make_bones(rng, vertices)
    n, m, p = len(vertices), len(bones.parents), int(rng.integers(1, 7))
    poses = make_poses(rng, bones, p)
    weights, given = make_weights(rng, n, m)
    posed = araplbs.linear_skinning(vertices, weights, poses)
    if rng.random() < 0.5:
        size = np.abs(vertices).max() * 10.0 ** rng.uniform(-9, 1)
        posed = posed + rng.normal(size=posed.shape) * size
    if rng.random() < 0.1:
        posed = np.tile(vertices, (p, 1, 1)) * float(rng.integers(2))
    options = {
        "max_influences": int(rng.choice([0, 1, 2, 4])),
        "iterations": int(rng.choice([0, 1, 3])),
        "smoothness": float(rng.choice([0, 0, 1e-4, 1])),
        "damping": float(rng.choice([1e-8, 0, 1])),
        "move_bones": bool(rng.random() < 0.3),
        "rigid": bool(rng.random() < 0.5),
    }
    if rng.random() < 0.5:
        options |= {"triangles": triangles, "edges": edges}
    transforms = poses if rng.random() < 0.85 else None
    if transforms is not None:
        drawn = {
            "weights": (0.6, lambda: given),
            "candidates": (0.3, lambda: rng.random((n, m)) < 0.7),
            "locked_vertices": (0.3, lambda: rng.random(n) < 0.4),
            "locked_bones": (0.3, lambda: rng.random(m) < 0.3),
        }
        options |= {key: draw() for key, (share, draw) in drawn.items() if rng.random() < share}
    if rng.random() < 0.4:
        options["new_bones"] = int(rng.integers(1, 5))
        options["iterations"] = max(1, options["iterations"])
    result = call(rng, araplbs.bake, vertices, posed, transforms, **options)
    free = options["iterations"] and not {"locked_vertices", "locked_bones"} & options.keys()
    count = options.get("new_bones", 0) + (m if transforms is not None else 0)
    most = (options["max_influences"] or 32) if free else 0
    check_rows(result["weights"], n, count, most, sums=free)
    if options["iterations"] and not free:
        before = np.pad(weights, [(0, 0), (0, count - m)])
        after = shapes.dense(result["weights"], count)
        locked = np.zeros((n, count), bool)
        locked[:, :m] = options.get("locked_bones", False)
        sums = np.maximum((before * locked).sum(1), 1)
        locked |= options.get("locked_vertices", np.zeros(n, bool))[:, None]
        promise((before == after)[locked].all(), "locked weights changed")
        off = np.abs(after.sum(1) - sums)[~locked.all(1)]
        promise(off.max(initial=0) < 1e-9, "sums beside locked weights", off)
    for key in ("transforms", "centers", "vertex_error", "history", "rms", "max", "size"):
        promise(np.isfinite(result[key]).all(), key, "not finite")
    # What never rises is the error and the pull to the given weights; so the error rises at most by
    # what that falls.
    most, history = max(np.abs(vertices).max(), np.abs(posed).max()), result["history"]
    pull = 2 * options["damping"] * ("weights" in options)
    bound = np.hypot(history[:-1], np.sqrt(pull) * result["size"]) * (1 + 1e-6) + 1e-6 * most
    bound += 1e-10 * history[:1].sum()  # transforms may be far larger than mesh and frames
    falls = (history[1:] <= bound).all()
    promise(falls or options["smoothness"] > 0, "the error rose", history)
    promise(not len(history) or history[-1] == result["rms"], "the last error", history)
    if free and "candidates" in options:
        start, bone, weight = result["weights"]
        of = np.repeat(np.arange(n), np.diff(start))
        old = (bone < m) & (weight > 0)
        promise(options["candidates"][of[old], bone[old]].all(), "a bone that is no candidate")


def elastic(rng):
    vertices, triangles, edges, tets = make_mesh(rng)
    bones = fuzzing.make_bones(rng, vertices)
    n, m, p = len(vertices), len(bones.parents), int(rng.integers(1, 4))
    options = {
        "iterations": int(rng.integers(1, 6)),
        "method": str(rng.choice(["free", "free", "mixed"])),
        "hold": float(rng.choice([0.01, 1e-4, 1e3])),
        "limb_hold": float(rng.choice([10, 0])),
        "inside": float(rng.choice([0.1, 0, 10])),
        "bending": float(rng.choice([0.3, 0])),
        "samples": int(rng.choice([30, 1, 3])),
        "weights": make_weights(rng, n, m)[1] if rng.random() < 0.5 else None,
        "bone_deform": bones.deform if rng.random() < 0.3 else None,
    }
    given = vertices, triangles, make_poses(rng, bones, p), bones.heads, bones.tails
    more = {"edges": edges, "tets": tets, "per_iteration": True}
    posed, energies = call(rng, araplbs.elastic_poses, *given, **options, **more)
    promise(np.isfinite(posed).all() and np.isfinite(energies).all(), "points or energies")


def mixed(rng):
    vertices, triangles, edges, tets = make_mesh(rng)
    bones = fuzzing.make_bones(rng, vertices)
    given = vertices, triangles, make_poses(rng, bones, 1), bones.heads, bones.tails
    options = {"edges": edges, "tets": tets, "samples": int(rng.choice([30, 1, 3]))}
    for _ in range(2):
        found = call(rng, araplbs.mixed_elasticity, *given, **options)
        for key, numbers in found.items():
            promise(np.isfinite(numbers).all(), key, "not finite")
        turns = rng.normal(size=(len(found["samples"]), 3))
        options["turns"] = turns * 10.0 ** rng.uniform(-9, 3)


def automatic(rng):
    vertices, triangles, edges, tets = make_mesh(rng)
    bones = fuzzing.make_bones(rng, vertices)
    options = {
        "edges": edges,
        "tets": tets,
        "bone_deform": bones.deform,
        "method": str(rng.choice(["heat", "nearest", "boneglow", "bbw", "biharmonic"])),
        "max_influences": int(rng.choice([0, 1, 2, 4])),
        "link_parts": bool(rng.random() < 0.7),
        "min_weight": float(rng.choice([0, 1e-3, 0.25])),
    }
    if options["method"] in ("bbw", "biharmonic") and rng.random() < 0.4:
        handles = np.full(len(vertices), -1)
        able = np.flatnonzero(np.ones(len(bones.parents)) if bones.deform is None else bones.deform)
        few = rng.integers(len(vertices), size=rng.integers(1, 9))
        handles[few] = rng.choice(able, len(few)) if len(able) else -1
        options["handles"] = handles
    rows = call(rng, araplbs.baseline_weights, vertices, triangles, *bones, **options)
    check_rows(rows, len(vertices), len(bones.parents), options["max_influences"])
    promise(bones.deform is None or np.asarray(bones.deform)[rows[1]].all(), "bones", rows[1])


def reaching(rng):
    vertices, *_ = make_mesh(rng)
    bones = fuzzing.make_bones(rng, vertices)
    m = len(bones.parents)
    limits = np.sort(rng.uniform(-3, 3, (m, 3, 2)), -1)
    limits[rng.random((m, 3)) < 0.3] = np.nan
    targets = vertices[rng.integers(0, len(vertices), 4)]
    if rng.random() < 0.3:
        targets = rng.normal(size=(4, 3)) * 10.0 ** rng.uniform(-150, 150)
    axes = rng.normal(size=(m, 3))
    axes[0] = [axes[0], np.zeros(3), bones.tails[0] - bones.heads[0]][int(rng.integers(3))]
    options = {
        "bone_limits": limits if rng.random() < 0.5 else None,
        "bone_roll_axes": axes if rng.random() < 0.3 else None,
    }
    rotations, errors, _ = araplbs.inverse_kinematics(
        *bones,
        int(rng.integers(m)),
        targets,
        chain_count=int(rng.integers(0, 4)),
        method=str(rng.choice(["fabrik", "ccd", "jacobian"])),
        iterations=int(rng.choice([1, 20])),
        swing=float(rng.uniform(0, 3.1)),
        twist=float(rng.uniform(0, 3.1)),
        **options,
    )
    promise(np.isfinite(errors).all(), "errors", errors)
    squares = np.einsum("kmij,kmlj->kmil", rotations, rotations)
    promise(np.allclose(squares, np.eye(3), atol=1e-6), "no rotations")
    araplbs.reach_chains(*bones, bone_deform=bones.deform)
    share = float(rng.choice([0, 0.5, 1]))
    poses = araplbs.sample_poses(*bones, 6, reach_poses=share, **options)
    promise(np.isfinite(poses).all(), "sampled poses")


def centers(rng):
    vertices, triangles, *_ = make_mesh(rng)
    bones = fuzzing.make_bones(rng, vertices)
    m = min(len(bones.parents), 12)
    _, given = make_weights(rng, len(vertices), m)
    sigma = float(rng.choice([0.1, 1e-6, 1e3]))
    found = call(rng, araplbs.rotation_centers, vertices, triangles, given, sigma=sigma)
    promise(not np.isinf(found).any(), "centers", found)  # NaN: the vertex has none
    poses = np.clip(make_poses(rng, bones, 2)[:, :m], -HUGE, HUGE)
    posed = araplbs.center_of_rotation_skinning(vertices, given, poses, found)
    promise(np.isfinite(posed).all() or np.abs(vertices).max() > HUGE, "posed", posed)


def inspection(rng):
    vertices, triangles, edges, _ = make_mesh(rng)
    n = len(vertices)
    _, given = make_weights(rng, n, int(rng.integers(1, 12)))
    links = rng.integers(0, n, (3, 2)) if rng.random() < 0.5 else None
    inspect = araplbs.inspect_weights
    contrast, *others = call(rng, inspect, vertices, triangles, given, edges=edges, links=links)
    promise(((contrast >= -1e-9) & (contrast <= 1 + 1e-6)).all(), "contrast", contrast)
    promise(not any(np.isnan(numbers).any() for numbers in others), "roughness, distances")


def part_doubts(rng):
    vertices, triangles, edges, _ = make_mesh(rng)
    bones = fuzzing.make_bones(rng, vertices)
    m = len(bones.parents)
    _, given = make_weights(rng, len(vertices), m)
    options = {"edges": edges, "bone_deform": bones.deform}
    parts, owners, others, doubts = call(
        rng, araplbs.part_doubts, vertices, triangles, given, *bones, **options
    )
    promise(((parts >= 0) & (parts < len(owners))).all(), "parts", parts)
    promise(((others < 0) | (owners[:, None] >= 0)).all() and (others < m).all(), "others", others)
    promise(np.isfinite(doubts).all() and (doubts >= 0).all(), "doubts", doubts)


def nearest(rng):
    vertices, triangles, edges, tets = make_mesh(rng)
    n = len(vertices)
    points = vertices[rng.integers(0, n, 9)]
    points = points + rng.normal(size=(9, 3)) * 10.0 ** rng.uniform(-9, 150)
    options = {
        "owners": rng.integers(-1, n, 9) if rng.random() < 0.5 else None,
        "radius": 10.0 ** rng.uniform(-9, 9, 9) if rng.random() < 0.5 else None,
    }
    found = call(rng, araplbs.nearest_points, vertices, triangles, points, edges=edges, **options)
    corners, shares, heights, _ = found
    promise(not np.isnan(shares).any() and not np.isnan(heights).any(), "shares, heights")
    promise(((corners >= 0) == np.isfinite(heights)[:, None]).all(), "no corner and a height")
    if tets is None:
        return
    points = rng.normal(size=(9, 3)) * 10.0 ** rng.uniform(-150, 150)
    inside, shares, _ = araplbs.embed(vertices, tets, points)
    promise(((inside >= 0) & (inside < len(tets))).all(), "tets", inside)
    promise(np.isfinite(shares).all() and np.abs(shares.sum(1) - 1).max() < 1e-6, "shares", shares)


def directions(rng):
    vertices, triangles, edges, tets = make_mesh(rng)
    bones = fuzzing.make_bones(rng, vertices)
    m = len(bones.parents)
    heads, tails, parents = bones
    options = {"edges": edges, "tets": tets, "bone_deform": bones.deform}
    tails = None if rng.random() < 0.5 else tails
    ends, ways, found = call(
        rng, araplbs.bone_directions, vertices, triangles, heads, tails, parents, **options
    )
    promise(np.isfinite(ends).all() and ends.shape == (m, 3), "tails", ends)
    promise((ways is not None) == (found == "joints"), "ways of", found)
    if ways is not None:
        promise(not (ways & (np.asarray(parents) < 0)).any(), "a way to a root", ways)


def control(rng):
    vertices, triangles, edges, tets = make_mesh(rng)
    bones = fuzzing.make_bones(rng, vertices)
    m = len(bones.parents)
    options = {"edges": edges, "tets": tets, "bone_deform": bones.deform}
    evidence = rng.integers(-3, 4, m) * 10.0 ** rng.uniform(-150, 150)
    reasons = call(
        rng, araplbs.control_bones, vertices, triangles, *bones, bone_evidence=evidence, **options
    )
    deform = np.ones(m, bool) if bones.deform is None else np.asarray(bones.deform)
    promise((deform & (np.asarray(reasons) == 0)).any(), "no deforming bone is left", reasons)


def deformation(rng):
    vertices, triangles, *_ = make_mesh(rng)
    bones = fuzzing.make_bones(rng, vertices)
    n, m = len(vertices), len(bones.parents)
    _, given = make_weights(rng, n, m)
    poses = make_poses(rng, bones, 3)
    measured = araplbs.Deformation(
        vertices, triangles, bones.heads, bones.tails, bone_deform=bones.deform
    )
    measured.skin(given, poses)
    measured.add(np.tile(vertices, (2, 1, 1)), poses[:2])
    one = measured.measures(per_triangle=True, per_vertex=True)
    promise(same(one, measured.measures(per_triangle=True, per_vertex=True)), "measured twice")
    measured.clear()
    araplbs.dual_quaternion_skinning(vertices, given, np.clip(poses, -HUGE, HUGE))
    kinds = [str(rng.choice(["rigid", "spine", "stb", "bendy"])) for _ in range(m)]
    places = araplbs.diffuse_parameters(vertices, triangles, *bones, bone_kinds=kinds)
    known = places[~np.isnan(places)]
    promise(((known >= 0) & (known <= 1)).all(), "places along bones", known)


def fans(rng):
    """Weights and transfers of small meshes that form dense systems and hardly match."""
    vertices, triangles = fuzzing_dense.make_mesh(rng)
    bones = fuzzing_dense.make_bones(rng, len(vertices))
    n, m = len(vertices), len(bones.heads)
    if rng.random() < 0.5:
        method = str(rng.choice(["bbw", "biharmonic", "heat", "boneglow"]))
        most = int(rng.choice([0, 1, 4]))
        options = {"method": method, "max_influences": most}
        rows = call(rng, araplbs.baseline_weights, vertices, triangles, *bones, **options)
        check_rows(rows, n, m, most)
        return
    source, faces = shapes.sphere(*map(int, rng.integers(4, 16, 2)), radius=rng.uniform(0.1, 2))
    touching = min(n, int(rng.choice([3, 3, rng.integers(1, n + 1)])))
    corners = np.arange(touching - touching % 3).reshape(-1, 3) + len(source)
    source = np.concatenate([source, vertices[:touching]])
    faces = np.concatenate([faces, corners])
    near = {"distance": 10.0 ** rng.uniform(-9, 0), "near": float(rng.choice([0, 1e-6, 0.1]))}
    most = int(rng.choice([0, 2, 4]))
    given = shapes.random_weights(rng, len(source), m, 0.5)
    mesh = source, faces
    target = vertices, triangles
    found = call(rng, araplbs.transfer_weights, *mesh, given, *target, max_influences=most, **near)
    check_rows(found[0], n, m, most)
    moves = source + rng.normal(size=(2, *source.shape)) * 0.1
    lifted = call(rng, araplbs.transfer_shapes, *mesh, moves, *target, **near)
    promise(all(np.isfinite(facts).all() for facts in lifted), "shapes", lifted)


DRAWN = {
    transfer: 4,
    bake: 4,
    elastic: 3,
    mixed: 1,
    automatic: 2,
    reaching: 2,
    centers: 1,
    inspection: 1,
    part_doubts: 1,
    nearest: 1,
    control: 1,
    directions: 1,
    deformation: 1,
}


def run(seed):
    """The outcome of the problem, "function: result"; raises Broken if a guarantee is broken. Every
    FANS-th problem is one of fans."""
    rng = np.random.default_rng([seed, 77])
    functions = list(DRAWN)
    share = np.array(list(DRAWN.values())) / sum(DRAWN.values())
    function = functions[int(rng.choice(len(functions), p=share))] if seed % FANS else fans
    begin = time.process_time()
    try:
        with np.errstate(all="ignore"):
            function(rng)
        result = "done"
    except araplbs.Cancelled:
        result = "cancelled"
    except ValueError as error:
        result = f"refused: {error}"
    except araplbs.SolverError as error:
        raise fuzzing.Broken(f"{function.__name__}: no solution: {error}") from error
    except fuzzing.Broken as error:
        raise fuzzing.Broken(f"{function.__name__}: {error}") from error
    promise(time.process_time() - begin < LONGEST, "it took", time.process_time() - begin, "s")
    return f"{function.__name__} {result}"


if __name__ == "__main__":
    sys.exit(fuzzing.main(*sys.argv[1:], run=run))
