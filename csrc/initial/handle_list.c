/* A list of handles: see handle_list.h. Adding a handle to a vertex that already has handles takes
 * O(handles). Fails only on out-of-memory. */
#include "initial/handle_list.h"

#include "base/memory.h"

arap_status arap_add_handle(arap_context *context, arap_handles *list, int vertex, int bone) {
    for (int h = 0; h < list->count && list->bones[vertex]; h++)
        if (list->handle[h].vertex == vertex && list->handle[h].bone == bone) return ARAP_OK;
    if (list->count == list->capacity) {
        int capacity = list->capacity ? 2 * list->capacity : 256;
        struct arap_handle *grown = arap_realloc(list->handle, (size_t)capacity, sizeof *grown);
        if (!grown) return arap_fail_memory(&context->error, "the handles of bones");
        list->handle = grown;
        list->capacity = capacity;
    }
    list->handle[list->count++] = (struct arap_handle){vertex, bone};
    list->bones[vertex]++;
    return ARAP_OK;
}

void arap_handles_clear(arap_handles *handles) {
    arap_free(handles->handle);
    arap_free(handles->bones);
    *handles = (arap_handles){0};
}
