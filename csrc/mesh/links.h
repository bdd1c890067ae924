/* Links that make loose parts follow what they sit on. */
#ifndef ARAP_LINKS_H
#define ARAP_LINKS_H

#include "mesh/bvh.h"
#include "mesh/mesh.h"

/* Wire edges between the parts of a mesh (see links.c). *links (2 * count) are vertices,
 * *linked the number of parts that found one. Release with arap_free. faces: NULL, or where to
 * leave the tree of the mesh's faces; it stays NULL where none was needed. */
arap_status arap_link_parts(arap_context *context, const arap_mesh *mesh, int **links,
                            size_t *count, int *linked, arap_bvh **faces);

#endif
