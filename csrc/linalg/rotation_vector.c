/* Rotation vectors: see rotation_vector.h.
 *
 * exp(v + d) = exp(J d) exp(v) to first order in d, with the angle t of v,
 *     J = I + (1 - cos t) / t^2 [v] + (t - sin t) / t^3 [v]^2,
 * where [v] d = v x d. Near t = 0, series expansions replace the ratios. The functions cannot fail.
 */
#include "linalg/rotation_vector.h"

#include <math.h>
#include <stddef.h>

#include "base/vec3.h"

#define TINY 1e-4 /* angles below which ratios are computed as series */
#define FULL 6.283185307179586
#define ACROSS2 1e-24 /* squared: a shorter vector across has no direction */

void arap_multiply33(const double *a, const double *b, double *out) {
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            out[3 * r + c] = a[3 * r] * b[c] + a[3 * r + 1] * b[3 + c] + a[3 * r + 2] * b[6 + c];
}

void arap_multiply_transposed(const double *a, const double *b, double *out) {
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) out[3 * r + c] = arap_dot(a + 3 * r, b + 3 * c);
}

void arap_rotation_from_vector(const double *v, double *out) { /* Rodrigues' formula */
    double angle2 = arap_dot(v, v), angle = sqrt(angle2);
    double s = angle2 > 1e-16 ? sin(angle) / angle : 1;
    double c = angle2 > 1e-16 ? (1 - cos(angle)) / angle2 : 0.5;
    double k[9] = {0, -v[2], v[1], v[2], 0, -v[0], -v[1], v[0], 0};
    double kk[9];
    arap_multiply33(k, k, kk);
    for (int i = 0; i < 9; i++) out[i] = (i % 4 == 0) + s * k[i] + c * kk[i];
}

void arap_vector_from_rotation(const double *rotation, double *out) {
    const double axis[3] = {(rotation[7] - rotation[5]) / 2, (rotation[2] - rotation[6]) / 2,
                            (rotation[3] - rotation[1]) / 2};
    double sine = sqrt(arap_dot(axis, axis)),
           cosine = (rotation[0] + rotation[4] + rotation[8] - 1) / 2;
    double angle = atan2(sine, cosine);
    if (sine > 1e-6 || cosine > 0) {
        for (int c = 0; c < 3; c++) out[c] = axis[c] * (sine > 1e-12 ? angle / sine : 1);
        return;
    }
    /* Half a turn: r = 2 u u^T - I. */
    int max = rotation[4] > rotation[0] ? 1 : 0;
    if (rotation[8] > rotation[4 * max]) max = 2;
    double column[3];
    for (int c = 0; c < 3; c++)
        column[c] = (rotation[3 * c + max] + rotation[3 * max + c]) / 2 + (c == max);
    double length = sqrt(arap_dot(column, column));
    double sign = arap_dot(column, axis) < 0 ? -1 : 1;
    for (int c = 0; c < 3; c++) out[c] = sign * angle * column[c] / length;
}

void arap_shortest_rotation(const double *a, const double *b, double *out) {
    double axis[3], across;
    arap_cross(a, b, axis);
    across = sqrt(arap_dot(axis, axis));
    double along = arap_dot(a, b), angle = atan2(across, along);
    if (across * across <= ACROSS2 * (along * along + across * across)) {
        int min = 0;
        double unit[3] = {0, 0, 0};
        for (int c = 1; c < 3; c++)
            if (fabs(a[c]) < fabs(a[min])) min = c;
        unit[min] = 1;
        arap_cross(a, unit, axis);
        across = sqrt(arap_dot(axis, axis));
        angle = along < 0 ? 3.141592653589793 : 0;
    }
    for (int c = 0; c < 3; c++) axis[c] *= across > 0 ? angle / across : 0;
    arap_rotation_from_vector(axis, out);
}

void arap_unwind(const double *near, double *turn) {
    double angle = sqrt(arap_dot(turn, turn));
    if (!(angle > TINY)) return;
    double turns = round((arap_dot(near, turn) / angle - angle) / FULL);
    for (int c = 0; c < 3; c++) turn[c] *= 1 + turns * FULL / angle;
}

void arap_mean_turn(const double *turns, int corners, const int *corner, double *out) {
    for (int c = 0; c < 3; c++) out[c] = 0;
    for (int k = 0; k < corners; k++)
        for (int c = 0; c < 3; c++) out[c] += turns[3 * (size_t)corner[k] + (size_t)c] / corners;
}

void arap_turn_back(const double *v, const double *left, double *out) {
    double t2 = arap_dot(v, v), t = sqrt(t2), once[3], twice[3];
    double first = t > TINY ? (1 - cos(t)) / t2 : 0.5 - t2 / 24;
    double second = t > TINY ? (t - sin(t)) / (t2 * t) : 1.0 / 6 - t2 / 120;
    arap_cross(v, left, once);
    arap_cross(v, once, twice);
    for (int c = 0; c < 3; c++) out[c] = left[c] - first * once[c] + second * twice[c];
}
