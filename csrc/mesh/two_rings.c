/* Products of two Laplacians: see two_rings.h.
 *
 *   h_kl = sum_i L_ik factor_i L_il
 *
 * With the factor 1 / M, the product is the bi-Laplacian Q = L M^-1 L. Cells of almost no size are
 * treated as larger, and wires as springs with a stiffness of at most MAX_WIRE, because otherwise Q
 * could not be factorized. On a mesh whose edges are much longer than the mesh is thick, rounding
 * can still make Q indefinite. The diagonal of Q is then raised by the smallest sufficient amount.
 *
 * Takes O(vertices x ring^2) time in two passes: the first computes the sizes of the rows, the
 * second their entries. Fails on out-of-memory, and with ARAP_NOT_FACTORED if MAX_SHIFT does not
 * suffice. */
#include "mesh/two_rings.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "mesh/laplacian.h"

#define MAX_WIRE 10.0 /* conductance of wires, times the thickness */
#define MIN_CELL 1e-4 /* minimum area or volume of a cell, as a share of the mean */
/* The share by which a diagonal is raised if the factorization fails. */
#define MIN_SHIFT 1e-12
#define SHIFT_GROWTH 1e3
#define MAX_SHIFT 1e-4

typedef struct build {
    const arap_mesh *mesh;
    const double *factor;      /* (vertices) delta c_i */
    const double *conductance; /* (edges) -L_ik */
    double *own;               /* (vertices) L_ii */
    int *mark;                 /* (vertices) the last vertex that listed this one, plus 1 */
    int *listed;               /* (vertices) two-ring of the current vertex */
    double *sum;               /* (vertices) h between the current vertex and those listed */
} build;

/* Add factor L_i. to the sums of vertex k. Returns the new number of listed vertices. */
static int add_row(const build *b, int k, int i, double factor, int count) {
    const arap_mesh *mesh = b->mesh;
    b->sum[i] += factor * b->own[i];
    for (size_t r = mesh->ring[i]; r < mesh->ring[i + 1]; r++) {
        int l = mesh->neighbor[r];
        if (b->conductance[r] == 0) continue;
        if (b->mark[l] != k + 1) {
            b->mark[l] = k + 1;
            b->sum[l] = 0;
            b->listed[count++] = l;
        }
        b->sum[l] -= factor * b->conductance[r];
    }
    return count;
}

/* Compute the two-ring of vertex k, which includes its one-ring, and its sums. */
static int list_two_ring(const build *b, int k) {
    const arap_mesh *mesh = b->mesh;
    int count = 0;
    b->mark[k] = k + 1;
    b->sum[k] = 0;
    for (size_t r = mesh->ring[k]; r < mesh->ring[k + 1]; r++) {
        b->mark[mesh->neighbor[r]] = k + 1;
        b->sum[mesh->neighbor[r]] = 0;
        b->listed[count++] = mesh->neighbor[r];
    }
    if (b->factor[k] != 0) count = add_row(b, k, k, b->factor[k] * b->own[k], count);
    for (size_t r = mesh->ring[k]; r < mesh->ring[k + 1]; r++) {
        int i = mesh->neighbor[r];
        if (b->conductance[r] != 0 && b->factor[i] != 0)
            count = add_row(b, k, i, -b->factor[i] * b->conductance[r], count);
    }
    for (int a = 1; a < count; a++) { /* ascending */
        int l = b->listed[a], at = a;
        for (; at > 0 && b->listed[at - 1] > l; at--) b->listed[at] = b->listed[at - 1];
        b->listed[at] = l;
    }
    return count;
}

static void fill_row(const build *b, int k, int count, arap_two_rings *out) {
    const arap_mesh *mesh = b->mesh;
    out->own[k] = b->sum[k];
    for (int a = 0; a < count; a++) {
        int l = b->listed[a];
        size_t at = out->ring[k] + (size_t)a, e = arap_mesh_find_edge(mesh, k, l);
        int joined = e < mesh->ring[k + 1] && mesh->neighbor[e] == l;
        out->neighbor[at] = l;
        out->edge_weight_sym[at] = joined ? mesh->edge_weight_sym[e] : 0;
        out->edge[at] = b->sum[l];
    }
}

