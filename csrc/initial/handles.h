/* Handles: the vertices that represent a bone; its biharmonic weight is 1 there. */
#ifndef ARAP_HANDLES_H
#define ARAP_HANDLES_H

#include "initial/handle_list.h"
#include "initial/visibility.h"
#include "rig/skeleton.h"

/* Of a volume those on the bones inside it, of a mesh without tets the cores of what is around the
 * bones. Every island gets one. */
arap_status arap_find_handles(arap_context *context, const arap_mesh *mesh,
                              const arap_skeleton *skeleton, const arap_visibility *visibility,
                              arap_handles *out);

#endif
