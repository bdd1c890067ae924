/* Iterations on fixed influence patterns: see iteration.h.
 *
 * One iteration (docs/energy.md 3):
 *   1. global step: solve A x = Z'(b - Fw + penalties), w += Z x
 *   2. filter, if requested (filter.c); clip and normalize (or add positivity rows, which take
 *      effect at the next solve). If clipping raises the objective, stiff rows hold zeros instead
 *      (an active set, changed all at once, Bertsekas 1982), and the matrix is factorized again,
 *      which is cheaper than updating the factor for hundreds of changed rows
 *   3. Anderson acceleration (anderson.h)
 *   4. local step at the new weights, which gives b, F w and the energy. If the objective has risen
 *      by more than rounding errors, the weights from step 2 are used instead, with one more local
 *      step
 *
 * For dual quaternions, the gradient of their energy replaces b - Fw, which is the gradient for
 * linear blending, and the system serves as a quasi-Newton matrix.
 *
 * The first iteration assembles and factorizes the system in O(n^1.5) for n vertices. Each further
 * iteration takes two back-substitutions and a local step. A system that is not definite gets more
 * damping. Weights or energies that are not finite are an error. */
#include "solver/iteration.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "energy/stiffness.h"
#include "solver/smoothness.h"

#define DAMPING_TRIES 7
#define DAMPING_GROWTH 1000
#define ROWS_EVERY 3   /* iterations between additions of positivity rows, with acceleration */
#define MIN_STRIDE 0.1 /* minimum length of a global step for dual quaternions */
#define ROUNDING 0.25  /* rounding errors of the rest energy, in units of the precision */
/* maximum rise of the objective over the best of the stage, as a share of the energy */
#define MAX_RISE 0.02

static void release_system(arap_solver *s) {
    arap_patterns *m = &s->patterns;
    arap_system_clear(&m->system);
    arap_factor_free(m->factor);
    arap_penalties_clear(&m->penalties);
    arap_free(m->active);
    arap_free(m->unknowns);
    m->factor = NULL;
    m->active = NULL;
    m->unknowns = NULL;
    m->has_system = m->system_outdated = 0;
}

void arap_release_patterns(arap_solver *solver) {
    arap_patterns *m = &solver->patterns;
    release_system(solver);
    arap_local_step_free(m->local_step);
    if (!solver->settings.position_clusters) arap_rotation_clusters_clear(&m->clusters);
    arap_arena_clear(&m->arena);
    arap_anderson_free(m->anderson);
    m->local_step = NULL;
    m->anderson = NULL;
    m->right_side = m->product = m->residual = m->best = m->before = m->metric = NULL;
    m->has_best = m->guarded = m->active_changes = 0;
}

/* Create the penalty rows of the current influence patterns with the given damping. */
static arap_status make_penalties(arap_context *context, arap_solver *s, double damping) {
    arap_patterns *m = &s->patterns;
    double unit = s->poses.total;
    arap_penalties_clear(&m->penalties);
    arap_status status = arap_penalties_create(context, &s->influences, &m->penalties);
    if (status) return status;
    double own = unit * s->mesh.size * s->mesh.size; /* unit of rows that rotate with the mesh */
    arap_add_damping(&s->mesh, &s->influences, damping * own, &m->penalties);
    arap_add_constraints(&s->mesh, &s->influences, &s->constraints.list, unit, &m->penalties);
    arap_add_constraints(&s->mesh, &s->influences, &s->response_rows.list, unit, &m->penalties);
    s->assembled.neumann_rows = 0;
    if (s->settings.neumann)
        s->assembled.neumann_rows = arap_add_neumann(
            &s->mesh, &s->influences, s->settings.constraint_strength * unit, &m->penalties);
    s->assembled.positivity_rows = 0;
    s->assembled.damping = damping;
    return arap_system_penalize(context, &m->system, m->penalties.stiffness);
}

/* The penalized matrix of the system, for CHOLMOD. */
static arap_matrix penalized_matrix(const arap_solver *s) {
    const arap_patterns *m = &s->patterns;
    arap_matrix matrix = m->system.matrix;
    matrix.value = m->system.penalized;
    return matrix;
}

/* Without bone springs, bones with nearly the same poses bring the system too close to singular for
 * single precision, so it is not tried. */
