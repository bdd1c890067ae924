/* Iterations on fixed influence maps: see solver.h.
 *
 * One iteration (SPEC section 3):
 *   1. global step: solve A x = Z'(b - Fw + penalties), w += Z x
 *   2. filter, if wanted (filter.h); clip and normalise (or add positivity rows, which count from
 *      the next solve on); where clipping makes the objective rise, zeros are held by stiff rows
 *      instead (an active set, changed all at once, Bertsekas 1982) and the matrix is factorised
 *      again: for the hundreds of rows of a change that is cheaper than updates of the factor
 *   3. Anderson acceleration (anderson.h)
 *   4. local step at the new weights: b, F w and with them the energy; if the objective is
 *      larger than before, the weights of 2 and one more local step
 *
 * The system is assembled and factorised in the first iteration: O(n^1.5) for n vertices; the
 * others cost two back-substitutions and a local step. A system that is not definite gets more
 * damping; weights or energies that are not finite are an error. */
#include "solver.h"

#include <math.h>
#include <string.h>

#include "memory.h"
#include "stale_step.h"
#include "stiffness.h"

#define DAMPING_TRIES 7
#define DAMPING_GROWTH 1000
#define MOST_RISE 0.02 /* of the objective over the best of the stage, as a share of the energy */

static void release_system(arap_solver *s) {
    arap_system_clear(&s->system);
    arap_factor_free(s->factor);
    arap_penalties_clear(&s->penalties);
    arap_free(s->held);
    arap_free(s->unknowns);
    s->factor = NULL;
    s->held = NULL;
    s->unknowns = NULL;
    s->has_system = s->stale = 0;
}

void arap_release_maps(arap_solver *s) {
    release_system(s);
    arap_pass_free(s->pass);
    arap_rotation_clusters_clear(&s->rotation_clusters);
    arap_free(s->right_side);
    arap_free(s->product);
    arap_free(s->residual);
    arap_free(s->best);
    arap_free(s->before);
    arap_free(s->metric);
    arap_anderson_free(s->anderson);
    s->pass = NULL;
    s->anderson = NULL;
    s->right_side = s->product = s->residual = s->best = s->before = s->metric = NULL;
    s->has_best = s->guarded = s->held_changes = 0;
}

/* Penalty rows of the present influence maps, with the given damping. */
static arap_status make_penalties(arap_job *job, arap_solver *s, double damping) {
    double unit = s->poses.count;
    arap_penalties_clear(&s->penalties);
    arap_status status = arap_penalties_create(job, &s->influences, &s->penalties);
    if (status) return status;
    double own = unit * s->mesh.size * s->mesh.size; /* of rows that turn with the mesh */
    arap_add_damping(&s->mesh, &s->influences, damping * own, &s->penalties);
    arap_add_rows(&s->mesh, &s->influences, &s->rows, unit, &s->penalties);
    s->report.neumann_rows = 0;
    if (s->settings.neumann)
        s->report.neumann_rows =
            arap_add_neumann(&s->mesh, &s->influences, s->settings.strength * unit, &s->penalties);
    s->report.positivity_rows = 0;
    s->report.damping = damping;
    arap_system_penalise(&s->system, s->penalties.stiffness);
    return ARAP_OK;
}

/* The penalised matrix of the system, for CHOLMOD. */
static arap_matrix penalised_matrix(const arap_solver *s) {
    arap_matrix matrix = s->system.matrix;
    matrix.value = s->system.penalised;
    return matrix;
}

/* System and factor of the present influence maps. A system that is not definite (its weights
 * are not all determined) gets more damping. */
static arap_status make_system(arap_job *job, arap_solver *s) {
    double since = arap_seconds();
    arap_status status = arap_progress(job, "assembly", 0);
    if (!status)
        status = arap_system_create(job, &s->mesh, &s->poses, &s->harmonic, &s->influences,
                                    s->order, &s->system);
    if (status) return status;
    s->held = ARAP_NEW_ZERO(char, s->influences.start[s->influences.count]);
    s->unknowns = ARAP_NEW(double, s->system.unknowns);
    if (!s->held || !s->unknowns) return arap_fail_memory(&job->error, "the weight system");
    s->report.unknowns = s->system.unknowns;
    s->report.factor_size = 0;
    double damping = s->settings.damping;
    for (int attempt = 0;; attempt++) {
        status = make_penalties(job, s, damping);
        arap_lap(s, ARAP_TIME_SYSTEM, &since);
        if (status || !s->system.unknowns) break;
        status = arap_progress(job, "factorisation", 0);
        if (status) break;
        arap_matrix matrix = penalised_matrix(s);
        status = arap_factor_create(job, &matrix, &s->factor);
        arap_lap(s, ARAP_TIME_FACTOR, &since);
        if (status != ARAP_NOT_FACTORED || attempt + 1 >= DAMPING_TRIES) break;
        job->error = (arap_error){0};
        damping = fmax(damping, 1e-9) * DAMPING_GROWTH;
    }
    if (!status && s->factor) s->report.factor_size = arap_factor_size(s->factor);
    s->has_system = !status;
    return status;
}

