/* Creates the initial influence patterns and weights of a solver. */
#ifndef ARAP_INITIAL_WEIGHTS_H
#define ARAP_INITIAL_WEIGHTS_H

#include "solver/solver.h"

/* Create them, including the marks and rows of the edits. */
arap_status arap_initial_weights(arap_context *context, arap_solver *solver,
                                 const arap_problem *problem);

/* Remove weights that are out of the reach of their bones (spread.h), from all vertices that keep
 * some without them. */
arap_status arap_cut_fresh_weights(arap_context *context, const arap_solver *solver,
                                   arap_influences *influences);

#endif
