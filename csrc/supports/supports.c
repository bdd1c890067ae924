/* Influence patterns: see supports.h.
 *
 * Pruning visits all weights that may be removed in ascending order, one after another (ties by
 * vertex, then bone). A radix sort finds this order in O(entries). If hundreds of bones reach a
 * vertex, only the WIDEST largest weights are kept. The cost grows with the square of the row
 * length, and no stage uses half as many weights (reduce.c). All other steps take O(influences of
 * the one-rings). Fails on out-of-memory and when cancelled. */
#include "supports/supports.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/radix_sort.h"
#include "base/sort.h"
#include "base/vec3.h"
#include "weights/rows.h"

#define WIDEST 96
#define SLICE 65536   /* entries between two polls for cancellation */
#define POLL_EVERY 64 /* vertices between two polls for cancellation */

/* Entry of a bone at vertex k, or -1. The search starts at position `at` of the row, since
 * neighbors have similar rows. */
static ptrdiff_t find_near(const arap_influences *in, int k, int bone, size_t at) {
    size_t begin = in->start[k], end = in->start[k + 1];
    if (begin == end) return -1;
    size_t e = begin + at < end ? begin + at : end - 1;
    while (e > begin && in->bone[e] > bone) e--;
    while (e + 1 < end && in->bone[e] < bone) e++;
    return in->bone[e] == bone ? (ptrdiff_t)e : -1;
}

/* Hold larger weights of the same bone at neighbors of vertex i, whose entry e stays and would be
 * isolated without them. */
static void hold_larger(const arap_mesh *mesh, const arap_influences *in, int i, size_t e,
                        char *held) {
    size_t at = e - in->start[i];
    for (size_t r = mesh->ring[i]; r < mesh->ring[i + 1]; r++) {
        ptrdiff_t other = find_near(in, mesh->neighbor[r], in->bone[e], at);
        if (other >= 0 && in->weight[e] < in->weight[other]) held[other] = 1;
    }
}

arap_status arap_prune(arap_context *context, const arap_mesh *mesh, const arap_influences *in,
                       const arap_pruning *pruning, char *keep) {
    arap_arena arena = {0};
    size_t entries = in->start[in->count], count = 0;
    arap_keyed *sorted = ARAP_TAKE(&arena, entries, arap_keyed),
               *scratch = ARAP_TAKE(&arena, entries, arap_keyed);
    int *vertex = ARAP_TAKE(&arena, entries, int);
    double *sum = ARAP_TAKE_ZERO(&arena, in->count, double),
           *largest = ARAP_TAKE_ZERO(&arena, in->count, double);
    int *left = ARAP_TAKE(&arena, in->count, int);
    char *held = ARAP_TAKE_ZERO(&arena, entries, char);
    double max = 0;
    arap_status status = arap_arena_status(&arena, &context->error, "the influence patterns");
    if (status) goto done;
    for (int i = 0; i < in->count && !status; i++) {
        if (i % POLL_EVERY == 0) status = arap_poll_cancel(context);
        left[i] = (int)(in->start[i + 1] - in->start[i]);
        for (size_t e = in->start[i]; e < in->start[i + 1]; e++) {
            vertex[e] = i;
            sum[i] += in->weight[e];
            largest[i] = fmax(largest[i], in->weight[e]);
        }
        max = fmax(max, largest[i]);
    }
    memset(keep, 1, entries);
    /* Entries that are large compared with the largest weight of all rows stay. They hold only
     * larger entries, which stay as well. */
    for (int i = 0; i < in->count && !status; i++) {
        if (i % POLL_EVERY == 0) status = arap_poll_cancel(context);
        for (size_t e = in->start[i]; e < in->start[i + 1]; e++)
            if (!(in->weight[e] >= pruning->prune_ratio * max))
                sorted[count++] = (arap_keyed){arap_key_of(in->weight[e]), e};
    }
    if (!status) status = arap_radix_sort(context, count, &sorted, &scratch);
    for (size_t s = 0; s < count && !status; s++) {
        size_t e = sorted[s].index;
        int i = vertex[e];
        double w = in->weight[e];
        if (s % SLICE == SLICE - 1) status = arap_poll_cancel(context);
        if (in->locked[e] || left[i] - 1 < pruning->min_influences ||
            sum[i] - w <= pruning->prune_sum || w >= pruning->prune_ratio * largest[i] || held[e]) {
            hold_larger(mesh, in, i, e, held);
            continue;
        }
        keep[e] = 0;
        left[i]--;
        sum[i] -= w;
    }

done:
    arap_arena_clear(&arena);
    return status;
}

