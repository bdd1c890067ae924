"""Compares our inverse kinematics with Blender's, and measures the effect of poses in which limbs
reach for targets.

reach.py ZIP OUTPUT_FOLDER [CHARACTER...]     (called by bench.py)"""

import sys
import time
from pathlib import Path

import araplbs
import looks
import numpy as np
import plots
import rigged
import shaded
from core_modules import add_on
from in_blender import BUILD, run_in_blender
from results import say, table, write_page
from yardstick import Yardstick, skin

METHODS = {"fabrik": "FABRIK", "ccd": "CCD", "jacobian": "damped Jacobian"}
CHAINS = {  # character: a bone of the chain
    "cesium_man": "Node_17", "m2m_horse": "back_leg_ankle_l", "q_trex": "Tail3",
    "webxr_hand": "index-finger-phalanx-intermediate", "mage": "lowerarm.l",
}  # fmt: skip
TARGETS, SEED = 100, 3
SWING, TWIST, HINGE = np.radians([60, 10, 120])
TOLERANCE = 1e-3  # of the chain's length
ITERATIONS = 500  # Blender's default
REPEATS = 5
LIMIT = 600  # seconds for Blender
SEEDS = (0, 1)
PLAIN, WIDE = "0", "0, swing 69°"
WAYS = {  # settings of the sampled poses
    PLAIN: {}, WIDE: {"swing": np.radians(69)},
    **{str(share): {"reach_poses": share} for share in (0.25, 0.5, 0.75, 1.0)},
}  # fmt: skip
LARGEST = 14_000  # vertices of the characters that are weighted
SHOWN = {"cesium_man": (-70, 5), "m2m_horse": (-25, 10)}  # azimuth and elevation of the viewer
PICTURED = 5  # poses
NOTE = f"""\
Each chain has {TARGETS} targets, and a pose within the limits can reach each target. Each
solve starts in the rest pose.

- *free*: joints rotate without limits.
- *limited*: each joint rotates by at most 60 degrees about X and Z, and by at most 10 degrees
  about its own axis.
- *hinged*: all joints except the first rotate only about X, from 0 to 120 degrees.
- *reached*: share of the targets within {TOLERANCE:g} of the chain's length (the tolerance of
  our methods; Blender uses its own tolerance).
- *error*: mean and 95th percentile of the distance to the target, as a percentage of the chain
  length.
- *iterations*: mean number of iterations, which Blender does not report.
- *µs*: median time of a solve; for Blender, the time of an evaluation with the constraint minus
  the time without it.

Each solve has at most {ITERATIONS} iterations."""
SHARE_NOTE = f"""\
`reach_poses` is the share of the 80 random poses in which limbs reach for a target. Values are
relative to a share of 0, as geometric means over the characters with an animation, each
averaged over {len(SEEDS)} seeds. *area*, *p99* and *drift* are the measures of [seen](seen.md),
in random poses / in the animation. The animation is not used for optimization, and no limb
reaches for a target in the random poses of the yardstick. *better*, *worse*: number of
characters whose strain by area in the animation changes by more than 0.5 %. *other seed*:
result for the second seed as a multiple of the result for the first seed, both with a share of
0. *{WIDE}*: no limb reaches for a target, but bones swing by more than the usual 60 degrees,
like the joints of reaching limbs."""


def chain_of(name):
    """(heads, tails, roll axes) of a chain of a character, and the numbers of its bones."""
    arrays = rigged.model(name)
    parents = arrays["bone_parent"].astype(int)
    heads, tails = arrays["bone_head"].astype(float), arrays["bone_tail"].astype(float)
    wanted = list(map(str, arrays["bone_names"])).index(CHAINS[name])
    found = araplbs.reach_chains(heads, tails, parents, bone_deform=arrays["bone_deform"])
    bones = next(ids for ids, _effector in found if wanted in ids)
    heads, tails = heads[bones], tails[bones]
    across = np.cross(tails - heads, [0.3, 0.5, 0.8])  # the same in Blender
    return heads, tails, across


