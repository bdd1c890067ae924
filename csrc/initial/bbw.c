/* Bounded biharmonic weights: see bbw.h.
 *
 *   min 1/2 w_b' Q w_b,  Q = L M^-1 L,  0 <= w_b <= 1,  for each bone b,
 *   w_b = 1 at the handles of b, 0 at those of other bones.
 *
 * L: Laplacian of the tets, with springs for wires and links; M: cell volumes. Where bones share a
 * handle each has an equal part of it. As in the paper the sum to 1 is left to a normalization
 * at the end: with it as a constraint the bones would have to be solved for together.
 *
 * Bounds: ADMM with w = z, z in the bounds,
 *     (Q + rho D) w = rho D (z - u) - Q_h w_h,  z = clip(w' + u),  u += w' - z,
 * w' = RELAXATION w + (1 - RELAXATION) z over-relaxed, D the diagonal of Q: the matrix is that of
 * all bones and iterations, one factorization. (With D = M, volumes of very different size make
 * thousands of iterations out of the hundreds that this takes.) It stops when no weight
 * changes by more than TOLERANCE nor is off its bounds by as much, or after MOST_ITERATIONS: these
 * are weights to begin with. Cells of almost no volume count as larger ones.
 *
 * Q couples two-rings: its factor has about n^(4/3) entries, several times those of L's; a few
 * thousand vertices take seconds, which is why they are made on the coarsest level. Fails
 * without memory, where the system cannot be factorized and for weights that are not finite. */
#include "initial/bbw.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "initial/handles.h"
#include "linalg/factor.h"
#include "mesh/two_rings.h"

#define PENALTY 0.02        /* rho */
#define RELAXATION 1.6      /* usual for ADMM */
#define TOLERANCE 1e-3      /* of a weight */
#define MOST_ITERATIONS 500 /* for a block of bones */
#define BLOCK_PER_THREAD 32

typedef struct admm {
    int size;             /* vertices without handle */
    const double *weight; /* (size) rho D */
    double *pull;         /* (columns, size) -Q_h w_h */
    double *w, *z, *u;    /* (columns, size) */
    double *change;       /* (columns) largest residual */
} admm;

static void prepare_column(void *data, int column, int worker) {
    (void)worker;
    const admm *a = data;
    size_t first = (size_t)column * (size_t)a->size;
    for (size_t k = 0; k < (size_t)a->size; k++) {
        size_t at = first + k;
        a->w[at] = a->pull[at] + a->weight[k] * (a->z[at] - a->u[at]);
    }
}

static void clip_column(void *data, int column, int worker) {
    (void)worker;
    const admm *a = data;
    size_t first = (size_t)column * (size_t)a->size;
    double most = 0;
    for (size_t at = first; at < first + (size_t)a->size; at++) {
        double before = a->z[at], relaxed = RELAXATION * a->w[at] + (1 - RELAXATION) * before,
               sum = relaxed + a->u[at], z = fmin(fmax(sum, 0), 1);
        a->u[at] = sum - z;
        a->z[at] = z;
        most = fmax(most, fmax(fabs(z - before), fabs(a->w[at] - z)));
    }
    a->change[column] = most;
}

/* Iterate the columns of one block of bones. */
static arap_status iterate(arap_context *context, const admm *a, arap_factor *factor, int columns,
                           double done, double share) {
    arap_status status = ARAP_OK;
    double most = 1;
    for (int k = 0; k < MOST_ITERATIONS && !(most < TOLERANCE) && !status; k++) {
        arap_parallel(context, columns, prepare_column, (void *)a);
        status = arap_factor_solve_all(context, factor, columns, a->w);
        if (status) break;
        arap_parallel(context, columns, clip_column, (void *)a);
        most = 0;
        for (int c = 0; c < columns; c++) most = a->change[c] > most ? a->change[c] : most;
        if (!isfinite(most))
            return arap_fail(&context->error, ARAP_NOT_FINITE,
                             "the biharmonic weights are not finite");
        status = arap_progress(context, "biharmonic weights",
                               done + share * k / (double)MOST_ITERATIONS);
    }
    return status;
}

/* -Q_h w_h of the bones from..from + columns - 1. */
static void pull_columns(const arap_two_rings *q, const arap_handles *list, const int *place,
                         int from, int columns, int size, double *out) {
    memset(out, 0, (size_t)columns * (size_t)size * sizeof *out);
    for (int h = 0; h < list->count; h++) {
        int column = list->handle[h].bone - from, i = list->handle[h].vertex;
        if (column < 0 || column >= columns) continue;
        for (size_t r = q->ring[i]; r < q->ring[i + 1]; r++) {
            int at = place[q->neighbor[r]];
            if (at >= 0)
                out[(size_t)column * (size_t)size + (size_t)at] -= q->edge[r] / list->bones[i];
        }
    }
}

