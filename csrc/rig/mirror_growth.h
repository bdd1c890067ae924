/* Partners of the vertices of a mesh that is nearly symmetric. */
#ifndef ARAP_MIRROR_GROWTH_H
#define ARAP_MIRROR_GROWTH_H

#include "rig/symmetry.h"

/* Are the partners that were found, and their places, not those of a mesh that is symmetric as
 * far as it has partners at all? */
int arap_is_nearly_symmetric(const arap_mesh *mesh, const arap_symmetry *symmetry);

/* Replace the partners by those that grow from the largest connected sets of them. They stay where
 * more had some before. */
arap_status arap_grow_partners(arap_context *context, const arap_mesh *mesh,
                               arap_symmetry *symmetry);

#endif