def cases(names):
    """{name: case of reach_in_blender.py}"""
    found = {}
    for name in CHAINS:
        if name not in names:
            continue
        heads, tails, rolls = chain_of(name)
        parents = np.arange(len(heads)) - 1
        limited = np.tile([[-SWING, SWING], [-TWIST, TWIST], [-SWING, SWING]], (len(heads), 1, 1))
        hinged = limited.copy()
        hinged[1:] = [[0, HINGE], [0, 0], [0, 0]]
        for kind, limits in (("free", limited), ("limited", limited), ("hinged", hinged)):
            poses = araplbs.sample_poses(
                heads, tails, parents, TARGETS, bone_roll_axes=rolls, bone_limits=limits, seed=SEED
            )
            found[f"{name}, {kind}"] = {
                "heads": heads, "tails": tails, "rolls": rolls, "iterations": ITERATIONS,
                "targets": poses[:, -1, :, :3] @ tails[-1] + poses[:, -1, :, 3],
                **({} if kind == "free" else {"limits": limits}),
            }  # fmt: skip
    return found


def length_of(case):
    joints = np.concatenate([case["heads"], case["tails"][-1:]])
    return np.linalg.norm(np.diff(joints, axis=0), axis=1).sum()


def outcome(case, errors, seconds, iterations=None):
    errors = errors / length_of(case)
    return {
        "reached": float((errors <= 1.001 * TOLERANCE).mean()),
        "error": [float(errors.mean()), float(np.percentile(errors, 95))],
        "iterations": None if iterations is None else float(iterations.mean()),
        "microseconds": 1e6 * float(seconds),
    }


def solve(case, method):
    arguments = {
        "bone_roll_axes": case["rolls"], "bone_limits": case.get("limits"), "method": method,
        "tolerance": TOLERANCE, "iterations": ITERATIONS,
        **({} if "limits" in case else {"swing": np.pi, "twist": np.pi}),
    }  # fmt: skip
    last, parents, least = len(case["heads"]) - 1, np.arange(len(case["heads"])) - 1, np.inf
    for _ in range(REPEATS):
        start = time.perf_counter()
        _rotations, errors, iterations = araplbs.inverse_kinematics(
            case["heads"], case["tails"], parents, last, case["targets"], **arguments
        )
        least = min(least, time.perf_counter() - start)
    return outcome(case, errors, least / len(errors), iterations)


def blender_solves(found):
    """{case: outcome}, or a line that states what went wrong."""
    BUILD.mkdir(parents=True, exist_ok=True)
    given, result = BUILD / "reach_cases.npz", BUILD / "reach_blender.npz"
    result.unlink(missing_ok=True)
    np.savez(given, **{f"{name}|{k}": v for name, case in found.items() for k, v in case.items()})
    error = run_in_blender("reach_in_blender.py", given, result, limit=LIMIT)
    if error:
        return error
    with np.load(result) as file:
        return {
            name: outcome(case, file[f"{name}|errors"], np.median(file[f"{name}|seconds"]))
            for name, case in found.items()
        }


def method_line(name, count, label, o):
    iterations = "-" if o["iterations"] is None else f"{o['iterations']:.1f}"
    mean, worst = (100 * e for e in o["error"])
    return [
        name, count, label, f"{100 * o['reached']:.0f} %", f"{mean:.2f} / {worst:.2f}", iterations,
        f"{o['microseconds']:.1f}",
    ]  # fmt: skip


def compare_methods(names):
    """(lines of the table, failures)"""
    found = cases(names)
    blender = blender_solves(found) if found else {}
    lines = []
    for name, case in found.items():
        count = len(case["heads"])
        for method, label in METHODS.items():
            lines.append(method_line(name, count, label, solve(case, method)))
        if not isinstance(blender, str):
            lines.append(method_line(name, count, "Blender", blender[name]))
        say(name)
    return lines, [f"Blender: {blender}"] if isinstance(blender, str) else []


def without_control_bones(arrays):
    """Arguments of a Solver as in the add-on: control bones deform nothing, and their children
    become children of the next bone above, except for the first bone of a tree."""
    vertices, triangles = arrays["V"].astype(float), arrays["F"].astype(np.int64)
    heads, tails = arrays["bone_head"].astype(float), arrays["bone_tail"].astype(float)
    parents, deform = arrays["bone_parent"].astype(int), arrays["bone_deform"].astype(bool)
    is_control_name = add_on("skeleton.bone_names").is_control_name
    named = np.array([float(is_control_name(str(name))) for name in arrays["bone_names"]])
    left = ~araplbs.control_bones(
        vertices, triangles, heads, tails, parents, bone_deform=deform, bone_evidence=named
    ).astype(bool)
    above = parents.copy()
    for bone in range(len(parents)):
        while above[bone] >= 0 and not left[above[bone]] and parents[above[bone]] >= 0:
            above[bone] = parents[above[bone]]
    return {
        "vertices": vertices, "triangles": triangles, "bone_heads": heads, "bone_tails": tails,
        "bone_deform": deform & left, "bone_parents": np.where(left, above, -1),
        "edges": arrays["E_loose"].astype(np.int64) if "E_loose" in arrays else None,
    }  # fmt: skip


