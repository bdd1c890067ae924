/* Weights that come bone by bone, made into rows. */
#ifndef ARAP_ENTRIES_H
#define ARAP_ENTRIES_H

#include "weights/influences.h"

/* A growing list of (vertex, bone, weight), bones ascending for each vertex. Zero: empty. */
typedef struct arap_entries {
    struct arap_entry {
        int vertex, bone;
        double weight;
    } *entry;
    size_t count, capacity;
} arap_entries;

arap_status arap_entries_add(arap_context *context, arap_entries *list, int vertex, int bone,
                             double weight);

/* Rows of `count` vertices; one without entries has the bone alone[vertex] (count) with weight 1.
 * Not normalized. */
arap_status arap_entries_rows(arap_context *context, const arap_entries *list, int count,
                              const int *alone, arap_influences *out);
void arap_entries_clear(arap_entries *list);

#endif