/* Normalized rows of the weights above floor, (bones, size), and those of the handles. */
static arap_status gather(arap_context *context, const arap_mesh *mesh,
                          const arap_visibility *visibility, const arap_handles *list,
                          const int *place, int size, int bones, const double *weights,
                          double floor, arap_influences *out) {
    int n = mesh->count;
    int *sizes = ARAP_NEW_ZERO(int, n);
    if (!sizes) return arap_fail_memory(&context->error, "the biharmonic weights");
    for (int i = 0; i < n; i++) {
        sizes[i] = list->bones[i];
        for (int b = 0; b < bones && place[i] >= 0; b++)
            sizes[i] += weights[(size_t)b * (size_t)size + (size_t)place[i]] > floor;
        if (!sizes[i]) sizes[i] = 1;
    }
    arap_status status = arap_influences_create(context, n, sizes, out);
    if (status) goto done;
    memset(sizes, 0, (size_t)n * sizeof *sizes);
    for (int h = 0; h < list->count; h++) { /* bones ascending */
        int i = list->handle[h].vertex;
        size_t at = out->start[i] + (size_t)sizes[i]++;
        out->weight[at] = 1;
        for (; at > out->start[i] && out->bone[at - 1] > list->handle[h].bone; at--)
            out->bone[at] = out->bone[at - 1];
        out->bone[at] = list->handle[h].bone;
    }
    for (int i = 0; i < n; i++) {
        for (int b = 0; b < bones && place[i] >= 0; b++) {
            double w = weights[(size_t)b * (size_t)size + (size_t)place[i]];
            if (!(w > floor)) continue;
            size_t at = out->start[i] + (size_t)sizes[i]++;
            out->bone[at] = b;
            out->weight[at] = w;
        }
        if (sizes[i]) continue;
        out->bone[out->start[i]] = visibility->nearest[(size_t)i * ARAP_MOST_SHARED];
        out->weight[out->start[i]] = 1;
    }
    arap_influences_normalize(out);

done:
    arap_free(sizes);
    return status;
}

arap_status arap_bbw(arap_context *context, const arap_mesh *mesh, const arap_skeleton *skeleton,
                     const arap_visibility *visibility, double floor, arap_influences *out) {
    int n = mesh->count, bones = skeleton->deform_count, size = 0;
    int block =
        BLOCK_PER_THREAD * context->threads < bones ? BLOCK_PER_THREAD * context->threads : bones;
    arap_handles list = {0};
    arap_two_rings q = {0};
    arap_matrix matrix = {0};
    arap_factor *factor = NULL;
    double *weights = NULL, *weight = NULL;
    admm a = {0};
    int *vertex = ARAP_NEW(int, n), *place = ARAP_NEW(int, n);
    arap_status status = ARAP_OK;
    if (!vertex || !place) goto no_memory;
    status = arap_find_handles(context, mesh, skeleton, visibility, &list);
    if (!status) status = arap_bilaplacian(context, mesh, &q);
    if (!status) status = arap_fill_reducing_order(context, n, q.ring, q.neighbor, vertex);
    if (status) goto done;
    for (int i = 0; i < n; i++) place[i] = -1;
    for (int k = 0; k < n; k++) {
        if (list.bones[vertex[k]]) continue;
        place[vertex[k]] = size;
        vertex[size++] = vertex[k];
    }
    size_t columns = (size_t)block * (size_t)size;
    weight = ARAP_NEW(double, size);
    weights = ARAP_NEW_ZERO(double, (size_t)bones * (size_t)size);
    a = (admm){.size = size,
               .weight = weight,
               .pull = ARAP_NEW(double, columns),
               .w = ARAP_NEW(double, columns),
               .u = ARAP_NEW(double, columns),
               .change = ARAP_NEW(double, block)};
    if (!weight || !weights || !a.pull || !a.w || !a.u || !a.change) goto no_memory;
    for (int k = 0; k < size; k++) weight[k] = PENALTY * q.own[vertex[k]];
    status = arap_two_rings_matrix(context, &q, size, vertex, place, 1 + PENALTY, &matrix);
    if (!status && size) status = arap_factor_create(context, &matrix, &factor);
    for (int from = 0; from < bones && size && !status; from += block) {
        int width = bones - from < block ? bones - from : block;
        a.z = weights + (size_t)from * (size_t)size;
        memset(a.u, 0, columns * sizeof *a.u);
        pull_columns(&q, &list, place, from, width, size, a.pull);
        status = iterate(context, &a, factor, width, (double)from / bones,
                         (double)width / (double)bones);
    }
    if (!status)
        status = gather(context, mesh, visibility, &list, place, size, bones, weights, floor, out);
    goto done;

no_memory:
    status = arap_fail_memory(&context->error, "the biharmonic weights");
done:
    arap_factor_free(factor);
    arap_matrix_clear(&matrix);
    arap_two_rings_clear(&q);
    arap_handles_clear(&list);
    arap_free(vertex);
    arap_free(place);
    arap_free(weight);
    arap_free(weights);
    arap_free(a.pull);
    arap_free(a.w);
    arap_free(a.u);
    arap_free(a.change);
    return status;
}
