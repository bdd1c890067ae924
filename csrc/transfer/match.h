/* Nearest points of one surface for the vertices of another mesh. */
#ifndef ARAP_MATCH_H
#define ARAP_MATCH_H

#include "mesh/mesh.h"
#include "transfer/transfer.h"

/* Of the vertices of the target, after welding. */
typedef struct arap_match {
    int *triangle;            /* (count) of the source */
    double *bary;             /* (count, 3) the nearest point there */
    double *distance, *angle; /* (count) caller's units, radians */
    char *matched;            /* (count) within the limits */
} arap_match;

/* The source has at least one triangle. */
arap_status arap_match_find(arap_context *context, const arap_mesh *source, const arap_mesh *target,
                            const arap_transfer_settings *settings, arap_match *out);
void arap_match_clear(arap_match *match);

#endif
