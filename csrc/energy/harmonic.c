/* The harmonic term: see harmonic.h.
 *
 *   delta sum_i c_i sum_b |(L w_b)_i|^2,   H = delta L' diag(c) L
 *
 * L: cotangent Laplacian of the tets and of the faces that are none of theirs, not divided by areas
 * (0 for a vertex of wires alone); bbw.c has one with wires and links of its own. Weights off the
 * influence maps count as 0. Between energy and this term the first grows as the square of the edge
 * length, the second as its fourth power: the same strength smooths a finer mesh less.
 *
 * The term reaches across two edges, so the system of the global step has blocks between two-rings
 * instead of one-rings: about three times as many, the factor grows by as much or more. H costs
 * O(vertices x ring^2), a product O(influences x two-ring). It has no failure mode but memory:
 * faces without area add nothing, slivers a bounded amount (heat.h). */
#include "energy/harmonic.h"

#include <string.h>

#include "initial/heat.h"
#include "base/memory.h"

#define CHUNK 128

typedef struct build {
    const arap_mesh *mesh;
    const double *factor;      /* (vertices) delta c_i */
    const double *conductance; /* (edges) -L_ik */
    double *own;               /* (vertices) L_ii */
    int *mark;                 /* (vertices) the last vertex that listed this one, plus 1 */
    int *listed;               /* (vertices) two-ring of the present vertex */
    double *sum;               /* (vertices) h between the present vertex and those listed */
} build;

/* Add factor L_i. to the sums of vertex k; how many vertices are listed then. */
static int add_row(const build *b, int k, int i, double factor, int count) {
    const arap_mesh *mesh = b->mesh;
    b->sum[i] += factor * b->own[i];
    for (size_t r = mesh->ring[i]; r < mesh->ring[i + 1]; r++) {
        int l = mesh->neighbour[r];
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

/* The two-ring of vertex k, at least its one-ring, and its sums. */
static int list_two_ring(const build *b, int k) {
    const arap_mesh *mesh = b->mesh;
    int count = 0;
    b->mark[k] = k + 1;
    b->sum[k] = 0;
    for (size_t r = mesh->ring[k]; r < mesh->ring[k + 1]; r++) {
        b->mark[mesh->neighbour[r]] = k + 1;
        b->sum[mesh->neighbour[r]] = 0;
        b->listed[count++] = mesh->neighbour[r];
    }
    count = add_row(b, k, k, b->factor[k] * b->own[k], count);
    for (size_t r = mesh->ring[k]; r < mesh->ring[k + 1]; r++) {
        int i = mesh->neighbour[r];
        if (b->conductance[r] != 0)
            count = add_row(b, k, i, -b->factor[i] * b->conductance[r], count);
    }
    for (int a = 1; a < count; a++) { /* ascending */
        int l = b->listed[a], at = a;
        for (; at > 0 && b->listed[at - 1] > l; at--) b->listed[at] = b->listed[at - 1];
        b->listed[at] = l;
    }
    return count;
}

static void fill_row(const build *b, int k, int count, arap_harmonic *out) {
    const arap_mesh *mesh = b->mesh;
    out->own[k] = b->sum[k];
    for (int a = 0; a < count; a++) {
        int l = b->listed[a];
        size_t at = out->ring[k] + (size_t)a, e = arap_mesh_find_edge(mesh, k, l);
        int joined = e < mesh->ring[k + 1] && mesh->neighbour[e] == l;
        out->neighbour[at] = l;
        out->both[at] = joined ? mesh->both[e] : 0;
        out->edge[at] = b->sum[l];
    }
}

arap_status arap_two_ring_create(arap_job *job, const arap_mesh *mesh, const double *factor,
                                 const double *conductance, arap_harmonic *out) {
    size_t n = (size_t)mesh->count;
    build b = {.mesh = mesh,
               .factor = factor,
               .conductance = conductance,
               .own = ARAP_NEW_ZERO(double, n),
               .mark = ARAP_NEW_ZERO(int, n),
               .listed = ARAP_NEW(int, n),
               .sum = ARAP_NEW(double, n)};
    arap_status status = ARAP_OK;
    *out = (arap_harmonic){.ring = ARAP_NEW_ZERO(size_t, n + 1), .own = ARAP_NEW(double, n)};
    if (!b.own || !b.mark || !b.listed || !b.sum || !out->ring || !out->own) goto no_memory;
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
        out->neighbour = ARAP_NEW(int, out->ring[n]);
        out->both = ARAP_NEW(double, out->ring[n]);
        out->edge = ARAP_NEW(double, out->ring[n]);
        if (!out->neighbour || !out->both || !out->edge) goto no_memory;
    }
    goto done;

no_memory:
    status = arap_fail_memory(&job->error, "the harmonic term");
    arap_harmonic_clear(out);
done:
    arap_free(b.own);
    arap_free(b.mark);
    arap_free(b.listed);
    arap_free(b.sum);
    return status;
}

arap_status arap_harmonic_create(arap_job *job, const arap_mesh *mesh, double strength,
                                 arap_harmonic *out) {
    size_t n = (size_t)mesh->count;
    double *factor = ARAP_NEW(double, n), *cotangent = ARAP_NEW_ZERO(double, mesh->ring[n]);
    arap_status status = ARAP_OK;
    *out = (arap_harmonic){0};
    if (!factor || !cotangent) {
        status = arap_fail_memory(&job->error, "the harmonic term");
        goto done;
    }
    for (size_t i = 0; i < n; i++) factor[i] = strength * mesh->area[i];
    arap_add_cotangents(mesh, cotangent);
    status = arap_two_ring_create(job, mesh, factor, cotangent, out);

done:
    arap_free(factor);
    arap_free(cotangent);
    return status;
}

void arap_harmonic_clear(arap_harmonic *h) {
    arap_free(h->ring);
    arap_free(h->neighbour);
    arap_free(h->both);
    arap_free(h->edge);
    arap_free(h->own);
    *h = (arap_harmonic){0};
}

typedef struct product {
    const arap_harmonic *harmonic;
    const arap_influences *in;
    double *out;
} product;

static void multiply_chunk(void *data, int chunk, int worker) {
    (void)worker;
    const product *p = data;
    const arap_harmonic *h = p->harmonic;
    const arap_influences *in = p->in;
    int end = (chunk + 1) * CHUNK < in->count ? (chunk + 1) * CHUNK : in->count;
    for (int k = chunk * CHUNK; k < end; k++)
        for (size_t e = in->start[k]; e < in->start[k + 1]; e++) {
            double sum = h->own[k] * in->weight[e];
            for (size_t r = h->ring[k]; r < h->ring[k + 1]; r++)
                sum += h->edge[r] * arap_weight(in, h->neighbour[r], in->bone[e]);
            p->out[e] = sum;
        }
}

void arap_harmonic_product(const arap_job *job, const arap_harmonic *harmonic,
                           const arap_influences *in, double *out) {
    product p = {harmonic, in, out};
    arap_parallel(job, (in->count + CHUNK - 1) / CHUNK, multiply_chunk, &p);
}
