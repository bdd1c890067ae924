/* The initial weights of a solver: see initial_weights.h.
 *
 * If a coarser mesh is solved first, the initial weights are those found on that mesh. Otherwise,
 * they are the caller's weights with their pattern, or come from a method of initial/, pruned to
 * the first influence patterns. Then edits are applied, and finally locks, which take precedence
 * over edits. Without bone springs, penalty rows preserve the weight of each bone at its strongest
 * vertex.
 *
 * A sheet lies on its bones, and a vertex at a distance of 0 would have an infinite source of heat.
 * Weights along the bone would then be 0 or 1 with a step at each joint, and the influence patterns
 * would never recover. With bone springs, the distance of a sheet's vertex (sheets.c) from its bone
 * therefore counts as at least the mean distance of the skin from that bone.
 *
 * Fresh weights spread over the whole body. After they are recorded as the initial weights, those
 * out of the reach of their bones (spread.h) are cut, because the energy would keep them.
 *
 * The cost is that of the method of initial/. Fails for rows that are not valid weights. */
#include "solver/initial_weights.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "initial/baseline.h"
#include "mesh/loose_parts.h"
#include "solver/excluded.h"
#include "solver/levels.h"
#include "solver/apply_edits.h"
#include "supports/supports.h"
#include "weights/sparse_weights.h"
#include "weights/rows.h"

#define LITTLE 1e-3 /* weight that is too small to move a vertex alone */

/* The lowest input vertex welded into vertex i that has weights; -1: none. */
static int weighted_input(const arap_solver *s, const arap_sparse_weights *rows, int i) {
    for (int input = s->mesh.first[i]; input >= 0; input = s->mesh.next[input])
        for (long long e = rows->start[input]; e < rows->start[input + 1]; e++)
            if (rows->weight[e] > 0 && arap_deforming(&s->skeleton, rows->bone[e]) >= 0)
                return input;
    return -1;
}

static int is_locked_input(const arap_solver *s, int input) {
    return s->locks.vertex && s->locks.vertex[input];
}

/* Whether any vertex has neither weights nor a lock, and so needs fresh weights. */
static int needs_fresh(const arap_solver *s, const arap_sparse_weights *rows) {
    for (int i = 0; i < s->mesh.count; i++)
        if (weighted_input(s, rows, i) < 0 && !is_locked_input(s, s->mesh.first[i])) return 1;
    return 0;
}

/* Convert the given rows to influences, using `fresh` for vertices without weights. A locked vertex
 * without weights is solved like the others. */
static arap_status influences_of_rows(arap_context *context, const arap_solver *s,
                                      const arap_sparse_weights *rows, const arap_influences *fresh,
                                      arap_influences *out) {
    int n = s->mesh.count, bones = s->skeleton.deform_count;
    arap_rows made = {0};
    double *row = ARAP_NEW(double, bones);
    arap_status status = row ? arap_rows_create(context, n, &made)
                             : arap_fail_memory(&context->error, "the initial weights");
    for (int i = 0; i < n && !status; i++) {
        int input = weighted_input(s, rows, i);
        for (int d = 0; d < bones; d++) row[d] = NAN;
        if (input >= 0)
            arap_dense_row(&s->skeleton, rows, input, row);
        else if (is_locked_input(s, s->mesh.first[i]))
            row[arap_nearest_bone(&s->mesh, &s->skeleton, i, NULL, NULL)] = 1;
        else
            for (size_t e = fresh->start[i]; e < fresh->start[i + 1]; e++)
                row[fresh->bone[e]] = fresh->weight[e];
        status = arap_rows_next(context, &made, (size_t)bones);
        for (int d = 0; d < bones && !status; d++)
            if (!isnan(row[d])) arap_rows_add(&made, d, row[d], 0);
    }
    status = arap_rows_end(status, &made, out);
    arap_free(row);
    return status;
}

static arap_status look(arap_context *context, arap_solver *s) {
    arap_bvh **faces = &s->containments.faces; /* dropped by the caller */
    arap_status status = *faces ? ARAP_OK : arap_face_bvh(context, &s->mesh, NULL, faces);
    if (!status) status = arap_progress(context, "visibility", 0);
    if (!status)
        status = arap_visibility_create(context, &s->mesh, &s->skeleton, *faces, &s->visibility);
    s->has_visibility = !status;
    if (!status) arap_pierced_look(&s->pierced, &s->mesh, &s->skeleton, &s->visibility);
    arap_lap(s, ARAP_TIME_VISIBILITY);
    return status;
}

/* Bone springs keep bones useful better than such rows. */
static int wants_peaks(const arap_solver *s) {
    return s->settings.peak_stiffness > 0 && !s->mesh.spring_start;
}

/* Create rows that keep each bone useful at the vertices where these weights of the bone are
 * largest. */
