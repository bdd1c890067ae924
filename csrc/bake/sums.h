/* Improves the transforms and accumulates the sums for the weights in one pass over all frames. */
#ifndef ARAP_BAKE_SUMS_H
#define ARAP_BAKE_SUMS_H

#include "bake/state.h"

/* Set gram, moment and square. If `improve` is set, first improve the transforms of the moving
 * bones for the current weights, frame by frame. rms: error of the weights and transforms before
 * this improvement; NULL: not needed. */
arap_status arap_sum_frames(arap_bake_state *state, int improve, double *rms);

/* Compute the errors of the result from the weights and transforms of the state. */
arap_status arap_measure_frames(arap_bake_state *state, arap_baked *out);

#endif
