/* Surface strain: see surface_strain.h.
 *
 * The map that takes a triangle at rest to the posed one has in its plane, in the orthonormal frame
 * x along the edge e1 and y across, the columns
 *     a = e1' / |e1|,   b = (e2' - (e2 . x) a) / (e2 . y)
 * with the edges e1', e2' as posed. Its singular values s1 >= s2 >= 0 are the roots of the
 * eigenvalues of [a.a a.b; a.b b.b], and the squared strain is
 *     (s1 - 1)^2 + (s2 - 1)^2,
 * 0 for what only moves, whatever the tessellation, the unit and the energy that is minimized.
 *
 * O(triangles x poses), about 7 ns each, triangles in parallel; 60 bytes for a triangle. Fails
 * without memory. */
#include "measures/surface_strain.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "measures/pose_lanes.h"

#define CHUNK 1024
#define FLATTEST                                                                                   \
    1e-4 /* altitude of a triangle that is measured, as a share of its longest edge                \
          */
#define PERCENTILE 0.99

arap_status arap_surface_create(arap_context *context, const double *vertices, const int *triangles,
                                size_t triangle_count, arap_surface *surface) {
    *surface = (arap_surface){.triangle_count = triangle_count,
                              .triangle = ARAP_NEW(size_t, triangle_count),
                              .corner = ARAP_NEW(int, 3 * triangle_count),
                              .area = ARAP_NEW(double, triangle_count),
                              .length = ARAP_NEW(double, triangle_count),
                              .along = ARAP_NEW(double, triangle_count),
                              .height = ARAP_NEW(double, triangle_count)};
    if (!surface->triangle || !surface->corner || !surface->area || !surface->length ||
        !surface->along || !surface->height) {
        arap_surface_clear(surface);
        return arap_fail_memory(&context->error, "the surface");
    }
    for (size_t t = 0; t < triangle_count; t++) {
        const int *corner = triangles + 3 * t;
        const double *v[3];
        double e1[3], e2[3], e3[3], across[3];
        for (int k = 0; k < 3; k++) v[k] = vertices + 3 * (size_t)corner[k];
        arap_sub(v[1], v[0], e1);
        arap_sub(v[2], v[0], e2);
        arap_sub(v[2], v[1], e3);
        double length = sqrt(arap_dot(e1, e1)), longest2 = arap_dot(e1, e1);
        if (!(length > 0)) continue;
        double along = arap_dot(e2, e1) / length;
        for (int c = 0; c < 3; c++) across[c] = e2[c] - along * e1[c] / length;
        double height = sqrt(arap_dot(across, across)), area = length * height / 2;
        longest2 = fmax(longest2, fmax(arap_dot(e2, e2), arap_dot(e3, e3)));
        if (!(area > 0) || !(length * height > FLATTEST * longest2)) continue;
        size_t at = surface->count++;
        surface->triangle[at] = t;
        for (int k = 0; k < 3; k++) surface->corner[3 * at + (size_t)k] = corner[k];
        surface->area[at] = area;
        surface->length[at] = length;
        surface->along[at] = along;
        surface->height[at] = height;
    }
    return ARAP_OK;
}

void arap_surface_clear(arap_surface *surface) {
    arap_free(surface->triangle);
    arap_free(surface->corner);
    arap_free(surface->area);
    arap_free(surface->length);
    arap_free(surface->along);
    arap_free(surface->height);
    *surface = (arap_surface){0};
}

/* Squared strain of a triangle in the poses of a group. */
static inline void squared_strain(const arap_surface *surface, size_t t, const double *points,
                                  double *out) {
    const int *corner = surface->corner + 3 * t;
    const double *p = points + arap_group_stride(corner[0]),
                 *q = points + arap_group_stride(corner[1]),
                 *r = points + arap_group_stride(corner[2]);
    double by_length = 1 / surface->length[t], by_height = 1 / surface->height[t];
    double along = surface->along[t], aa[ARAP_POSE_LANES] = {0}, ab[ARAP_POSE_LANES] = {0},
           bb[ARAP_POSE_LANES] = {0};
    for (int c = 0; c < 3 * ARAP_POSE_LANES; c += ARAP_POSE_LANES)
        for (int l = 0; l < ARAP_POSE_LANES; l++) {
            double a = (q[c + l] - p[c + l]) * by_length;
            double b = (r[c + l] - p[c + l] - along * a) * by_height;
            aa[l] += a * a;
            ab[l] += a * b;
            bb[l] += b * b;
        }
    double mean[ARAP_POSE_LANES], root[ARAP_POSE_LANES], s1[ARAP_POSE_LANES], s2[ARAP_POSE_LANES];
    for (int l = 0; l < ARAP_POSE_LANES; l++) {
        double half = (aa[l] - bb[l]) / 2;
        mean[l] = (aa[l] + bb[l]) / 2;
        root[l] = half * half + ab[l] * ab[l];
    }
    for (int l = 0; l < ARAP_POSE_LANES; l++) root[l] = sqrt(root[l]);
    for (int l = 0; l < ARAP_POSE_LANES; l++) {
        s1[l] = mean[l] + root[l];
        s2[l] = mean[l] > root[l] ? mean[l] - root[l] : 0;
    }
    for (int l = 0; l < ARAP_POSE_LANES; l++) s1[l] = sqrt(s1[l]) - 1;
    for (int l = 0; l < ARAP_POSE_LANES; l++) s2[l] = sqrt(s2[l]) - 1;
    for (int l = 0; l < ARAP_POSE_LANES; l++) out[l] = s1[l] * s1[l] + s2[l] * s2[l];
}