static arap_status keep_peaks(arap_context *context, arap_solver *s,
                              const arap_influences *weights) {
    arap_status status = ARAP_OK;
    if (wants_peaks(s))
        status = arap_find_peaks(context, &s->mesh, &s->visibility, weights, &s->skeleton,
                                 s->settings.peak_stiffness * s->mesh.size * s->mesh.size,
                                 &s->constraints.list);
    s->constraints.peaks = s->constraints.list.count;
    return status;
}

/* Remove weights that conflict with inner bones (inner_bones.h) or belong to bones on the side that
 * the skin pierces. A vertex left without bones gets the nearest bone that may move it. */
static arap_status leave_excluded(arap_context *context, const arap_solver *s,
                                  arap_influences *in) {
    arap_rows rows;
    if (!s->inner.count && !s->pierced.count) return ARAP_OK;
    arap_status status = arap_rows_create(context, in->count, &rows);
    for (int i = 0; i < in->count && !status; i++) {
        int kept = 0;
        status = arap_rows_next(context, &rows, in->start[i + 1] - in->start[i] + 1);
        for (size_t e = in->start[i]; e < in->start[i + 1] && !status; e++) {
            if (arap_is_excluded(s, i, in->bone[e])) continue;
            arap_rows_add(&rows, in->bone[e], in->weight[e], 0);
            kept |= in->weight[e] > 0;
        }
        if (kept || status) continue;
        int nearest = arap_nearest_bone(&s->mesh, &s->skeleton, i, arap_excluded_of(s), s);
        if (nearest < 0) { /* the user has excluded its own bone; treated as without inner bones */
            rows.made.start[rows.made.count] = rows.made.start[rows.made.count - 1];
            for (size_t e = in->start[i]; e < in->start[i + 1]; e++)
                arap_rows_add(&rows, in->bone[e], in->weight[e], 0);
            continue;
        }
        rows.made.start[rows.made.count] = rows.made.start[rows.made.count - 1];
        arap_rows_add(&rows, nearest, 1, 0);
    }
    if (status) {
        arap_rows_clear(&rows);
        return status;
    }
    arap_influences_clear(in);
    arap_rows_take(&rows, in);
    arap_influences_normalize(in);
    return ARAP_OK;
}

/* The distance of every vertex from its bone, for the initial weights: see the top of this file. */
static arap_status keep_off_bones(arap_context *context, const arap_solver *s, double *distance) {
    arap_arena arena = {0};
    const arap_mesh *mesh = &s->mesh;
    const arap_visibility *seen = &s->visibility;
    size_t bones = (size_t)s->skeleton.deform_count;
    double *thick = ARAP_TAKE(&arena, mesh->part_count, double),
           *sum = ARAP_TAKE_ZERO(&arena, 2 * bones, double);
    int *member = ARAP_TAKE(&arena, mesh->count, int),
        *begin = ARAP_TAKE_ZERO(&arena, mesh->part_count + 1, int);
    arap_status status = arap_arena_status(&arena, &context->error, "the initial weights");
    if (status) goto done;
    memcpy(distance, seen->distance, (size_t)mesh->count * sizeof *distance);
    status = arap_part_thickness(context, mesh, thick);
    if (status) goto done;
    for (int i = 0; i < mesh->count; i++) begin[mesh->part[i]]++;
    for (int p = 0; p < mesh->part_count; p++) begin[p + 1] += begin[p];
    for (int i = mesh->count - 1; i >= 0; i--) member[--begin[mesh->part[i]]] = i;
    for (int p = 0; p < mesh->part_count; p++) {
        if (thick[p] >= 1) continue;
        for (int m = begin[p]; m < begin[p + 1]; m++) {
            int i = member[m], b = seen->nearest[(size_t)i * ARAP_MAX_SHARED];
            sum[2 * b] += mesh->area[i];
            sum[2 * b + 1] += mesh->area[i] * seen->distance[i];
        }
        for (int m = begin[p]; m < begin[p + 1]; m++) {
            int i = member[m], b = seen->nearest[(size_t)i * ARAP_MAX_SHARED];
            double mean = sum[2 * b] > 0 ? sum[2 * b + 1] / sum[2 * b] : 0;
            distance[i] = fmax(distance[i], (1 - thick[p]) * mean);
        }
        for (int m = begin[p]; m < begin[p + 1]; m++) {
            int b = seen->nearest[(size_t)member[m] * ARAP_MAX_SHARED];
            sum[2 * b] = sum[2 * b + 1] = 0;
        }
    }

done:
    arap_arena_clear(&arena);
    return status;
}

