/* Layers: parts of a mesh that lie on each other, as clothes do. */
#ifndef ARAP_LAYERS_H
#define ARAP_LAYERS_H

#include "mesh/mesh.h"

/* is_sheet (parts): whether a part is a sheet, such as cloth, see layers.c. */
arap_status arap_find_sheets(arap_context *context, const arap_mesh *mesh, char *is_sheet);

/* Does vertex i, with this normal, lie on triangle t of another part, or under it? bary: of the
 * point of t that is nearest to it. */
int arap_lies_on(const arap_mesh *mesh, int i, const double *normal, int t, const double *bary);

#endif
