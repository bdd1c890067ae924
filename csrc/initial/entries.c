/* Weights that come bone by bone: see entries.h. O(entries); it fails without memory only. */
#include "initial/entries.h"

#include <string.h>

#include "base/memory.h"

arap_status arap_entries_add(arap_context *context, arap_entries *list, int vertex, int bone,
                             double weight) {
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 4096;
        struct arap_entry *grown = arap_realloc(list->entry, capacity, sizeof *grown);
        if (!grown) return arap_fail_memory(&context->error, "the initial weights");
        list->entry = grown;
        list->capacity = capacity;
    }
    list->entry[list->count++] = (struct arap_entry){vertex, bone, weight};
    return ARAP_OK;
}

arap_status arap_entries_rows(arap_context *context, const arap_entries *list, int count,
                              const int *alone, arap_influences *out) {
    int *sizes = ARAP_NEW_ZERO(int, count);
    if (!sizes) return arap_fail_memory(&context->error, "the initial weights");
    for (size_t e = 0; e < list->count; e++) sizes[list->entry[e].vertex]++;
    for (int i = 0; i < count; i++) sizes[i] = sizes[i] ? sizes[i] : 1;
    arap_status status = arap_influences_create(context, count, sizes, out);
    if (status) goto done;
    memset(sizes, 0, (size_t)count * sizeof *sizes);
    for (size_t e = 0; e < list->count; e++) {
        const struct arap_entry *entry = &list->entry[e];
        size_t at = out->start[entry->vertex] + (size_t)sizes[entry->vertex]++;
        out->bone[at] = entry->bone;
        out->weight[at] = entry->weight;
    }
    for (int i = 0; i < count; i++) {
        if (sizes[i]) continue;
        out->bone[out->start[i]] = alone[i];
        out->weight[out->start[i]] = 1;
    }

done:
    arap_free(sizes);
    return status;
}

void arap_entries_clear(arap_entries *list) {
    arap_free(list->entry);
    *list = (arap_entries){0};
}
