/* Influence patterns and weights, which define the bones that move each vertex and the share of
 * each bone. */
#ifndef ARAP_INFLUENCES_H
#define ARAP_INFLUENCES_H

#include <stddef.h>

#include "arap.h"
#include "base/context.h"

/* Create rows of the given sizes without contents (count + 1 running sums are computed from the
 * sizes). */
arap_status arap_influences_create(arap_context *context, int count, const int *row_sizes,
                                   arap_influences *out);

arap_status arap_influences_copy(arap_context *context, const arap_influences *in,
                                 arap_influences *out);

/* Index of `bone` in the row of `vertex`, or -1. */
static inline ptrdiff_t arap_find_influence(const arap_influences *in, int vertex, int bone) {
    size_t lo = in->start[vertex], hi = in->start[vertex + 1];
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (in->bone[mid] < bone)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < in->start[vertex + 1] && in->bone[lo] == bone ? (ptrdiff_t)lo : -1;
}

/* Weight of `bone` at `vertex`, or 0 if it has no influence. */
static inline double arap_weight(const arap_influences *in, int vertex, int bone) {
    ptrdiff_t e = arap_find_influence(in, vertex, bone);
    return e < 0 ? 0 : in->weight[e];
}

/* Non-zero if `bone` may not be added to the row of `vertex`. */
typedef int (*arap_excluded_fn)(const void *data, int vertex, int bone);

/* Copy without the entries where keep[e] is 0. */
arap_status arap_influences_filter(arap_context *context, const arap_influences *in,
                                   const char *keep, arap_influences *out);

/* arap_influences_filter in place. The allocated memory is kept. */
void arap_influences_drop(arap_influences *influences, const char *keep);

/* Make the weights of each row >= 0 with sum 1. Locked weights stay (their sum is limited to 1),
 * and the others are clipped and share the rest. A row whose free weights are all 0 gives the rest
 * to its first free entry. */
void arap_influences_normalize(arap_influences *influences);
/* Run arap_influences_normalize on the rows first..end_row - 1. */
void arap_influences_normalize_rows(const arap_influences *influences, int first, int end_row);

#endif