static arap_status analyze(arap_context *context, void *data) {
    arap_solver *s = data;
    int single = s->settings.precision == ARAP_SINGLE && s->settings.bone_spring_stiffness > 0;
    return arap_factor_analyze(context, &s->patterns.system.matrix, single, &s->patterns.factor);
}

/* An order for the sizes of the current rows if computing it pays off, otherwise NULL. An order
 * pays off if the number of influences has no limit and positivity rows require repeated
 * factorizations. */
static arap_status order_rows(arap_context *context, const arap_solver *s, int **order) {
    int n = s->mesh.count;
    *order = NULL;
    if (s->settings.max_influences || s->settings.positivity != ARAP_POSITIVITY_PENALTY)
        return ARAP_OK;
    int *unknowns = ARAP_NEW(int, n);
    *order = ARAP_NEW(int, n);
    arap_status status = ARAP_OK;
    if (!unknowns || !*order) {
        status = arap_fail_memory(&context->error, "the elimination order");
        goto done;
    }
    for (int i = 0; i < n; i++) {
        int size = (int)(s->influences.start[i + 1] - s->influences.start[i]);
        unknowns[i] = size > 2 ? size - 1 : 1;
    }
    status = arap_order_vertices(context, s, unknowns, *order);

done:
    arap_free(unknowns);
    return status;
}

/* Assemble the system of the current influence patterns and, in parallel, analyze its pattern. */
static arap_status assemble(arap_context *context, arap_solver *s) {
    arap_patterns *m = &s->patterns;
    arap_async_task analysis = {0};
    int *order;
    arap_status status = order_rows(context, s, &order);
    if (!status)
        status = arap_system_create(context, &s->mesh, &s->poses, &s->harmonic, s->sections.tie,
                                    &s->influences, &s->symmetry, &s->parts, &s->mirror_reuse,
                                    order ? order : s->order, analyze, s, &analysis, &m->system);
    arap_free(order);
    arap_lap(s, ARAP_TIME_SYSTEM);
    arap_status analyzed = arap_async_end(context, &analysis);
    arap_lap(s, ARAP_TIME_FACTOR);
    return status ? status : analyzed;
}

/* Create the system and the factor for the current influence patterns. A system that is not
 * definite (not all weights are determined) gets more damping. */
static arap_status make_system(arap_context *context, arap_solver *s) {
    arap_patterns *m = &s->patterns;
    arap_status status = arap_progress(context, "assembly", 0);
    if (!status) status = assemble(context, s);
    if (status) return status;
    m->active = ARAP_NEW_ZERO(char, s->influences.start[s->influences.count]);
    m->unknowns = ARAP_NEW(double, m->system.unknowns);
    if (!m->active || !m->unknowns) return arap_fail_memory(&context->error, "the weight system");
    s->assembled.unknowns = m->system.unknowns;
    s->assembled.factor_size = s->assembled.factor_bytes = s->assembled.factor_flops = 0;
    double damping = s->settings.damping;
    for (int attempt = 0;; attempt++) {
        status = make_penalties(context, s, damping);
        arap_lap(s, ARAP_TIME_SYSTEM);
        if (status || !m->system.unknowns) break;
        status = arap_progress(context, "factorization", 0);
        if (status) break;
        arap_matrix matrix = penalized_matrix(s);
        status = arap_factor_update(context, m->factor, &matrix);
        arap_lap(s, ARAP_TIME_FACTOR);
        if (status != ARAP_NOT_FACTORED || attempt + 1 >= DAMPING_TRIES) break;
        context->error = (arap_error){0};
        damping = fmax(damping, 1e-9) * DAMPING_GROWTH;
    }
    if (!status && m->factor) {
        s->assembled.factor_size = arap_factor_size(m->factor);
        s->assembled.factor_bytes = arap_factor_bytes(m->factor);
        s->assembled.factor_flops = arap_factor_flops(m->factor);
    }
    m->has_system = !status;
    return status;
}

