/* Measures the share of directions in which skin surrounds a point, in any number of layers. */
#ifndef ARAP_SURROUNDED_H
#define ARAP_SURROUNDED_H

#include "mesh/bvh.h"
#include "mesh/mesh.h"

/* The share of the directions from point p (units of mesh.v) in which faces lie, with any
 * orientation; 0 if it is certainly less than `min`. surface: hierarchy of the triangles, followed
 * by wires, which do not count. */
double arap_surrounding(const arap_mesh *mesh, const arap_bvh *surface, const double *p,
                        double min);

#endif
