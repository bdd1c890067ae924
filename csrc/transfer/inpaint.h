/* Values on some vertices of a mesh, continued smoothly over the others. */
#ifndef ARAP_INPAINT_H
#define ARAP_INPAINT_H

#include "mesh/mesh.h"

/* Fill in values (columns, count) of the vertices that are not known (count). The mesh is
 * connected; each of its islands has a known vertex. */
arap_status arap_inpaint(arap_context *context, const arap_mesh *mesh, const char *known,
                         int columns, double *values);

#endif