/* Compute the harmonic term of the current weights, and its contribution to the product. */
static arap_status add_harmonic(arap_context *context, arap_solver *s) {
    arap_patterns *m = &s->patterns;
    arap_status status = arap_harmonic_product(context, &s->harmonic, &s->influences, m->residual);
    s->present.roughness = 0;
    if (status) return status;
    for (size_t e = 0; e < s->influences.start[s->influences.count]; e++) {
        s->present.roughness += s->influences.weight[e] * m->residual[e];
        m->product[e] += m->residual[e];
    }
    return status;
}

/* What the vertices outside the main mesh add to the energy. */
static double energy_beside(const arap_solver *s, const double *fixed) {
    const arap_patterns *m = &s->patterns;
    const arap_mesh *mesh = &s->mesh;
    const arap_influences *in = &s->influences;
    double sum = s->present.beside;
    for (int i = 0; i < mesh->count && mesh->main_count < mesh->count; i++) {
        double rest, edge[3];
        if (mesh->main[i]) continue;
        arap_mesh_tie(mesh, i, &rest);
        for (size_t e = mesh->ring[i]; e < mesh->ring[i + 1]; e++) {
            arap_mesh_edge(mesh, i, e, edge);
            rest += mesh->edge_weight[e] * arap_dot(edge, edge);
        }
        sum += s->poses.total * rest + (fixed ? fixed[i] : 0);
        for (size_t e = in->start[i]; e < in->start[i + 1]; e++)
            sum += in->weight[e] * (m->product[e] - 2 * m->right_side[e]);
    }
    return sum;
}

arap_status arap_measure(arap_context *context, arap_solver *solver) {
    arap_patterns *m = &solver->patterns;
    double rest = solver->poses.total * solver->mesh.rest_energy,
           energy = rest + solver->present.excess;
    double *fixed = solver->mesh.spring_start ? m->residual : NULL; /* scratch */
    arap_status status =
        arap_stiffness_product(context, &solver->mesh, &solver->poses, &solver->influences,
                               &solver->mirror_reuse, m->product, NULL, fixed);
    for (int i = 0; i < solver->mesh.count && fixed; i++) energy += fixed[i];
    energy -= 2 * solver->present.anchored;
    if (status) return status;
    double beside = energy_beside(solver, fixed);
    for (size_t e = 0; e < solver->influences.start[solver->influences.count]; e++)
        energy += solver->influences.weight[e] * (m->product[e] - 2 * m->right_side[e]);
    status = arap_sections_add(context, &solver->mesh, &solver->poses, &solver->influences,
                               &solver->sections, m->product, &solver->present.sections);
    energy += solver->present.sections;
    solver->present.energy = energy;
    solver->present.roughness = 0;
    if (!status && solver->harmonic.ring) status = add_harmonic(context, solver);
    if (status) return status;
    return arap_history_add(context, &solver->history, rest > 0 ? energy / rest : 0,
                            rest > 0 ? beside / rest : 0);
}

/* The local step for dual quaternions: b - F w is their slope, with F w = 0 except for the harmonic
 * term. */
static arap_status refresh_dual(arap_context *context, arap_solver *s) {
    arap_patterns *m = &s->patterns;
    double rest = s->poses.total * s->mesh.rest_energy;
    arap_status status =
        arap_dual_energy_run(context, s->dual, &s->influences, m->right_side, &s->present.energy);
    s->present.roughness = s->present.sections = 0;
    memset(m->product, 0, s->influences.start[s->influences.count] * sizeof *m->product);
    if (!status && s->harmonic.ring) status = add_harmonic(context, s);
    if (status) return status;
    return arap_history_add(context, &s->history, rest > 0 ? s->present.energy / rest : 0, 0);
}

arap_status arap_refresh(arap_context *context, arap_solver *solver) {
    arap_patterns *m = &solver->patterns;
    arap_status status = arap_symmetry_weights(context, &solver->symmetry, &solver->influences);
    if (status) return status;
    arap_rigid_weights(&solver->parts, &solver->influences);
    if (solver->dual) {
        arap_status blended = refresh_dual(context, solver);
        arap_lap(solver, ARAP_TIME_LOCAL);
        return blended;
    }
    status = arap_local_step_run(context, m->local_step, m->right_side, NULL);
    if (status) return status;
    const double *excess = arap_local_step_excess(m->local_step);
    solver->present.excess = 0;
    for (int i = 0; i < solver->mesh.count && excess; i++) solver->present.excess += excess[i];
    const double *anchored = arap_local_step_anchored(m->local_step);
    solver->present.anchored = 0;
    for (int i = 0; i < solver->mesh.count && anchored; i++)
        solver->present.anchored += anchored[i];
    solver->present.beside = 0;
    for (int i = 0; i < solver->mesh.count; i++)
        if (!solver->mesh.main[i])
            solver->present.beside += (excess ? excess[i] : 0) - (anchored ? 2 * anchored[i] : 0);
    status = arap_measure(context, solver);
    arap_lap(solver, ARAP_TIME_LOCAL);
    return status;
}

