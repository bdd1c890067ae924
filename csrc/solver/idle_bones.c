/* Idle bones: see idle_bones.h.
 *
 * A short bone between two others of a chain has little effect on the energy, because its neighbors
 * blend to nearly the position to which it would move the skin. With a limit on influences, such a
 * bone may therefore lose all of its vertices, and then moves nothing when an animator rotates it.
 * The initial weights show which bones have skin: they are the bones with a weight of at least OWN
 * at some vertex. If such a bone is idle, it gets the weight w by which its initial weights exceed
 * STRONG times the largest of them. Its influence therefore fades out to all sides. w replaces the
 * smallest weight if the row is full, and the other weights are scaled by 1 - w. If several idle
 * bones qualify at a vertex, the bone with the largest w gets the weight. On the mirror plane, only
 * bones that are their own partners get weight. An influence that is removed to make room is
 * removed together with its partner, so rows stay symmetric.
 *
 * Takes O(influences). Fails only on out-of-memory. */
#include "solver/idle_bones.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "solver/excluded.h"
#include "weights/influences.h"
#include "weights/rows.h"

#define OWN 0.05
#define STRONG 0.5

/* (bones) largest initial weight of each bone without weights in `in`; 0: the bone is not idle. */
static int find_idle(const arap_solver *s, const arap_influences *in, double *largest) {
    const arap_influences *initial = &s->initial;
    int found = 0, bones = s->skeleton.deform_count;
    memset(largest, 0, (size_t)bones * sizeof *largest);
    for (size_t e = 0; e < initial->start[initial->count]; e++)
        largest[initial->bone[e]] = fmax(largest[initial->bone[e]], initial->weight[e]);
    for (size_t e = 0; e < in->start[in->count]; e++)
        if (in->weight[e] > 0) largest[in->bone[e]] = 0;
    for (int b = 0; b < bones; b++) {
        if (largest[b] < OWN) largest[b] = 0;
        found += largest[b] > 0;
    }
    return found;
}

/* The weight that vertex i gives to an idle bone, or 0. The weight is at least the smallest valid
 * weight. */
static double find_weight(const arap_solver *s, const arap_influences *in, int i,
                          const double *largest, int *bone) {
    const arap_influences *initial = &s->initial;
    double given = 0, max = s->settings.min_weight;
    if (s->mesh.ring[i] == s->mesh.ring[i + 1]) return 0; /* no skin */
    if (s->parts.count && s->parts.number[i] >= 0) return 0;
    for (size_t e = in->start[i]; e < in->start[i + 1]; e++)
        if (in->locked[e]) return 0;
    for (size_t e = initial->start[i]; e < initial->start[i + 1]; e++) {
        int b = initial->bone[e];
        double weight = initial->weight[e] - STRONG * largest[b];
        if (!largest[b] || weight <= max) continue;
        if (arap_symmetry_image(&s->symmetry, i) == i && s->symmetry.bone[b] != b) continue;
        if (arap_excluded_of(s) && arap_is_excluded(s, i, b)) continue;
        given = max = weight;
        *bone = b;
    }
    return given;
}

/* Find the entries in the row of vertex i that make room for this weight: the smallest one, if
 * necessary, and those that become too small. */
static void make_room(const arap_solver *s, const arap_influences *in, int i, double weight,
                      char *keep) {
    size_t begin = in->start[i], end = in->start[i + 1], min = begin;
    for (size_t e = begin; e < end; e++)
        if (in->weight[e] < in->weight[min]) min = e;
    if ((int)(end - begin) >= s->settings.max_influences) {
        keep[min] = 0;
        if (arap_symmetry_image(&s->symmetry, i) == i)
            keep[arap_find_influence(in, i, s->symmetry.bone[in->bone[min]])] = 0;
    }
    for (size_t e = begin; e < end; e++)
        keep[e] = keep[e] && in->weight[e] * (1 - weight) >= s->settings.min_weight;
}

/* Build the row of vertex i from its kept entries and this weight of a bone. */
static void fill_row(const arap_influences *in, const char *keep, int i, int bone, double weight,
                     arap_rows *out) {
    double sum = 0;
    for (size_t e = in->start[i]; e < in->start[i + 1]; e++) sum += keep[e] ? in->weight[e] : 0;
    arap_rows_add(out, bone, sum > 0 ? weight : 1, 0);
    for (size_t e = in->start[i]; e < in->start[i + 1]; e++)
        if (keep[e]) arap_rows_insert(out, in->bone[e], in->weight[e] * (1 - weight) / sum, 0);
}

arap_status arap_wake_bones(arap_context *context, const arap_solver *s, arap_influences *weights) {
    arap_rows woken = {0};
    arap_status status = ARAP_OK;
    size_t entries = weights->start[weights->count];
    if (s->settings.max_influences < 2) return status;
    double *largest = ARAP_NEW(double, s->skeleton.deform_count);
    double *given = ARAP_NEW(double, weights->count);
    int *bone = ARAP_NEW(int, weights->count);
    char *keep = ARAP_NEW(char, entries);
    if (!largest || !given || !bone || !keep) {
        status = arap_fail_memory(&context->error, "the weights");
        goto done;
    }
    if (!find_idle(s, weights, largest)) goto done;
    memset(keep, 1, entries);
    for (int i = 0; i < weights->count; i++) {
        given[i] = find_weight(s, weights, i, largest, &bone[i]);
        if (given[i] > 0) make_room(s, weights, i, given[i], keep);
    }
    status = arap_rows_create(context, weights->count, &woken);
    for (int i = 0; i < weights->count && !status; i++) {
        if (!(given[i] > 0)) {
            status = arap_rows_copy(context, &woken, weights, i);
            continue;
        }
        status = arap_rows_next(context, &woken, weights->start[i + 1] - weights->start[i] + 1);
        if (!status) fill_row(weights, keep, i, bone[i], given[i], &woken);
    }
    if (status) goto done;
    arap_influences_clear(weights);
    arap_rows_take(&woken, weights);

done:
    arap_free(largest);
    arap_free(given);
    arap_free(bone);
    arap_rows_clear(&woken);
    arap_free(keep);
    return status;
}