/* From the kept weights of vertex i, keep the locked ones and the WIDEST largest, with the first
 * bones among equals. weight: (entries of the row) scratch. Returns the number of remaining
 * entries. */
static int keep_largest(const arap_influences *in, int i, char *keep, double *weight) {
    int count = 0, above = 0, left = 0;
    for (size_t e = in->start[i]; e < in->start[i + 1]; e++)
        if (keep[e]) weight[count++] = in->weight[e];
    arap_sort_doubles(weight, count);
    double min = weight[count - WIDEST];
    while (weight[count - 1 - above] > min) above++;
    int ties = WIDEST - above;
    for (size_t e = in->start[i]; e < in->start[i + 1]; e++) {
        keep[e] = in->locked[e] ||
                  (keep[e] && (in->weight[e] > min || (in->weight[e] == min && ties-- > 0)));
        left += keep[e];
    }
    return left;
}

arap_status arap_choose_supports(arap_context *context, const arap_mesh *mesh,
                                 const arap_skeleton *skeleton, const arap_influences *in,
                                 const arap_pruning *pruning, arap_influences *out) {
    arap_arena arena = {0};
    int n = in->count, bones = skeleton->deform_count;
    char *keep = ARAP_TAKE(&arena, in->start[n], char), *set = ARAP_TAKE_ZERO(&arena, bones, char);
    int *scratch = ARAP_TAKE(&arena, bones, int);
    arap_rows rows = {0};
    double *weight = ARAP_TAKE(&arena, bones, double);
    arap_status status = arap_arena_status(&arena, &context->error, "the influence patterns");
    if (status) goto done;
    status = arap_prune(context, mesh, in, pruning, keep);
    if (!status) status = arap_rows_create(context, n, &rows);
    for (int i = 0; i < n && !status; i++) {
        size_t begin = in->start[i], end = in->start[i + 1];
        int kept = 0;
        if (i % POLL_EVERY == 0) status = arap_poll_cancel(context);
        if (status) break;
        for (size_t e = begin; e < end; e++) kept += keep[e];
        if (kept > WIDEST) kept = keep_largest(in, i, keep, weight);
        for (size_t e = begin; e < end; e++) set[in->bone[e]] = keep[e];
        int added = kept > 1 && kept < WIDEST ? arap_skeleton_span(skeleton, set, scratch) : 0;
        int from = added ? 0 : in->bone[begin], to = added ? bones - 1 : in->bone[end - 1];
        status = arap_rows_take_set(context, &rows, in, i, from, to, set);
    }
    if (status) goto done;
    arap_rows_take(&rows, out);
    arap_influences_normalize(out);

done:
    arap_arena_clear(&arena);
    arap_rows_clear(&rows);
    return status;
}

arap_status arap_widen_influences(arap_context *context, const arap_mesh *mesh,
                                  const arap_influences *in, int bones, arap_excluded_fn excluded,
                                  const void *data, arap_influences *out) {
    arap_arena arena = {0};
    int n = in->count;
    arap_rows rows = {0};
    char *set = ARAP_TAKE_ZERO(&arena, bones, char);
    int *asked =
        ARAP_TAKE(&arena, bones, int); /* the last vertex for which each bone was considered */
    arap_status status = arap_arena_status(&arena, &context->error, "the influence patterns");
    if (!status) status = arap_rows_create(context, n, &rows);
    for (int b = 0; b < bones && asked; b++) asked[b] = -1;
    for (int i = 0; i < n && !status; i++) {
        int open = 0;
        if (i % POLL_EVERY == 0) status = arap_poll_cancel(context);
        if (status) break;
        for (size_t e = in->start[i]; e < in->start[i + 1]; e++) {
            set[in->bone[e]] = 1;
            asked[in->bone[e]] = i;
            open |= !in->locked[e];
        }
        for (size_t r = mesh->ring[i]; open && r < mesh->ring[i + 1]; r++) {
            int k = mesh->neighbor[r];
            for (size_t e = in->start[k]; e < in->start[k + 1]; e++) {
                int b = in->bone[e];
                if (asked[b] == i) continue;
                asked[b] = i;
                set[b] = !excluded || !excluded(data, i, b);
            }
        }
        status = arap_rows_take_set(context, &rows, in, i, 0, bones - 1, set);
    }
    status = arap_rows_end(status, &rows, out);
    arap_arena_clear(&arena);
    return status;
}
