/* Skin of one side that pierces the limb of the other one. */
#ifndef ARAP_PIERCED_H
#define ARAP_PIERCED_H

#include "initial/visibility.h"
#include "rig/symmetry.h"

/* All zero: no skin does. */
typedef struct arap_pierced {
    int count; /* vertices that pierce */
    signed char
        *side; /* (vertices) +1 or -1: the side of the plane to which they belong, 0: others */
    signed char *bone_side; /* (deforming bones) of those with a mirror image, else 0 */
} arap_pierced;

/* faces: those of the mesh, or NULL, and then made if they are needed. known (input vertices): the
 * sides that a finer mesh has found, or NULL. */
arap_status arap_pierced_find(arap_context *context, const arap_mesh *mesh,
                              const arap_skeleton *skeleton, const arap_symmetry *symmetry,
                              const signed char *known, arap_bvh **faces, arap_pierced *out);
void arap_pierced_clear(arap_pierced *pierced);

/* Is the bone of the side that this vertex only pierces? */
int arap_pierced_excludes(const arap_pierced *pierced, int vertex, int bone);

/* The vertices that pierce see the nearest bone of their own side in place of what they saw. */
void arap_pierced_look(const arap_pierced *pierced, const arap_mesh *mesh,
                       const arap_skeleton *skeleton, arap_visibility *visibility);

#endif
