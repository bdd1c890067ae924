/* The share of directions in which skin lies around a point, in any number of layers. */
#ifndef ARAP_SURROUNDED_H
#define ARAP_SURROUNDED_H

#include "mesh/bvh.h"
#include "mesh/mesh.h"

/* The share of the directions from point p (units of mesh.v) in which faces lie, with any
 * orientation; 0 if it is certainly less than `min`. surface: of the triangles, and of wires
 * after them, which do not count. */
double arap_surrounding(const arap_mesh *mesh, const arap_bvh *surface, const double *p,
                        double min);

#endif
