/* Biharmonic weights: the common part of bounded and unbounded ones, and the unbounded ones. */
#ifndef ARAP_BIHARMONIC_H
#define ARAP_BIHARMONIC_H

#include "initial/visibility.h"
#include "linalg/factor.h"
#include "rig/skeleton.h"
#include "weights/influences.h"

/* Vertices without handle that the bi-Laplacian joins, and the bones next to them. */
typedef struct arap_biharmonic_block {
    int size, columns;
    const double *pull;    /* (columns, size) -Q_h w_h */
    arap_matrix *matrix;   /* Q without its diagonal, */
    const double *own;     /* (size) which is this */
    arap_factor *factor;   /* of Q */
    double progress, part; /* share of the whole work that is done, and that this block is */
} arap_biharmonic_block;

/* Find w (columns, size) within the bounds; it holds the solution without. */
typedef arap_status (*arap_biharmonic_fn)(arap_context *context, const arap_biharmonic_block *block,
                                          double *w);

/* Rows of what `bound` makes of the solution (NULL: nothing), >= 0 and normalized; entries of at
 * most `floor` are left out.
 * ARAP_BAD_VALUE for a mesh of too many vertices. */
arap_status arap_biharmonic_solve(arap_context *context, const arap_mesh *mesh,
                                  const arap_skeleton *skeleton, const arap_visibility *visibility,
                                  arap_biharmonic_fn bound, double floor, arap_influences *out);

/* Without bounds: weights are clipped at 0 and normalized in the end. */
arap_status arap_biharmonic_weights(arap_context *context, const arap_mesh *mesh,
                                    const arap_skeleton *skeleton,
                                    const arap_visibility *visibility, double floor,
                                    arap_influences *out);

#endif
