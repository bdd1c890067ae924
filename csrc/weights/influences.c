/* Influence patterns: see influences.h. The functions take O(influences), and fail on out-of-memory
 * only. */
#include "weights/influences.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

arap_status arap_influences_create(arap_context *context, int count, const int *row_sizes,
                                   arap_influences *out) {
    *out = (arap_influences){.count = count};
    out->start = ARAP_NEW(size_t, count + 1);
    if (!out->start) goto no_memory;
    out->start[0] = 0;
    for (int i = 0; i < count; i++) out->start[i + 1] = out->start[i] + (size_t)row_sizes[i];
    out->bone = ARAP_NEW(int, out->start[count]);
    out->weight = ARAP_NEW(double, out->start[count]);
    out->locked = ARAP_NEW_ZERO(char, out->start[count]);
    if (!out->bone || !out->weight || !out->locked) goto no_memory;
    return ARAP_OK;

no_memory:
    arap_influences_clear(out);
    return arap_fail_memory(&context->error, "the influence patterns");
}

void arap_influences_clear(arap_influences *influences) {
    arap_free(influences->start);
    arap_free(influences->bone);
    arap_free(influences->weight);
    arap_free(influences->locked);
    *influences = (arap_influences){0};
}

arap_status arap_influences_copy(arap_context *context, const arap_influences *in,
                                 arap_influences *out) {
    size_t entries = in->start[in->count];
    *out = (arap_influences){.count = in->count,
                             .start = ARAP_NEW(size_t, in->count + 1),
                             .bone = ARAP_NEW(int, entries),
                             .weight = ARAP_NEW(double, entries),
                             .locked = ARAP_NEW(char, entries)};
    if (!out->start || !out->bone || !out->weight || !out->locked) {
        arap_influences_clear(out);
        return arap_fail_memory(&context->error, "the influence patterns");
    }
    memcpy(out->start, in->start, ((size_t)in->count + 1) * sizeof *in->start);
    memcpy(out->bone, in->bone, entries * sizeof *in->bone);
    memcpy(out->weight, in->weight, entries * sizeof *in->weight);
    memcpy(out->locked, in->locked, entries);
    return ARAP_OK;
}

arap_status arap_influences_filter(arap_context *context, const arap_influences *in,
                                   const char *keep, arap_influences *out) {
    int *sizes = ARAP_NEW_ZERO(int, in->count);
    if (!sizes) return arap_fail_memory(&context->error, "the influence patterns");
    for (int i = 0; i < in->count; i++)
        for (size_t e = in->start[i]; e < in->start[i + 1]; e++) sizes[i] += keep[e] != 0;
    arap_status status = arap_influences_create(context, in->count, sizes, out);
    arap_free(sizes);
    if (status) return status;
    size_t fill = 0;
    for (size_t e = 0; e < in->start[in->count]; e++) {
        if (!keep[e]) continue;
        out->bone[fill] = in->bone[e];
        out->weight[fill] = in->weight[e];
        out->locked[fill++] = in->locked[e];
    }
    return ARAP_OK;
}

void arap_influences_drop(arap_influences *influences, const char *keep) {
    size_t fill = 0, begin = 0;
    for (int i = 0; i < influences->count; i++) {
        size_t end = influences->start[i + 1];
        for (size_t e = begin; e < end; e++) {
            if (!keep[e]) continue;
            influences->bone[fill] = influences->bone[e];
            influences->weight[fill] = influences->weight[e];
            influences->locked[fill++] = influences->locked[e];
        }
        influences->start[i + 1] = fill;
        begin = end;
    }
}

void arap_influences_normalize(arap_influences *influences) {
    arap_influences_normalize_rows(influences, 0, influences->count);
}

void arap_influences_normalize_rows(const arap_influences *influences, int first, int end_row) {
    for (int i = first; i < end_row; i++) {
        size_t begin = influences->start[i], end = influences->start[i + 1], first_free = end;
        double locked = 0, open = 0;
        for (size_t e = begin; e < end; e++) {
            if (influences->locked[e]) {
                locked += influences->weight[e];
            } else {
                if (first_free == end) first_free = e;
                if (!(influences->weight[e] > 0)) influences->weight[e] = 0;
                open += influences->weight[e];
            }
        }
        double rest = locked < 1 ? 1 - locked : 0;
        if (isfinite(rest / open)) /* only if there is a remainder to share that is not tiny */
            for (size_t e = begin; e < end; e++) {
                if (!influences->locked[e]) influences->weight[e] *= rest / open;
            }
        else if (open > 0)
            for (size_t e = begin; e < end; e++) {
                if (!influences->locked[e])
                    influences->weight[e] = influences->weight[e] / open * rest;
            }
        else if (first_free < end)
            influences->weight[first_free] = rest;
    }
}