static arap_status begin_acceleration(arap_context *context, arap_solver *s) {
    arap_patterns *m = &s->patterns;
    const arap_influences *in = &s->influences;
    size_t entries = in->start[in->count];
    m->before = ARAP_TAKE(&m->arena, entries, double);
    m->metric = ARAP_TAKE(&m->arena, entries, double);
    arap_status status = arap_arena_status(&m->arena, &context->error, "the acceleration");
    if (status) return status;
    for (int i = 0; i < in->count; i++)
        for (size_t e = in->start[i]; e < in->start[i + 1]; e++)
            m->metric[e] = s->mesh.main[i] ? s->mesh.area[i] : 0;
    return arap_anderson_create(context, entries, s->settings.acceleration, &m->anderson);
}

arap_status arap_begin_patterns(arap_context *context, arap_solver *solver) {
    arap_patterns *m = &solver->patterns;
    size_t entries = solver->influences.start[solver->influences.count],
           count = (size_t)solver->mesh.count;
    m->stride = 1;
    m->right_side = ARAP_TAKE(&m->arena, entries, double);
    m->product = ARAP_TAKE(&m->arena, entries, double);
    m->residual = ARAP_TAKE(&m->arena, entries > count ? entries : count, double);
    m->best = ARAP_TAKE(&m->arena, entries, double);
    arap_status status = arap_arena_status(&m->arena, &context->error, "the weights");
    if (!status)
        status =
            arap_sections_begin(context, &solver->mesh, &solver->influences, &solver->sections);
    if (status) return status;
    int by_position = solver->settings.position_clusters;
    int share = (by_position || solver->settings.rotation_clusters > 0) &&
                !solver->poses.spines.count && !solver->poses.stretches.count;
    arap_rotation_clusters *clusters = share ? &m->clusters : NULL;
    if (solver->settings.acceleration) status = begin_acceleration(context, solver);
    if (!status && clusters && !clusters->count)
        status = by_position
                     ? arap_position_clusters_create(context, &solver->mesh, by_position,
                                                     solver->settings.sampling.seed, clusters)
                     : arap_rotation_clusters_create(context, &solver->mesh, &solver->influences,
                                                     solver->settings.rotation_clusters, clusters);
    if (!status && !solver->mirror_reuse.symmetry && !solver->displacements.poses)
        status = arap_mirror_reuse_create(context, &solver->mesh, &solver->symmetry, &solver->poses,
                                          &solver->mirror_reuse);
    if (!status)
        status = arap_mirror_reuse_take(context, &solver->mesh, &solver->influences,
                                        &solver->mirror_reuse);
    if (!status)
        status = arap_local_step_create(context, &solver->mesh, &solver->packed,
                                        &solver->influences, clusters,
                                        clusters ? NULL : &solver->mirror_reuse, &m->local_step);
    arap_lap(solver, ARAP_TIME_LOCAL);
    return status;
}

/* Strength of the rows that hold a weight at zero, over an area of 1. */
static double hard(const arap_solver *s) {
    return s->settings.constraint_strength * s->poses.total;
}

/* Energy, harmonic term and penalties, minus their constant and without the temporary rows that
 * hold weights at zero. */
static double objective(const arap_solver *s) {
    const arap_patterns *m = &s->patterns;
    const arap_influences *in = &s->influences;
    const arap_penalties *p = &m->penalties;
    double sum = s->present.energy + s->present.roughness;
    for (size_t e = 0; e < in->start[in->count]; e++)
        if (!m->active[e]) sum += (p->stiffness[e] * in->weight[e] - 2 * p->aim[e]) * in->weight[e];
    return sum - arap_constraints_cost(&s->mesh, in, &s->constraints.list, s->constraints.peaks,
                                       s->poses.total, m->active);
}

