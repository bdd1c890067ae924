/* Creates links that make loose parts follow the surface on which they sit. */
#ifndef ARAP_LINKS_H
#define ARAP_LINKS_H

#include "mesh/bvh.h"
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

/* Finds layers: parts of a mesh that lie on each other, such as clothes. sheets: (parts) */
arap_status arap_find_sheets(arap_context *context, const arap_mesh *mesh,
                             const arap_joints *joints, arap_sheet *sheets);

/* Whether two parts that lie on each other are layers of clothing. */
int arap_are_layers(const arap_sheet *a, const arap_sheet *b);

/* Whether vertex i lies on or under triangle t of another part. bary: barycentric coordinates of
 * the point of t nearest to the vertex; normals: vertex normals (count, 3). */
int arap_lies_on(const arap_mesh *mesh, const double *normals, int i, int t, const double *bary);

/* Wire edges that link the parts of a mesh. */
typedef struct arap_links {
    int *pair; /* (count, 2) vertices */
    size_t count;
    size_t layers; /* how many of these, at the end, join parts that lie on each other */
    int parts;     /* number of parts that found a link */
} arap_links;

/* See links.c. joints: of the bones, used to detect layers, or NULL. faces: NULL, or where the tree
 * of the mesh's faces is stored for the caller. It stays NULL if no tree was needed. */
arap_status arap_link_parts(arap_context *context, const arap_mesh *mesh, const arap_joints *joints,
                            arap_links *links, arap_bvh **faces);
void arap_links_clear(arap_links *links);

#endif
