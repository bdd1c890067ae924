/* Extends values on some vertices of a mesh smoothly to the others. */
#ifndef ARAP_INPAINT_H
#define ARAP_INPAINT_H

#include "mesh/mesh.h"

/* Fill in values (columns, count) of the vertices that are not known (count). The mesh must be
 * connected, and each of its islands must have a known vertex. */
arap_status arap_inpaint(arap_context *context, const arap_mesh *mesh, const char *known,
                         int columns, double *values);

#endif
