/* Assembly of the global step: see system.h and docs/energy.md 4.
 *
 * Blocks of F (stiffness.h, harmonic.h) are formed between neighbors, reduced by Z and written
 * to the column of the earlier one; columns of different vertices are independent and run in
 * parallel. O(edges x influences^2) time; memory is that of A. Fails without memory and for more
 * non-zeros than an int counts. */
#include "solver/system.h"

#include <limits.h>
#include <string.h>

#include "base/memory.h"
#include "energy/stiffness.h"

#define CHUNK 64

typedef struct assembly {
    const arap_mesh *mesh;
    const arap_poses *poses;
    const arap_two_rings *harmonic;
    const arap_influences *in;
    /* The vertices that share blocks: one-rings, two-rings with the harmonic term. */
    const size_t *ring;
    const int *neighbor;
    const double *edge_weight_sym;
    int largest_ring;
    const int *order, *place;
    arap_system *system;
    double *block; /* (workers, widest * widest + largest ring) */
    int widest;
} assembly;

static size_t row_size(const arap_influences *in, int i) { return in->start[i + 1] - in->start[i]; }

/* arap_gram_block, and `same` between influences of one bone. */
static void form_block(const assembly *a, int k, int l, double factor, double same, double *block) {
    const arap_influences *in = a->in;
    size_t height = row_size(in, k), width = row_size(in, l);
    if (factor == 0)
        memset(block, 0, height * width * sizeof *block);
    else
        arap_gram_block(a->mesh, a->poses, in, k, l, factor, block);
    if (same == 0) return;
    for (size_t p = 0; p < height; p++) {
        ptrdiff_t q = arap_find_influence(in, l, in->bone[in->start[k] + p]);
        if (q >= 0) block[p * width + ((size_t)q - in->start[l])] += same;
    }
}

/* Write rows [offset_k, offset_k + size_k) of the columns of l, from position `at` of the first
 * column on; for the diagonal block only the lower triangle. */
static void write_block(const assembly *a, int k, int l, const double *block, int at) {
    const arap_influences *in = a->in;
    arap_system *s = a->system;
    size_t width = row_size(in, l);
    if (!s->size[k] || !s->size[l]) return;
    size_t k0 = s->eliminated[k] - in->start[k], l0 = s->eliminated[l] - in->start[l];
    for (int u = 0; u < s->size[l]; u++) {
        size_t q = s->entry[s->offset[l] + u] - in->start[l];
        /* Column u is u entries shorter: the diagonal block above it is missing. */
        double *value = s->matrix.value + s->matrix.start[s->offset[l] + u] + at - u;
        int *row = s->matrix.row + s->matrix.start[s->offset[l] + u] + at - u;
        for (int t = k == l ? u : 0; t < s->size[k]; t++) {
            size_t p = s->entry[s->offset[k] + t] - in->start[k];
            value[t] = block[p * width + q] - block[k0 * width + q] - block[p * width + l0] +
                       block[k0 * width + l0];
            row[t] = s->offset[k] + t;
        }
    }
}

static void assemble_vertex(const assembly *a, int l, double *block, int *later) {
    const arap_two_rings *h = a->harmonic;
    arap_system *s = a->system;
    const int *ring = a->neighbor + a->ring[l];
    double sum = 0;
    int later_count = 0;
    if (!s->size[l]) return;
    for (size_t r = a->ring[l]; r < a->ring[l + 1]; r++) {
        sum += a->edge_weight_sym[r];
        int k = a->neighbor[r];
        if (a->place[k] < a->place[l] || !s->size[k]) continue;
        int at = later_count++; /* ascending in elimination order */
        for (; at > 0 && a->place[ring[later[at - 1]]] > a->place[k]; at--)
            later[at] = later[at - 1];
        later[at] = (int)(r - a->ring[l]);
    }
    sum += arap_mesh_tie(a->mesh, l, NULL);
    form_block(a, l, l, sum, h->own ? h->own[l] : 0, block);
    write_block(a, l, l, block, 0);
    int at = s->size[l];
    for (int j = 0; j < later_count; j++) {
        int k = ring[later[j]];
        size_t r = a->ring[l] + (size_t)later[j];
        form_block(a, k, l, -a->edge_weight_sym[r], h->edge ? h->edge[r] : 0, block);
        write_block(a, k, l, block, at);
        at += s->size[k];
    }
}

static void assemble_chunk(void *data, int chunk, int worker) {
    const assembly *a = data;
    double *block = a->block + (size_t)worker * ((size_t)a->widest * (size_t)a->widest +
                                                 (size_t)a->largest_ring);
    int *later = (int *)(block + (size_t)a->widest * (size_t)a->widest);
    int end = (chunk + 1) * CHUNK < a->mesh->count ? (chunk + 1) * CHUNK : a->mesh->count;
    for (int j = chunk * CHUNK; j < end; j++) assemble_vertex(a, a->order[j], block, later);
}

/* Number the unknowns in elimination order. */
static void number_unknowns(const arap_influences *in, const int *order, arap_system *s) {
    int fill = 0;
    for (int j = 0; j < in->count; j++) {
        int i = order[j], found = 0;
        s->offset[i] = fill;
        for (size_t e = in->start[i]; e < in->start[i + 1]; e++) {
            if (in->locked[e]) continue;
            if (!found++)
                s->eliminated[i] = e;
            else
                s->entry[fill++] = e;
        }
        s->size[i] = fill - s->offset[i];
    }
    s->unknowns = fill;
}

