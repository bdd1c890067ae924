/* Converts weights computed bone by bone to rows. */
#ifndef ARAP_ENTRIES_H
#define ARAP_ENTRIES_H

#include "weights/influences.h"

/* A growing list of (vertex, bone, weight), with ascending bones for each vertex. An all-zero list
 * is empty. */
typedef struct arap_entries {
    struct arap_entry {
        int vertex, bone;
        double weight;
    } *entry;
    size_t count, capacity;
} arap_entries;

arap_status arap_entries_add(arap_context *context, arap_entries *list, int vertex, int bone,
                             double weight);

/* Create the rows of `count` vertices. A vertex without entries gets the bone alone[vertex] (count)
 * with weight 1. The rows are not normalized. */
arap_status arap_entries_rows(arap_context *context, const arap_entries *list, int count,
                              const int *alone, arap_influences *out);
void arap_entries_clear(arap_entries *list);

#endif
