/* Finds skin of one side that pierces the limb of the other side. */
#ifndef ARAP_PIERCED_H
#define ARAP_PIERCED_H

#include "base/memory.h"
#include "initial/visibility.h"
#include "rig/symmetry.h"

/* All zero: no skin pierces a limb. */
typedef struct arap_pierced {
    int count; /* vertices that pierce */
    signed char
        *side; /* (vertices) +1 or -1: the side of the plane to which they belong, 0: others */
    signed char *bone_side; /* (deforming bones) side of each bone with a mirror image, otherwise
                               0 */
    arap_arena arena;       /* of the arrays */
} arap_pierced;

/* faces: those of the mesh, or NULL, in which case they are created when needed. known (input
 * vertices): the sides found on a finer mesh, or NULL. */
arap_status arap_pierced_find(arap_context *context, const arap_mesh *mesh,
                              const arap_skeleton *skeleton, const arap_symmetry *symmetry,
                              const signed char *known, arap_bvh **faces, arap_pierced *out);
void arap_pierced_clear(arap_pierced *pierced);

/* Whether the bone is on the side that this vertex merely pierces. */
int arap_pierced_excludes(const arap_pierced *pierced, int vertex, int bone);

/* Let the piercing vertices see the nearest bone of their own side instead of the bone that they
 * saw before. */
void arap_pierced_look(const arap_pierced *pierced, const arap_mesh *mesh,
                       const arap_skeleton *skeleton, arap_visibility *visibility);

#endif
