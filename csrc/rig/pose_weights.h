/* The weight of each pose in the energy. */
#ifndef ARAP_POSE_WEIGHTS_H
#define ARAP_POSE_WEIGHTS_H

#include "arap.h"

#define ARAP_MAX_POSE_WEIGHT 1e6

/* Combine the caller's weights (count), NULL: 1 each, with `sampled` preceding poses of the weight
 * `each`, which is 1 if there are no others. A weight must be 0 or between 1 / ARAP_MAX_POSE_WEIGHT
 * and ARAP_MAX_POSE_WEIGHT. The error names one that is not. It is also an error if all weights are
 * 0. out (sampled + count), or NULL if all are 1; total: their sum. Release with arap_free. */
arap_status arap_pose_weights_create(arap_context *context, int sampled, double each, int count,
                                     const double *weights, double **out, double *total);

#endif
