/* Inpainting: see pair.h.
 *
 *   min 1/2 w' Q w with w given at the known vertices,  Q = L M^-1 L
 *
 * (Abdrashitov et al. 2023, section 3.2). The system Q_uu w_u = -Q_uk w_k is solved for each
 * column, with one factorization for all columns. The result is smooth across the border of the
 * known vertices. The method reproduces constants, so weights still sum to 1, but single weights
 * may leave [0, 1] slightly.
 *
 * Q squares the condition number of L. Slivers, and islands tied to a single known vertex, can
 * leave only rounding errors, and the constant 1 is then not reproduced. In this case, the harmonic
 * functions of a Laplacian with positive conductances are used instead, which are less smooth but
 * always valid. The factorization takes about O(u^1.5) for u unknown vertices, and each column
 * takes O(u log u). The factor has about 100 numbers for each unknown. Fails on out-of-memory and
 * when cancelled.
 * */
#include "transfer/pair.h"

#include <math.h>

#include "base/memory.h"
#include "mesh/laplacian.h"
#include "mesh/two_rings.h"

#define OFF 1e-5             /* maximum deviation of the reproduced constant 1 from 1 */
#define MIN_CONDUCTANCE 1e-6 /* minimum for the harmonic functions, as a share of the mean */

/* L as a matrix of one-rings, with conductances above 0. */
static arap_status make_laplacian(arap_context *context, const arap_mesh *mesh,
                                  arap_two_rings *out) {
    size_t n = (size_t)mesh->count, directed = mesh->ring[n];
    double mean = 0;
    *out = (arap_two_rings){0};
    out->ring = ARAP_TAKE(&out->arena, n + 1, size_t);
    out->neighbor = ARAP_TAKE(&out->arena, directed, int);
    out->edge = ARAP_TAKE(&out->arena, directed, double);
    out->own = ARAP_TAKE_ZERO(&out->arena, n, double);
    arap_status status = arap_arena_status(&out->arena, &context->error, "the Laplacian");
    if (status) return status;
    arap_conductances(mesh, out->edge);
    for (size_t e = 0; e < directed; e++) mean += fabs(out->edge[e]) / (double)directed;
    double min = mean > 0 ? MIN_CONDUCTANCE * mean : 1;
    for (size_t i = 0; i <= n; i++) out->ring[i] = mesh->ring[i];
    for (size_t i = 0; i < n; i++)
        for (size_t e = mesh->ring[i]; e < mesh->ring[i + 1]; e++) {
            double conductance = fmax(out->edge[e], min);
            out->neighbor[e] = mesh->neighbor[e];
            out->edge[e] = -conductance;
            out->own[i] += conductance;
        }
    return ARAP_OK;
}

typedef struct unknowns {
    int size;
    int *vertex; /* (size) in elimination order; allocated for all vertices */
    int *place;  /* (vertices) -1: known */
} unknowns;

static arap_status find_unknowns(arap_context *context, const arap_two_rings *q, int n,
                                 const char *known, unknowns *u) {
    arap_status status = arap_fill_reducing_order(context, n, q->ring, q->neighbor, u->vertex);
    if (status) return status;
    u->size = 0;
    for (int i = 0; i < n; i++) u->place[i] = -1;
    for (int k = 0; k < n; k++) {
        if (known[u->vertex[k]]) continue;
        u->place[u->vertex[k]] = u->size;
        u->vertex[u->size++] = u->vertex[k];
    }
    return ARAP_OK;
}

/* -Q_uk w_k; values NULL: of the constant 1. */
static void make_right_side(const arap_two_rings *q, const unknowns *u, const double *values,
                            double *out) {
    for (int j = 0; j < u->size; j++) {
        int i = u->vertex[j];
        out[j] = 0;
        for (size_t r = q->ring[i]; r < q->ring[i + 1]; r++) {
            int k = q->neighbor[r];
            if (u->place[k] < 0) out[j] -= q->edge[r] * (values ? values[k] : 1);
        }
    }
}

/* Factorize, and solve for the constant 1; *good: whether it was reproduced. x (size). */
static arap_status factorize(arap_context *context, const arap_two_rings *q, const unknowns *u,
                             double *x, arap_factor **factor, int *good) {
    arap_matrix matrix = {0};
    *good = 0;
    arap_status status = arap_two_rings_matrix(context, q, u->size, u->vertex, u->place, &matrix);
    if (!status) status = arap_factor_create(context, &matrix, factor);
    arap_matrix_clear(&matrix);
    if (status == ARAP_NOT_FACTORED) {
        context->error = (arap_error){0};
        return ARAP_OK;
    }
    if (status) return status;
    make_right_side(q, u, NULL, x);
    status = arap_factor_solve(context, *factor, x);
    *good = 1;
    for (int j = 0; j < u->size; j++)
        if (!(fabs(x[j] - 1) <= OFF)) *good = 0;
    return status;
}

static arap_status solve(arap_context *context, const arap_two_rings *q, const unknowns *u,
                         arap_factor *factor, int n, int columns, int block, double *x,
                         double *values) {
    arap_status status = ARAP_OK;
    for (int from = 0; from < columns && !status; from += block) {
        int width = columns - from < block ? columns - from : block;
        for (int c = 0; c < width; c++)
            make_right_side(q, u, values + (size_t)(from + c) * (size_t)n,
                            x + (size_t)c * (size_t)u->size);
        status = arap_factor_solve_all(context, factor, width, x);
        for (int c = 0; c < width && !status; c++)
            for (int j = 0; j < u->size; j++)
                values[(size_t)(from + c) * (size_t)n + (size_t)u->vertex[j]] =
                    x[(size_t)c * (size_t)u->size + (size_t)j];
        if (!status)
            status = arap_progress(context, "inpainting", (from + width) / (double)columns);
    }
    return status;
}

arap_status arap_inpaint(arap_context *context, const arap_mesh *mesh, const char *known,
                         int columns, double *values) {
    arap_arena arena = {0};
    int n = mesh->count, good = 0, block = ARAP_RIGHT_SIDES * context->threads, missing = 0;
    if (block > columns) block = columns;
    arap_two_rings q = {0};
    arap_factor *factor = NULL;
    unknowns u = {.vertex = ARAP_TAKE(&arena, n, int), .place = ARAP_TAKE(&arena, n, int)};
    double *x = NULL;
    for (int i = 0; i < n; i++) missing += !known[i];
    x = ARAP_TAKE(&arena, (size_t)missing * (size_t)(block > 1 ? block : 1), double);
    arap_status status = arap_arena_status(&arena, &context->error, "inpainting");
    if (status) goto done;
    if (!missing || !columns) goto done;
    for (int harmonic = 0; harmonic < 2 && !good && !status; harmonic++) {
        arap_two_rings_clear(&q);
        arap_factor_free(factor);
        factor = NULL;
        status = arap_progress(context, "inpainting", 0);
        if (!status)
            status =
                harmonic ? make_laplacian(context, mesh, &q) : arap_bilaplacian(context, mesh, &q);
        if (!status) status = find_unknowns(context, &q, n, known, &u);
        if (!status) status = factorize(context, &q, &u, x, &factor, &good);
    }
    if (!status && !good)
        status = arap_fail(&context->error, ARAP_NOT_FACTORED,
                           "the matched values cannot be continued over the target");
    if (!status) status = solve(context, &q, &u, factor, n, columns, block, x, values);

done:
    arap_factor_free(factor);
    arap_two_rings_clear(&q);
    arap_arena_clear(&arena);
    return status;
}
