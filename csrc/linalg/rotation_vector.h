/* Rotations as vectors, axis times angle: the exponential map, its inverse, and related functions.
 * Matrices are (3, 3), row by row. */
#ifndef ARAP_ROTATION_VECTOR_H
#define ARAP_ROTATION_VECTOR_H

/* out = a b, and out = a b^T; not in place. */
void arap_multiply33(const double *a, const double *b, double *out);
void arap_multiply_transposed(const double *a, const double *b, double *out);

/* Rotation by the vector `v`, and the vector of a rotation, no longer than pi. */
void arap_rotation_from_vector(const double *v, double *out);
void arap_vector_from_rotation(const double *rotation, double *out);

/* The shortest rotation from direction `a` to direction `b`, vectors of any length above 0. */
void arap_shortest_rotation(const double *a, const double *b, double *out);

/* Replace `turn` by the vector of the same rotation that is nearest to `near`. */
void arap_unwind(const double *near, double *turn);

/* The mean of the turns (vertices, 3) of some corners. */
void arap_mean_turn(const double *turns, int corners, const int *corner, double *out);

/* From the derivative by a further turn, from the left, that by the vector itself: J^T left with
 * exp(v + d) = exp(J d) exp(v). */
void arap_turn_back(const double *v, const double *left, double *out);

#endif
