/* The search for loose parts that are rigid. */
#ifndef ARAP_RIGID_SEARCH_H
#define ARAP_RIGID_SEARCH_H

#include "solver/solver.h"

/* Make loose parts rigid that move as one anyway: `patterns` are the present ones with the same row
 * for all vertices of such a part, or empty where nothing changes. */
arap_status arap_find_rigid_parts(arap_context *context, arap_solver *solver,
                                  arap_influences *patterns);

#endif
