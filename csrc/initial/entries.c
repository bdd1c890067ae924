/* Converts weights that were computed bone by bone to rows: see entries.h. Takes O(entries) time,
 * and polls for cancellation after every SLICE entries. Fails on out-of-memory and when cancelled.
 */
#include "initial/entries.h"

#include <string.h>

#include "base/memory.h"

#define SLICE 65536

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
    arap_status status = ARAP_OK;
    for (size_t e = 0; e < list->count && !status; e++) {
        sizes[list->entry[e].vertex]++;
        if (e % SLICE == SLICE - 1) status = arap_poll_cancel(context);
    }
    for (int i = 0; i < count; i++) sizes[i] = sizes[i] ? sizes[i] : 1;
    if (!status) status = arap_influences_create(context, count, sizes, out);
    if (status) goto done;
    memset(sizes, 0, (size_t)count * sizeof *sizes);
    for (size_t e = 0; e < list->count && !status; e++) {
        const struct arap_entry *entry = &list->entry[e];
        size_t at = out->start[entry->vertex] + (size_t)sizes[entry->vertex]++;
        out->bone[at] = entry->bone;
        out->weight[at] = entry->weight;
        if (e % SLICE == SLICE - 1) status = arap_poll_cancel(context);
    }
    for (int i = 0; i < count && !status; i++) {
        if (sizes[i]) continue;
        out->bone[out->start[i]] = alone[i];
        out->weight[out->start[i]] = 1;
    }

    if (status) arap_influences_clear(out);

done:
    arap_free(sizes);
    return status;
}

void arap_entries_clear(arap_entries *list) {
    arap_free(list->entry);
    *list = (arap_entries){0};
}
