/* Embedding: see embed.h.
 *
 * The weights of a point are those of the four corners of its tet, blended by the barycentric
 * coordinates. These weights are linear in every tet and continuous over the volume. A point
 * outside takes the weights of the nearest point of the volume, so coordinates are never negative.
 * If several tets are equally near, the first one is used. All give the same point. Building the
 * hierarchy of tets takes O(tets log tets), and each search in it takes O(log tets). Tets without
 * volume are replaced by their faces.
 *
 * Distances are measured in units of the box of the tets, so the result does not depend on the
 * caller's units. Fails on out-of-memory, and for points whose squared coordinates overflow in this
 * unit. */
#include "mesh/embed.h"

#include <math.h>

#include "base/memory.h"
#include "mesh/nearest.h"

#define CHUNK 256
#define FARTHEST 1e100 /* coordinate of a point, in boxes of the tets */

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

arap_status arap_tet_set_create(arap_context *context, const double *vertices, const int *tets,
                                size_t tet_count, arap_tet_set *out) {
    *out = (arap_tet_set){.vertices = vertices, .tets = tets, .tet_count = tet_count};
    double *boxes = ARAP_NEW(double, 6 * tet_count);
    if (!boxes) return arap_fail_memory(&context->error, "the hierarchy of tets");
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
    arap_status status = arap_bvh_build(context, &out->tree, tet_count, boxes, NULL);
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

/* Lowest corner and longest side of the box of all tets. */
static double measure(const double *vertices, const int *tets, size_t tet_count, double *lo) {
    double hi[3] = {-INFINITY, -INFINITY, -INFINITY}, size = 0;
    for (int c = 0; c < 3; c++) {
        lo[c] = INFINITY;
        for (size_t k = 0; k < 4 * tet_count; k++) {
            double x = vertices[3 * (size_t)tets[k] + (size_t)c];
            lo[c] = fmin(lo[c], x);
            hi[c] = fmax(hi[c], x);
        }
        size = fmax(size, hi[c] - lo[c]);
    }
    return size > 0 ? size : 1;
}

typedef struct embedding {
    arap_tet_set set;
    int count;
    const double *points; /* the caller's points */
    double origin[3], unit;
    int *tet;
    double *bary, *distance;
} embedding;

static void rescale(const embedding *e, const double *in, double *out) {
    for (int c = 0; c < 3; c++) out[c] = (in[c] - e->origin[c]) / e->unit;
}

static void embed_chunk(void *data, int chunk, int worker) {
    (void)worker;
    const embedding *e = data;
    int end = arap_chunk_end(chunk, CHUNK, e->count);
    for (int i = chunk * CHUNK; i < end; i++) {
        double p[3];
        rescale(e, e->points + 3 * (size_t)i, p);
        e->tet[i] = arap_locate(&e->set, p, e->bary + 4 * (size_t)i, &e->distance[i]);
        e->distance[i] *= e->unit;
    }
}

arap_status arap_embed(arap_context *context, size_t vertex_count, const double *vertices,
                       const int *tets, size_t tet_count, int count, const double *points, int *tet,
                       double *bary, double *distance) {
    embedding e = {
        .count = count, .points = points, .tet = tet, .bary = bary, .distance = distance};
    double *scaled = NULL;
    arap_status status = ARAP_OK;
    e.unit = measure(vertices, tets, tet_count, e.origin);
    if (!isfinite(e.unit))
        return arap_fail(&context->error, ARAP_BAD_VALUE,
                         "the bounding box of the tets is too large");
    for (int i = 0; i < count; i++) {
        double p[3];
        rescale(&e, points + 3 * (size_t)i, p);
        for (int c = 0; c < 3; c++)
            if (!(fabs(p[c]) < FARTHEST))
                return arap_fail(&context->error, ARAP_BAD_VALUE,
                                 "points[%d, %d] is %g: too far from the tets", i, c,
                                 points[3 * (size_t)i + (size_t)c]);
    }
    scaled = ARAP_NEW(double, 3 * vertex_count);
    if (!scaled) return arap_fail_memory(&context->error, "the tets");
    for (size_t i = 0; i < vertex_count; i++) rescale(&e, vertices + 3 * i, scaled + 3 * i);
    status = arap_tet_set_create(context, scaled, tets, tet_count, &e.set);
    if (!status) status = arap_parallel(context, arap_chunks(count, CHUNK), embed_chunk, &e);
    arap_tet_set_clear(&e.set);
    arap_free(scaled);
    return status;
}
