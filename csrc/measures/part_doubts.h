/* How clearly each loose part belongs to the bone that moves it. */
#ifndef ARAP_PART_DOUBTS_H
#define ARAP_PART_DOUBTS_H

#include "base/context.h"

#define ARAP_OTHERS 2

typedef struct arap_part_doubts {
    int count;  /* parts */
    int *part;  /* (vertices) */
    int *owner; /* (count) the bone that moves most of the part, if the part hardly bends; or -1 */
    int *other; /* (count, ARAP_OTHERS) the bones that fit next best; -1: none that may be meant */
    double *doubt; /* (count) how well the first of them fits, relative to the owner; 1: equally
                    * well */
} arap_part_doubts;

/* Rows are normalized to sum 1. Bones that do not deform own nothing. */
arap_status arap_part_doubts_create(arap_context *context, const arap_geometry *geometry,
                                    const arap_sparse_weights *rows, const arap_bones *bones,
                                    arap_part_doubts *out);
void arap_part_doubts_clear(arap_part_doubts *doubts);

#endif
