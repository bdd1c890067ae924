/* Vertices whose weight rows share their unknowns. The vertices of a rigid part share a row, and so
 * do mirror images. */
#ifndef ARAP_SHARED_ROWS_H
#define ARAP_SHARED_ROWS_H

#include "base/memory.h"
#include "rig/rigid_parts.h"
#include "rig/symmetry.h"
#include "weights/influences.h"

typedef struct arap_shared_rows {
    int *lead; /* (vertices) the lead, which represents all vertices with its weights */
    int *next; /* (vertices) the next vertex with the same lead, beginning with the lead; -1: the
                  last */
    /* NULL without symmetry: */
    size_t *image;    /* (influences) for the k-th influence of a vertex: the index that matches the
                         lead's k-th */
    size_t *twin;     /* (influences) in a row that is its own image: the image; otherwise the
                         influence itself */
    arap_arena arena; /* of the arrays */
} arap_shared_rows;

/* Create the map for the current patterns, whose rows are those of arap_rigid_patterns and
 * arap_symmetry_patterns or a subset of their influences. Rows that are no longer images are not
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

/* Replace values (entries) by their sums over all entries of the same unknown, and by the mean of
 * twins. */
void arap_shared_sum(const arap_shared_rows *rows, const arap_influences *in, double *values);

#endif
