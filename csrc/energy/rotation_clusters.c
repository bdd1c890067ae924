/* Clusters that share rotations: see rotation_clusters.h.
 *
 * The best rotation that the vertices of a cluster can share in a pose maximizes tr(R' cov) with
 * cov = sum_i cov_i (docs/energy.md 3). The local step therefore treats a cluster like a single
 * vertex whose moments are the sums over the cluster (local_step.c). The energy still falls from
 * step to step. The energy with shared rotations is at least the ARAP energy.
 *
 * The paper computes ten k-means clusterings of the positions, with 1000 to 5000 clusters each. It
 * chooses one of them at random for each pose, so that the borders of clusters do not show in the
 * weights. In this implementation, all poses share one clustering, so they can be summed as without
 * clusters. A cluster grows from its first vertex over faces, breadth first, to vertices with
 * nearly the same weights. Such vertices turn in nearly the same way in any pose. If weights change
 * strongly between neighbors, every vertex keeps its own rotation. Takes O(edges x influences);
 * fails on out-of-memory only. */
#include "energy/rotation_clusters.h"

#include <math.h>

#include "base/memory.h"

#define MAXIMUM 16 /* vertices of a cluster; larger clusters save little more */

/* Whether the weights of vertices i and k differ by at most `max`. */
static int is_similar(const arap_influences *in, int i, int k, double max) {
    for (size_t e = in->start[i]; e < in->start[i + 1]; e++)
        if (fabs(in->weight[e] - arap_weight(in, k, in->bone[e])) > max) return 0;
    for (size_t e = in->start[k]; e < in->start[k + 1]; e++)
        if (fabs(in->weight[e] - arap_weight(in, i, in->bone[e])) > max) return 0;
    return 1;
}

arap_status arap_rotation_clusters_create(arap_context *context, const arap_mesh *mesh,
                                          const arap_influences *in, double difference,
                                          arap_rotation_clusters *out) {
    int n = mesh->count, fill = 0;
    char *taken = ARAP_NEW_ZERO(char, n);
    *out = (arap_rotation_clusters){.start = ARAP_NEW(int, n + 1), .vertex = ARAP_NEW(int, n)};
    if (!taken || !out->start || !out->vertex) {
        arap_free(taken);
        arap_rotation_clusters_clear(out);
        return arap_fail_memory(&context->error, "the clusters of the local step");
    }
    for (int first = 0; first < n; first++) {
        if (taken[first]) continue;
        int begin = out->start[out->count++] = fill;
        taken[first] = 1;
        out->vertex[fill++] = first;
        for (int next = begin; next < fill; next++) {
            int i = out->vertex[next];
            for (size_t r = mesh->ring[i]; r < mesh->ring[i + 1] && fill - begin < MAXIMUM; r++) {
                int k = mesh->neighbor[r];
                if (taken[k] || mesh->kind[r] != ARAP_EDGE_FACE ||
                    !is_similar(in, first, k, difference))
                    continue;
                taken[k] = 1;
                out->vertex[fill++] = k;
            }
        }
    }
    out->start[out->count] = fill;
    arap_free(taken);
    return ARAP_OK;
}

void arap_rotation_clusters_clear(arap_rotation_clusters *clusters) {
    arap_free(clusters->start);
    arap_free(clusters->vertex);
    *clusters = (arap_rotation_clusters){0};
}
