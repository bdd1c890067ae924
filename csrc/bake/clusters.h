/* Finds initial clusters of vertices that move in the same way, for new bones. */
#ifndef ARAP_CLUSTERS_H
#define ARAP_CLUSTERS_H

#include "bake/state.h"

/* Maximum number of passes over the frames. */
int arap_cluster_passes(const arap_bake_state *state);

/* Set the transforms of the new bones, and weights of 1 for the bone that moves each vertex best.
 */
arap_status arap_place_bones(arap_bake_state *state);

#endif
