/* Winding numbers: how many times a surface encloses a point. */
#ifndef ARAP_WINDING_H
#define ARAP_WINDING_H

#include "mesh/mesh.h"

/* Of point p (units of mesh.v): 1 inside a closed surface, 0 outside, less than 1/2 before an open
 * one; the sign is that of its orientation. */
double arap_winding_number(const arap_mesh *mesh, const double *p);

/* The sum of the solid angles of all triangles, each without its sign. */
double arap_solid_angle(const arap_mesh *mesh, const double *p);

#endif