/* The maximum difference of two objectives by rounding alone. Their terms are as large as the rest
 * energy and cancel, so their errors do not shrink with the energy. After convergence, the
 * objectives before and after a step are tied, and a strict comparison would choose between the two
 * at random. */
static double rounding(const arap_solver *s) {
    int single = s->settings.precision == ARAP_SINGLE && !s->dual;
    double unit = single ? FLT_EPSILON : DBL_EPSILON;
    return unit * ROUNDING * s->poses.total * s->mesh.rest_energy;
}

/* Update the factor if the rows have changed since the last factorization. */
static arap_status refactor(arap_context *context, arap_solver *s) {
    arap_patterns *m = &s->patterns;
    if (!m->active_changes) return ARAP_OK;
    arap_status status = arap_system_penalize(context, &m->system, m->penalties.stiffness);
    arap_matrix matrix = penalized_matrix(s);
    if (!status) status = arap_factor_update(context, m->factor, &matrix);
    m->active_changes = 0;
    if (m->anderson) arap_anderson_restart(m->anderson);
    arap_lap(s, ARAP_TIME_FACTOR);
    return status;
}

/* The negative gradient of the objective. */
static void find_descent(arap_solver *s) {
    arap_patterns *m = &s->patterns;
    const arap_penalties *p = &m->penalties;
    const double *w = s->influences.weight;
    for (size_t e = 0; e < s->influences.start[s->influences.count]; e++)
        m->residual[e] = m->right_side[e] - m->product[e] + p->aim[e] - p->stiffness[e] * w[e];
}

/* Poll for cancellation at a point from which the step can be repeated. */
static arap_status look(arap_context *context) {
    int uncancellable = context->uncancellable;
    context->uncancellable = uncancellable > 1;
    arap_status status = arap_poll_cancel(context);
    context->uncancellable = uncancellable;
    return status;
}

/* Find the minimum of the objective for the current rotations. Its weights may be negative. After
 * cancellation, nothing has changed, so the step can be repeated. This would not be true if bounds
 * were released before the step. */
static arap_status global_step(arap_context *context, arap_solver *s) {
    arap_patterns *m = &s->patterns;
    find_descent(s);
    arap_system_reduce(&m->system, m->residual, m->unknowns);
    arap_matrix matrix = penalized_matrix(s);
    arap_status status = m->system_outdated
                             ? arap_pcg_step(context, s, m->unknowns)
                             : arap_factor_solve_refined(context, m->factor, &matrix, m->unknowns);
    if (m->factor) s->assembled.factor_bytes = arap_factor_bytes(m->factor); /* may be double now */
    if (!status && !m->guarded) status = look(context);
    for (int x = 0; x < m->system.unknowns && m->stride != 1; x++) m->unknowns[x] *= m->stride;
    if (!status) arap_system_add_step(&m->system, m->unknowns, s->influences.weight);
    return status;
}

/* Whether the paper's positivity rows are added only in some iterations. */
static int rows_wait(const arap_solver *s) {
    return s->settings.positivity == ARAP_POSITIVITY_PENALTY && s->patterns.anderson &&
           s->stage.number == s->stage.last;
}

int arap_must_go_on(const arap_solver *solver) {
    return rows_wait(solver) && solver->stage.iterations <= ROWS_EVERY;
}

int arap_needs_factor(const arap_solver *solver) {
    return rows_wait(solver) && solver->patterns.active_changes > 0;
}

/* Add the paper's positivity rows. They take effect in the next global step, which needs a new
 * factor. New rows would restart accelerated steps, so with acceleration they are added only in
 * some iterations (docs/decisions/007). */
static void add_positivity(arap_solver *s) {
    arap_patterns *m = &s->patterns;
    if (rows_wait(s) && s->stage.iterations % ROWS_EVERY != ROWS_EVERY - 1) return;
    int rows = arap_activate_bounds(&s->mesh, &s->influences, hard(s), 1, m->active, &m->penalties);
    s->assembled.positivity_rows += rows;
    m->active_changes += rows;
    if (rows && m->anderson) arap_anderson_restart(m->anderson);
}

