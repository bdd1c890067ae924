/* Creates links that make loose parts follow the surface on which they sit. */
#ifndef ARAP_LINKS_H
#define ARAP_LINKS_H

#include "mesh/bvh.h"
#include "mesh/layers.h"
#include "mesh/mesh.h"

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
