/* The stages of a solver: see arap.h. creation.c creates the solver.
 *
 * Stages. The initial weights do not determine good influence patterns, so the energy chooses the
 * patterns. First, the weights on the initial patterns are iterated a few times. Then,
 * `expansion_rounds` times, the patterns adopt the influences of neighbors and lose those with
 * little gain, and the weights are iterated again. If the limit is K influences, the initial
 * patterns are first reduced to 2K influences and the later patterns to K. Each stage takes one
 * factorization of a system that is small because its rows are short. Without expansion rounds,
 * there is one stage, on the initial patterns, which are reduced to the limit.
 *
 * Bone springs, which tie the skin to the bones from inside (bone_springs.h), begin at full
 * strength. Before each stage except the first, springs that the weights do not satisfy are
 * weakened.
 *
 * Displacements. The random poses tear the components of a disconnected skeleton apart. The
 * components are moved back until the mesh is whole (displacements.h), for the initial weights and
 * before each stage except the first. A finer level continues with the displacements of the coarser
 * one.
 *
 * The deformer. If the weights are for dual quaternions, a further stage follows the last one, on
 * the same patterns (dual_stage.h).
 *
 * Responses. If bones do not move their own skin after the last stage, rows hold them, and
 * another stage follows (response.h).
 *
 * Levels. For a mesh with many vertices, all of these stages run on a coarser mesh (levels.h). The
 * fine mesh starts from the weights of the coarser mesh, with as many influences as the limit
 * allows, and runs a single stage. Fails if one of its steps fails. A solver that failed within an
 * iteration cannot continue. */
#include "solver/solver.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "solver/excluded.h"
#include "solver/dual_stage.h"
#include "solver/iteration.h"
#include "solver/levels.h"
#include "solver/response.h"
#include "solver/rigid.h"
#include "solver/apply_edits.h"
#include "supports/reduce.h"
#include "supports/supports.h"
#include "springs/bone_springs.h"

#define EARLY_ITERATIONS 3

/* Replace the influence patterns. */
static arap_status change_patterns(arap_context *context, arap_solver *s,
                                   arap_influences *patterns) {
    arap_release_patterns(s);
    arap_influences_clear(&s->influences);
    s->influences = *patterns;
    return arap_begin_patterns(context, s);
}

/* The numbers per influence for those that the reduced patterns keep; NULL: out of memory. */
static double *kept_numbers(const arap_influences *all, const arap_influences *kept,
                            const double *numbers) {
    double *out = ARAP_NEW(double, kept->start[kept->count]);
    for (int i = 0; out && i < kept->count; i++)
        for (size_t e = kept->start[i]; e < kept->start[i + 1]; e++)
            out[e] = numbers[arap_find_influence(all, i, kept->bone[e])];
    return out;
}

/* Reduce the influence patterns. The rotations and the right-hand side remain those of the previous
 * weights, so the recorded energy is that of the new weights without a local step. */
static arap_status limit(arap_context *context, arap_solver *s, arap_limit rule) {
    arap_patterns *m = &s->patterns;
    arap_influences limited = {0};
    arap_penalties rows = {0};
    double *right_side = NULL;
    int uncancellable = context->uncancellable;
    arap_status status = arap_penalties_create(context, &s->influences, &rows);
    if (status) return status;
    context->uncancellable = uncancellable > 1; /* nothing is changed until everything has been
                                                 * computed */
    arap_add_constraints(&s->mesh, &s->influences, &s->constraints.list, s->poses.total, &rows);
    arap_add_constraints(&s->mesh, &s->influences, &s->response_rows.list, s->poses.total, &rows);
    status = arap_reduce_influences(context, &s->mesh, &s->poses, &s->influences, m->right_side,
                                    m->product, &s->harmonic, &rows, s->response_rows.bone,
                                    &s->symmetry, &s->parts, &rule, &limited);
    context->uncancellable = uncancellable;
    arap_penalties_clear(&rows);
    arap_lap(s, ARAP_TIME_PATTERNS);
    if (status) return status;
    right_side = kept_numbers(&s->influences, &limited, m->right_side);
    if (!right_side) {
        arap_influences_clear(&limited);
        return arap_fail_memory(&context->error, "the weights");
    }
    s->history.stage_start[s->stage.number] = s->history.count;
    status = change_patterns(context, s, &limited);
    if (!status) {
        memcpy(m->right_side, right_side, limited.start[limited.count] * sizeof *right_side);
        status = arap_measure(context, s);
        arap_lap(s, ARAP_TIME_LOCAL);
    }
    arap_free(right_side);
    return status;
}

