/* Finds the points of a surface that are nearest to other points, or to vertices of its other
 * parts. */
#ifndef ARAP_CLOSEST_H
#define ARAP_CLOSEST_H

#include "base/context.h"

/* The closest points for `count` points, in the caller's units and vertices. */
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
