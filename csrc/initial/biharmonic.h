/* Biharmonic weights: the code shared by bounded and unbounded weights, and the unbounded weights
 * themselves. */
#ifndef ARAP_BIHARMONIC_H
#define ARAP_BIHARMONIC_H

#include "initial/handles.h"
#include "initial/visibility.h"
#include "linalg/factor.h"
#include "rig/skeleton.h"
#include "weights/influences.h"

/* Vertices without handles that the bi-Laplacian connects, and the bones next to them. */
typedef struct arap_biharmonic_block {
    int size, columns;
    const double *pull;    /* (columns, size) -Q_h w_h */
    arap_matrix *matrix;   /* Q without its diagonal */
    const double *own;     /* (size) the diagonal of Q */
    arap_factor *factor;   /* of Q */
    double progress, part; /* completed share of the whole work, and share of this block */
} arap_biharmonic_block;

/* Find w (columns, size) within the bounds. On entry, it contains the solution without bounds. */
typedef arap_status (*arap_biharmonic_fn)(arap_context *context, const arap_biharmonic_block *block,
                                          double *w);

/* Compute rows from the solution, processed by `bound` unless it is NULL. They are >= 0 and
 * normalized, and entries of at most `floor` are omitted. given: handles (handles.h), or NULL.
 * Returns ARAP_BAD_VALUE for a mesh with too many vertices. */
arap_status arap_biharmonic_solve(arap_context *context, const arap_mesh *mesh,
                                  const arap_skeleton *skeleton, const arap_visibility *visibility,
                                  const arap_handles *given, arap_biharmonic_fn bound, double floor,
                                  arap_influences *out);

/* Weights without bounds, which are clipped at 0 and normalized at the end. */
arap_status arap_biharmonic_weights(arap_context *context, const arap_mesh *mesh,
                                    const arap_skeleton *skeleton,
                                    const arap_visibility *visibility, const arap_handles *given,
                                    double floor, arap_influences *out);

/* Bounded biharmonic weights (Jacobson et al. 2011) of volumes, surfaces and wires. Computes the
 * weights of all deforming bones, between 0 and 1 and normalized. Entries of at most `floor` are
 * omitted. */
arap_status arap_bbw(arap_context *context, const arap_mesh *mesh, const arap_skeleton *skeleton,
                     const arap_visibility *visibility, const arap_handles *given, double floor,
                     arap_influences *out);

#endif
