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
 * clusters. There are two kinds.
 *
 * By weights: a cluster grows from its first vertex over faces, breadth first, to vertices with
 * nearly the same weights. Such vertices turn in nearly the same way in any pose. If weights change
 * strongly between neighbors, every vertex keeps its own rotation. Takes O(edges x influences).
 *
 * By position, as in the paper: k-means++ (Arthur & Vassilvitskii 2007) chooses vertices as centers
 * with a probability proportional to the squared distance from the centers chosen before. Lloyd's
 * rounds then move the centers to the means of their vertices. Takes O(vertices x clusters).
 *
 * Fails on out-of-memory and if cancelled. */
#include "energy/rotation_clusters.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/vec3.h"

#define MAXIMUM 16 /* vertices of a cluster; larger clusters save little more */
#define ROUNDS 5   /* of Lloyd's algorithm, after which few vertices change their center */

static arap_status create(arap_context *context, int most, int vertices,
                          arap_rotation_clusters *out) {
    *out = (arap_rotation_clusters){0};
    out->start = ARAP_TAKE(&out->arena, most + 1, int);
    out->vertex = ARAP_TAKE(&out->arena, vertices, int);
    arap_status status =
        arap_arena_status(&out->arena, &context->error, "the clusters of the local step");
    if (status) arap_rotation_clusters_clear(out);
    return status;
}

/* Whether the weights of vertices i and k differ by at most `max`. */
static int is_similar(const arap_influences *in, int i, int k, double max) {
    for (size_t e = in->start[i]; e < in->start[i + 1]; e++)
        if (fabs(in->weight[e] - arap_weight(in, k, in->bone[e])) > max) return 0;
    for (size_t e = in->start[k]; e < in->start[k + 1]; e++)
        if (fabs(in->weight[e] - arap_weight(in, i, in->bone[e])) > max) return 0;
    return 1;
}

arap_status arap_rotation_clusters_create(arap_context *context, const arap_mesh *mesh,
                                          const arap_influences *influences, double difference,
                                          arap_rotation_clusters *out) {
    int n = mesh->count, fill = 0;
    char *taken = ARAP_NEW_ZERO(char, n);
    arap_status status = taken
                             ? create(context, n, n, out)
                             : arap_fail_memory(&context->error, "the clusters of the local step");
    if (status) {
        arap_free(taken);
        return status;
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
                    !is_similar(influences, first, k, difference))
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

/* Assign vertices that are closer to center c than to their present one. */
static void take_closer(const arap_mesh *mesh, const double *center, int c, double *distance,
                        int *nearest) {
    for (int i = 0; i < mesh->count; i++) {
        double squared = arap_distance2(mesh->v + 3 * (size_t)i, center + 3 * (size_t)c);
        if (squared >= distance[i]) continue;
        distance[i] = squared;
        nearest[i] = c;
    }
}

/* Choose up to `wanted` centers by k-means++. Sets their number, which is smaller if there are
 * fewer positions. */
static arap_status choose_centers(arap_context *context, const arap_mesh *mesh, int wanted,
                                  uint64_t random, double *center, double *distance, int *nearest,
                                  int *count) {
    int chosen = (int)(arap_random(&random) * mesh->count);
    for (int i = 0; i < mesh->count; i++) distance[i] = DBL_MAX;
    for (int c = 0;; c++) {
        arap_status status = arap_poll_cancel(context);
        if (status) return status;
        memcpy(center + 3 * (size_t)c, mesh->v + 3 * (size_t)chosen, 3 * sizeof *center);
        take_closer(mesh, center, c, distance, nearest);
        double sum = 0;
        for (int i = 0; i < mesh->count; i++) sum += distance[i];
        *count = c + 1;
        if (c + 1 == wanted || !(sum > 0)) return ARAP_OK;
        double left = arap_random(&random) * sum;
        for (int i = 0; i < mesh->count && left >= 0; i++) {
            if (distance[i] > 0) chosen = i;
            left -= distance[i];
        }
    }
}

/* Move the centers to the means of their vertices, and assign the vertices again. size: (count) */
static arap_status move_centers(arap_context *context, const arap_mesh *mesh, int count,
                                double *center, int *size, double *distance, int *nearest) {
    memset(center, 0, 3 * (size_t)count * sizeof *center);
    memset(size, 0, (size_t)count * sizeof *size);
    for (int i = 0; i < mesh->count; i++) {
        size[nearest[i]]++;
        for (int k = 0; k < 3; k++)
            center[3 * (size_t)nearest[i] + k] += mesh->v[3 * (size_t)i + k];
        distance[i] = DBL_MAX;
    }
    for (int c = 0; c < count; c++) {
        arap_status status = arap_poll_cancel(context);
        if (status) return status;
        if (!size[c]) continue; /* stays without vertices */
        for (int k = 0; k < 3; k++) center[3 * (size_t)c + k] /= size[c];
        take_closer(mesh, center, c, distance, nearest);
    }
    return ARAP_OK;
}

arap_status arap_position_clusters_create(arap_context *context, const arap_mesh *mesh, int wanted,
                                          uint64_t seed, arap_rotation_clusters *out) {
    arap_arena arena = {0};
    int n = mesh->count, most = wanted < n ? wanted : n, count = 0, fill = 0;
    double *center = ARAP_TAKE(&arena, 3 * (size_t)most, double),
           *distance = ARAP_TAKE(&arena, n, double);
    int *nearest = ARAP_TAKE(&arena, n, int), *size = ARAP_TAKE_ZERO(&arena, most, int);
    arap_status status =
        arap_arena_status(&arena, &context->error, "the clusters of the local step");
    if (!status) status = create(context, most, n, out);
    if (status) goto done;
    status = choose_centers(context, mesh, most, seed, center, distance, nearest, &count);
    for (int round = 0; round < ROUNDS && !status; round++)
        status = move_centers(context, mesh, count, center, size, distance, nearest);
    if (status) {
        arap_rotation_clusters_clear(out);
        goto done;
    }
    memset(size, 0, (size_t)count * sizeof *size);
    for (int i = 0; i < n; i++) size[nearest[i]]++;
    for (int c = 0; c < count; c++) {
        int members = size[c];
        size[c] = fill; /* now the place of the cluster's next vertex */
        if (members) out->start[out->count++] = fill;
        fill += members;
    }
    out->start[out->count] = fill;
    for (int i = 0; i < n; i++) out->vertex[size[nearest[i]]++] = i;

done:
    arap_arena_clear(&arena);
    return status;
}

void arap_rotation_clusters_clear(arap_rotation_clusters *clusters) {
    arap_arena_clear(&clusters->arena);
    *clusters = (arap_rotation_clusters){0};
}
