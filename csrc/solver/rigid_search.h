/* The search for loose parts that are rigid. */
#ifndef ARAP_RIGID_SEARCH_H
#define ARAP_RIGID_SEARCH_H

#include "solver/solver.h"

/* Make loose parts rigid that already move almost rigidly. `patterns` are the current ones with the
 * same row for all vertices of such a part, or empty if nothing changes. */
arap_status arap_find_rigid_parts(arap_context *context, arap_solver *solver,
                                  arap_influences *patterns);

#endif
