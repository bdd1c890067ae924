/* Handles: the vertices that stand for a bone, where its biharmonic weight is 1. */
#ifndef ARAP_HANDLES_H
#define ARAP_HANDLES_H

#include "initial/visibility.h"
#include "rig/skeleton.h"

typedef struct arap_handles {
    struct arap_handle {
        int vertex, bone; /* deforming bone */
    } *handle;            /* (count) each pair once */
    int count, capacity;
    int *bones; /* (vertices) how many bones have the vertex as a handle */
} arap_handles;

/* Of a volume those on the bones inside it, of a mesh without tets the cores of what is around the
 * bones. Every island gets one. */
arap_status arap_find_handles(arap_context *context, const arap_mesh *mesh,
                              const arap_skeleton *skeleton, const arap_visibility *visibility,
                              arap_handles *out);

/* Of a mesh without tets, see surface_handles.c; out->bones (vertices): all 0. */
arap_status arap_find_cores(arap_context *context, const arap_mesh *mesh,
                            const arap_skeleton *skeleton, const arap_visibility *visibility,
                            arap_handles *out);

/* A vertex becomes a handle of a bone, unless it is. */
arap_status arap_add_handle(arap_context *context, arap_handles *list, int vertex, int bone);
void arap_handles_clear(arap_handles *handles);

#endif
