/* The order in which vertices grow into clusters: see levels.h.
 *
 * The clusters depend on this order. If vertices were visited by number, a character would get
 * different weights whenever a program renumbers its vertices. The order therefore depends on
 * positions relative to the character. The order uses three weighted means c_j of the ends x_k of
 * the deforming bones,
 *     c_j = sum w_jk x_k / sum w_jk,   w_jk = 0.1 + the fractional part of k a_j,   a_j irrational.
 * Vertices ascend by their distance from c_0. Vertices at equal distance, such as mirror images,
 * ascend by their side of the plane through the c_j. Vertices at the same position belong to
 * different parts and ascend by the mean position of their neighbors. Vertex numbers decide only if
 * all of these are equal, as around a straight chain of bones, or if a flat skeleton lies in one
 * plane with the vertices.
 *
 * Positions are rounded to steps of 2^-DISTANCE_BITS and 2^-SIDE_BITS of FARTHEST diagonals of the
 * mesh, far above rounding errors, and are sorted by radix. The steps do not depend on stray
 * vertices, and vertices beyond FARTHEST ascend by their numbers. Computing the order takes
 * O(vertices + bones) time and O(vertices) memory. Fails on out-of-memory. */
#include "solver/levels.h"

#include <math.h>

#include "base/memory.h"
#include "base/radix_sort.h"
#include "base/vec3.h"

#define DISTANCE_BITS 33
#define SIDE_BITS 22
#define MAX_SAME 16  /* maximum number of coincident vertices that are distinguished */
#define MINIMUM 0.1  /* share of the weights of the ends */
#define FARTHEST 4.0 /* diagonals of the mesh */
#define NO_PLANE                                                                                   \
    1e-12 /* twice the area of the triangle of the points, of the square of its size               \
           */

/* Point j of the weighted means of the ends of the deforming bones. */
static void point_among(const arap_skeleton *skeleton, int j, double *out) {
    static const double step[3] = {0.6180339887498949, 0.4142135623730951, 0.7320508075688772};
    double total = 0;
    for (int c = 0; c < 3; c++) out[c] = 0;
    for (int k = 0; k < 2 * skeleton->deform_count; k++) {
        const double *ends = k % 2 ? skeleton->tails : skeleton->heads;
        const double *x = ends + 3 * (size_t)skeleton->deform_bone[k / 2];
        double along = step[j] * k, weight = MINIMUM + along - floor(along);
        for (int c = 0; c < 3; c++) out[c] += weight * x[c];
        total += weight;
    }
    for (int c = 0; c < 3; c++) out[c] /= total;
}

/* Unit normal of the plane through three points, or 0 if the points define no plane. */
static void normal_of(const double points[3][3], double *out) {
    double a[3], b[3];
    arap_sub(points[1], points[0], a);
    arap_sub(points[2], points[0], b);
    arap_cross(a, b, out);
    double length = sqrt(arap_dot(out, out)), size2 = arap_dot(a, a) + arap_dot(b, b);
    for (int c = 0; c < 3; c++) out[c] = length > NO_PLANE * size2 ? out[c] / length : 0;
}

/* Convert a share from 0 to 1 to a number from 0 to 2^bits - 1. */
static uint64_t step_of(double share, int bits) {
    double max = (double)(((uint64_t)1 << bits) - 1);
    return (uint64_t)fmin(fmax(share * max, 0), max);
}

/* The reference for positions: c_0 and the normal of the plane. */
typedef struct frame {
    double center[3], normal[3];
} frame;

static uint64_t key_of(const frame *f, const double *point) {
    double from[3];
    arap_sub(point, f->center, from);
    double distance = sqrt(arap_dot(from, from)) / FARTHEST;
    double side = (1 + arap_dot(from, f->normal) / FARTHEST) / 2;
    return step_of(distance, DISTANCE_BITS) << SIDE_BITS | step_of(side, SIDE_BITS);
}

static frame find_places(const arap_solver *s, arap_keyed *out) {
    double points[3][3];
    frame f;
    for (int j = 0; j < 3; j++) point_among(&s->skeleton, j, points[j]);
    normal_of(points, f.normal);
    for (int c = 0; c < 3; c++) f.center[c] = points[0][c];
    for (int i = 0; i < s->mesh.count; i++)
        out[i] = (arap_keyed){key_of(&f, s->mesh.v + 3 * (size_t)i), (size_t)i};
    return f;
}

/* The mean of the neighbors of a vertex, without links, or itself. */
static uint64_t key_around(const frame *f, const arap_mesh *mesh, int i) {
    double sum[3] = {0};
    int count = 0;
    for (size_t e = mesh->ring[i]; e < mesh->ring[i + 1]; e++) {
        if (arap_mesh_is_link(mesh, e)) continue;
        for (int c = 0; c < 3; c++) sum[c] += mesh->v[3 * (size_t)mesh->neighbor[e] + (size_t)c];
        count++;
    }
    for (int c = 0; c < 3; c++)
        sum[c] = count ? sum[c] / count : mesh->v[3 * (size_t)i + (size_t)c];
    return key_of(f, sum);
}

/* Sort the few coincident vertices. */
static void sort_same(const frame *f, const arap_mesh *mesh, size_t count, arap_keyed *sorted) {
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && sorted[end].key == sorted[first].key;) end++;
        for (size_t k = first + 1; k < end && end - first <= MAX_SAME; k++) {
            arap_keyed item = sorted[k];
            uint64_t key = key_around(f, mesh, (int)item.index);
            size_t at = k;
            for (; at > first && key < key_around(f, mesh, (int)sorted[at - 1].index); at--)
                sorted[at] = sorted[at - 1];
            sorted[at] = item;
        }
    }
}

arap_status arap_find_visits(arap_context *context, const arap_solver *solver, int *visit) {
    size_t n = (size_t)solver->mesh.count;
    arap_keyed *places = ARAP_NEW(arap_keyed, 2 * n), *sorted = places, *scratch = places + n;
    if (!places) return arap_fail_memory(&context->error, "the coarse mesh");
    frame f = find_places(solver, places);
    arap_status status = arap_radix_sort(context, n, &sorted, &scratch);
    if (!status) sort_same(&f, &solver->mesh, n, sorted);
    for (size_t k = 0; k < n && !status; k++) visit[k] = (int)sorted[k].index;
    arap_free(places);
    return status;
}
