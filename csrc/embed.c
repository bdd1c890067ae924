/* Embedding: see embed.h.
 *
 * The weights of a point are those of the four corners of its tet, mixed by the barycentric
 * coordinates: linear in every tet, continuous over the volume. A point outside takes the nearest
 * point of the volume, so coordinates are never negative. Of several equally near tets the first
 * one counts; they give the same point. Through the hierarchy O(log tets) per point, O(tets log
 * tets) to build it. Tets without volume are but their faces. */
#include "embed.h"

#include <math.h>

#include "memory.h"
#include "nearest.h"

#define CHUNK 256

static double tet_distance(const arap_tet_set *set, int t, const double *p, double *bary) {
    const int *tet = set->tets + 4 * (size_t)t;
    const double *corner[4];
    for (int c = 0; c < 4; c++) corner[c] = set->vertices + 3 * (size_t)tet[c];
    return arap_nearest_in_tet(p, corner, bary);
}

static double distance_to(const void *data, int t, const double *p) {
    double bary[4];
    return tet_distance(data, t, p, bary);
}

arap_status arap_tet_set_create(arap_job *job, const double *vertices, const int *tets,
                                size_t tet_count, arap_tet_set *out) {
    *out = (arap_tet_set){.vertices = vertices, .tets = tets, .tet_count = tet_count};
    double *boxes = ARAP_NEW(double, 6 * tet_count);
    if (!boxes) return arap_fail_memory(&job->error, "the hierarchy of tets");
    for (size_t t = 0; t < tet_count; t++)
        for (int c = 0; c < 3; c++) {
            double lo = INFINITY, hi = -INFINITY;
            for (int k = 0; k < 4; k++) {
                double x = vertices[3 * (size_t)tets[4 * t + (size_t)k] + (size_t)c];
                lo = fmin(lo, x);
                hi = fmax(hi, x);
            }
            boxes[6 * t + (size_t)c] = lo;
            boxes[6 * t + 3 + (size_t)c] = hi;
        }
    arap_status status = arap_bvh_build(&out->tree, tet_count, boxes, NULL, &job->error);
    arap_free(boxes);
    return status;
}

void arap_tet_set_clear(arap_tet_set *set) {
    arap_bvh_free(set->tree);
    *set = (arap_tet_set){0};
}

int arap_locate(const arap_tet_set *set, const double *p, double *bary, double *distance) {
    double d2 = INFINITY;
    int t = arap_bvh_nearest(set->tree, p, -1, distance_to, set, &d2);
    *distance = t < 0 ? INFINITY : sqrt(tet_distance(set, t, p, bary));
    return t;
}

typedef struct embedding {
    const arap_tet_set *set;
    int count;
    const double *points;
    int *tet;
    double *bary, *distance;
} embedding;

static void embed_chunk(void *data, int chunk, int worker) {
    (void)worker;
    const embedding *e = data;
    int end = (chunk + 1) * CHUNK < e->count ? (chunk + 1) * CHUNK : e->count;
    for (int i = chunk * CHUNK; i < end; i++)
        e->tet[i] = arap_locate(e->set, e->points + 3 * (size_t)i, e->bary + 4 * (size_t)i,
                                &e->distance[i]);
}

void arap_embed(const arap_job *job, const arap_tet_set *set, int count, const double *points,
                int *tet, double *bary, double *distance) {
    embedding e = {set, count, points, tet, bary, distance};
    arap_parallel(job, (count + CHUNK - 1) / CHUNK, embed_chunk, &e);
}