arap_status arap_record_energy(arap_job *job, arap_solver *s, double energy) {
    if (!isfinite(energy))
        return arap_fail(&job->error, ARAP_NOT_FINITE, "the energy is %g", energy);
    if (s->report.energy_count == s->energy_capacity) {
        int capacity = s->energy_capacity ? 2 * s->energy_capacity : 64;
        double *grown = arap_realloc(s->energies, (size_t)capacity, sizeof *grown);
        if (!grown) return arap_fail_memory(&job->error, "the energy history");
        s->energies = grown;
        s->energy_capacity = capacity;
    }
    s->energies[s->report.energy_count++] = energy > 0 ? energy : 0; /* never below, but rounded */
    return ARAP_OK;
}

/* The harmonic term of the present weights, and its share of the product. */
static void add_harmonic(const arap_job *job, arap_solver *s) {
    arap_harmonic_product(job, &s->harmonic, &s->influences, s->residual);
    s->roughness = 0;
    for (size_t e = 0; e < s->influences.start[s->influences.count]; e++) {
        s->roughness += s->influences.weight[e] * s->residual[e];
        s->product[e] += s->residual[e];
    }
}

arap_status arap_measure(arap_job *job, arap_solver *s) {
    double rest = s->poses.count * s->mesh.rest_energy, energy = rest + s->excess;
    double *fixed = ARAP_NEW(double, s->mesh.spoke_start ? s->mesh.count : 0);
    if (!fixed) return arap_fail_memory(&job->error, "the energy");
    arap_status status =
        arap_stiffness_product(job, &s->mesh, &s->poses, &s->influences, s->product, NULL,
                               s->mesh.spoke_start ? fixed : NULL);
    for (int i = 0; i < s->mesh.count && s->mesh.spoke_start; i++) energy += fixed[i];
    energy -= 2 * s->anchored;
    arap_free(fixed);
    if (status) return status;
    for (size_t e = 0; e < s->influences.start[s->influences.count]; e++)
        energy += s->influences.weight[e] * (s->product[e] - 2 * s->right_side[e]);
    s->energy = energy;
    if (s->harmonic.ring) add_harmonic(job, s);
    return arap_record_energy(job, s, rest > 0 ? energy / rest : 0);
}

arap_status arap_refresh(arap_job *job, arap_solver *s) {
    double since = arap_seconds();
    arap_mirror_weights(&s->mirror, &s->influences);
    arap_pass_run(job, s->pass, s->right_side, NULL);
    const double *excess = arap_pass_excess(s->pass);
    s->excess = 0;
    for (int i = 0; i < s->mesh.count && excess; i++) s->excess += excess[i];
    const double *anchored = arap_pass_anchored(s->pass);
    s->anchored = 0;
    for (int i = 0; i < s->mesh.count && anchored; i++) s->anchored += anchored[i];
    arap_status status = arap_measure(job, s);
    arap_lap(s, ARAP_TIME_LOCAL, &since);
    return status;
}

static arap_status begin_acceleration(arap_job *job, arap_solver *s) {
    const arap_influences *in = &s->influences;
    size_t entries = in->start[in->count];
    s->before = ARAP_NEW(double, entries);
    s->metric = ARAP_NEW(double, entries);
    if (!s->before || !s->metric) return arap_fail_memory(&job->error, "the acceleration");
    for (int i = 0; i < in->count; i++)
        for (size_t e = in->start[i]; e < in->start[i + 1]; e++) s->metric[e] = s->mesh.area[i];
    return arap_anderson_create(job, entries, s->settings.acceleration, &s->anderson);
}