/* One step of the fixed-point iteration, without its local step: the global step, the filter, then
 * clipping or positivity rows. In a guarded stage, weights that the step made negative are held at
 * zero from the next step on, until they would be positive. */
static arap_status plain_step(arap_context *context, arap_solver *s) {
    arap_patterns *m = &s->patterns;
    arap_status status = ARAP_OK;
    if (m->guarded) {
        find_descent(s);
        arap_shared_sum(&m->system.shared, &s->influences, m->residual);
        m->active_changes += arap_release_bounds(&s->mesh, &s->influences, m->residual, hard(s),
                                                 m->active, &m->penalties);
        arap_lap(s, ARAP_TIME_SOLVE);
    }
    status = refactor(context, s);
    if (!status) status = global_step(context, s);
    if (!status && s->settings.filter)
        status = arap_filter_weights(context, &s->mesh, s->settings.filter,
                                     s->skeleton.deform_count, &s->influences);
    if (!status && s->settings.filter)
        status = arap_rigid_patterns(context, &s->parts, &s->mesh, s->skeleton.deform_count, NULL,
                                     NULL, &s->influences);
    if (status) return status;
    if (m->guarded)
        m->active_changes +=
            arap_activate_bounds(&s->mesh, &s->influences, hard(s), 0, m->active, &m->penalties);
    if (s->settings.positivity == ARAP_POSITIVITY_CLIP) arap_influences_normalize(&s->influences);
    if (s->settings.positivity == ARAP_POSITIVITY_PENALTY) add_positivity(s);
    arap_lap(s, ARAP_TIME_SOLVE);
    return status;
}

/* Restore earlier weights. Their energy replaces the last one in the history. */
static arap_status restore(arap_context *context, arap_solver *s, const double *weights) {
    memcpy(s->influences.weight, weights,
           s->influences.start[s->influences.count] * sizeof *weights);
    arap_history_drop(&s->history);
    return arap_refresh(context, s);
}

/* Take a step and its local step. With acceleration, go to the point predicted by the past steps,
 * unless the objective is larger there than before. */
static arap_status full_step(arap_context *context, arap_solver *s) {
    arap_patterns *m = &s->patterns;
    arap_influences *in = &s->influences;
    size_t size = in->start[in->count] * sizeof(double);
    double reached = objective(s);
    if (m->anderson) memcpy(m->before, in->weight, size);
    arap_status status = plain_step(context, s);
    if (status) return status;
    if (!m->anderson) return arap_refresh(context, s);
    if (!arap_anderson_mix(m->anderson, m->before, in->weight, m->metric, m->residual))
        return arap_refresh(context, s);
    memcpy(m->before, in->weight, size);
    memcpy(in->weight, m->residual, size);
    if (s->settings.positivity == ARAP_POSITIVITY_CLIP) arap_influences_normalize(in);
    arap_lap(s, ARAP_TIME_SOLVE);
    status = arap_refresh(context, s);
    if (status || objective(s) <= reached + rounding(s)) return status;
    return restore(context, s, m->before);
}

/* Compute the current objective. The current weights are stored if they are the best of the stage,
 * or as good as the best. */
static double keep_if_best(arap_solver *s) {
    arap_patterns *m = &s->patterns;
    double present = objective(s);
    if (m->has_best && present > m->best_objective + rounding(s)) return present;
    m->best_objective = m->has_best ? fmin(present, m->best_objective) : present;
    m->has_best = 1;
    memcpy(m->best, s->influences.weight,
           s->influences.start[s->influences.count] * sizeof *m->best);
    return present;
}

/* Run one iteration with clipping. If many weights would be negative, clipping may raise the
 * objective. Once the objective has risen too far, the best weights are restored and the stage
 * continues guarded. If guarding does not help, the stage ends. */
static arap_status clipped_iteration(arap_context *context, arap_solver *s) {
    arap_patterns *m = &s->patterns;
    keep_if_best(s);
    arap_status status = full_step(context, s);
    if (status) return status;
    double present = keep_if_best(s);
    if (present - m->best_objective <= MAX_RISE * fabs(s->present.energy)) return status;
    s->stage.over = m->guarded;
    m->guarded = 1;
    return restore(context, s, m->best);
}