/* Run the local step for new patterns. After cancellation, the next step begins with it. */
static arap_status refresh_patterns(arap_context *context, arap_solver *s) {
    int uncancellable = context->uncancellable;
    context->uncancellable = uncancellable > 1;
    arap_status status = arap_refresh(context, s);
    context->uncancellable = uncancellable;
    s->stage.must_refresh = status == ARAP_CANCELLED;
    if (!status) arap_history_drop(&s->history);
    return status;
}

/* Continue from patterns that must still be reduced, with a local step for their weights. The
 * energy of this step is not added to the history. */
static arap_status take_shared_patterns(arap_context *context, arap_solver *s,
                                        arap_influences *patterns) {
    arap_status status = change_patterns(context, s, patterns);
    return status ? status : refresh_patterns(context, s);
}

/* The same for patterns that are already symmetric. */
static arap_status take_patterns(arap_context *context, arap_solver *s, arap_influences *patterns) {
    arap_status status = arap_share_patterns(context, s, patterns);
    arap_lap(s, ARAP_TIME_PATTERNS);
    if (status) {
        arap_influences_clear(patterns);
        return status;
    }
    return take_shared_patterns(context, s, patterns);
}

arap_status arap_solver_reduce(arap_context *context, arap_solver *solver) {
    int max = solver->settings.max_influences;
    if (!max) return ARAP_OK;
    arap_start_lap(solver);
    arap_status status = limit(context, solver, (arap_limit){max, -1, 0});
    return status ? status : arap_refresh(context, solver);
}

/* Widen the patterns. On a finer level, a stage for held bones needs only the influences of these
 * bones, because the coarser level has chosen the patterns. */
static arap_status widen(arap_context *context, arap_solver *s) {
    arap_influences wider = {0};
    arap_status status =
        s->coarse_vertices && s->response_rows.rounds
            ? arap_influences_copy(context, &s->influences, &wider)
            : arap_widen_influences(context, &s->mesh, &s->influences, s->skeleton.deform_count,
                                    arap_cannot_adopt, s, &wider);
    if (!status) status = arap_response_rows_offer(context, s, &wider);
    if (!status) return take_patterns(context, s, &wider);
    arap_influences_clear(&wider);
    return status;
}

/* Maximum number of influences per vertex in the current stage; 0: no limit. The first stage has
 * twice the caller's limit, because the importance of influences is not yet clear so near to the
 * initial weights. */
static int stage_influences(const arap_solver *s) {
    int max = s->settings.max_influences;
    if (!max || s->stage.number > 1 || s->stage.last == 1) return max;
    return 2 * max;
}

/* Reduce the patterns of this stage. After cancellation, the next step begins with it. */
static arap_status reduce_stage(arap_context *context, arap_solver *s) {
    double spare = s->stage.number > 1 ? s->settings.min_gain : -1;
    int is_last = s->stage.number == s->stage.last; /* automatically found parts keep their rows */
    int part = is_last && !s->stage.searched ? s->settings.rigid_influences : 0;
    arap_status status = limit(context, s, (arap_limit){stage_influences(s), spare, part});
    s->stage.must_reduce = status == ARAP_CANCELLED;
    return status;
}

