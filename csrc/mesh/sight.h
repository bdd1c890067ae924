/* Tests whether a face lies between a vertex of a mesh and a point. */
#ifndef ARAP_SIGHT_H
#define ARAP_SIGHT_H

#include "mesh/mesh.h"

/* A line of sight that begins or ends at a vertex. */
typedef struct arap_sight {
    const arap_mesh *mesh;
    int vertex;    /* its own faces do not count */
    double margin; /* share of the line at each end; crossings there do not count */
} arap_sight;

/* The position at which the line from p to q meets face t, as returned by arap_cross_triangle. */
double arap_cross_face(const arap_mesh *mesh, int t, const double *p, const double *q);

/* An arap_hit_fn for arap_bvh_crossed on the faces of a mesh: face t crosses the line. */
int arap_face_between(const void *sight, int t, const double *a, const double *b);

#endif
