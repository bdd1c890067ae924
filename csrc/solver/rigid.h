/* The rigid parts of a solver: those that the edits ask for, and those that lose nothing by it. */
#ifndef ARAP_RIGID_H
#define ARAP_RIGID_H

#include "solver/solver.h"

/* The parts of these edits, which were checked, in place of all that there are. */
arap_status arap_take_rigid_parts(arap_context *context, arap_solver *solver,
                                  const arap_edits *edits);

/* Influence maps that are the same on both sides and within each part. */
arap_status arap_share_maps(arap_context *context, arap_solver *solver, arap_influences *maps);

/* Loose parts that may be rigid become so: `maps` are the present ones with one bone for these, or
 * empty where nothing changes. */
arap_status arap_find_rigid_parts(arap_context *context, arap_solver *solver,
                                  arap_influences *maps);

#endif
