/* Surface strain: see surface_strain.h.
 *
 * In the plane of the triangle, let the unit vector x point along the edge e1, and the unit vector
 * y across this edge. The map from the triangle at rest to the posed triangle then has the columns
 *     a = e1' / |e1|,   b = (e2' - (e2 . x) a) / (e2 . y)
 * where e1' and e2' are the posed edges. The singular values s1 >= s2 >= 0 of this map are the
 * roots of the eigenvalues of [a.a a.b; a.b b.b], and the squared strain is
 *     (s1 - 1)^2 + (s2 - 1)^2,
 * which is 0 for triangles that move rigidly. The strain does not depend on the tessellation, the
 * unit, or the minimized energy.
 *
 * Takes O(triangles x poses) time, about 3 ns each, and 60 bytes of memory per triangle. Triangles
 * are processed in parallel. Fails on out-of-memory. */
#include "measures/surface_strain.h"

#include "base/memory.h"
#include "base/vec3.h"
#include "base/vec4.h"
#include "measures/pose_lanes.h"

#define CHUNK 1024
/* altitude of a triangle that is measured, as a share of its longest edge */
#define FLATTEST 1e-4
#define PERCENTILE 0.99

arap_status arap_surface_create(arap_context *context, const double *vertices, const int *triangles,
                                size_t triangle_count, arap_surface *surface) {
    *surface = (arap_surface){.triangle_count = triangle_count};
    surface->triangle = ARAP_TAKE(&surface->arena, triangle_count, size_t);
    surface->corner = ARAP_TAKE(&surface->arena, 3 * triangle_count, int);
    surface->area = ARAP_TAKE(&surface->arena, triangle_count, double);
    surface->length = ARAP_TAKE(&surface->arena, triangle_count, double);
    surface->along = ARAP_TAKE(&surface->arena, triangle_count, double);
    surface->height = ARAP_TAKE(&surface->arena, triangle_count, double);
    arap_status status = arap_arena_status(&surface->arena, &context->error, "the surface");
    if (status) {
        arap_surface_clear(surface);
        return status;
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
    arap_arena_clear(&surface->arena);
    *surface = (arap_surface){0};
}

_Static_assert(ARAP_POSE_LANES == 4, "a group of poses is one arap_v4");
typedef long long mask4 __attribute__((vector_size(32)));

ARAP_WIDE_PART arap_v4 sqrt4(arap_v4 x) {
    arap_v4 y;
    for (int l = 0; l < ARAP_POSE_LANES; l++) y[l] = sqrt(x[l]);
    return y;
}

/* Squared strain of a triangle with these corners in the poses of a group. by_length, by_height:
 * inverses of length and height. */
ARAP_WIDE_PART arap_v4 squared_strain(const double *const *corner, double by_length, double along,
                                      double by_height) {
    const arap_v4_at *p = (const arap_v4_at *)corner[0], *q = (const arap_v4_at *)corner[1],
                     *r = (const arap_v4_at *)corner[2];
    arap_v4 aa = {0}, ab = {0}, bb = {0};
    for (int c = 0; c < 3; c++) {
        arap_v4 a = (q[c] - p[c]) * by_length, b = (r[c] - p[c] - along * a) * by_height;
        aa += a * a;
        ab += a * b;
        bb += b * b;
    }
    arap_v4 half = (aa - bb) / 2, mean = (aa + bb) / 2, root = sqrt4(half * half + ab * ab);
    mask4 positive = mean > root;
    arap_v4 s1 = sqrt4(mean + root) - 1;
    arap_v4 s2 = sqrt4((arap_v4)(positive & (mask4)(mean - root))) - 1;
    return s1 * s1 + s2 * s2;
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
    const arap_surface *surface = task->surface;
    size_t stride = arap_group_stride(task->vertices);
    for (size_t t = begin; t < end; t++) {
        double by_length = 1 / surface->length[t], by_height = 1 / surface->height[t];
        double sum = task->strain2[t];
        const double *corner[3];
        for (size_t k = 0; k < 3; k++)
            corner[k] = task->points + arap_group_stride(surface->corner[3 * t + k]);
        for (int g = 0; g < arap_pose_groups(task->poses); g++) {
            arap_v4 own = squared_strain(corner, by_length, surface->along[t], by_height);
            int size = arap_group_size(task->poses, g);
            for (int l = 0; l < size; l++) sum += own[l];
            for (int k = 0; k < 3; k++) corner[k] += stride;
        }
        task->strain2[t] = sum;
    }
}
ARAP_WIDE_TASK(add_chunk)

arap_status arap_surface_add(arap_context *context, const arap_surface *surface, int poses,
                             int vertices, const double *points, double *strain2) {
    strain_task task = {surface, poses, vertices, points, strain2};
    return arap_parallel(context, (int)((surface->count + CHUNK - 1) / CHUNK), add_chunk, &task);
}

/* Quickselect: returns the number at `place` in ascending order. No number after it is smaller. */
static double select_at(double *x, size_t count, size_t place) {
    size_t low = 0, high = count - 1;
    while (low < high) {
        double pivot = x[low + (high - low) / 2];
        size_t i = low, j = high;
        for (;; i++, j--) {
            while (x[i] < pivot) i++;
            while (pivot < x[j]) j--;
            if (i >= j) break;
            double other = x[i];
            x[i] = x[j];
            x[j] = other;
        }
        if (place <= j)
            high = j;
        else
            low = j + 1;
    }
    return x[place];
}

/* The quantile of numbers, which are reordered, with linear interpolation. */
static double quantile(double *x, size_t count, double share) {
    double place = share * (double)(count - 1);
    size_t low = (size_t)place;
    double at = select_at(x, count, low), next = low + 1 < count ? x[low + 1] : at;
    for (size_t k = low + 2; k < count; k++) next = x[k] < next ? x[k] : next;
    return at + (place - (double)low) * (next - at);
}

arap_status arap_surface_summarize(arap_context *context, const arap_surface *surface, int poses,
                                   const double *strain2, arap_surface_summary *out) {
    *out = (arap_surface_summary){NAN, NAN, NAN};
    if (!surface->count || poses < 1) return ARAP_OK;
    double *each = ARAP_NEW(double, surface->count), area = 0, by_area = 0, by_face = 0;
    if (!each) return arap_fail_memory(&context->error, "the strain");
    for (size_t t = 0; t < surface->count; t++) {
        double mean = strain2[t] / poses;
        each[t] = sqrt(mean);
        area += surface->area[t];
        by_area += surface->area[t] * mean;
        by_face += mean;
    }
    out->area = sqrt(by_area / area);
    out->face = sqrt(by_face / (double)surface->count);
    out->p99 = quantile(each, surface->count, PERCENTILE);
    arap_free(each);
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
