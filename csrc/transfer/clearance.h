/* Keeps vertices of a garment above a surface when both move. */
#ifndef ARAP_CLEARANCE_H
#define ARAP_CLEARANCE_H

#include "transfer/pair.h"

typedef struct arap_clearance {
    double *height; /* (target vertices) height above the source at rest, in its units; 0: not above
                       it */
    char *border;   /* (source vertices) whether the vertex is on a border, where the surface has no
                       sides */
} arap_clearance;

/* Create from a pair whose source is connected (mesh/rings.h). Release with
 * arap_clearance_clear. */
arap_status arap_clearance_create(arap_context *context, const arap_pair *pair,
                                  arap_clearance *clearance);
void arap_clearance_clear(arap_clearance *clearance);

/* Lift the vertices of the target that the moved source has passed or approached too closely. skin:
 * the moved vertices of the source; move (target vertices, 3): displacements of the target, changed
 * in place; all in the units of the source. *lifted, *below: number of changed vertices, and number
 * of vertices that are above at rest but remain below. */
arap_status arap_clearance_keep(arap_context *context, const arap_pair *pair,
                                const arap_clearance *clearance, const double *skin, double *move,
                                int *lifted, int *below);

#endif
