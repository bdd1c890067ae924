/* Vertices whose rows of weights share their unknowns: those of a rigid part, and images of each
 * other. */
#ifndef ARAP_SHARED_ROWS_H
#define ARAP_SHARED_ROWS_H

#include "rig/rigid_parts.h"
#include "rig/symmetry.h"
#include "weights/influences.h"

typedef struct arap_shared_rows {
    int *lead; /* (vertices) the one that stands for all with its weights */
    int *next; /* (vertices) another one of the same lead, from the lead on; -1: the last */
    /* NULL without symmetry: */
    size_t *image; /* (influences) for the k-th of a vertex: the place of its lead's k-th */
    size_t *twin;  /* (influences) of a row that is its own image: the image; else itself */
} arap_shared_rows;

/* With the present patterns, whose rows are those of arap_rigid_patterns and
 * arap_symmetry_patterns, or fewer influences of them: rows that are not images any more are not
 * shared. */
arap_status arap_shared_rows_create(arap_context *context, const arap_symmetry *symmetry,
                                    const arap_rigid_parts *parts, const arap_influences *in,
                                    arap_shared_rows *rows);
void arap_shared_rows_clear(arap_shared_rows *rows);

static inline size_t arap_image_of(const arap_shared_rows *rows, size_t e) {
    return rows->image ? rows->image[e] : e;
}

static inline size_t arap_twin_of(const arap_shared_rows *rows, size_t e) {
    return rows->twin ? rows->twin[e] : e;
}

/* Values (entries) become their sums over all that are the same unknown, the mean of twins. */
void arap_shared_sum(const arap_shared_rows *rows, const arap_influences *in, double *values);

#endif
