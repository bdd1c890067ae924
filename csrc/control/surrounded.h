/* Finds whether skin surrounds a point in most directions, in any number of layers. */
#ifndef ARAP_SURROUNDED_H
#define ARAP_SURROUNDED_H

#include "mesh/bvh.h"
#include "mesh/mesh.h"

/* Whether faces, with any orientation, lie in at least this share of the directions from point p
 * (units of mesh.v). angle: the sum of the unsigned solid angles there (winding.h). surface:
 * hierarchy of the triangles, followed by wires, which do not count. */
int arap_is_surrounded(const arap_mesh *mesh, const arap_bvh *surface, const double *p,
                       double angle, double min);

#endif
