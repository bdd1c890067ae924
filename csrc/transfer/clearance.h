/* Keeps vertices of a garment above a surface when both move. */
#ifndef ARAP_CLEARANCE_H
#define ARAP_CLEARANCE_H

#include "transfer/pair.h"

typedef struct arap_clearance {
    double *height; /* (target vertices) above the source at rest, its units; 0: not above it */
    char *border;   /* (source vertices) whether faces end there, so that there are no sides */
} arap_clearance;

/* Of a pair whose source is connected (mesh/rings.h). Release with arap_clearance_clear. */
arap_status arap_clearance_create(arap_context *context, const arap_pair *pair,
                                  arap_clearance *clearance);
void arap_clearance_clear(arap_clearance *clearance);

/* Lift the vertices of the target that the moved source has passed or come too near. skin: the
 * moved vertices of the source; move (target vertices, 3): displacements of the target, changed in
 * place; all in the units of the source. *lifted, *below: how many were changed, and how many that
 * are above at rest remain below. */
arap_status arap_clearance_keep(arap_context *context, const arap_pair *pair,
                                const arap_clearance *clearance, const double *skin, double *move,
                                int *lifted, int *below);

#endif
