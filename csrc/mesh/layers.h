/* Layers: parts of a mesh that lie on each other, such as clothes. */
#ifndef ARAP_LAYERS_H
#define ARAP_LAYERS_H

#include "mesh/mesh.h"

/* Where bones join. */
typedef struct arap_joints {
    const double *at; /* (count, 3) in the units of arap_mesh.v */
    int count;
} arap_joints;

/* Whether a part is a sheet, such as cloth, and whether it spans a joint, see layers.c. */
typedef struct arap_sheet {
    int is_sheet, spans_joint;
} arap_sheet;

/* sheets: (parts) */
arap_status arap_find_sheets(arap_context *context, const arap_mesh *mesh,
                             const arap_joints *joints, arap_sheet *sheets);

/* Are two parts that lie on each other layers of clothing? */
int arap_are_layers(const arap_sheet *a, const arap_sheet *b);

/* Does vertex i lie on triangle t of another part, or under it? bary: of the point of t that is
 * nearest to it; normals: of the vertices (count, 3). */
int arap_lies_on(const arap_mesh *mesh, const double *normals, int i, int t, const double *bary);

#endif
