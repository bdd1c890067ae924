/* Measures of weights along a surface, vertex by vertex and bone by bone. */
#ifndef ARAP_INSPECTION_H
#define ARAP_INSPECTION_H

#include "base/context.h"
#include "base/memory.h"

/* Arrays of the caller, of n vertices and e entries of the rows. */
typedef struct arap_inspection {
    double *contrast;  /* (n) half the sum of |w - mean of the neighbors|; 0: equal weights, 1:
                        * entirely different bones */
    double *roughness; /* (n) mean contrast of the neighbors, computed without this vertex; 0 where
                          its own contrast is below 0.2 */
    double *straight;  /* (e) straight-line distance from the vertex to the core of the bone */
    double *along;     /* (e) distance along edges; infinite where it exceeds 4 times the largest
                          straight-line distance of any entry of the bone */
} arap_inspection;

/* Rows are normalized to sum 1. The core of a bone consists of vertices where the bone has at least
 * half of its largest weight. Among the connected sets of such vertices, the core is the one with
 * the largest part of the bone's weight. Entries below 0.05 are ignored and get 0, as in the core.
 * links (link_count, 2): additional connections between vertices that are not neighbors. Vertices
 * at the same position are merged and use the row of the first one. */
arap_status arap_inspect_weights(arap_context *context, const arap_geometry *geometry,
                                 size_t link_count, const int *links,
                                 const arap_sparse_weights *rows, int bones,
                                 const arap_inspection *out);

#define ARAP_OTHERS 2

/* How clearly each loose part belongs to the bone that moves it. */
typedef struct arap_part_doubts {
    int count;  /* parts */
    int *part;  /* (vertices) */
    int *owner; /* (count) the bone that moves most of the part, if the part hardly bends; or -1 */
    int *other; /* (count, ARAP_OTHERS) the bones that fit next best; -1: none that may be meant */
    double *doubt;    /* (count) how well the first of them fits, relative to the owner; 1: equally
                       * well */
    arap_arena arena; /* of the arrays */
} arap_part_doubts;

/* Rows are normalized to sum 1. Bones that do not deform own nothing. */
arap_status arap_part_doubts_create(arap_context *context, const arap_geometry *geometry,
                                    const arap_sparse_weights *rows, const arap_bones *bones,
                                    arap_part_doubts *out);
void arap_part_doubts_clear(arap_part_doubts *doubts);

#endif
