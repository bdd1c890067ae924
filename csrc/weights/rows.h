/* Builds rows of weights one after another. */
#ifndef ARAP_ROWS_H
#define ARAP_ROWS_H

#include "weights/influences.h"

typedef struct arap_rows {
    arap_influences made; /* the rows so far; the last one is being written */
    size_t room;          /* for entries */
} arap_rows;

/* Initialize with no rows. `count` rows will follow. */
arap_status arap_rows_create(arap_context *context, int count, arap_rows *rows);
void arap_rows_clear(arap_rows *rows);

/* Begin the next row, of at most `max` entries. The new row is empty. */
arap_status arap_rows_next(arap_context *context, arap_rows *rows, size_t max);

/* Append the row of vertex i in `in`, which may be the rows built so far. */
arap_status arap_rows_copy(arap_context *context, arap_rows *rows, const arap_influences *in,
                           int i);

/* Append a row with the bones from..to marked in `set`, with their entries at the vertex in `in` or
 * weight 0; clears the set. */
arap_status arap_rows_take_set(arap_context *context, arap_rows *rows, const arap_influences *in,
                               int vertex, int from, int to, char *set);

/* Append an entry to the row. */
static inline void arap_rows_add(arap_rows *rows, int bone, double weight, int locked) {
    size_t at = rows->made.start[rows->made.count]++;
    rows->made.bone[at] = bone;
    rows->made.weight[at] = weight;
    rows->made.locked[at] = (char)locked;
}

/* Insert an entry such that bones stay in ascending order. */
void arap_rows_insert(arap_rows *rows, int bone, double weight, int locked);

/* Move all rows to `out`. Its previous arrays are not freed. */
void arap_rows_take(arap_rows *rows, arap_influences *out);

/* Take all rows if the status is ARAP_OK, otherwise free them. Returns the status. */
static inline arap_status arap_rows_end(arap_status status, arap_rows *rows, arap_influences *out) {
    if (status)
        arap_rows_clear(rows);
    else
        arap_rows_take(rows, out);
    return status;
}

#endif
