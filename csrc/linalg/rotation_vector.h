/* Rotations as vectors (axis times angle), with the exponential map, its inverse, and related
 * functions. Matrices are (3, 3), row-major. */
#ifndef ARAP_ROTATION_VECTOR_H
#define ARAP_ROTATION_VECTOR_H

/* out = a b, and out = a b^T; not in place. */
void arap_multiply33(const double *a, const double *b, double *out);
void arap_multiply_transposed(const double *a, const double *b, double *out);

/* The rotation given by the vector `v`, and the vector of a rotation, whose length is at most
 * pi. */
void arap_rotation_from_vector(const double *v, double *out);
void arap_vector_from_rotation(const double *rotation, double *out);

/* The shortest rotation from direction `a` to direction `b`, given as vectors of any positive
 * length. */
void arap_shortest_rotation(const double *a, const double *b, double *out);

/* Replace `turn` by the vector nearest to `near` that represents the same rotation. */
void arap_unwind(const double *near, double *turn);

/* The mean of the turns (vertices, 3) at the given corners. */
void arap_mean_turn(const double *turns, int corners, const int *corner, double *out);

/* Convert the derivative by an additional turn from the left to the derivative by the vector
 * itself: J^T left with exp(v + d) = exp(J d) exp(v). */
void arap_turn_back(const double *v, const double *left, double *out);

#endif
