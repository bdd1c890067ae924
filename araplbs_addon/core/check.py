"""Check Weights: what is wrong with the weights that a character has, and where. No bpy: any
thread may do it."""

from .check_bones import bones_outside, drifting_limbs, idle_bones
from .check_rows import asymmetry, bleeding, influences, speckles, unnormalized, unweighted
from .check_surface import intersections, loose_parts, strained
from .inspected import Inspected
from .native_module import araplbs

# In the order in which they are done; each gives Findings of an Inspected.
CHECKS = (
    ("vertices", unweighted),
    ("vertices", unnormalized),
    ("vertices", influences),
    ("surface strain", strained),
    ("limbs", drifting_limbs),
    ("bones", bones_outside),
    ("bones", idle_bones),
    ("parts", loose_parts),
    ("parts", intersections),
    ("gaps", bleeding),
    ("speckle", speckles),
    ("symmetry", asymmetry),
)
LEAST = 0.05  # severity: less is not told
PREPARED = 0.6  # share of the time before the first check
MOST_OF_A_KIND = 40  # findings, the worst: nobody reads more


def check(problem, rows, poses, options, threads=0, progress=None):
    """The Findings about the weights of a Problem, the worst first.

    rows: SparseWeights of all its vertices as they are in the file, of any sums. poses: the Poses
    to judge them in. options: max_influences counts, and whether the problem has a symmetry.
    progress(stage, fraction, None): return False to stop, which raises araplbs.Cancelled.
    """
    look = Inspected(problem, rows, poses, options, threads)
    found = []

    def tell(stage="surface strain", fraction=0.0):
        if progress and progress(stage, fraction, None) is False:
            raise araplbs.Cancelled("Check Weights was stopped")

    tell()
    look.prepare(tell)
    for done, (stage, find) in enumerate(CHECKS):
        tell(stage, PREPARED + (1 - PREPARED) * done / len(CHECKS))
        some = [finding for finding in find(look) if finding.severity >= LEAST]
        some.sort(key=lambda finding: -finding.severity)
        found += some[:MOST_OF_A_KIND]
    return sorted(found, key=lambda finding: -finding.severity)