static arap_status fresh_weights(arap_context *context, const arap_solver *s, arap_influences *out,
                                 arap_islands_report *report) {
    arap_visibility seen = s->visibility;
    arap_status status = ARAP_OK;
    int sheets = s->mesh.spring_start && s->settings.initial == ARAP_INITIAL_HEAT;
    if (sheets) {
        seen.distance = ARAP_NEW(double, s->mesh.count);
        status = seen.distance ? keep_off_bones(context, s, seen.distance)
                               : arap_fail_memory(&context->error, "the initial weights");
    }
    if (!status)
        status = arap_fresh_weights(context, &s->mesh, &s->skeleton, &seen, s->order, NULL,
                                    s->settings.initial, s->settings.heat_floor, out, report);
    if (sheets) arap_free(seen.distance);
    return status ? status : leave_excluded(context, s, out);
}

static arap_status fresh_start(arap_context *context, arap_solver *s) {
    arap_influences initial = {0};
    arap_status status = look(context, s);
    if (status) return status;
    status = fresh_weights(context, s, &initial, &s->heat_report);
    if (!status) status = keep_peaks(context, s, &initial);
    if (!status && s->settings.attach)
        status = arap_find_attachments(context, &s->mesh, &s->visibility, &initial,
                                       s->settings.constraint_strength, &s->constraints.list);
    s->constraints.attachments = s->constraints.list.count - s->constraints.peaks;
    if (!status)
        status = arap_choose_supports(context, &s->mesh, &s->skeleton, &initial,
                                      &s->settings.pruning, &s->influences);
    arap_influences_clear(&initial);
    arap_lap(s, ARAP_TIME_HEAT);
    return status;
}

/* Compute pruned fresh weights for vertices without weights. */
static arap_status fresh_rows(arap_context *context, arap_solver *s, arap_influences *out) {
    arap_influences all = {0};
    arap_islands_report report = {0};
    arap_status status = look(context, s);
    if (status) return status;
    status = fresh_weights(context, s, &all, &report);
    if (!status)
        status =
            arap_choose_supports(context, &s->mesh, &s->skeleton, &all, &s->settings.pruning, out);
    arap_islands_report_clear(&report);
    arap_influences_clear(&all);
    arap_lap(s, ARAP_TIME_HEAT);
    return status;
}

/* Use the caller's weights. Bones keep the vertices where these are largest. */
static arap_status given_start(arap_context *context, arap_solver *s, const arap_problem *problem) {
    arap_influences fresh = {0};
    arap_status status = ARAP_OK;
    if (needs_fresh(s, problem->weights)) status = fresh_rows(context, s, &fresh);
    if (!status) status = influences_of_rows(context, s, problem->weights, &fresh, &s->influences);
    arap_influences_clear(&fresh);
    if (status) return status;
    arap_influences_normalize(&s->influences);
    if (wants_peaks(s) && !s->has_visibility) status = look(context, s);
    return status ? status : keep_peaks(context, s, &s->influences);
}

arap_status arap_initial_weights(arap_context *context, arap_solver *solver,
                                 const arap_problem *problem) {
    arap_status status = ARAP_OK;
    if (problem->weights)
        status = arap_check_sparse_weights(&context->error, problem->weights,
                                           problem->geometry.vertex_count, problem->bones.count);
    if (!status && problem->start_from_weights && !problem->weights)
        status = arap_fail(&context->error, ARAP_BAD_VALUE, "there are no weights to start from");
    if (!status) status = arap_locks_create(context, problem, &solver->skeleton, &solver->locks);
    if (status) return status;
    if (solver->coarse) {
        status = arap_coarse_weights(context, solver, &solver->influences);
        arap_lap(solver, ARAP_TIME_LEVELS);
    } else if (problem->start_from_weights) {
        status = given_start(context, solver, problem);
    } else {
        status = fresh_start(context, solver);
    }
    if (!status) status = arap_take_edits(context, solver, &problem->edits);
    if (!status)
        status = arap_locks_apply(context, &solver->locks, &solver->mesh, &solver->skeleton,
                                  &solver->influences);
    return status ? status : arap_apply_edits(context, solver, NULL, &solver->influences);
}

arap_status arap_cut_fresh_weights(arap_context *context, const arap_solver *solver,
                                   arap_influences *influences) {
    arap_influences cut = {0};
    char *keep = ARAP_NEW(char, influences->start[influences->count]);
    if (!keep) return arap_fail_memory(&context->error, "the weights");
    for (int i = 0; i < influences->count; i++) {
        double left = 0;
        for (size_t e = influences->start[i]; e < influences->start[i + 1]; e++) {
            keep[e] = influences->locked[e] || !arap_cannot_adopt(solver, i, influences->bone[e]);
            left += keep[e] && !influences->locked[e] ? influences->weight[e] : 0;
        }
        for (size_t e = influences->start[i]; e < influences->start[i + 1] && left <= LITTLE; e++)
            keep[e] = 1;
    }
    arap_status status = arap_influences_filter(context, influences, keep, &cut);
    arap_free(keep);
    if (status) return status;
    arap_influences_clear(influences);
    *influences = cut;
    arap_influences_normalize(influences);
    return ARAP_OK;
}
