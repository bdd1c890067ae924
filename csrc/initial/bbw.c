/* Bounded biharmonic weights: see bbw.h.
 *
 *   min 1/2 w_b' Q w_b,  Q = L M^-1 L,  0 <= w_b <= 1,  for each bone b,
 *   w_b = 1 at the handles of b, 0 at those of other bones.
 *
 * Handles, L and M, on tets as in the paper or on surfaces, are those of biharmonic.c. As in the
 * paper the sum to 1 is left to a normalization at the end: with it as a constraint the bones would
 * have to be solved for together.
 *
 * Bounds: ADMM with w = z, z in the bounds,
 *     (Q + rho D) w = rho D (z - u) - Q_h w_h,  z = clip(w' + u),  u += w' - z,
 * w' = RELAXATION w + (1 - RELAXATION) z over-relaxed, D the diagonal of Q: the matrix is that of
 * all bones and iterations, one factorization. (With D = M, volumes of very different size make
 * thousands of iterations out of the hundreds that this takes.) It stops when no weight
 * changes by more than TOLERANCE nor is off its bounds by as much, or after MOST_ITERATIONS: these
 * are weights to begin with. Cells of almost no volume count as larger ones.
 *
 * The factor and its cost are those of biharmonic.c, and so are its failures; a solve with it for
 * every bone and iteration. */
#include "initial/bbw.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "initial/biharmonic.h"

#define PENALTY 0.02        /* rho */
#define RELAXATION 1.6      /* usual for ADMM */
#define TOLERANCE 1e-3      /* of a weight */
#define MOST_ITERATIONS 500 /* for a block of bones */

typedef struct admm {
    const arap_biharmonic_block *block;
    double *w, *z, *u; /* (columns, size) */
    double *change;    /* (columns) largest residual */
} admm;

static void prepare_column(void *data, int column, int worker) {
    (void)worker;
    const admm *a = data;
    size_t size = (size_t)a->block->size, first = (size_t)column * size;
    for (size_t k = 0; k < size; k++) {
        size_t at = first + k;
        a->w[at] = a->block->pull[at] + PENALTY * a->block->own[k] * (a->z[at] - a->u[at]);
    }
}

static void clip_column(void *data, int column, int worker) {
    (void)worker;
    const admm *a = data;
    size_t size = (size_t)a->block->size, first = (size_t)column * size;
    double most = 0;
    for (size_t at = first; at < first + size; at++) {
        double before = a->z[at], relaxed = RELAXATION * a->w[at] + (1 - RELAXATION) * before,
               sum = relaxed + a->u[at], z = fmin(fmax(sum, 0), 1);
        a->u[at] = sum - z;
        a->z[at] = z;
        most = fmax(most, isfinite(sum) ? fmax(fabs(z - before), fabs(a->w[at] - z)) : INFINITY);
    }
    a->change[column] = most;
}

/* z (columns, size) is found in place of w. */
static arap_status solve_bounded(arap_context *context, const arap_biharmonic_block *block,
                                 double *z) {
    size_t entries = (size_t)block->columns * (size_t)block->size;
    admm a = {.block = block,
              .w = ARAP_NEW(double, entries),
              .z = z,
              .u = ARAP_NEW_ZERO(double, entries),
              .change = ARAP_NEW(double, block->columns)};
    arap_status status = ARAP_OK;
    double most = 1;
    if (!a.w || !a.u || !a.change) {
        status = arap_fail_memory(&context->error, "the biharmonic weights");
        goto done;
    }
    memset(z, 0, entries * sizeof *z);
    for (int k = 0; k < MOST_ITERATIONS && !(most < TOLERANCE) && !status; k++) {
        arap_parallel(context, block->columns, prepare_column, &a);
        status = arap_factor_solve_all(context, block->factor, block->columns, a.w);
        if (status) break;
        arap_parallel(context, block->columns, clip_column, &a);
        most = 0;
        for (int c = 0; c < block->columns; c++) most = fmax(most, a.change[c]);
        if (!isfinite(most)) {
            status = arap_fail(&context->error, ARAP_NOT_FINITE,
                               "the biharmonic weights are not finite");
            break;
        }
        status = arap_progress(context, "biharmonic weights",
                               block->progress + block->part * k / MOST_ITERATIONS);
    }

done:
    arap_free(a.w);
    arap_free(a.u);
    arap_free(a.change);
    return status;
}

arap_status arap_bbw(arap_context *context, const arap_mesh *mesh, const arap_skeleton *skeleton,
                     const arap_visibility *visibility, double floor, arap_influences *out) {
    return arap_biharmonic_solve(context, mesh, skeleton, visibility, PENALTY, solve_bounded, floor,
                                 out);
}
