/* Chooses the influence patterns B(i), the bones that may move vertex i, from the initial weights,
 * and widens them. */
#ifndef ARAP_SUPPORTS_H
#define ARAP_SUPPORTS_H

#include "arap.h"
#include "rig/skeleton.h"
#include "weights/influences.h"

/* Mark in keep (start[count]) the influences that survive pruning in increasing order of weight. An
 * influence is dropped if all three parameters allow it and no neighbor that keeps the bone has a
 * smaller weight (so no local minimum is introduced). Rows should sum to 1. */
arap_status arap_prune(arap_context *context, const arap_mesh *mesh, const arap_influences *in,
                       const arap_pruning *pruning, char *keep);

/* Create influence patterns from pruned heat weights: the pruned rows, reconnected along the
 * skeleton and normalized (property P2; added bones keep their weight in `in`, or 0 if they were
 * absent). */
arap_status arap_choose_supports(arap_context *context, const arap_mesh *mesh,
                                 const arap_skeleton *skeleton, const arap_influences *in,
                                 const arap_pruning *pruning, arap_influences *out);

/* Add the bones of the neighbors to each row with weight 0, unless they are excluded (NULL: none
 * is). Rows without free weights get no new entries. */
arap_status arap_widen_influences(arap_context *context, const arap_mesh *mesh,
                                  const arap_influences *in, int bones, arap_excluded_fn excluded,
                                  const void *data, arap_influences *out);

#endif
