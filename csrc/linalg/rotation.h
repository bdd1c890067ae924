/* The rotation nearest to a matrix. */
#ifndef ARAP_ROTATION_H
#define ARAP_ROTATION_H

#include <stddef.h>

/* rotation (3x3, row-major) maximizes tr(R^T a) over proper rotations (det +1). The identity for a
 * = 0; if several are equally near, one of them. Accurate to rounding for any a. */
void arap_nearest_rotation(const double *a, double *rotation);

/* The nearest rotations of `count` matrices one after another, bit for bit, four at a time. */
void arap_nearest_rotations(size_t count, const double *a, double *rotations);

#endif
