/* Handles: the vertices that represent a bone and have a biharmonic weight of 1 for it. */
#ifndef ARAP_HANDLES_H
#define ARAP_HANDLES_H

#include "initial/handle_list.h"
#include "initial/visibility.h"
#include "rig/skeleton.h"

/* In a volume, the handles are the vertices on the bones inside it. In a mesh without tets, they
 * are the cores of the regions around the bones. Every island gets a handle. */
arap_status arap_find_handles(arap_context *context, const arap_mesh *mesh,
                              const arap_skeleton *skeleton, const arap_visibility *visibility,
                              arap_handles *out);

#endif
