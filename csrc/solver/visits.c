/* The order in which vertices grow into clusters: see visits.h.
 *
 * Which clusters there are depends on which vertices are visited first. In the order of their
 * numbers, a character had other weights whenever a program had numbered its vertices in another
 * way. So the order is one of places, and of places that turn and move with the character: with
 * three points c_j among the ends x_k of the deforming bones,
 *     c_j = sum w_jk x_k / sum w_jk,   w_jk = 0.1 + the fractional part of k a_j,   a_j irrational,
 * vertices ascend by their distance from c_0, and those that are equally far, such as mirror
 * images, by the side of the plane through the c_j that they are on. The numbers decide only
 * between vertices that have the same place in both: around a straight chain of bones, or where
 * the bones of a flat skeleton are in a plane with them.
 *
 * Places count in steps of 2^-DISTANCE_BITS and 2^-SIDE_BITS of the largest, far above rounding,
 * and are sorted by radix: O(vertices + bones) time, O(vertices) memory. Fails on out-of-memory. */
#include "solver/visits.h"

#include <math.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/vec3.h"

#define DIGIT 11 /* bits that are sorted by at once */
#define DIGITS (1 << DIGIT)
#define DISTANCE_BITS (3 * DIGIT)
#define SIDE_BITS (2 * DIGIT)
#define LEAST 0.1 /* of the weights of the ends */
#define NO_PLANE                                                                                   \
    1e-12 /* twice the area of the triangle of the points, of the square of its size               \
           */

typedef struct place {
    uint64_t key;
    int vertex;
} place;

/* Point j among the ends of the deforming bones. */
static void point_among(const arap_skeleton *skeleton, int j, double *out) {
    static const double step[3] = {0.6180339887498949, 0.4142135623730951, 0.7320508075688772};
    double total = 0;
    for (int c = 0; c < 3; c++) out[c] = 0;
    for (int k = 0; k < 2 * skeleton->deform_count; k++) {
        const double *ends = k % 2 ? skeleton->tails : skeleton->heads;
        const double *x = ends + 3 * (size_t)skeleton->deform_bone[k / 2];
        double along = step[j] * k, weight = LEAST + along - floor(along);
        for (int c = 0; c < 3; c++) out[c] += weight * x[c];
        total += weight;
    }
    for (int c = 0; c < 3; c++) out[c] /= total;
}

/* Normal of the plane through three points, of length 1, or 0 if they have none. */
static void normal_of(const double points[3][3], double *out) {
    double a[3], b[3];
    arap_sub(points[1], points[0], a);
    arap_sub(points[2], points[0], b);
    arap_cross(a, b, out);
    double length = sqrt(arap_dot(out, out)), size2 = arap_dot(a, a) + arap_dot(b, b);
    for (int c = 0; c < 3; c++) out[c] = length > NO_PLANE * size2 ? out[c] / length : 0;
}

/* A number of 0 .. 2^bits - 1 for a share of 0 to 1. */
static uint64_t step_of(double share, int bits) {
    double most = (double)(((uint64_t)1 << bits) - 1);
    return (uint64_t)fmin(fmax(share * most, 0), most);
}

static void find_places(const arap_solver *s, place *out) {
    double points[3][3], normal[3], most = 0;
    for (int j = 0; j < 3; j++) point_among(&s->skeleton, j, points[j]);
    normal_of(points, normal);
    for (int i = 0; i < s->mesh.count; i++)
        most = fmax(most, arap_distance2(s->mesh.v + 3 * (size_t)i, points[0]));
    double scale = most > 0 ? 1 / sqrt(most) : 0;
    for (int i = 0; i < s->mesh.count; i++) {
        double from[3];
        arap_sub(s->mesh.v + 3 * (size_t)i, points[0], from);
        double distance = scale * sqrt(arap_dot(from, from));
        double side = (1 + scale * arap_dot(from, normal)) / 2;
        out[i].key = step_of(distance, DISTANCE_BITS) << SIDE_BITS | step_of(side, SIDE_BITS);
        out[i].vertex = i;
    }
}

/* By key, equal ones as they come; `other` (count): scratch. Returns where they are then. */
static place *sort_places(size_t count, place *in, place *other) {
    for (int shift = 0; shift < DISTANCE_BITS + SIDE_BITS; shift += DIGIT) {
        size_t start[DIGITS] = {0}, sum = 0;
        for (size_t k = 0; k < count; k++) start[in[k].key >> shift & (DIGITS - 1)]++;
        for (int d = 0; d < DIGITS; d++) {
            size_t own = start[d];
            start[d] = sum;
            sum += own;
        }
        for (size_t k = 0; k < count; k++)
            other[start[in[k].key >> shift & (DIGITS - 1)]++] = in[k];
        place *sorted = other;
        other = in;
        in = sorted;
    }
    return in;
}

arap_status arap_find_visits(arap_context *context, const arap_solver *s, int *visit) {
    size_t n = (size_t)s->mesh.count;
    place *places = ARAP_NEW(place, 2 * n);
    if (!places) return arap_fail_memory(&context->error, "the coarse mesh");
    find_places(s, places);
    const place *sorted = sort_places(n, places, places + n);
    for (size_t k = 0; k < n; k++) visit[k] = sorted[k].vertex;
    arap_free(places);
    return ARAP_OK;
}
