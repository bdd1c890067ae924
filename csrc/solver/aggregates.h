/* Loose parts of few vertices, aggregated while the influence patterns are chosen. */
#ifndef ARAP_AGGREGATES_H
#define ARAP_AGGREGATES_H

#include "solver/solver.h"

/* Aggregate the small loose parts of a large coarsest mesh, if they are most of it: the vertices of
 * each share their rows, as those of rigid parts do. Initial weights, locks and edits are known. */
arap_status arap_aggregate_parts(arap_context *context, arap_solver *solver);

/* The vertices of aggregated parts have rows of their own again, from the next patterns on. */
arap_status arap_free_aggregates(arap_context *context, arap_solver *solver);

#endif
