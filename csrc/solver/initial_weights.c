/* What a solver begins with: see initial_weights.h.
 *
 * Heat or biharmonic weights, pruned to the first influence maps; or the caller's weights with
 * their pattern; or, where a coarser mesh is solved first, what that begins with. Then the edits,
 * then what is locked, which edits do not change. Where there is no truss, rows hold bones where
 * they are strongest. The cost is that of heat.c or bbw.c. Fails for rows that are no weights. */
#include "solver/initial_weights.h"

#include <math.h>

#include "base/memory.h"
#include "initial/bbw.h"
#include "solver/levels.h"
#include "solver/steering.h"
#include "supports/supports.h"
#include "weights/rows.h"

/* The lowest of the input vertices welded into vertex i that has a weight, -1: none. */
static int weighted_input(const arap_solver *s, const arap_rows *rows, int i) {
    for (int input = s->mesh.first[i]; input >= 0; input = s->mesh.next[input])
        for (long long e = rows->start[input]; e < rows->start[input + 1]; e++)
            if (rows->weight[e] > 0 && arap_deforming(&s->skeleton, rows->bone[e]) >= 0)
                return input;
    return -1;
}

static int is_locked_input(const arap_solver *s, int input) {
    return s->locks.vertex && s->locks.vertex[input];
}

/* Has a vertex neither weights nor a lock, so that it needs fresh ones? */
static int needs_fresh(const arap_solver *s, const arap_rows *rows) {
    for (int i = 0; i < s->mesh.count; i++)
        if (weighted_input(s, rows, i) < 0 && !is_locked_input(s, s->mesh.first[i])) return 1;
    return 0;
}

/* The given rows as influences, those of vertices without weight from `fresh`. A locked vertex may
 * have none: it is solved like the others. */
static arap_status influences_of_rows(arap_job *job, const arap_solver *s, const arap_rows *rows,
                                      const arap_influences *fresh, arap_influences *out) {
    int n = s->mesh.count, bones = s->skeleton.deform_count;
    int *sizes = ARAP_NEW_ZERO(int, n);
    double *row = ARAP_NEW(double, bones);
    arap_status status = ARAP_OK;
    if (!sizes || !row) {
        status = arap_fail_memory(&job->error, "the initial weights");
        goto done;
    }
    for (int fill = 0; fill < 2 && !status; fill++) {
        for (int i = 0; i < n; i++) {
            int input = weighted_input(s, rows, i);
            for (int d = 0; d < bones; d++) row[d] = NAN;
            if (input >= 0)
                arap_dense_row(&s->skeleton, rows, input, row);
            else if (is_locked_input(s, s->mesh.first[i]))
                row[arap_nearest_bone(&s->mesh, &s->skeleton, i, NULL, NULL)] = 1;
            else
                for (size_t e = fresh->start[i]; e < fresh->start[i + 1]; e++)
                    row[fresh->bone[e]] = fresh->weight[e];
            size_t at = fill ? out->start[i] : 0;
            for (int d = 0; d < bones; d++) {
                if (isnan(row[d])) continue;
                if (!fill) {
                    sizes[i]++;
                } else {
                    out->bone[at] = d;
                    out->weight[at++] = row[d];
                }
            }
        }
        if (!fill) status = arap_influences_create(job, n, sizes, out);
    }

done:
    arap_free(sizes);
    arap_free(row);
    return status;
}

static arap_status look(arap_job *job, arap_solver *s) {
    arap_bvh *faces = NULL;
    double since = arap_seconds();
    arap_status status = arap_face_bvh(job, &s->mesh, NULL, &faces);
    if (!status) status = arap_progress(job, "visibility", 0);
    if (!status) status = arap_sight_create(job, &s->mesh, &s->skeleton, faces, &s->sight);
    arap_bvh_free(faces);
    s->has_sight = !status;
    arap_lap(s, ARAP_TIME_SIGHT, &since);
    return status;
}

/* The truss does it better. */
static int wants_holds(const arap_solver *s) {
    return s->settings.hold > 0 && !s->mesh.spoke_start;
}

