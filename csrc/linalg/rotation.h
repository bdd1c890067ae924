/* Finds the rotation nearest to a matrix. */
#ifndef ARAP_ROTATION_H
#define ARAP_ROTATION_H

#include <stddef.h>

/* Find the rotation (3x3, row-major) that maximizes tr(R^T a) over proper rotations (det +1): the
 * identity for a = 0, and any one of several equally near rotations. Accurate to rounding for any
 * a. */
void arap_nearest_rotation(const double *a, double *rotation);

/* Find the nearest rotations of `count` consecutive matrices, four at a time; bitwise identical to
 * single calls. */
void arap_nearest_rotations(size_t count, const double *a, double *rotations);

#endif
