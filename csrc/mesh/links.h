/* Links that make loose parts follow what they sit on. */
#ifndef ARAP_LINKS_H
#define ARAP_LINKS_H

#include "mesh/mesh.h"

/* Wire edges between the parts of a mesh (see links.c). *links (2 * count) are vertices,
 * *linked the number of parts that found one. Release with arap_free. */
arap_status arap_link_parts(arap_context *context, const arap_mesh *mesh, int **links,
                            size_t *count, int *linked);

#endif
