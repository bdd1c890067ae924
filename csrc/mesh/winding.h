/* Computes winding numbers, which count how many times a surface encloses a point. */
#ifndef ARAP_WINDING_H
#define ARAP_WINDING_H

#include "mesh/mesh.h"

/* The winding number of point p (units of mesh.v): 1 inside a closed surface, 0 outside, less than
 * 1/2 in front of an open one. The sign depends on the orientation of the surface. angle: receives
 * the sum of the unsigned solid angles of all triangles, unless NULL. */
double arap_winding_number(const arap_mesh *mesh, const double *p, double *angle);

#endif
