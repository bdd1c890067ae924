/* A list of handles: pairs of a vertex and the bone that it represents. */
#ifndef ARAP_HANDLE_LIST_H
#define ARAP_HANDLE_LIST_H

#include "base/context.h"

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

#endif
