/* Separates closed solids of a mesh whose corners coincide (see solids.c). */
#ifndef ARAP_SOLIDS_H
#define ARAP_SOLIDS_H

#include "mesh/mesh.h"

/* Refine a weld that was based on positions alone: `set` (input_count) gets disjoint sets
 * (base/sets.h) of the caller's vertices that form one vertex, and *apart becomes 1 if some
 * coincident vertices remain separate. Reads weld, first, next and count. points: (input_count, 3).
 * Fails on out-of-memory. */
arap_status arap_solids_part(arap_context *context, const arap_geometry *geometry,
                             const double *points, const arap_mesh *mesh, int *set, int *apart);

#endif
