/* The harmonic term of a solver, derived from the settings of the solver and from the vertices that
 * an artist smooths. */
#ifndef ARAP_SMOOTHNESS_H
#define ARAP_SMOOTHNESS_H

#include "base/context.h"
#include "solver/solver.h"

/* Replace the smoothed vertices by those of these edits, which have been checked. */
arap_status arap_smooth(arap_context *context, arap_solver *solver, const arap_edits *edits);

/* Create the harmonic term, and an elimination order for the resulting system. */
arap_status arap_make_harmonic(arap_context *context, arap_solver *solver);

/* Compute arap_elimination_order for the current system, with or without that term. */
arap_status arap_order_vertices(arap_context *context, const arap_solver *solver,
                                const int *unknowns, int *order);

/* The elimination order of the global step: compute arap_fill_reducing_order for a mesh in which
 * vertices and their partners (vertices; -1: none; NULL: no vertex has one) share their unknowns;
 * partners are consecutive. With `unknowns` (vertices), use arap_order_of_unknowns, which takes
 * several times as long. */
arap_status arap_elimination_order(arap_context *context, int count, const size_t *ring,
                                   const int *neighbor, const int *partner, const int *unknowns,
                                   int *out);

#endif
