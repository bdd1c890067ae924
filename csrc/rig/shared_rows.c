/* Finds rows that share their unknowns: see shared_rows.h.
 *
 * Symmetric weights are w = S x. Two vertices that are images share one row of x: w(i, b) = x_b and
 * w(j, b') = x_b. A vertex on the plane has the mean of its row and the image of this row: w(i, b)
 * = w(i, b') = (x_b + x_b') / 2, where x_b' is omitted. In this file, a rigid part counts as a
 * vertex, because the image of a part is a part, led by the image of its lead (rigid_parts.h).
 * Minimizing over x finds the best symmetric weights, even if the energy itself is not symmetric.
 *
 * Takes O(influences log row). Fails on out-of-memory only. */
#include "rig/shared_rows.h"

#include "base/memory.h"

/* The lead of the image of lead i's part, i itself if both are the same part, or -1. */
static int image_of_part(const arap_symmetry *symmetry, const arap_rigid_parts *parts,
                         const arap_influences *in, int i) {
    int image = arap_symmetry_image(symmetry, i);
    if (image < 0) return -1;
    int lead = arap_lead(parts, image), back = arap_symmetry_image(symmetry, lead);
    if (back < 0 || arap_lead(parts, back) != i) return -1;
    return arap_are_images(symmetry, in, i, lead) ? lead : -1;
}

/* The part of lead j follows that of lead i, with mirrored bones. */
static void append(const arap_symmetry *symmetry, const arap_influences *in, int i, int j,
                   arap_shared_rows *rows) {
    size_t own = in->start[i + 1] - in->start[i];
    int last = i;
    while (rows->next[last] >= 0) last = rows->next[last];
    rows->next[last] = j;
    for (int m = j; m >= 0; m = rows->next[m]) {
        rows->lead[m] = i;
        for (size_t e = 0; e < own; e++) {
            int bone = symmetry->bone[in->bone[in->start[i] + e]];
            rows->image[in->start[m] + e] = (size_t)arap_find_influence(in, m, bone);
        }
    }
}

arap_status arap_shared_rows_create(arap_context *context, const arap_symmetry *symmetry,
                                    const arap_rigid_parts *parts, const arap_influences *in,
                                    arap_shared_rows *rows) {
    int n = in->count, mirrored = symmetry->symmetric != NULL;
    size_t entries = in->start[n];
    *rows = (arap_shared_rows){0};
    rows->lead = ARAP_TAKE(&rows->arena, n, int);
    rows->next = ARAP_TAKE(&rows->arena, n, int);
    if (mirrored) {
        rows->image = ARAP_TAKE(&rows->arena, entries, size_t);
        rows->twin = ARAP_TAKE(&rows->arena, entries, size_t);
    }
    arap_status status = arap_arena_status(&rows->arena, &context->error, "the weight system");
    if (status) {
        arap_shared_rows_clear(rows);
        return status;
    }
    for (int i = 0; i < n; i++) {
        rows->lead[i] = arap_lead(parts, i);
        rows->next[i] = arap_next_of_part(parts, i);
    }
    for (size_t e = 0; e < entries && mirrored; e++) rows->image[e] = rows->twin[e] = e;
    for (int i = 0; i < n && mirrored; i++) {
        int j = arap_lead(parts, i) == i ? image_of_part(symmetry, parts, in, i) : -1;
        if (j > i) append(symmetry, in, i, j, rows);
        for (int m = i; m >= 0 && j == i; m = rows->next[m])
            for (size_t e = in->start[m]; e < in->start[m + 1]; e++)
                rows->twin[e] = (size_t)arap_find_influence(in, m, symmetry->bone[in->bone[e]]);
    }
    return ARAP_OK;
}

void arap_shared_rows_clear(arap_shared_rows *rows) {
    arap_arena_clear(&rows->arena);
    *rows = (arap_shared_rows){0};
}

void arap_shared_sum(const arap_shared_rows *rows, const arap_influences *in, double *values) {
    for (int i = 0; i < in->count; i++) {
        size_t begin = in->start[i], end = in->start[i + 1];
        if (rows->lead[i] != i) continue;
        for (size_t e = begin; e < end; e++) {
            for (int m = rows->next[i]; m >= 0; m = rows->next[m])
                values[e] += values[arap_image_of(rows, in->start[m] + (e - begin))];
        }
        for (size_t e = begin; e < end; e++) {
            size_t twin = arap_twin_of(rows, e);
            if (twin > e) values[e] = values[twin] = 0.5 * (values[e] + values[twin]);
        }
        for (int m = rows->next[i]; m >= 0; m = rows->next[m])
            for (size_t e = begin; e < end; e++)
                values[arap_image_of(rows, in->start[m] + (e - begin))] = values[e];
    }
}
