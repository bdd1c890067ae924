/* Loose parts of few vertices, lumped while the influence maps are chosen. */
#ifndef ARAP_LUMPS_H
#define ARAP_LUMPS_H

#include "solver/solver.h"

/* Lump the small loose parts of a large coarsest mesh, if they are most of it: the vertices of each
 * share their rows, as those of rigid parts do. Initial weights, locks and edits are known. */
arap_status arap_lump_parts(arap_context *context, arap_solver *solver);

/* The vertices of lumped parts have rows of their own again, from the next maps on. */
arap_status arap_free_lumps(arap_context *context, arap_solver *solver);

#endif
