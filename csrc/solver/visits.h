/* Determines the order in which the vertices of a mesh grow into clusters (mesh/coarse.h). */
#ifndef ARAP_VISITS_H
#define ARAP_VISITS_H

#include "solver/solver.h"

/* visit (vertices): an order based on the positions of the vertices relative to the bones,
 * independent of vertex numbering. */
arap_status arap_find_visits(arap_context *context, const arap_solver *solver, int *visit);

#endif