arap_status arap_solver_displace(arap_context *context, arap_solver *solver) {
    if (!solver->displacements.poses) return ARAP_OK;
    double *transforms =
        ARAP_NEW(double, 12 * (size_t)solver->poses.count * (size_t)solver->poses.columns);
    if (!transforms) return arap_fail_memory(&context->error, "the poses");
    int uncancellable = context->uncancellable;
    context->uncancellable = uncancellable > 1; /* nothing is changed until all of them have been
                                                 * computed */
    arap_status status =
        arap_displace(context, &solver->mesh, &solver->poses, &solver->influences,
                      solver->settings.tolerance, &solver->displacements, transforms);
    context->uncancellable = uncancellable;
    arap_lap(solver, ARAP_TIME_LOCAL);
    if (!status) status = arap_solver_repose(context, solver, transforms, NULL, 0);
    arap_free(transforms);
    return status;
}

/* Start the next stage: compute the displacements of its poses, then its influence patterns. */
static arap_status enter_stage(arap_context *context, arap_solver *s) {
    arap_status displaced = s->stage.number ? arap_solver_displace(context, s) : ARAP_OK;
    if (displaced) return displaced;
    s->stage.number++;
    s->stage.iterations = s->stage.over = 0;
    if (s->stage.number > 1) {
        int is_last = s->stage.number == s->stage.last;
        arap_status status =
            is_last && !s->response_rows.rounds ? arap_response_rows_foresee(context, s) : ARAP_OK;
        if (!status && s->mesh.spring_start)
            status = arap_springs_yield(context, &s->mesh, &s->poses, &s->influences,
                                        arap_local_step_springs(s->patterns.local_step));
        arap_lap(s, ARAP_TIME_SPRINGS);
        if (!status && s->settings.expansion_rounds) status = widen(context, s);
        if (!status && !s->settings.expansion_rounds && s->mesh.spring_start) {
            status = arap_refresh(context, s); /* with the remaining strength of the springs */
            if (!status) arap_history_drop(&s->history);
        }
        return status ? status : reduce_stage(context, s);
    }
    int limits_parts = s->parts.count && s->stage.last == 1 && s->settings.rigid_influences;
    return stage_influences(s) || limits_parts ? reduce_stage(context, s) : ARAP_OK;
}

/* Whether to search for rigid parts before the last stage. The coarser mesh has shown which parts
 * are rigid, and a later search would restart the stage. */
static int searches_first(const arap_solver *s) {
    return s->settings.rigid_departure > 0 && !s->parts.count &&
           !s->displacements.poses; /* the displacements of the coarser mesh follow later */
}

/* Search with the current weights, made symmetric. The weights then take the rows of the parts
 * found. After cancellation, the next step leaves the coarser mesh again. */
static arap_status search_first(arap_context *context, arap_solver *s, arap_influences *weights) {
    arap_influences before = s->influences, patterns = {0};
    arap_status status = arap_share_patterns(context, s, weights);
    arap_lap(s, ARAP_TIME_LEVELS);
    if (status) return status;
    s->influences = *weights;
    status = arap_find_rigid_parts(context, s, &patterns);
    s->influences = before;
    arap_lap(s, ARAP_TIME_PATTERNS);
    if (status) return status;
    s->stage.searched = 1;
    if (!patterns.start) return status;
    arap_influences_clear(weights);
    *weights = patterns;
    return status;
}

/* Move from the coarse level to this one: take its weights, with as many influences as allowed, and
 * run one stage. */
