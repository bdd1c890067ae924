/* Finds parts of a mesh that lie in a plane, such as a 2D cutout. */
#ifndef ARAP_SHEETS_H
#define ARAP_SHEETS_H

#include "mesh/mesh.h"

/* Compute the thickness of every part, (part_count): 0 if it lies in a plane, 1 if it is not a
 * sheet. */
arap_status arap_part_thickness(arap_context *context, const arap_mesh *mesh, double *thick);

#endif
