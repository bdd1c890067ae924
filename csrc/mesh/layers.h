/* Detects layers: parts of a mesh that lie on each other, such as clothes. */
#ifndef ARAP_LAYERS_H
#define ARAP_LAYERS_H

#include "mesh/mesh.h"

/* Where bones join. */
typedef struct arap_joints {
    const double *at; /* (count, 3) in units of arap_mesh.v */
    int count;
} arap_joints;

/* Whether a part is a sheet, such as cloth, and whether it spans a joint, see layers.c. */
typedef struct arap_sheet {
    int is_sheet, spans_joint;
} arap_sheet;

/* sheets: (parts) */
arap_status arap_find_sheets(arap_context *context, const arap_mesh *mesh,
                             const arap_joints *joints, arap_sheet *sheets);

/* Whether two parts that lie on each other are layers of clothing. */
int arap_are_layers(const arap_sheet *a, const arap_sheet *b);

/* Whether vertex i lies on or under triangle t of another part. bary: barycentric coordinates of
 * the point of t nearest to the vertex; normals: vertex normals (count, 3). */
int arap_lies_on(const arap_mesh *mesh, const double *normals, int i, int t, const double *bary);

#endif
