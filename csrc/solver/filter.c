/* Laplacian filter: see iteration.h.
 *
 *   w_ib <- sum_k a_ik w_kb / sum_k a_ik,   then  w_ib <- w_ib (1 - locked) / sum_b w_ib
 *
 * The filter removes speckle, but it raises the energy if steep weights are justified. A weight is
 * a maximum if no neighbor has a larger weight, and a minimum if no neighbor has a smaller one. A
 * maximum (or minimum) is spurious if any other vertex has a larger (or smaller) weight for the
 * same bone, so the tip of a bone keeps its peak. Takes O(entries x ring). */
#include "solver/iteration.h"

#include <math.h>

#include "base/memory.h"

/* The largest weight of each bone and, where all vertices have the bone, the smallest. */
static void find_peaks(const arap_influences *in, int bones, double *max, double *min,
                       int *owners) {
    for (int b = 0; b < bones; b++) {
        max[b] = 0;
        min[b] = INFINITY;
        owners[b] = 0;
    }
    for (size_t e = 0; e < in->start[in->count]; e++) {
        int b = in->bone[e];
        max[b] = fmax(max[b], in->weight[e]);
        min[b] = fmin(min[b], in->weight[e]);
        owners[b]++;
    }
    for (int b = 0; b < bones; b++)
        if (owners[b] < in->count) min[b] = fmin(min[b], 0);
}

arap_status arap_filter_weights(arap_context *context, const arap_mesh *mesh, arap_filter filter,
                                int bones, arap_influences *weights) {
    arap_arena arena = {0};
    double *means = ARAP_TAKE(&arena, weights->start[weights->count], double),
           *max = ARAP_TAKE(&arena, 2 * (size_t)bones, double);
    int *owners = ARAP_TAKE(&arena, bones, int);
    arap_status status = arap_arena_status(&arena, &context->error, "the filter");
    if (status) goto done;
    double *min = max + bones;
    find_peaks(weights, bones, max, min, owners);
    for (int i = 0; i < weights->count; i++)
        for (size_t e = weights->start[i]; e < weights->start[i + 1]; e++) {
            double w = weights->weight[e], sum = 0, unit = 0, above = INFINITY, below = -INFINITY;
            means[e] = w;
            for (size_t r = mesh->ring[i]; r < mesh->ring[i + 1]; r++) {
                double other = arap_weight(weights, mesh->neighbor[r], weights->bone[e]);
                sum += mesh->edge_weight[r] * other;
                unit += mesh->edge_weight[r];
                above = fmin(above, w - other);
                below = fmax(below, w - other);
            }
            int maximum = above > 0 && w < max[weights->bone[e]];
            int minimum = below < 0 && w > min[weights->bone[e]];
            if (weights->locked[e] || !(unit > 0)) continue;
            if (filter == ARAP_FILTER_ALL || maximum || minimum) means[e] = sum / unit;
        }
    for (int i = 0; i < weights->count; i++) {
        double locked = 0, open = 0;
        for (size_t e = weights->start[i]; e < weights->start[i + 1]; e++)
            *(weights->locked[e] ? &locked : &open) += means[e];
        if (!(fabs(open) > 1e-9)) continue;
        for (size_t e = weights->start[i]; e < weights->start[i + 1]; e++)
            if (!weights->locked[e]) weights->weight[e] = means[e] * (1 - locked) / open;
    }

done:
    arap_arena_clear(&arena);
    return status;
}
