/* Finds the handles of a mesh without tets, which are the cores of the regions around the bones. */
#ifndef ARAP_SURFACE_HANDLES_H
#define ARAP_SURFACE_HANDLES_H

#include "initial/handle_list.h"
#include "initial/visibility.h"
#include "rig/skeleton.h"

/* out->bones (vertices) must be all 0 before the call. */
arap_status arap_find_cores(arap_context *context, const arap_mesh *mesh,
                            const arap_skeleton *skeleton, const arap_visibility *visibility,
                            arap_handles *out);

#endif
