/* Rows of weights: see rows.h. The arrays double in size when full and are trimmed at the end, so
 * appending an entry takes amortized O(1) time. Fails on out-of-memory only. */
#include "weights/rows.h"

#include <string.h>

#include "base/memory.h"

/* Make room for `room` entries, keeping the existing ones. */
static int resize(arap_rows *rows, size_t room) {
    arap_influences *m = &rows->made;
    int *bone = arap_realloc(m->bone, room, sizeof *bone);
    if (bone) m->bone = bone;
    double *weight = arap_realloc(m->weight, room, sizeof *weight);
    if (weight) m->weight = weight;
    char *locked = arap_realloc(m->locked, room, sizeof *locked);
    if (locked) m->locked = locked;
    return bone && weight && locked;
}

arap_status arap_rows_create(arap_context *context, int count, arap_rows *rows) {
    *rows = (arap_rows){.made.start = ARAP_NEW_ZERO(size_t, count + 1), .room = (size_t)count};
    return rows->made.start && resize(rows, rows->room)
               ? ARAP_OK
               : arap_fail_memory(&context->error, "the influence patterns");
}

void arap_rows_clear(arap_rows *rows) { arap_influences_clear(&rows->made); }

arap_status arap_rows_next(arap_context *context, arap_rows *rows, size_t max) {
    arap_influences *m = &rows->made;
    size_t end = m->start[m->count];
    if (rows->room - end < max) {
        size_t room = 2 * rows->room + max;
        if (!resize(rows, room)) return arap_fail_memory(&context->error, "the influence patterns");
        rows->room = room;
    }
    m->start[++m->count] = end;
    return ARAP_OK;
}

arap_status arap_rows_copy(arap_context *context, arap_rows *rows, const arap_influences *in,
                           int i) {
    size_t from = in->start[i], own = in->start[i + 1] - from;
    arap_status status = arap_rows_next(context, rows, own);
    if (status) return status;
    arap_influences *m = &rows->made;
    size_t to = m->start[m->count];
    memcpy(m->bone + to, in->bone + from, own * sizeof *m->bone);
    memcpy(m->weight + to, in->weight + from, own * sizeof *m->weight);
    memcpy(m->locked + to, in->locked + from, own);
    m->start[m->count] += own;
    return status;
}

arap_status arap_rows_take_set(arap_context *context, arap_rows *rows, const arap_influences *in,
                               int vertex, int from, int to, char *set) {
    size_t own = in->start[vertex], end = in->start[vertex + 1];
    arap_status status = arap_rows_next(context, rows, (size_t)(to - from + 1));
    for (int b = from; b <= to && !status; b++) {
        if (!set[b]) continue;
        set[b] = 0;
        while (own < end && in->bone[own] < b) own++;
        int had = own < end && in->bone[own] == b;
        arap_rows_add(rows, b, had ? in->weight[own] : 0, had && in->locked[own]);
    }
    return status;
}

void arap_rows_insert(arap_rows *rows, int bone, double weight, int locked) {
    arap_influences *m = &rows->made;
    size_t at = m->start[m->count], begin = m->start[m->count - 1];
    arap_rows_add(rows, bone, weight, locked);
    for (; at > begin && m->bone[at - 1] > bone; at--) {
        m->bone[at] = m->bone[at - 1];
        m->weight[at] = m->weight[at - 1];
        m->locked[at] = m->locked[at - 1];
    }
    m->bone[at] = bone, m->weight[at] = weight, m->locked[at] = (char)locked;
}

void arap_rows_take(arap_rows *rows, arap_influences *out) {
    resize(rows, rows->made.start[rows->made.count]); /* or it stays larger */
    *out = rows->made;
    *rows = (arap_rows){0};
}
