/* The harmonic term: see harmonic.h.
 *
 *   delta sum_i c_i sum_b |(L w_b)_i|^2,   H = delta L' diag(c) L
 *
 * L is the cotangent Laplacian of the tets and of the triangles outside the tets, not divided by
 * areas. The row of a vertex that has only wire edges is 0. (bbw.c uses a different Laplacian,
 * which includes wires and links.) Weights outside the influence patterns count as 0. The ARAP
 * energy grows with the square of the edge length, but this term grows with its fourth power, so
 * the same strength smooths a finer mesh less.
 *
 * The term couples vertices two edges apart, so the system of the global step has blocks between
 * two-rings instead of one-rings. There are about three times as many blocks, and the factor grows
 * at least as much. H takes O(vertices x ring^2), and a product takes O(influences x two-ring).
 * Fails only on out-of-memory, because faces without area add nothing and slivers add a bounded
 * amount (laplacian.h). */
#include "energy/harmonic.h"

#include "base/memory.h"
#include "mesh/laplacian.h"

#define CHUNK 128

arap_status arap_harmonic_create(arap_context *context, const arap_mesh *mesh, double strength,
                                 const double *smoothed, double row, arap_two_rings *out) {
    arap_arena arena = {0};
    size_t n = (size_t)mesh->count;
    double *factor = ARAP_TAKE(&arena, n, double),
           *cotangent = ARAP_TAKE_ZERO(&arena, mesh->ring[n], double);
    *out = (arap_two_rings){0};
    arap_status status = arap_arena_status(&arena, &context->error, "the harmonic term");
    if (status) goto done;
    arap_add_cotangents(mesh, cotangent);
    for (size_t i = 0; i < n; i++) {
        double own = 0;
        for (size_t r = mesh->ring[i]; r < mesh->ring[i + 1]; r++) own += cotangent[r];
        factor[i] = strength * mesh->area[i];
        if (smoothed && own > 0) factor[i] += smoothed[i] * row * mesh->area[i] / (own * own);
    }
    status = arap_two_rings_create(context, mesh, factor, cotangent, out);

done:
    arap_arena_clear(&arena);
    return status;
}

typedef struct product {
    const arap_two_rings *harmonic;
    const arap_influences *in;
    double *out;
} product;

static void multiply_chunk(void *data, int chunk, int worker) {
    (void)worker;
    const product *p = data;
    const arap_two_rings *h = p->harmonic;
    const arap_influences *in = p->in;
    int end = arap_chunk_end(chunk, CHUNK, in->count);
    for (int k = chunk * CHUNK; k < end; k++)
        for (size_t e = in->start[k]; e < in->start[k + 1]; e++) {
            double sum = h->own[k] * in->weight[e];
            for (size_t r = h->ring[k]; r < h->ring[k + 1]; r++)
                sum += h->edge[r] * arap_weight(in, h->neighbor[r], in->bone[e]);
            p->out[e] = sum;
        }
}

arap_status arap_harmonic_product(arap_context *context, const arap_two_rings *harmonic,
                                  const arap_influences *in, double *out) {
    product p = {harmonic, in, out};
    return arap_parallel(context, arap_chunks(in->count, CHUNK), multiply_chunk, &p);
}