arap_status arap_begin_maps(arap_job *job, arap_solver *s) {
    size_t entries = s->influences.start[s->influences.count];
    double since = arap_seconds();
    s->right_side = ARAP_NEW(double, entries);
    s->product = ARAP_NEW(double, entries);
    s->residual = ARAP_NEW(double, entries);
    s->best = ARAP_NEW(double, entries);
    if (!s->right_side || !s->product || !s->residual || !s->best)
        return arap_fail_memory(&job->error, "the weights");
    arap_rotation_clusters *clusters =
        s->settings.rotation_clusters > 0 && !s->poses.spines.count && !s->poses.stretches.count
            ? &s->rotation_clusters
            : NULL;
    arap_status status = s->settings.acceleration ? begin_acceleration(job, s) : ARAP_OK;
    if (!status && clusters)
        status = arap_rotation_clusters_create(job, &s->mesh, &s->influences,
                                               s->settings.rotation_clusters, clusters);
    if (!status)
        status = arap_pass_create(job, &s->mesh, &s->lanes, &s->influences, clusters, &s->pass);
    arap_lap(s, ARAP_TIME_LOCAL, &since);
    return status;
}

/* Strength of the rows that hold a weight at zero, over an area of 1. */
static double hard(const arap_solver *s) { return s->settings.strength * s->poses.count; }

/* Energy, harmonic term and penalties, less their constant, without the rows that may be let down:
 * holds, and what keeps a weight at zero for as long as it takes. */
static double objective(const arap_solver *s) {
    const arap_influences *in = &s->influences;
    const arap_penalties *p = &s->penalties;
    double sum = s->energy + s->roughness;
    for (size_t e = 0; e < in->start[in->count]; e++)
        if (!s->held[e]) sum += (p->stiffness[e] * in->weight[e] - 2 * p->aim[e]) * in->weight[e];
    return sum -
           arap_rows_cost(&s->mesh, in, &s->rows, s->report.hold_rows, s->poses.count, s->held);
}

static arap_status refactor(arap_job *job, arap_solver *s) {
    double since = arap_seconds();
    arap_system_penalise(&s->system, s->penalties.stiffness);
    arap_matrix matrix = penalised_matrix(s);
    arap_status status = arap_factor_update(job, s->factor, &matrix);
    s->held_changes = 0;
    if (s->anderson) arap_anderson_restart(s->anderson);
    arap_lap(s, ARAP_TIME_FACTOR, &since);
    return status;
}

/* The gradient of the objective with its sign turned. */
static void find_descent(arap_solver *s) {
    const arap_penalties *p = &s->penalties;
    const double *w = s->influences.weight;
    for (size_t e = 0; e < s->influences.start[s->influences.count]; e++)
        s->residual[e] = s->right_side[e] - s->product[e] + p->aim[e] - p->stiffness[e] * w[e];
}

/* The minimum of the objective for the present rotations; its weights may be negative. */
static arap_status global_step(arap_job *job, arap_solver *s) {
    double since = arap_seconds();
    find_descent(s);
    arap_system_reduce(&s->system, s->residual, s->unknowns);
    arap_status status = s->stale ? arap_stale_solve(job, s, s->unknowns)
                                  : arap_factor_solve(job, s->factor, s->unknowns);
    if (!status) arap_system_add_step(&s->system, s->unknowns, s->influences.weight);
    arap_lap(s, ARAP_TIME_SOLVE, &since);
    return status;
}

/* The paper's positivity rows; they count from the next global step on. */
static arap_status add_positivity(arap_job *job, arap_solver *s) {
    int rows = arap_hold_negative(&s->mesh, &s->influences, hard(s), 1, s->held, &s->penalties);
    s->report.positivity_rows += rows;
    return rows ? refactor(job, s) : ARAP_OK;
}

/* One step of the fixed-point iteration, without its local step: the global step, the filter,
 * then clipping or positivity rows. Guarded, weights that the step made negative are held from the
 * next one on, until they would be positive. */
