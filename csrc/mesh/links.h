/* Links that make loose parts follow the surface that they sit on. */
#ifndef ARAP_LINKS_H
#define ARAP_LINKS_H

#include "mesh/bvh.h"
#include "mesh/layers.h"
#include "mesh/mesh.h"

/* Wire edges between the parts of a mesh. */
typedef struct arap_links {
    int *pair; /* (count, 2) vertices */
    size_t count;
    size_t layers; /* of these, the last ones, between parts that lie on each other */
    int parts;     /* how many found one */
} arap_links;

/* See links.c. joints: of the bones, to tell layers apart, or NULL. faces: NULL, or where to leave
 * the tree of the mesh's faces; it stays NULL if none was needed. */
arap_status arap_link_parts(arap_context *context, const arap_mesh *mesh, const arap_joints *joints,
                            arap_links *links, arap_bvh **faces);
void arap_links_clear(arap_links *links);

#endif
