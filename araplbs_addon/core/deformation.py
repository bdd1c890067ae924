"""What is seen of weights: Surface Strain, Limb Drift and Volume Change over poses. No bpy: any
thread may compute it."""

import math

from .native_module import araplbs

# Keys of a report: those of araplbs.deformation.
NUMBERS = {
    "surface_strain": "area",
    "surface_strain_by_face": "face",
    "surface_strain_p99": "p99",
    "limb_drift": "drift",
    "worst_limb_drift": "worst_drift",
    "volume_change": "volume",
}


def bones_of(skeleton):
    """The arguments of araplbs.Deformation that say what bones there are."""
    bones = {
        "bone_heads": skeleton.heads,
        "bone_tails": skeleton.tails,
        "bone_deform": skeleton.deform,
    }
    if skeleton.flexible:
        bones.update(bone_kinds=skeleton.kinds, bone_segments=skeleton.segments)
    return bones


def joints_of(skeleton, poses):
    """What these Poses say beside the transforms of bones."""
    return {"segment_poses": poses.joints} if skeleton.flexible else {}


def measure(problem, rows, poses, **more):
    """araplbs.deformation of a Problem with these SparseWeights, blended linearly, over Poses."""
    arguments, skeleton = problem.arguments, problem.skeleton
    return araplbs.deformation(
        arguments["vertices"],
        arguments["triangles"],
        tuple(rows),
        poses.transforms,
        **bones_of(skeleton),
        **joints_of(skeleton, poses),
        parameters=problem.parameters,
        **more,
    )


def as_report(skeleton, measures):
    """The measures as a dictionary that JSON takes: shares, drift in limb radii; None for what
    cannot be measured, as the volume of a mesh that is open."""
    numbers = {name: _number(measures[key]) for name, key in NUMBERS.items()}
    drift, worst = measures["bone_drift"], None
    if measures["limbs"]:
        worst = skeleton.names[max(range(len(drift)), key=lambda b: _number(drift[b]) or 0.0)]
    return {
        **numbers,
        "worst_limb": worst,
        "limbs": measures["limbs"],
        "closed_parts": measures["closed_parts"],
    }


def _number(value):
    return float(value) if math.isfinite(value) else None


def compare(problem, before, after, poses, threads=0, progress=None):
    """{"before", "after"}: as_report() of two SparseWeights over these Poses. progress(fraction):
    return False to stop."""

    arguments, skeleton = problem.arguments, problem.skeleton
    seen = araplbs.Deformation(
        arguments["vertices"], arguments["triangles"], **bones_of(skeleton), threads=threads
    )

    def part(rows, begin):
        told = progress and (lambda _stage, fraction: progress(begin + fraction / 2))
        more = {"parameters": problem.parameters, "progress": told}
        seen.clear()
        seen.skin(tuple(rows), poses.transforms, **joints_of(skeleton, poses), **more)
        return as_report(skeleton, seen.measures())

    return {"before": part(before, 0.0), "after": part(after, 0.5)}


def in_percent(share):
    """A share as people read it."""
    return f"{100 * share:.1f} %"


def in_words(found):
    """What compare() has found in a few words: "Surface Strain 21.3 % -> 14.2 % (worst 1 %: 55 %),
    Limb Drift 0.12, Volume Change -3.1 %"."""
    before, after = found["before"], found["after"]
    if after["surface_strain"] is None:
        return "no surface to strain"
    words = (
        f"Surface Strain {in_percent(before['surface_strain'])} -> "
        f"{in_percent(after['surface_strain'])} "
        f"(worst 1 %: {100 * after['surface_strain_p99']:.0f} %)"
    )
    if after["limb_drift"] is not None:
        words += f", Limb Drift {after['limb_drift']:.2f}"
    if after["volume_change"] is not None:
        words += f", Volume Change {100 * after['volume_change']:+.1f} %"
    return words
