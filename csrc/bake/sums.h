/* A pass over all frames: transforms improved, sums for the weights. */
#ifndef ARAP_BAKE_SUMS_H
#define ARAP_BAKE_SUMS_H

#include "bake/state.h"

/* Set gram, moment and square. The transforms of the moving bones are improved for the present
 * weights first, frame by frame, if `improve`. rms: of the weights and transforms before that;
 * NULL: not asked for. */
arap_status arap_sum_frames(arap_bake_state *state, int improve, double *rms);

/* Set the errors of the result from the weights and transforms of the state. */
arap_status arap_measure_frames(arap_bake_state *state, arap_baked *out);

#endif