/* Column starts; ARAP_NO_MEMORY when the matrix passes 2^31 entries. */
static arap_status size_columns(arap_context *context, const assembly *a) {
    arap_system *s = a->system;
    size_t fill = 0;
    for (int j = 0; j < a->mesh->count; j++) {
        int l = a->order[j];
        size_t below = 0;
        for (size_t r = a->ring[l]; r < a->ring[l + 1]; r++)
            if (a->place[a->neighbor[r]] > j) below += (size_t)s->size[a->neighbor[r]];
        for (int u = 0; u < s->size[l]; u++) {
            s->matrix.start[s->offset[l] + u] = (int)fill;
            fill += below + (size_t)(s->size[l] - u);
            if (fill > INT_MAX)
                return arap_fail(&context->error, ARAP_NO_MEMORY,
                                 "the weight system of %d unknowns is too large", s->unknowns);
        }
    }
    s->matrix.start[s->unknowns] = (int)fill;
    return ARAP_OK;
}

arap_status arap_system_create(arap_context *context, const arap_mesh *mesh,
                               const arap_poses *poses, const arap_two_rings *harmonic,
                               const arap_influences *in, const int *order, arap_system *s) {
    size_t n = (size_t)mesh->count, entries = in->start[n];
    int *place = ARAP_NEW(int, n);
    int wide = harmonic->ring != NULL;
    assembly a = {.mesh = mesh,
                  .poses = poses,
                  .harmonic = harmonic,
                  .in = in,
                  .ring = wide ? harmonic->ring : mesh->ring,
                  .neighbor = wide ? harmonic->neighbor : mesh->neighbor,
                  .edge_weight_sym = wide ? harmonic->edge_weight_sym : mesh->edge_weight_sym,
                  .largest_ring = wide ? harmonic->largest_ring : mesh->largest_ring,
                  .order = order,
                  .place = place,
                  .system = s};
    arap_status status = ARAP_OK;
    *s = (arap_system){.vertices = mesh->count,
                       .offset = ARAP_NEW(int, n),
                       .size = ARAP_NEW(int, n),
                       .entry = ARAP_NEW(size_t, entries),
                       .eliminated = ARAP_NEW(size_t, n)};
    if (!place || !s->offset || !s->size || !s->entry || !s->eliminated) goto no_memory;
    for (size_t j = 0; j < n; j++) place[order[j]] = (int)j;
    for (size_t i = 0; i < n; i++)
        if ((int)row_size(in, (int)i) > a.widest) a.widest = (int)row_size(in, (int)i);
    number_unknowns(in, order, s);
    s->matrix.size = s->unknowns;
    s->matrix.start = ARAP_NEW(int, s->unknowns + 1);
    a.block = ARAP_NEW(double, (size_t)context->threads *
                                   ((size_t)a.widest * (size_t)a.widest + (size_t)a.largest_ring));
    if (!s->matrix.start || !a.block) goto no_memory;
    status = size_columns(context, &a);
    if (status) goto done;
    s->matrix.row = ARAP_NEW(int, s->matrix.start[s->unknowns]);
    s->matrix.value = ARAP_NEW(double, s->matrix.start[s->unknowns]);
    s->penalized = ARAP_NEW(double, s->matrix.start[s->unknowns]);
    if (!s->matrix.row || !s->matrix.value || !s->penalized) goto no_memory;
    arap_parallel(context, (mesh->count + CHUNK - 1) / CHUNK, assemble_chunk, &a);
    memcpy(s->penalized, s->matrix.value, (size_t)s->matrix.start[s->unknowns] * sizeof(double));
    goto done;

no_memory:
    status = arap_fail_memory(&context->error, "the weight system");
done:
    arap_free(place);
    arap_free(a.block);
    if (status) arap_system_clear(s);
    return status;
}

void arap_system_clear(arap_system *s) {
    arap_free(s->offset);
    arap_free(s->size);
    arap_free(s->entry);
    arap_free(s->eliminated);
    arap_matrix_clear(&s->matrix);
    arap_free(s->penalized);
    *s = (arap_system){0};
}

void arap_system_penalize(arap_system *s, const double *stiffness) {
    memcpy(s->penalized, s->matrix.value, (size_t)s->matrix.start[s->unknowns] * sizeof(double));
    for (int i = 0; i < s->vertices; i++)
        for (int u = 0; u < s->size[i]; u++) {
            double *value = s->penalized + s->matrix.start[s->offset[i] + u];
            value[0] += stiffness[s->entry[s->offset[i] + u]];
            for (int t = 0; t < s->size[i] - u; t++) value[t] += stiffness[s->eliminated[i]];
        }
}

void arap_system_reduce(const arap_system *s, const double *full, double *reduced) {
    for (int i = 0; i < s->vertices; i++)
        for (int u = s->offset[i]; u < s->offset[i] + s->size[i]; u++)
            reduced[u] = full[s->entry[u]] - full[s->eliminated[i]];
}

void arap_system_add_step(const arap_system *s, const double *x, double *weight) {
    for (int i = 0; i < s->vertices; i++)
        for (int u = s->offset[i]; u < s->offset[i] + s->size[i]; u++) {
            weight[s->entry[u]] += x[u];
            weight[s->eliminated[i]] -= x[u];
        }
}
