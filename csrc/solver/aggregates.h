/* Aggregates loose parts with few vertices while the influence patterns are being chosen. */
#ifndef ARAP_AGGREGATES_H
#define ARAP_AGGREGATES_H

#include "solver/solver.h"

/* Aggregate the small loose parts of a large coarsest mesh if they make up most of it. The vertices
 * of each part then share their rows, as in rigid parts. Initial weights, locks and edits must
 * already be known. */
arap_status arap_aggregate_parts(arap_context *context, arap_solver *solver);

/* Give the vertices of aggregated parts their own rows again, beginning with the next patterns. */
arap_status arap_free_aggregates(arap_context *context, arap_solver *solver);

#endif