/* Rows that keep bones useful where these weights, of all bones, are largest. */
static arap_status hold_bones(arap_job *job, arap_solver *s, const arap_influences *weights) {
    arap_status status = ARAP_OK;
    if (wants_holds(s))
        status = arap_find_holds(job, &s->mesh, &s->sight, weights, &s->skeleton,
                                 s->settings.hold * s->mesh.size * s->mesh.size, &s->rows.list);
    s->rows.holds = s->rows.list.count;
    return status;
}

static arap_status fresh_weights(arap_job *job, const arap_solver *s, arap_influences *out,
                                 arap_heat_report *report) {
    if (s->settings.initial == ARAP_INITIAL_BBW)
        return arap_bbw(job, &s->mesh, &s->skeleton, &s->sight, s->settings.heat_floor, out);
    return arap_heat_weights(job, &s->mesh, &s->skeleton, &s->sight, s->order,
                             s->settings.heat_floor, out, report);
}

static arap_status fresh_start(arap_job *job, arap_solver *s) {
    arap_influences initial = {0};
    arap_status status = look(job, s);
    if (status) return status;
    double since = arap_seconds();
    status = fresh_weights(job, s, &initial, &s->heat_report);
    if (!status) status = hold_bones(job, s, &initial);
    if (!status && s->settings.attach)
        status = arap_find_attachments(job, &s->mesh, &s->sight, &initial,
                                       s->settings.constraint_strength, &s->rows.list);
    s->rows.attachments = s->rows.list.count - s->rows.holds;
    if (!status)
        status = arap_choose_supports(job, &s->mesh, &s->skeleton, &initial, &s->settings.support,
                                      &s->influences);
    arap_influences_clear(&initial);
    arap_lap(s, ARAP_TIME_HEAT, &since);
    return status;
}

/* Pruned fresh weights, for vertices that have none. */
static arap_status fresh_rows(arap_job *job, arap_solver *s, arap_influences *out) {
    arap_influences all = {0};
    arap_heat_report report = {0};
    arap_status status = look(job, s);
    if (status) return status;
    double since = arap_seconds();
    status = fresh_weights(job, s, &all, &report);
    if (!status)
        status = arap_choose_supports(job, &s->mesh, &s->skeleton, &all, &s->settings.support, out);
    arap_heat_report_clear(&report);
    arap_influences_clear(&all);
    arap_lap(s, ARAP_TIME_HEAT, &since);
    return status;
}

/* The caller's weights; bones keep the places where these are largest. */
static arap_status given_start(arap_job *job, arap_solver *s, const arap_problem *problem) {
    arap_influences fresh = {0};
    arap_status status = ARAP_OK;
    if (needs_fresh(s, problem->weights)) status = fresh_rows(job, s, &fresh);
    if (!status) status = influences_of_rows(job, s, problem->weights, &fresh, &s->influences);
    arap_influences_clear(&fresh);
    if (status) return status;
    arap_influences_normalise(&s->influences);
    if (wants_holds(s) && !s->has_sight) status = look(job, s);
    return status ? status : hold_bones(job, s, &s->influences);
}

arap_status arap_initial_weights(arap_job *job, arap_solver *s, const arap_problem *problem) {
    arap_status status = ARAP_OK;
    if (problem->weights)
        status = arap_check_rows(&job->error, problem->weights, problem->geometry.vertex_count,
                                 problem->bones.count);
    if (!status && problem->start_from_weights && !problem->weights)
        status = arap_fail(&job->error, ARAP_BAD_VALUE, "there are no weights to start from");
    if (!status) status = arap_locks_create(job, problem, &s->skeleton, &s->locks);
    if (status) return status;
    if (problem->start_from_weights) {
        status = given_start(job, s, problem);
    } else if (s->coarse) {
        status = arap_coarse_weights(job, s, &s->influences);
    } else {
        status = fresh_start(job, s);
    }
    if (!status) status = arap_take_edits(job, s, &problem->edits);
    if (!status) status = arap_locks_apply(job, &s->locks, &s->mesh, &s->skeleton, &s->influences);
    return status ? status : arap_apply_edits(job, s, NULL, &s->influences);
}
