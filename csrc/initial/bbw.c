/* Bounded biharmonic weights: see biharmonic.h.
 *
 *   min 1/2 w_b' Q w_b,  Q = L M^-1 L,  0 <= w_b <= 1,  for each bone b,
 *   w_b = 1 at the handles of b, 0 at those of other bones.
 *
 * The handles, L and M are those of biharmonic.c, on tets as in the paper, or on surfaces. As in
 * the paper, a normalization at the end makes the weights sum to 1, because a constraint on the sum
 * would couple all bones.
 *
 * ADMM enforces the bounds, with w = z and z within the bounds:
 *     (Q + rho D) w = rho D (z - u) - Q_h w_h,  z = clip(w' + u),  u += w' - z,
 * where w' = RELAXATION w + (1 - RELAXATION) z is over-relaxed, and D is the diagonal of Q. All
 * bones of a block share the matrix Q + rho D. (With D = M, volumes of very different size would
 * need thousands of iterations instead of hundreds.) The iterations start from the unconstrained
 * solution, clipped to the bounds, which on a surface is already close to the result. rho is
 * adapted to the residuals, and each change of rho requires a new factorization. The iterations
 * stop when no weight changes by more than TOLERANCE or exceeds its bounds by more than TOLERANCE,
 * or after MAX_ITERATIONS. This tolerance is sufficient for initial weights. Cells of almost no
 * volume are treated as larger.
 *
 * Uses the factor of biharmonic.c, with the same cost and failures. Each iteration takes one solve
 * per bone. */

#include <math.h>

#include "base/memory.h"
#include "mesh/two_rings.h"
#include "initial/biharmonic.h"

#define PENALTY 0.02 /* rho at first */
#define MIN_PENALTY 1e-6
#define MAX_PENALTY 1e3
#define RELAXATION 1.6     /* usual for ADMM */
#define TOLERANCE 1e-3     /* tolerance of a weight */
#define MAX_ITERATIONS 500 /* for a block of bones */
#define ADAPT_EVERY 20     /* iterations */
#define ADAPT_FROM 2       /* times as large or small */

typedef struct admm {
    const arap_biharmonic_block *block;
    double penalty;
    double *w, *z, *u;                     /* (columns, size) */
    double *off_bounds, *change, *largest; /* (columns) norms of w - z, of z and of u */
} admm;

static void prepare_column(void *data, int column, int worker) {
    (void)worker;
    const admm *a = data;
    size_t size = (size_t)a->block->size, first = (size_t)column * size;
    for (size_t k = 0; k < size; k++) {
        size_t at = first + k;
        a->w[at] = a->block->pull[at] + a->penalty * a->block->own[k] * (a->z[at] - a->u[at]);
    }
}

static void clip_column(void *data, int column, int worker) {
    (void)worker;
    const admm *a = data;
    size_t size = (size_t)a->block->size, first = (size_t)column * size;
    double off = 0, change = 0, largest = 0;
    for (size_t at = first; at < first + size; at++) {
        double before = a->z[at], relaxed = RELAXATION * a->w[at] + (1 - RELAXATION) * before,
               sum = relaxed + a->u[at], z = fmin(fmax(sum, 0), 1);
        a->u[at] = sum - z;
        a->z[at] = z;
        off = fmax(off, isfinite(sum) ? fabs(a->w[at] - z) : INFINITY);
        change = fmax(change, fabs(z - before));
        largest = fmax(largest, fabs(a->u[at]));
    }
    a->off_bounds[column] = off;
    a->change[column] = change;
    a->largest[column] = largest;
}

static double largest_of(const double *values, int count) {
    double max = 0;
    for (int c = 0; c < count; c++) max = fmax(max, values[c]);
    return max;
}

/* Change the penalty if one of the two relative residuals is much larger.
 */
static arap_status adapt(arap_context *context, admm *a, double off, double change) {
    const arap_biharmonic_block *block = a->block;
    double largest = largest_of(a->largest, block->columns);
    double wanted = a->penalty * sqrt(off * largest / fmax(change, 1e-12));
    arap_factor *factor = block->factor;
    wanted = fmin(fmax(wanted, MIN_PENALTY), MAX_PENALTY);
    if (!(largest > 0) || fmax(wanted / a->penalty, a->penalty / wanted) < ADAPT_FROM)
        return ARAP_OK;
    for (size_t at = 0; at < (size_t)block->columns * (size_t)block->size; at++)
        a->u[at] *= a->penalty / wanted;
    a->penalty = wanted;
    return arap_two_rings_factor(context, block->matrix, block->own, 1 + a->penalty, &factor);
}

static arap_status iterate(arap_context *context, admm *a) {
    const arap_biharmonic_block *block = a->block;
    arap_factor *factor = block->factor;
    arap_status status =
        arap_two_rings_factor(context, block->matrix, block->own, 1 + a->penalty, &factor);
    for (int k = 1; k <= MAX_ITERATIONS && !status; k++) {
        status = arap_parallel(context, block->columns, prepare_column, a);
        if (!status) status = arap_factor_solve_all(context, block->factor, block->columns, a->w);
        if (!status) status = arap_parallel(context, block->columns, clip_column, a);
        if (status) break;
        double off = largest_of(a->off_bounds, block->columns),
               change = largest_of(a->change, block->columns);
        if (!isfinite(off))
            return arap_fail(&context->error, ARAP_NOT_FINITE,
                             "the biharmonic weights are not finite");
        if (off < TOLERANCE && change < TOLERANCE) break;
        status = arap_progress(context, "biharmonic weights",
                               block->progress + block->part * k / MAX_ITERATIONS);
        if (!status && k % ADAPT_EVERY == 0) status = adapt(context, a, off, change);
    }
    return status;
}

/* Compute z (columns, size), which replaces w. */
static arap_status bound(arap_context *context, const arap_biharmonic_block *block, double *z) {
    arap_arena arena = {0};
    size_t columns = (size_t)block->columns, entries = columns * (size_t)block->size;
    int outside = 0;
    admm a = {.block = block,
              .penalty = PENALTY,
              .w = ARAP_TAKE(&arena, entries, double),
              .z = z,
              .u = ARAP_TAKE_ZERO(&arena, entries, double),
              .off_bounds = ARAP_TAKE(&arena, columns, double),
              .change = ARAP_TAKE(&arena, columns, double),
              .largest = ARAP_TAKE(&arena, columns, double)};
    arap_status status = arap_arena_status(&arena, &context->error, "the biharmonic weights");
    if (status) goto done;
    for (size_t at = 0; at < entries; at++) {
        outside |= !(z[at] > -TOLERANCE && z[at] < 1 + TOLERANCE);
        z[at] = fmin(fmax(z[at], 0), 1);
    }
    if (outside) status = iterate(context, &a);

done:
    arap_arena_clear(&arena);
    return status;
}

arap_status arap_bbw(arap_context *context, const arap_mesh *mesh, const arap_skeleton *skeleton,
                     const arap_visibility *visibility, const arap_handles *given, double floor,
                     arap_influences *out) {
    return arap_biharmonic_solve(context, mesh, skeleton, visibility, given, bound, floor, out);
}