def weights_of(arguments, **settings):
    solver = araplbs.Solver(**arguments, **settings)
    solver.solve()
    return solver.weights


def judge(name):
    """{way: {kind: {measure: of each seed}}} of a character, or None without an animation."""
    arrays = rigged.model(name)
    yardstick = Yardstick(arrays)
    if "animation" not in yardstick.poses or len(arrays["V"]) > LARGEST:
        return None
    arguments = without_control_bones(arrays)
    found = {}
    for way, settings in WAYS.items():
        seeds = [yardstick.judge(weights_of(arguments, seed=seed, **settings)) for seed in SEEDS]
        found[way] = {
            kind: {m: [s[kind][m] for s in seeds] for m in ("area", "p99", "drift")}
            for kind in seeds[0]
        }
    say(name)
    return found


def ratios_of(rows, way, kind, measure):
    """The characters relative to PLAIN; way None: its second seed relative to its first."""
    found = []
    for row in rows.values():
        plain = row[PLAIN][kind][measure]
        pair = plain[::-1] if way is None else (np.mean(row[way][kind][measure]), np.mean(plain))
        found.append(pair[0] / pair[1] if pair[1] > 0 else np.nan)
    return np.array(found)


def way_line(rows, way):
    cells = [
        " / ".join(
            f"{np.exp(np.nanmean(np.log(ratios_of(rows, way, kind, measure)))):.3f}"
            for kind in ("random", "animation")
        )
        for measure in ("area", "p99", "drift")
    ]
    moved = ratios_of(rows, way, "animation", "area")
    return [way or "other seed", *cells, (moved < 0.995).sum(), (moved > 1.005).sum()]


def draw(name, output):
    """A picture of a character in poses in which it reaches for targets."""
    arrays = rigged.model(name)
    yardstick, arguments = Yardstick(arrays), without_control_bones(arrays)
    weights = weights_of(arguments)
    rows, camera = yardstick.rows(weights), shaded.view(*SHOWN[name])
    skeleton = {
        k: arguments[k] for k in ("bone_heads", "bone_tails", "bone_parents", "bone_deform")
    }
    sampled = araplbs.sample_poses(**skeleton, count=2 * PICTURED, reach_poses=1)[::2]
    poses = np.tile(np.eye(4), (PICTURED, len(arrays["bone_head"]), 1, 1))
    poses[:, :, :3] = sampled
    posed = [skin(yardstick.vertices, rows, pose[yardstick.deform]) for pose in poses]
    seen = np.concatenate(posed) @ camera.T
    low, high = seen[:, :2].min(0), seen[:, :2].max(0)
    width = looks.HEIGHT * (high - low)[0] / (high - low)[1]
    fig, [panels] = plots.figure(PICTURED, width=PICTURED * width, height=looks.HEIGHT)
    for panel, points in zip(panels, posed, strict=True):
        strain = looks.strain_of(yardstick, rows, points)
        looks.draw(panel, points, yardstick.triangles, strain, camera, box=(low, high))
    return plots.save(fig, output, f"reach_{name}.png")


def main(_zip_path, output, *asked):
    output, names = Path(output), rigged.names(asked)
    lines, failures = compare_methods(names)
    judged = {name: judge(name) for name in names}
    judged = {name: row for name, row in judged.items() if row}
    blocks = [
        NOTE,
        table(
            ["chain", "bones", "method", "reached", "error % mean / 95 %", "iterations", "µs"],
            lines,
        ),
        *failures,
    ]
    if judged:
        head = ["reach_poses", "area", "p99", "drift", "better", "worse"]
        blocks += [
            f"{SHARE_NOTE} {len(judged)} characters: {', '.join(judged)}.",
            table(head, [way_line(judged, way) for way in (None, *WAYS)]),
        ]
    write_page(
        output, "reach", "Reach", *blocks,
        pictures=[draw(name, output) for name in SHOWN if name in names],
        rows={"methods": lines, "ways": judged},
    )  # fmt: skip
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