typedef struct strain_task {
    const arap_surface *surface;
    int poses, vertices;
    const double *points;
    double *strain2;
} strain_task;

ARAP_WIDE_PART void add_chunk_plain(void *data, int chunk, int worker) {
    (void)worker;
    const strain_task *task = data;
    size_t begin = (size_t)chunk * CHUNK, end = begin + CHUNK;
    if (end > task->surface->count) end = task->surface->count;
    for (int g = 0; g < arap_pose_groups(task->poses); g++) {
        const double *points = task->points + arap_group_stride(task->vertices) * (size_t)g;
        int size = arap_group_size(task->poses, g);
        for (size_t t = begin; t < end; t++) {
            double own[ARAP_POSE_LANES];
            squared_strain(task->surface, t, points, own);
            for (int l = 0; l < size; l++) task->strain2[t] += own[l];
        }
    }
}
ARAP_WIDE_TASK(add_chunk)

arap_status arap_surface_add(arap_context *context, const arap_surface *surface, int poses,
                             int vertices, const double *points, double *strain2) {
    strain_task task = {surface, poses, vertices, points, strain2};
    return arap_parallel(context, (int)((surface->count + CHUNK - 1) / CHUNK), add_chunk, &task);
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

arap_status arap_surface_summarize(arap_context *context, const arap_surface *surface, int poses,
                                   const double *strain2, arap_surface_summary *out) {
    *out = (arap_surface_summary){NAN, NAN, NAN};
    if (!surface->count || poses < 1) return ARAP_OK;
    double *sorted = ARAP_NEW(double, surface->count), area = 0, by_area = 0, by_face = 0;
    if (!sorted) return arap_fail_memory(&context->error, "the strain");
    for (size_t t = 0; t < surface->count; t++) {
        double mean = strain2[t] / poses;
        sorted[t] = sqrt(mean);
        area += surface->area[t];
        by_area += surface->area[t] * mean;
        by_face += mean;
    }
    qsort(sorted, surface->count, sizeof *sorted, compare);
    double place = PERCENTILE * (double)(surface->count - 1);
    size_t low = (size_t)place, high = low + 1 < surface->count ? low + 1 : low;
    out->area = sqrt(by_area / area);
    out->face = sqrt(by_face / (double)surface->count);
    out->p99 = sorted[low] + (place - (double)low) * (sorted[high] - sorted[low]);
    arap_free(sorted);
    return ARAP_OK;
}

void arap_triangle_strain(const arap_surface *surface, int poses, const double *strain2,
                          double *out) {
    for (size_t t = 0; t < surface->triangle_count; t++) out[t] = 0;
    for (size_t t = 0; t < surface->count; t++)
        out[surface->triangle[t]] = sqrt(strain2[t] / poses);
}

arap_status arap_vertex_strain(arap_context *context, const arap_surface *surface, int poses,
                               const double *strain2, int vertices, double *out) {
    double *area = ARAP_NEW_ZERO(double, vertices);
    if (!area) return arap_fail_memory(&context->error, "the strain");
    for (int i = 0; i < vertices; i++) out[i] = 0;
    for (size_t k = 0; k < 3 * surface->count; k++) {
        area[surface->corner[k]] += surface->area[k / 3];
        out[surface->corner[k]] += surface->area[k / 3] * strain2[k / 3] / poses;
    }
    for (int i = 0; i < vertices; i++) out[i] = area[i] > 0 ? sqrt(out[i] / area[i]) : 0;
    arap_free(area);
    return ARAP_OK;
}