arap_status arap_two_rings_create(arap_context *context, const arap_mesh *mesh,
                                  const double *factor, const double *conductance,
                                  arap_two_rings *out) {
    size_t n = (size_t)mesh->count;
    arap_arena arena = {0};
    build b = {.mesh = mesh,
               .factor = factor,
               .conductance = conductance,
               .own = ARAP_TAKE_ZERO(&arena, n, double),
               .mark = ARAP_TAKE_ZERO(&arena, n, int),
               .listed = ARAP_TAKE(&arena, n, int),
               .sum = ARAP_TAKE(&arena, n, double)};
    *out = (arap_two_rings){0};
    out->ring = ARAP_TAKE_ZERO(&out->arena, n + 1, size_t);
    out->own = ARAP_TAKE(&out->arena, n, double);
    arap_status status = arap_arena_status(&arena, &context->error, "the two-rings");
    if (!status) status = arap_arena_status(&out->arena, &context->error, "the two-rings");
    if (status) goto done;
    for (size_t i = 0; i < n; i++)
        for (size_t r = mesh->ring[i]; r < mesh->ring[i + 1]; r++) b.own[i] += conductance[r];
    for (int fill = 0; fill < 2; fill++) {
        memset(b.mark, 0, n * sizeof *b.mark);
        for (int k = 0; k < mesh->count; k++) {
            int count = list_two_ring(&b, k);
            if (fill) {
                fill_row(&b, k, count, out);
                continue;
            }
            out->ring[k + 1] = out->ring[k] + (size_t)count;
            if (count > out->largest_ring) out->largest_ring = count;
        }
        if (fill) break;
        out->neighbor = ARAP_TAKE(&out->arena, out->ring[n], int);
        out->edge_weight_sym = ARAP_TAKE(&out->arena, out->ring[n], double);
        out->edge = ARAP_TAKE(&out->arena, out->ring[n], double);
        status = arap_arena_status(&out->arena, &context->error, "the two-rings");
        if (status) goto done;
    }

done:
    arap_arena_clear(&arena);
    if (status) arap_two_rings_clear(out);
    return status;
}

arap_status arap_bilaplacian(arap_context *context, const arap_mesh *mesh, arap_two_rings *out) {
    arap_arena arena = {0};
    size_t n = (size_t)mesh->count;
    double *conductance = ARAP_TAKE(&arena, mesh->ring[n], double),
           *inverse = ARAP_TAKE(&arena, n, double), mean = 0;
    arap_status status;
    status = arap_arena_status(&arena, &context->error, "the bi-Laplacian");
    if (status) goto done;
    arap_conductances(mesh, conductance);
    for (size_t e = 0; e < mesh->ring[n]; e++)
        if (mesh->kind[e] == ARAP_EDGE_WIRE)
            conductance[e] = fmin(conductance[e], MAX_WIRE * mesh->thickness);
    for (size_t i = 0; i < n; i++) mean += mesh->area[i] / (double)n;
    for (size_t i = 0; i < n; i++) inverse[i] = 1 / fmax(mesh->area[i], MIN_CELL * mean);
    status = arap_two_rings_create(context, mesh, inverse, conductance, out);

done:
    arap_arena_clear(&arena);
    return status;
}

arap_status arap_two_rings_matrix(arap_context *context, const arap_two_rings *h, int size,
                                  const int *vertex, const int *place, arap_matrix *out) {
    size_t max = (size_t)size;
    for (int j = 0; j < size; j++)
        for (size_t r = h->ring[vertex[j]]; r < h->ring[vertex[j] + 1]; r++)
            max += place[h->neighbor[r]] > j;
    *out = (arap_matrix){.size = size,
                         .start = ARAP_NEW(int, size + 1),
                         .row = ARAP_NEW(int, max),
                         .value = ARAP_NEW(double, max)};
    if (!out->start || !out->row || !out->value) {
        arap_matrix_clear(out);
        return arap_fail_memory(&context->error, "the matrix of two-rings");
    }
    int fill = 0;
    for (int j = 0; j < size; j++) {
        int k = vertex[j], begin = fill;
        out->start[j] = fill;
        out->row[fill] = j;
        out->value[fill++] = h->own[k];
        for (size_t r = h->ring[k]; r < h->ring[k + 1]; r++) {
            int i = place[h->neighbor[r]], at = fill;
            if (i < j || i >= size || vertex[i] != h->neighbor[r]) continue; /* of another block */
            for (; at > begin + 1 && out->row[at - 1] > i; at--) {
                out->row[at] = out->row[at - 1];
                out->value[at] = out->value[at - 1];
            }
            out->row[at] = i;
            out->value[at] = h->edge[r];
            fill++;
        }
    }
    out->start[size] = fill;
    return ARAP_OK;
}

arap_status arap_two_rings_factor(arap_context *context, arap_matrix *matrix, const double *own,
                                  double diagonal, arap_factor **factor) {
    arap_status status;
    for (double more = 0;; more = more > 0 ? SHIFT_GROWTH * more : MIN_SHIFT) {
        for (int j = 0; j < matrix->size; j++)
            matrix->value[matrix->start[j]] = (diagonal + more) * own[j];
        status = *factor ? arap_factor_update(context, *factor, matrix)
                         : arap_factor_create(context, matrix, factor);
        if (status != ARAP_NOT_FACTORED || more > MAX_SHIFT) return status;
        context->error = (arap_error){0};
    }
}

void arap_two_rings_clear(arap_two_rings *harmonic) {
    arap_arena_clear(&harmonic->arena);
    *harmonic = (arap_two_rings){0};
}
