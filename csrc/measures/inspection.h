/* Measures of weights along a surface, vertex by vertex and bone by bone. */
#ifndef ARAP_INSPECTION_H
#define ARAP_INSPECTION_H

#include "base/context.h"

/* Arrays of the caller, of n vertices and e entries of the rows. */
typedef struct arap_inspection {
    double
        *contrast; /* (n) half the sum of |w - mean of the neighbors|: 0 the same, 1 other bones */
    double *roughness; /* (n) mean contrast of the neighbors, the vertex left out of theirs;
                          0 where its own is below 0.2 */
    double *straight;  /* (e) how far the vertex is from the core of the bone, straight */
    double *along;     /* (e) and along edges; infinite where that is more than 4 times as far as
                          the farthest entry of the bone lies straight */
} arap_inspection;

/* Rows count with sum 1. The core of a bone is the connected part, of the vertices where it has
 * half of its largest weight, that has most of its weight. Entries below 0.05 are not looked at: 0,
 * as in the core. links (link_count, 2): vertices between which a way leads, though they are no
 * neighbors. Vertices at one place are one, with the row of the first of them. */
arap_status arap_inspect_weights(arap_context *context, const arap_geometry *geometry,
                                 size_t link_count, const int *links,
                                 const arap_sparse_weights *rows, int bones,
                                 const arap_inspection *out);

#endif
