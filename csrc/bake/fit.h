/* Finds the weights that best fit the sums over the frames. */
#ifndef ARAP_FIT_H
#define ARAP_FIT_H

#include "bake/state.h"

/* Neighbors of all vertices along the edges of the mesh. */
arap_status arap_bake_rings(arap_bake_state *state);

/* Replace the weights of all vertices that are not locked. fresh: whether to use the best weights
 * found. Otherwise, the existing weights are improved. rms: as computed from the sums, accurate to
 * half of the digits. objective: the sum of squared distances over vertices and frames, in
 * which vertices that share a row count once, including the pulls toward neighbors and given
 * weights, which never rises except for rounding. */
arap_status arap_fit_weights(arap_bake_state *state, int fresh, double *rms, double *objective);

/* v^T G_bc v of a vertex, [b, c] of the Gram matrix. */
double arap_bake_pair(const arap_bake_state *state, int vertex, int b, int c);

#endif
