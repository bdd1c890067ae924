/* Finds the vertices that share a row of weights, so that seams stay closed. */
#ifndef ARAP_SEAMS_H
#define ARAP_SEAMS_H

#include "bake/state.h"

/* Set state->same from the positions at rest. The weights at the start must be set. */
arap_status arap_seams_find(arap_bake_state *state);

/* Separate the vertices that come apart in the frames of the block. */
arap_status arap_seams_split(arap_bake_state *state);

#endif
