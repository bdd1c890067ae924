/* The linear system of the global step. */
#ifndef ARAP_SYSTEM_H
#define ARAP_SYSTEM_H

#include "base/async_task.h"
#include "base/memory.h"
#include "energy/mirror_reuse.h"
#include "energy/harmonic.h"
#include "linalg/factor.h"
#include "rig/poses.h"
#include "rig/shared_rows.h"
#include "weights/influences.h"

/* With the rotations fixed, E(w) = w'Fw - 2 b'w + const over all influences, where F includes the
 * harmonic term if there is one (harmonic.h). One free weight per vertex, its first, is eliminated
 * by sum w = 1, and locked weights are constants, so a step is w += Z x with unknowns x. The step
 * minimizes E plus penalties if A x = Z'(b - Fw + aim - stiffness w), A = Z'(F + stiffness)Z. The
 * vertices of a rigid part, and vertices that are mirror images, share their unknowns, so their
 * columns of Z are added. In a row that is its own image, an unknown stands for two weights, each
 * of which is half of the unknown. */
typedef struct arap_system {
    int vertices;
    int unknowns;
    arap_shared_rows shared;
    int *offset;                 /* (vertices) first unknown of a vertex; they are consecutive */
    int *size;                   /* (vertices) number of its unknowns */
    const arap_influences *rows; /* borrowed; the unknowns of a vertex are in `entry`, beginning at
                                    the start of its row */
    int *entry;         /* influence that belongs to each unknown, counted from the start of the
                           row */
    int *eliminated;    /* (vertices) the influence that balances the others, if size > 0 */
    arap_matrix matrix; /* Z'FZ, in elimination order */
    double *penalized;  /* (matrix.start[unknowns]) values of A, penalties included, once there are
                           penalties */
    arap_arena arena;   /* of these arrays and those of the matrix */
} arap_system;

/* The influence that belongs to the u-th unknown of vertex i, and the one that balances it. */
static inline size_t arap_unknown_entry(const arap_system *s, int i, int u) {
    size_t start = s->rows->start[i];
    return start + (size_t)s->entry[start + (size_t)u];
}
static inline size_t arap_balance_entry(const arap_system *s, int i) {
    return s->rows->start[i] + (size_t)s->eliminated[i];
}

/* Assemble Z'FZ from the pose Gram matrix, which makes the cost independent of the number of poses.
 * `order` is the elimination order of the vertices, tie (vertices) is added to the edge and spring
 * weights of each vertex; NULL: nothing. The unknowns of a vertex stay together. Vertices that
 * share rows are placed at the position of the last one. Blocks that mirror reuse copies are not
 * assembled, and their originals count twice. As soon as the pattern of the matrix is known, and
 * unless it is empty, analyze(data) starts in parallel with the rest. The caller must end it and
 * clear the system, whether or not this call fails. */
arap_status arap_system_create(arap_context *context, const arap_mesh *mesh,
                               const arap_poses *poses, const arap_two_rings *harmonic,
                               const double *tie, const arap_influences *influences,
                               const arap_symmetry *symmetry, const arap_rigid_parts *parts,
                               const arap_mirror_reuse *mirror_reuse, const int *order,
                               arap_async_fn analyze, void *data, arap_async_task *analysis,
                               arap_system *system);
void arap_system_clear(arap_system *system);

/* Set `penalized` for penalties stiffness[e] (w_e - target_e)^2 on influences. Penalties cause no
 * fill-in, because a penalty on an eliminated weight stays in the block of its vertex. */
arap_status arap_system_penalize(arap_context *context, arap_system *system,
                                 const double *stiffness);

/* Multiply a vector over influences by Z', and compute w += Z x. */
void arap_system_reduce(const arap_system *system, const double *full, double *reduced);
void arap_system_add_step(const arap_system *system, const double *x, double *weight);

#endif
