/* The best weights for the sums over the frames. */
#ifndef ARAP_FIT_H
#define ARAP_FIT_H

#include "bake/state.h"

/* Neighbors of all vertices along the edges of the mesh. */
arap_status arap_bake_rings(arap_bake_state *state);

/* Replace the weights of all vertices that are not locked. fresh: by the best that are found,
 * otherwise those are improved that there are. rms: as the sums have it, true to half of the
 * digits; objective: the sum of squared distances over vertices and frames, with the pulls to
 * neighbors and to given weights, except for rounding never higher than it was. */
arap_status arap_fit_weights(arap_bake_state *state, int fresh, double *rms, double *objective);

/* v^T G_bc v of a vertex, [b, c] of the Gram matrix. */
double arap_bake_pair(const arap_bake_state *state, int vertex, int b, int c);

#endif
