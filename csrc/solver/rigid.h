/* The rigid parts of a solver, both those requested by edits and those found automatically. */
#ifndef ARAP_RIGID_H
#define ARAP_RIGID_H

#include "solver/solver.h"

/* Replace all parts by those of these edits, which have been checked. */
arap_status arap_take_rigid_parts(arap_context *context, arap_solver *solver,
                                  const arap_edits *edits);

/* Create the rigid parts for these labels (input vertices), as far as locks allow; NULL: none. */
arap_status arap_make_rigid_parts(arap_context *context, arap_solver *solver, const int *label);

/* Make influence patterns equal on both sides and within each part. */
arap_status arap_share_patterns(arap_context *context, arap_solver *solver,
                                arap_influences *patterns);

/* Also make these loose parts (mesh.part_count) rigid. */
arap_status arap_add_rigid_parts(arap_context *context, arap_solver *solver, const char *found);

/* Make loose parts rigid that already move almost rigidly. `patterns` are the current ones with the
 * same row for all vertices of such a part, or empty if nothing changes. */
arap_status arap_find_rigid_parts(arap_context *context, arap_solver *solver,
                                  arap_influences *patterns);

#endif
