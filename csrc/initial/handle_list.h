/* Pairs of a vertex and a bone that it represents. */
#ifndef ARAP_HANDLE_LIST_H
#define ARAP_HANDLE_LIST_H

#include "base/context.h"

typedef struct arap_handles {
    struct arap_handle {
        int vertex, bone; /* deforming bone */
    } *handle;            /* (count) each pair once */
    int count, capacity;
    int *bones; /* (vertices) how many bones have the vertex as a handle */
} arap_handles;

/* A vertex becomes a handle of a bone, unless it is. */
arap_status arap_add_handle(arap_context *context, arap_handles *list, int vertex, int bone);
void arap_handles_clear(arap_handles *handles);

#endif
