/* Handles: the vertices of a volume that stand for a bone, where its biharmonic weight is 1. */
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

arap_status arap_find_handles(arap_context *context, const arap_mesh *mesh,
                              const arap_skeleton *skeleton, const arap_visibility *visibility,
                              arap_handles *out);
void arap_handles_clear(arap_handles *handles);

#endif
