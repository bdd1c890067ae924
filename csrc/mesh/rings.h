/* The one-rings of a mesh, with the edge weights of the energy. */
#ifndef ARAP_RINGS_H
#define ARAP_RINGS_H

#include "mesh/links.h"
#include "mesh/mesh.h"

/* Add the links, unless NULL, to the wires and build the one-rings. edge_power: see rings.c; 0
 * selects the paper's edge weights. */
arap_status arap_mesh_connect(arap_context *context, arap_mesh *mesh, const arap_links *links,
                              double edge_power);

/* Label the island of each vertex, island (vertices), numbering islands in the order of their first
 * vertices. Returns the number of islands. stack (vertices): scratch. */
int arap_find_islands(const arap_mesh *mesh, int *island, int *stack);

#endif
