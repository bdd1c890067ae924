/* Computes nearest points of triangles and tets. */
#ifndef ARAP_NEAREST_H
#define ARAP_NEAREST_H

/* Squared distance from p to the triangle a, b, c. Its nearest point as barycentric coordinates. */
double arap_nearest_on_triangle(const double *p, const double *a, const double *b, const double *c,
                                double *bary);

/* Return the position at which the line from p to q meets the triangle a, b, c, including its
 * edges. The position is between 0 and 1 on the segment, and NaN if the line misses the triangle or
 * the triangle has no area. */
double arap_cross_triangle(const double *p, const double *q, const double *a, const double *b,
                           const double *c);

/* Squared distance from p to a tet, 0 inside, and its nearest point as barycentric coordinates. The
 * corners may have either orientation and may lie in a plane. */
double arap_nearest_in_tet(const double *p, const double *const corner[4], double *bary);

#endif
