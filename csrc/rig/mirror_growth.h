/* Finds partners of the vertices of a mesh that is nearly symmetric. */
#ifndef ARAP_MIRROR_GROWTH_H
#define ARAP_MIRROR_GROWTH_H

#include "rig/symmetry.h"

/* Whether the partners found, and their positions, show that even the part of the mesh with
 * partners is not symmetric. */
int arap_is_nearly_symmetric(const arap_mesh *mesh, const arap_symmetry *symmetry);

/* Replace the partners by those that grow from their largest connected sets, unless more vertices
 * had partners before. */
arap_status arap_grow_partners(arap_context *context, const arap_mesh *mesh,
                               arap_symmetry *symmetry);

#endif
