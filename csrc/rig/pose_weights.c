/* Weights of poses: see poses.h.
 *
 * E = sum_p w_p E_p (docs/energy.md 3). The rotations of a pose do not depend on its weight. G_bc
 * and the right-hand side are sums weighted by w_p, and sum_p w_p replaces the number of poses (in
 * the rest energy and the strength of rows). A pose of weight 2 is therefore equivalent to the same
 * pose given twice, and multiplying all weights by a number changes only E. The range of weights
 * prevents overflow of sums in single precision. Takes O(poses). Fails on out-of-memory and for
 * weights out of range. */
#include "rig/poses.h"

#include "base/context.h"
#include "base/memory.h"

static arap_status check(arap_error *error, int count, const double *weights) {
    for (int p = 0; p < count; p++) {
        double w = weights[p];
        if (w != 0 && !(w >= 1 / ARAP_MAX_POSE_WEIGHT && w <= ARAP_MAX_POSE_WEIGHT))
            return arap_fail(error, ARAP_BAD_VALUE,
                             "pose_weights[%d] is %g: must be 0, or from %g to %g", p, w,
                             1 / ARAP_MAX_POSE_WEIGHT, ARAP_MAX_POSE_WEIGHT);
    }
    return ARAP_OK;
}

arap_status arap_pose_weights_create(arap_context *context, int sampled, double each, int count,
                                     const double *weights, double **out, double *total) {
    arap_status status = weights ? check(&context->error, count, weights) : ARAP_OK;
    *out = NULL;
    if (!count) each = 1;
    int plain = each == 1;
    *total = each * sampled;
    if (status) return status;
    for (int p = 0; p < count; p++) {
        double w = weights ? weights[p] : 1;
        *total += w;
        plain &= w == 1;
    }
    if (weights && !(*total > 0))
        return arap_fail(&context->error, ARAP_BAD_VALUE, "pose_weights are all 0: no pose counts");
    if (plain) return ARAP_OK;
    *out = ARAP_NEW(double, sampled + count);
    if (!*out) return arap_fail_memory(&context->error, "the poses");
    for (int p = 0; p < sampled + count; p++)
        (*out)[p] = p < sampled ? each : weights ? weights[p - sampled] : 1;
    return ARAP_OK;
}
