/* Checks the requirements for bones: see skeleton.h. Takes O(bones), and O(bones x depth) to
 * detect loops. Fails for invalid parents, ends, limits, ranges and kinds. */
#include "rig/skeleton.h"

#include <math.h>

/* Multiple of the mesh's diagonal. Bones farther from its center move it with transforms that lose
 * too much precision to rounding. */
#define FARTHEST 1e5
#define MAX_ANGLE 1e100 /* maximum of a range; squares of larger numbers overflow */
/* limit as for given poses: rounding of larger squares exceeds a mesh of size 1 */
#define MAX_STRETCH 1e6

static arap_status check_ranges(arap_error *error, const arap_bones *bones, int b) {
    static const char *const names[ARAP_RANGES] = {"swing", "twist", "bend", "stretch"};
    for (int r = 0; r < ARAP_RANGES; r++) {
        const double *range = bones->ranges + 2 * (ARAP_RANGES * b + r);
        if (isnan(range[0]) && isnan(range[1])) continue;
        if (!isfinite(range[0]) || !isfinite(range[1]) || range[0] > range[1])
            return arap_fail(error, ARAP_BAD_VALUE,
                             "bone_ranges[%d, %d] (%s) is (%g, %g): not a range", b, r, names[r],
                             range[0], range[1]);
        double max = r == ARAP_RANGE_STRETCH ? MAX_STRETCH : MAX_ANGLE;
        if (range[0] < -max || range[1] > max)
            return arap_fail(error, ARAP_BAD_VALUE,
                             "bone_ranges[%d, %d] (%s) is (%g, %g): must be within %g", b, r,
                             names[r], range[0], range[1], max);
        if (r == ARAP_RANGE_STRETCH && range[0] <= 0)
            return arap_fail(error, ARAP_BAD_VALUE,
                             "bone_ranges[%d, %d] (stretch) is (%g, %g): must be above 0", b, r,
                             range[0], range[1]);
    }
    return ARAP_OK;
}

arap_status arap_check_bones(arap_error *error, const arap_bones *bones) {
    if (bones->count < 1) return arap_fail(error, ARAP_BAD_VALUE, "the skeleton has no bones");
    int deforming = 0;
    for (int b = 0; b < bones->count; b++) {
        for (int c = 0; c < 3; c++) {
            if (!isfinite(bones->heads[3 * b + c]))
                return arap_fail(error, ARAP_BAD_VALUE, "bone_heads[%d, %d] is %g: not finite", b,
                                 c, bones->heads[3 * b + c]);
            if (bones->tails && !isfinite(bones->tails[3 * b + c]))
                return arap_fail(error, ARAP_BAD_VALUE, "bone_tails[%d, %d] is %g: not finite", b,
                                 c, bones->tails[3 * b + c]);
            if (bones->roll_axes && isinf(bones->roll_axes[3 * b + c]))
                return arap_fail(error, ARAP_BAD_VALUE,
                                 "bone_roll_axes[%d, %d] is %g: not a direction", b, c,
                                 bones->roll_axes[3 * b + c]);
            if (!bones->limits) continue;
            double lo = bones->limits[6 * b + 2 * c], hi = bones->limits[6 * b + 2 * c + 1];
            if (isnan(lo) && isnan(hi)) continue;
            if (!isfinite(lo) || !isfinite(hi) || lo > hi)
                return arap_fail(error, ARAP_BAD_VALUE,
                                 "bone_limits[%d, %d] is (%g, %g): not a range of angles", b, c, lo,
                                 hi);
            if (lo < -MAX_ANGLE || hi > MAX_ANGLE)
                return arap_fail(error, ARAP_BAD_VALUE,
                                 "bone_limits[%d, %d] is (%g, %g): must be within %g", b, c, lo, hi,
                                 MAX_ANGLE);
        }
        if (bones->parents[b] < -1 || bones->parents[b] >= bones->count)
            return arap_fail(error, ARAP_BAD_VALUE,
                             "bone_parents[%d] is %d: must be -1 or one of the %d bones", b,
                             bones->parents[b], bones->count);
        deforming += !bones->deform || bones->deform[b];
        arap_status status = bones->ranges ? check_ranges(error, bones, b) : ARAP_OK;
        if (status) return status;
        int segments = bones->segments ? bones->segments[b] : 0;
        if (bones->kinds && bones->kinds[b] == ARAP_BONE_BENDY &&
            (segments < 1 || segments > ARAP_MAX_SEGMENTS))
            return arap_fail(error, ARAP_BAD_VALUE,
                             "bone_segments[%d] of a bendy bone is %d: must be from 1 to %d", b,
                             segments, ARAP_MAX_SEGMENTS);
    }
    if (!deforming) return arap_fail(error, ARAP_BAD_VALUE, "no bone of the skeleton deforms");
    return ARAP_OK;
}

arap_status arap_check_distances(arap_error *error, const arap_skeleton *skeleton,
                                 const arap_bones *bones, const arap_mesh *mesh) {
    double limit = mesh->size > 0 ? FARTHEST : ARAP_FARTHEST;
    for (int i = 0; i < 3 * skeleton->count; i++) {
        if (fabs(skeleton->heads[i]) < limit && fabs(skeleton->tails[i]) < limit) continue;
        if (!(mesh->size > 0))
            return arap_fail(error, ARAP_BAD_VALUE, "bone %d, at %g to %g, is too far away", i / 3,
                             bones->heads[i], bones->tails[i]);
        return arap_fail(error, ARAP_BAD_VALUE,
                         "bone %d, at %g to %g, is too far from the mesh: %g times its size of %g",
                         i / 3, bones->heads[i], bones->tails[i],
                         fmax(fabs(skeleton->heads[i]), fabs(skeleton->tails[i])), mesh->diagonal);
    }
    return ARAP_OK;
}

arap_status arap_check_parents(arap_error *error, int count, const int *parents) {
    for (int b = 0; b < count; b++) {
        int steps = 0;
        for (int up = b; up >= 0; up = parents[up])
            if (steps++ > count)
                return arap_fail(error, ARAP_BAD_VALUE,
                                 "bone %d has no root: its parents form a loop", b);
    }
    return ARAP_OK;
}
