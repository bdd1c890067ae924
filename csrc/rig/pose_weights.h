/* How often each pose counts in the energy. */
#ifndef ARAP_POSE_WEIGHTS_H
#define ARAP_POSE_WEIGHTS_H

#include "arap.h"

#define ARAP_MAX_POSE_WEIGHT 1e6

/* Weights (count) of the caller, NULL: 1 each, after `sampled` poses of the weight `each`, which is
 * 1 where there are no others. An error names one that is not 0 or from 1 / ARAP_MAX_POSE_WEIGHT
 * to ARAP_MAX_POSE_WEIGHT; it is one, too, if all are 0. out (sampled + count), or NULL if all
 * are 1; total: their sum. Release with arap_free. */
arap_status arap_pose_weights_create(arap_context *context, int sampled, double each, int count,
                                     const double *weights, double **out, double *total);

#endif
