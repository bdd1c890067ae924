/* The harmonic term of a solver, derived from the settings of the solver and from the vertices that
 * an artist smooths. */
#ifndef ARAP_SMOOTHNESS_H
#define ARAP_SMOOTHNESS_H

#include "solver/solver.h"

/* Replace the smoothed vertices by those of these edits, which have been checked. */
arap_status arap_smooth(arap_context *context, arap_solver *solver, const arap_edits *edits);

/* Create the harmonic term, and an elimination order for the resulting system. */
arap_status arap_make_harmonic(arap_context *context, arap_solver *solver);

/* Compute arap_elimination_order for the current system, with or without that term. */
arap_status arap_order_vertices(arap_context *context, const arap_solver *solver,
                                const int *unknowns, int *order);

#endif
