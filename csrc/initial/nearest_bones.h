/* Rigid weights: every vertex follows its nearest bone. */
#ifndef ARAP_NEAREST_BONES_H
#define ARAP_NEAREST_BONES_H

#include "initial/visibility.h"
#include "weights/influences.h"

/* Compute equal weights for at most `max` of the bones nearest to each vertex: with 1, only its
 * nearest bone. With ARAP_MAX_SHARED, all bones that share the nearest point of the skeleton. */
arap_status arap_nearest_bones(arap_context *context, const arap_mesh *mesh,
                               const arap_visibility *visibility, int max, arap_influences *out);

#endif
