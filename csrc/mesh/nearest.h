/* Computes nearest points of triangles and tets. */
#ifndef ARAP_NEAREST_H
#define ARAP_NEAREST_H

#include "base/context.h"

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

/* Finds the points of a surface that are nearest to other points, or to vertices of its other
 * parts. The closest points for `count` points, in the caller's units and vertices. */
typedef struct arap_closest {
    int *corner;    /* (count, 3) vertices of the nearest triangle; -1: none found */
    double *bary;   /* (count, 3) the nearest point there */
    double *height; /* (count) signed distance, negative if the point lies behind the surface
                       according to the vertex normals; infinite without a triangle */
} arap_closest;

/* points (count, 3). owner (count) or NULL: a vertex whose part, connected to it by faces and
 * edges, is ignored; -1: none. radius (count) or NULL: search radius, in the caller's units. part
 * (vertex_count) or NULL: the parts, numbered 0, 1... Errors name the first owner that is not a
 * vertex. */
arap_status arap_closest_points(arap_context *context, const arap_geometry *geometry, int count,
                                const double *points, const int *owner, const double *radius,
                                int *part, const arap_closest *out);

#endif
