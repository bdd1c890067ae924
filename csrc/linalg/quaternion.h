/* Quaternions (w, x, y, z), including those of the rotations in affine maps. */
#ifndef ARAP_QUATERNION_H
#define ARAP_QUATERNION_H

#include "base/vec3.h"

/* out = a b; not in place. */
static inline void arap_quaternion_product(const double *a, const double *b, double *out) {
    double vector[3];
    arap_cross(a + 1, b + 1, vector);
    out[0] = a[0] * b[0] - arap_dot(a + 1, b + 1);
    for (int c = 0; c < 3; c++) out[1 + c] = a[0] * b[1 + c] + b[0] * a[1 + c] + vector[c];
}

static inline double arap_quaternion_dot(const double *a, const double *b) {
    return a[0] * b[0] + arap_dot(a + 1, b + 1);
}

/* q v q*, which is |q|^2 times as long as v; not in place. */
static inline void arap_quaternion_rotate(const double *q, const double *v, double *out) {
    double once[3], twice[3];
    arap_cross(q + 1, v, once);
    arap_cross(q + 1, once, twice);
    double length2 = arap_quaternion_dot(q, q);
    for (int c = 0; c < 3; c++) out[c] = length2 * v[c] + 2 * (q[0] * once[c] + twice[c]);
}

/* Whether these columns form a rotation. */
int arap_is_rotation(const double (*column)[3]);

/* The unit quaternion of the rotation of an affine map (3, 4) of a bone with these axes at rest,
 * (3, 3) or NULL for the coordinate axes. The axes matter only if the linear part is not a
 * rotation: see quaternion.c. */
void arap_transform_quaternion(const double *transform, const double *axes, double *q);

#endif