static arap_status plain_step(arap_job *job, arap_solver *s) {
    arap_status status = ARAP_OK;
    if (s->guarded) {
        find_descent(s);
        s->held_changes += arap_release_positive(&s->mesh, &s->influences, s->residual, hard(s),
                                                 s->held, &s->penalties);
        if (s->held_changes) status = refactor(job, s);
    }
    if (!status) status = global_step(job, s);
    if (!status && s->settings.filter)
        status = arap_filter_weights(job, &s->mesh, s->settings.filter, s->skeleton.deform_count,
                                     &s->influences);
    if (status) return status;
    if (s->guarded)
        s->held_changes +=
            arap_hold_negative(&s->mesh, &s->influences, hard(s), 0, s->held, &s->penalties);
    if (s->settings.positivity == ARAP_POSITIVITY_CLIP) arap_influences_normalise(&s->influences);
    return s->settings.positivity == ARAP_POSITIVITY_PENALTY ? add_positivity(job, s) : status;
}

/* Back to earlier weights; their energy replaces the last one of the history. */
static arap_status restore(arap_job *job, arap_solver *s, const double *weights) {
    memcpy(s->influences.weight, weights,
           s->influences.start[s->influences.count] * sizeof *weights);
    s->report.energy_count--;
    return arap_refresh(job, s);
}

/* A step and its local step; accelerated, to where the past steps point, unless the objective
 * is larger there than it was before. */
static arap_status full_step(arap_job *job, arap_solver *s) {
    arap_influences *in = &s->influences;
    size_t size = in->start[in->count] * sizeof(double);
    double reached = objective(s);
    if (s->anderson) memcpy(s->before, in->weight, size);
    arap_status status = plain_step(job, s);
    if (status) return status;
    if (!s->anderson) return arap_refresh(job, s);
    if (!arap_anderson_mix(s->anderson, s->before, in->weight, s->metric, s->residual))
        return arap_refresh(job, s);
    memcpy(s->before, in->weight, size);
    memcpy(in->weight, s->residual, size);
    if (s->settings.positivity == ARAP_POSITIVITY_CLIP) arap_influences_normalise(in);
    status = arap_refresh(job, s);
    if (status || objective(s) <= reached) return status;
    return restore(job, s, s->before);
}

/* The present objective; its weights are kept if they are the best of the stage. */
static double keep_if_best(arap_solver *s) {
    double present = objective(s);
    if (s->has_best && present >= s->best_objective) return present;
    s->has_best = 1;
    s->best_objective = present;
    memcpy(s->best, s->influences.weight,
           s->influences.start[s->influences.count] * sizeof *s->best);
    return present;
}

/* One iteration with clipping. That is no descent where many weights would be negative: when
 * the objective has risen too far, the best weights come back and the stage goes on guarded;
 * when that does not help, it is over. */
static arap_status clipped_iteration(arap_job *job, arap_solver *s) {
    keep_if_best(s);
    arap_status status = full_step(job, s);
    if (status) return status;
    double present = keep_if_best(s);
    if (present - s->best_objective <= MOST_RISE * fabs(s->energy)) return status;
    s->stage_over = s->guarded;
    s->guarded = 1;
    return restore(job, s, s->best);
}

arap_status arap_iteration(arap_job *job, arap_solver *s) {
    arap_status status = s->has_system ? ARAP_OK : make_system(job, s);
    if (!s->has_system) release_system(s); /* cancelled: the next call makes it again */
    if (status || !s->system.unknowns) return status ? status : arap_refresh(job, s);
    int descends = s->settings.positivity == ARAP_POSITIVITY_CLIP && !s->settings.filter;
    return descends ? clipped_iteration(job, s) : full_step(job, s);
}

arap_status arap_solver_repose(arap_job *job, arap_solver *s, const double *transforms,
                               const arap_spines *spines, int keep_factor) {
    size_t size = 12 * (size_t)s->poses.count * (size_t)s->poses.columns * sizeof *transforms;
    memcpy(s->poses.transform, transforms, size);
    arap_spines_assign(spines, s->mesh.count, s->poses.count, &s->poses.spines);
    arap_status status = arap_poses_gram(job, &s->poses);
    if (status) return status;
    arap_lanes_fill(&s->poses, &s->lanes);
    s->has_best = 0;
    if (keep_factor && s->has_system) {
        s->stale = 1;
    } else {
        release_system(s);
        s->guarded = s->held_changes = 0;
    }
    if (s->anderson) arap_anderson_restart(s->anderson);
    return arap_refresh(job, s);
}

arap_status arap_end_iterations(arap_job *job, arap_solver *s) {
    int worse = s->has_best && objective(s) > s->best_objective;
    return worse ? restore(job, s, s->best) : ARAP_OK;
}
