/* Handles: the vertices that represent a bone and have a biharmonic weight of 1 for it. */
#ifndef ARAP_HANDLES_H
#define ARAP_HANDLES_H

#include "base/context.h"
#include "initial/visibility.h"
#include "rig/skeleton.h"

/* A list of handles: pairs of a vertex and the bone that it represents. */
typedef struct arap_handles {
    struct arap_handle {
        int vertex, bone; /* deforming bone */
    } *handle;            /* (count) each pair occurs once */
    int count, capacity;
    int *bones; /* (vertices) number of bones that have the vertex as a handle */
} arap_handles;

/* Make a vertex a handle of a bone, unless it already is one. */
arap_status arap_add_handle(arap_context *context, arap_handles *list, int vertex, int bone);
void arap_handles_clear(arap_handles *handles);

/* The given handles (NULL: none) are the only handles of their bones, and of no other bone. For
 * other bones, in a volume, the handles are the vertices on the bones inside it. In a mesh without
 * tets, they are the cores of the regions around the bones. Every island gets a handle. */
arap_status arap_find_handles(arap_context *context, const arap_mesh *mesh,
                              const arap_skeleton *skeleton, const arap_visibility *visibility,
                              const arap_handles *given, arap_handles *out);

/* Finds the handles of a mesh without tets, which are the cores of the regions around the bones.
 * out->bones (vertices) must be all 0 before the call. */
arap_status arap_find_cores(arap_context *context, const arap_mesh *mesh,
                            const arap_skeleton *skeleton, const arap_visibility *visibility,
                            arap_handles *out);

#endif
