/* Rotations as vectors, axis times angle: more of what rig/joint_range.h begins with. */
#ifndef ARAP_TURNS_H
#define ARAP_TURNS_H

#include "rig/joint_range.h"

/* out = a b^T, all (3, 3). */
void arap_multiply_transposed(const double *a, const double *b, double *out);

/* The rotation vector of a rotation, no longer than pi. */
void arap_vector_from_rotation(const double *rotation, double *out);

/* Of the vectors of the same rotation, make `turn` the one nearest to `near`. */
void arap_unwind(const double *near, double *turn);

/* The mean of the turns (vertices, 3) of some corners. */
void arap_mean_turn(const double *turns, int corners, const int *corner, double *out);

/* From the derivative by a further turn, from the left, that by the vector itself: J^T left with
 * exp(v + d) = exp(J d) exp(v). */
void arap_turn_back(const double *v, const double *left, double *out);

#endif