static arap_status leave_coarse(arap_context *context, arap_solver *s) {
    arap_influences weights = {0};
    arap_status status = arap_coarse_weights(context, s, &weights);
    if (!status) status = arap_locks_apply(context, &s->locks, &s->mesh, &s->skeleton, &weights);
    if (!status) status = arap_apply_edits(context, s, NULL, &weights);
    if (!status && searches_first(s)) status = search_first(context, s, &weights);
    if (!status) status = arap_coarse_inherit(context, s);
    if (!status && s->displacements.poses) {
        arap_displacements_inherit(&s->coarse->displacements,
                                   s->coarse->mesh.diagonal / s->mesh.diagonal, &s->displacements,
                                   &s->poses);
        status = arap_packed_poses_fill(context, &s->poses, &s->packed);
        if (!status) status = arap_poses_gram(context, &s->poses);
    }
    if (!status && s->mesh.spring_start)
        arap_springs_inherit(&s->mesh, &s->coarse->mesh, s->clusters.cluster);
    if (!status) status = arap_response_rows_inherit(context, s, &weights);
    if (!status) status = arap_response_rows_offer(context, s, &weights);
    if (status) {
        arap_influences_clear(&weights);
        return status;
    }
    s->stage.last = s->coarse->stage.last + 1;
    arap_coarse_free(s);
    arap_lap(s, ARAP_TIME_LEVELS);
    s->stage.number = s->stage.last;
    s->stage.iterations = s->stage.over = 0;
    int is_shared =
        s->stage.searched && !s->response_rows.list.count; /* own skin may have no image */
    status = is_shared ? take_shared_patterns(context, s, &weights)
                       : take_patterns(context, s, &weights);
    return status ? status : reduce_stage(context, s);
}

/* Run one iteration of the coarse level, whose history becomes part of this solver's history. */
static arap_status coarse_step(arap_context *context, arap_solver *s) {
    const arap_history *coarse = &s->coarse->history;
    arap_status status = arap_solver_iterate(context, s->coarse, 1), recorded = ARAP_OK;
    arap_start_lap(s);
    memcpy(s->history.stage_start, coarse->stage_start, sizeof coarse->stage_start);
    s->history.count = 0;
    for (int k = 0; k < coarse->count && !recorded; k++)
        recorded = arap_history_add(context, &s->history, coarse->energies[k], coarse->beside[k]);
    if (status || recorded) return status ? status : recorded;
    s->iterations = s->coarse->iterations;
    return arap_solver_done(s->coarse) ? leave_coarse(context, s) : ARAP_OK;
}

/* Whether the last stage is over, but the search for rigid parts has not yet run. */
static int must_search(const arap_solver *s) {
    return s->settings.rigid_departure > 0 && !s->stage.searched && !s->coarse && s->stage.over &&
           s->stage.number == s->stage.last;
}

/* Make parts rigid that move almost rigidly anyway. If this changes anything, the last stage
 * restarts and appears in the history as a separate stage. The rows are already shared, and those
 * of other vertices stay. */
static arap_status search_rigid(arap_context *context, arap_solver *s) {
    arap_influences patterns;
    arap_status status = arap_find_rigid_parts(context, s, &patterns);
    arap_lap(s, ARAP_TIME_PATTERNS);
    if (status) return status;
    s->stage.searched = 1;
    if (!patterns.start) return status;
    s->stage.iterations = s->stage.over = 0;
    s->history.stage_start[s->stage.number + 1] = s->history.count;
    status = change_patterns(context, s, &patterns);
    return status ? status : arap_refresh(context, s);
}

