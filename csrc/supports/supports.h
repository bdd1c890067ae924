/* Chooses the influence patterns B(i), the bones that may move vertex i, from the initial weights,
 * and widens them. */
#ifndef ARAP_SUPPORTS_H
#define ARAP_SUPPORTS_H

#include "arap.h"
#include "rig/skeleton.h"
#include "weights/influences.h"

/* Mark in keep (start[count]) the influences that survive pruning in increasing order of
 * weight: one is dropped if all three parameters allow it and no neighbor that keeps the bone
 * has a smaller weight (no local minimum is introduced). Rows should sum to 1. */
arap_status arap_prune(arap_context *context, const arap_mesh *mesh, const arap_influences *in,
                       const arap_pruning *pruning, char *keep);

/* Influence patterns of pruned heat weights: the pruned rows, reconnected along the skeleton
 * (property P2; joined bones keep their weight in `in`, 0 if it was never there), normalized. */
arap_status arap_choose_supports(arap_context *context, const arap_mesh *mesh,
                                 const arap_skeleton *skeleton, const arap_influences *in,
                                 const arap_pruning *pruning, arap_influences *out);

/* Rows joined with the bones of their neighbors, new ones with weight 0, unless excluded (NULL:
 * none is). Rows without free weights get no new entries. */
arap_status arap_widen_influences(arap_context *context, const arap_mesh *mesh,
                                  const arap_influences *in, int bones, arap_excluded_fn excluded,
                                  const void *data, arap_influences *out);

#endif