/* Run one iteration for dual quaternions with the system of linear blending, whose matrix is
 * similar. If the objective does not fall, the weights are restored and steps become shorter. The
 * stage ends when even the shortest step does not help. */
static arap_status dual_iteration(arap_context *context, arap_solver *s) {
    arap_patterns *m = &s->patterns;
    keep_if_best(s);
    double reached = m->best_objective;
    arap_status status = full_step(context, s);
    if (status) return status;
    keep_if_best(s);
    if (m->best_objective < reached) return status;
    if (m->anderson) arap_anderson_restart(m->anderson);
    m->stride *= 0.5;
    s->stage.over = m->stride < MIN_STRIDE;
    return restore(context, s, m->best);
}

/* Release undesired attachments (paper section 7, Figure 15 A). The objective without their rows is
 * not comparable with earlier ones. */
static void drop_attachments(arap_solver *s) {
    arap_patterns *m = &s->patterns;
    int dropped = arap_drop_attachments(&s->mesh, &s->influences, s->poses.total,
                                        s->constraints.list.rows + s->constraints.peaks,
                                        s->constraints.attachments, &m->penalties);
    m->active_changes += dropped;
    if (dropped) m->has_best = 0;
}

arap_status arap_iteration(arap_context *context, arap_solver *solver) {
    arap_patterns *m = &solver->patterns;
    int uncancellable = context->uncancellable;
    context->uncancellable = uncancellable > 1;
    arap_status status = m->has_system ? ARAP_OK : make_system(context, solver);
    if (!status) status = arap_poll_cancel(context);
    context->uncancellable = uncancellable;
    if (!m->has_system) release_system(solver); /* cancelled; the next call repeats the step */
    if (status || !m->system.unknowns) return status ? status : arap_refresh(context, solver);
    if (solver->settings.drop_attachments && solver->stage.iterations) drop_attachments(solver);
    if (solver->dual) return dual_iteration(context, solver);
    int descends = solver->settings.positivity == ARAP_POSITIVITY_CLIP && !solver->settings.filter;
    return descends ? clipped_iteration(context, solver) : full_step(context, solver);
}

/* Create work space for the local step of both halves, which are no longer images. */
static arap_status end_mirror_reuse(arap_context *context, arap_solver *s) {
    arap_patterns *m = &s->patterns;
    arap_local_step *whole = NULL;
    if (s->mirror_reuse.of && !m->clusters.count) {
        arap_status status = arap_local_step_create(context, &s->mesh, &s->packed, &s->influences,
                                                    NULL, NULL, &whole);
        if (status) return status;
        arap_local_step_free(m->local_step);
        m->local_step = whole;
    }
    arap_mirror_reuse_clear(&s->mirror_reuse);
    return ARAP_OK;
}

arap_status arap_solver_repose(arap_context *context, arap_solver *solver, const double *transforms,
                               const arap_spines *spines, int keep_factor) {
    arap_patterns *m = &solver->patterns;
    size_t size =
        12 * (size_t)solver->poses.count * (size_t)solver->poses.columns * sizeof *transforms;
    arap_start_lap(solver);
    arap_status status = end_mirror_reuse(context, solver);
    if (status) return status;
    memcpy(solver->poses.transform, transforms, size);
    if (spines)
        arap_spines_assign(spines, solver->mesh.count, solver->poses.count, &solver->poses.spines);
    status = arap_poses_gram(context, &solver->poses);
    if (!status) status = arap_packed_poses_fill(context, &solver->poses, &solver->packed);
    if (status) return status;
    arap_lap(solver, ARAP_TIME_POSES);
    m->has_best = 0;
    if (keep_factor && m->has_system) {
        m->system_outdated = 1;
    } else {
        release_system(solver);
        m->guarded = m->active_changes = 0;
    }
    if (m->anderson) arap_anderson_restart(m->anderson);
    return arap_refresh(context, solver);
}

arap_status arap_end_iterations(arap_context *context, arap_solver *solver) {
    arap_patterns *m = &solver->patterns;
    int worse = m->has_best && objective(solver) > m->best_objective + rounding(solver);
    return worse ? restore(context, solver, m->best) : ARAP_OK;
}