static arap_status step(arap_context *context, arap_solver *s) {
    arap_patterns *m = &s->patterns;
    arap_status status = ARAP_OK;
    if (s->coarse) return coarse_step(context, s);
    if (must_search(s)) {
        status = search_rigid(context, s);
        if (s->stage.over) return status;
    } else if (arap_must_enter_dual(s))
        status = arap_enter_dual(context, s);
    else if (s->stage.must_refresh) {
        status = refresh_patterns(context, s);
        if (!status) status = reduce_stage(context, s);
    } else if (s->stage.must_reduce)
        status = reduce_stage(context, s);
    else if (s->stage.number == 0 || (s->stage.over && s->stage.number < s->stage.last))
        status = enter_stage(context, s);
    int was_guarded = m->guarded;
    double stride = m->stride;
    if (!status) status = arap_iteration(context, s);
    if (status) return status;
    s->iterations++;
    s->stage.iterations++;
    double last[3];
    for (int k = 0; k < 3; k++) last[k] = arap_history_main(&s->history, k);
    double change = fabs(last[1] - last[0]), previous = fabs(last[2] - last[1]);
    /* If a coarser mesh has decided the patterns, or if the next iteration needs a factor, stop if
     * the next iteration would converge. Changes are assumed to shrink at their current rate. */
    int foretold = s->coarse_vertices || arap_needs_factor(s);
    if (foretold && s->stage.iterations > 1 && change < previous) change *= change / previous;
    int settled = change <= s->settings.tolerance * fabs(last[1]) && m->guarded == was_guarded &&
                  m->stride == stride && !arap_must_go_on(s);
    int enough = s->stage.number < s->stage.last ? EARLY_ITERATIONS : s->settings.iterations;
    if (s->stage.iterations >= enough || settled) s->stage.over = 1;
    if (s->stage.over) status = arap_end_iterations(context, s);
    if (status || !s->stage.over || s->stage.number < s->stage.last) return status;
    return arap_response_rows_review(context, s);
}

static arap_status fail_broken(arap_context *context) {
    return arap_fail(&context->error, ARAP_NOT_FACTORED,
                     "the solver failed before and cannot continue: create a new one");
}

arap_status arap_solver_iterate(arap_context *context, arap_solver *solver, int count) {
    arap_status status = ARAP_OK;
    int uncancellable = context->uncancellable;
    arap_thread_pool pool;
    if (solver->broken) return fail_broken(context);
    arap_start_lap(solver);
    arap_keep_threads(context, &pool);
    for (int i = 0; i < count && !status && !arap_solver_done(solver); i++) {
        status = arap_progress(context, "iteration", (double)i / count);
        context->uncancellable = 1; /* except at points from which a step can be repeated */
        if (!status) status = step(context, solver);
        context->uncancellable = uncancellable;
    }
    arap_end_threads(context, &pool);
    if (!status) status = arap_poll_cancel(context); /* a request during uncancellable work */
    arap_lap(solver, solver->coarse ? ARAP_TIME_LEVELS : ARAP_TIME_SOLVE);
    solver->broken = status && status != ARAP_CANCELLED;
    return status;
}

/* The stage before the last one, on the current patterns with the edits applied and the influences
 * of the initial weights. Influences that an earlier edit made useless may be needed again. */
static arap_status enter_edits(arap_context *context, arap_solver *s) {
    arap_influences patterns = {0};
    arap_leave_dual(s);
    arap_status status = arap_influences_copy(context, &s->influences, &patterns);
    if (!status) status = arap_apply_edits(context, s, &s->initial, &patterns);
    if (!status) status = arap_response_rows_renew(context, s);
    if (status) {
        arap_influences_clear(&patterns);
        return status;
    }
    if (s->stage.last < 2) s->stage.last = 2;
    s->stage.number = s->stage.last - 1;
    s->stage.iterations = s->stage.over = s->stage.searched = 0;
    s->stage.must_reduce = s->stage.must_refresh = 0;
    arap_history_return(&s->history, s->stage.number);
    return take_patterns(context, s, &patterns);
}

arap_status arap_solver_edit(arap_context *context, arap_solver *solver, const arap_edits *edits) {
    if (solver->broken) return fail_broken(context);
    arap_status status =
        arap_check_edits(&context->error, edits, solver->mesh.input_count, solver->skeleton.count);
    if (status) return status;
    arap_start_lap(solver);
    context->uncancellable = 2;
    status = arap_take_edits(context, solver, edits);
    if (!status)
        status = solver->coarse ? arap_coarse_edit(context, solver, edits)
                                : enter_edits(context, solver);
    solver->broken = status != ARAP_OK;
    return status;
}

int arap_solver_done(const arap_solver *solver) {
    return !solver->coarse && solver->stage.over && solver->stage.number == solver->stage.last &&
           !must_search(solver) && !arap_must_enter_dual(solver);
}
