/* Measures how much of the way from the skin to a point lies outside the mesh. */
#ifndef ARAP_INSIDE_H
#define ARAP_INSIDE_H

#include "mesh/bvh.h"

/* The surface of a mesh, with its two sides. */
typedef struct arap_inside {
    const arap_mesh *mesh;
    const arap_bvh *faces;
    double *normal; /* (vertices, 3) area-weighted, outward */
    char *inward;   /* (parts) whether the faces of the part point inward */
} arap_inside;

/* Keeps references to the mesh and its faces. */
arap_status arap_inside_create(arap_context *context, const arap_mesh *mesh, const arap_bvh *faces,
                               arap_inside *out);
void arap_inside_clear(arap_inside *inside);

/* Share of the segment from vertex i to the point that lies outside the mesh, 0 to 1. */
double arap_outside_share(const arap_inside *inside, int i, const double *point);

#endif
