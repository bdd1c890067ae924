/* The iterations: see arap.h.
 *
 * One iteration (SPEC section 3):
 *   1. global step: solve A x = Z'(b - Fw + penalties), w += Z x
 *   2. filter, if wanted (filter.h); clip and normalise (or add positivity rows, which count from
 * the next solve on); where clipping makes the objective rise, zeros are held by stiff rows instead
 * (an active set, changed all at once, Bertsekas 1982) and the matrix is factorised again
 *   3. Anderson acceleration (anderson.h)
 *   4. local step at the new weights: b, F w and with them the energy; if the objective is
 *      larger than before, the weights of 2 and one more local step
 *
 * Stages. The initial weights decide too little and their influence maps too much, so the energy
 * chooses these: first the initial maps are iterated a few times; then, `widenings` times, they
 * take in the influences of the neighbours, lose those of little worth, and are iterated. Where
 * the limit is K, the initial maps are first reduced to 2K influences and the later ones
 * to K. Each stage costs one factorisation of a system that is small because its
 * rows are. Without widenings there is one stage, on the initial maps or what the limit leaves. */
#include "solver.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "levels.h"
#include "links.h"
#include "memory.h"
#include "stiffness.h"

#define DAMPING_TRIES 4
#define DAMPING_GROWTH 1000
#define EARLY_ITERATIONS 3
#define SPARE 3e-5     /* see arap_limit */
#define MOST_RISE 0.02 /* of the objective over the best of the stage, as a share of the energy */

const char *const arap_timing_names[ARAP_TIMES] = {"mesh",     "visibility", "heat",  "poses",
                                                   "assembly", "factor",     "local", "solve"};

double arap_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void arap_lap(arap_solver *s, enum arap_timing stage, double *since) {
    double now = arap_seconds();
    s->report.seconds[stage] += now - *since;
    *since = now;
}

void arap_settings_default(arap_settings *settings) {
    static const double degree = 0.017453292519943295;
    *settings = (arap_settings){
        .single_precision = 1,
        .sampling = {.count = 80, .seed = 0, .swing = 60 * degree, .twist = 10 * degree},
        .max_influences = 4,
        .widenings = 2,
        .least_weight = 1e-3,
        .iterations = 30,
        .tolerance = 2e-3,
        .coarsen = 1000,
        .acceleration = 5,
        .heat_floor = 1e-6,
        .pruning = {.least = 1, .kept_sum = 0.999, .relative = 1e-3},
        .link_parts = 1,
        .positivity = ARAP_POSITIVITY_CLIP,
        .hold = 0.01,
        .strength = 100,
        .damping = 1e-6,
    };
}

static arap_status check_settings(arap_error *error, const arap_settings *s) {
    struct {
        const char *name;
        double value, least, most;
    } ranges[] = {
        {"pose_count", s->sampling.count, 0, 1e6},
        {"swing", s->sampling.swing, 0, 3.15},
        {"twist", s->sampling.twist, 0, 3.15},
        {"max_influences", s->max_influences, 0, 1e6},
        {"widenings", s->widenings, 0, ARAP_MOST_WIDENINGS},
        {"least_weight", s->least_weight, 0, 0.25},
        {"iterations", s->iterations, 1, 1e6},
        {"tolerance", s->tolerance, 0, 1},
        {"coarsen", s->coarsen, 0, 2147483647},
        {"acceleration", s->acceleration, 0, ARAP_MOST_WINDOW},
        {"heat_floor", s->heat_floor, 0, 0.25},
        {"least influences of the support", s->pruning.least, 1, 1e6},
        {"kept sum of the support", s->pruning.kept_sum, 0, 1},
        {"relative weight of the support", s->pruning.relative, 0, 1},
        {"hold", s->hold, 0, 1e12},
        {"constraint_strength", s->strength, 0, 1e12},
        {"damping", s->damping, 0, 1e6},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (!(ranges[i].value >= ranges[i].least && ranges[i].value <= ranges[i].most))
            return arap_fail(error, ARAP_BAD_VALUE, "%s is %g: must be from %g to %g",
                             ranges[i].name, ranges[i].value, ranges[i].least, ranges[i].most);
    return ARAP_OK;
}

static void release_system(arap_solver *s) {
    arap_system_clear(&s->system);
    arap_factor_free(s->factor);
    arap_penalties_clear(&s->penalties);
    arap_free(s->held);
    arap_free(s->unknowns);
    s->factor = NULL;
    s->held = NULL;
    s->unknowns = NULL;
    s->has_system = 0;
}

static void release_stage(arap_solver *s) {
    release_system(s);
    arap_pass_free(s->pass);
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
        status = arap_system_create(job, &s->mesh, &s->poses, &s->influences, s->order, &s->system);
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

static arap_status record_energy(arap_job *job, arap_solver *s, double energy) {
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

/* F w of the present weights, and with it their energy, which goes to the history. */
static arap_status measure(arap_job *job, arap_solver *s) {
    double rest = s->poses.count * s->mesh.rest_energy, energy = rest;
    arap_status status =
        arap_stiffness_product(job, &s->mesh, &s->poses, &s->influences, s->product, NULL);
    if (status) return status;
    for (size_t e = 0; e < s->influences.start[s->influences.count]; e++)
        energy += s->influences.weight[e] * (s->product[e] - 2 * s->right_side[e]);
    s->energy = energy;
    return record_energy(job, s, rest > 0 ? energy / rest : 0);
}

/* Local step at the present weights, made symmetric; their energy goes to the history. */
static arap_status refresh(arap_job *job, arap_solver *s) {
    double since = arap_seconds();
    arap_mirror_weights(&s->mirror, &s->influences);
    arap_pass_run(job, s->pass, s->right_side, NULL);
    arap_status status = measure(job, s);
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

/* Work space for new influence maps. */
static arap_status begin_maps(arap_job *job, arap_solver *s) {
    size_t entries = s->influences.start[s->influences.count];
    double since = arap_seconds();
    s->right_side = ARAP_NEW(double, entries);
    s->product = ARAP_NEW(double, entries);
    s->residual = ARAP_NEW(double, entries);
    s->best = ARAP_NEW(double, entries);
    if (!s->right_side || !s->product || !s->residual || !s->best)
        return arap_fail_memory(&job->error, "the weights");
    arap_status status = s->settings.acceleration ? begin_acceleration(job, s) : ARAP_OK;
    if (!status) status = arap_pass_create(job, &s->mesh, &s->lanes, &s->influences, &s->pass);
    arap_lap(s, ARAP_TIME_LOCAL, &since);
    return status;
}

/* Strength of the rows that hold a weight at zero, over an area of 1. */
static double hard(const arap_solver *s) { return s->settings.strength * s->poses.count; }

/* Energy and penalties, less their constant, without the rows that may be let down: holds, and
 * what keeps a weight at zero for as long as it takes. */
static double objective(const arap_solver *s) {
    const arap_influences *in = &s->influences;
    const arap_penalties *p = &s->penalties;
    double sum = s->energy;
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
    arap_status status = arap_factor_solve(job, s->factor, s->unknowns);
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
    int clips = s->settings.positivity == ARAP_POSITIVITY_CLIP;
    if (s->guarded) {
        find_descent(s);
        s->held_changes += arap_release_positive(&s->mesh, &s->influences, s->residual, hard(s),
                                                 s->held, &s->penalties);
        if (s->held_changes) status = refactor(job, s);
    }
    if (!status) status = global_step(job, s);
    if (!status && s->settings.filter)
        status = arap_filter_weights(job, &s->mesh, s->settings.filter, &s->influences);
    if (status) return status;
    if (s->guarded)
        s->held_changes +=
            arap_hold_negative(&s->mesh, &s->influences, hard(s), 0, s->held, &s->penalties);
    if (clips) arap_influences_normalise(&s->influences);
    return s->settings.positivity == ARAP_POSITIVITY_PENALTY ? add_positivity(job, s) : status;
}

/* Back to earlier weights; their energy replaces the last one of the history. */
static arap_status restore(arap_job *job, arap_solver *s, const double *weights) {
    memcpy(s->influences.weight, weights,
           s->influences.start[s->influences.count] * sizeof *weights);
    s->report.energy_count--;
    return refresh(job, s);
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
    if (!s->anderson) return refresh(job, s);
    if (!arap_anderson_mix(s->anderson, s->before, in->weight, s->metric, s->residual))
        return refresh(job, s);
    memcpy(s->before, in->weight, size);
    memcpy(in->weight, s->residual, size);
    if (s->settings.positivity == ARAP_POSITIVITY_CLIP) arap_influences_normalise(in);
    status = refresh(job, s);
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

static arap_status iteration(arap_job *job, arap_solver *s) {
    arap_status status = s->has_system ? ARAP_OK : make_system(job, s);
    if (!s->has_system) release_system(s); /* cancelled: the next call makes it again */
    if (status || !s->system.unknowns) return status ? status : refresh(job, s);
    int descends = s->settings.positivity == ARAP_POSITIVITY_CLIP && !s->settings.filter;
    return descends ? clipped_iteration(job, s) : full_step(job, s);
}

/* Replace the influence maps. */
static arap_status change_maps(arap_job *job, arap_solver *s, arap_influences *maps) {
    release_stage(s);
    arap_influences_clear(&s->influences);
    s->influences = *maps;
    return begin_maps(job, s);
}

/* Those numbers per influence that the reduced maps keep; NULL: no memory. */
static double *kept_numbers(const arap_influences *all, const arap_influences *kept,
                            const double *numbers) {
    double *out = ARAP_NEW(double, kept->start[kept->count]);
    for (int i = 0; out && i < kept->count; i++)
        for (size_t e = kept->start[i]; e < kept->start[i + 1]; e++)
            out[e] = numbers[arap_find_influence(all, i, kept->bone[e])];
    return out;
}

/* Reduce the influence maps. The rotations stay those of the weights before, and so does the
 * right-hand side: the energy recorded is that of the new weights but for a local step. */
static arap_status limit(arap_job *job, arap_solver *s, arap_limit rule) {
    arap_influences limited = {0};
    arap_penalties rows = {0};
    double since = arap_seconds(), *right_side = NULL;
    arap_status status = arap_penalties_create(job, &s->influences, &rows);
    if (status) return status;
    arap_add_rows(&s->mesh, &s->influences, &s->rows, s->poses.count, &rows);
    status = arap_limit_influences(job, &s->mesh, &s->poses, &s->influences, s->right_side,
                                   s->product, &rows, &s->mirror, &rule, &limited);
    arap_penalties_clear(&rows);
    arap_lap(s, ARAP_TIME_SYSTEM, &since);
    if (status) return status;
    right_side = kept_numbers(&s->influences, &limited, s->right_side);
    if (!right_side) {
        arap_influences_clear(&limited);
        return arap_fail_memory(&job->error, "the weights");
    }
    s->report.stage_start[s->stage] = s->report.energy_count;
    status = change_maps(job, s, &limited);
    if (!status) {
        memcpy(s->right_side, right_side, limited.start[limited.count] * sizeof *right_side);
        status = measure(job, s);
    }
    arap_free(right_side);
    return status;
}

/* Is the bone locked for any of the caller's vertices in this one? */
static int is_closed(const void *data, int vertex, int bone) {
    const arap_solver *s = data;
    for (int i = s->mesh.first[vertex]; i >= 0; i = s->mesh.next[i])
        if (arap_is_locked(s, i, bone)) return 1;
    return 0;
}

/* Influence maps that are the same on both sides. */
static arap_status mirror_maps(arap_job *job, arap_solver *s, arap_influences *maps) {
    if (!s->mirror.vertex) return ARAP_OK;
    return arap_mirror_maps(job, &s->mirror, s->skeleton.deform_count,
                            s->locked_vertex ? is_closed : NULL, s, maps);
}

static arap_status widen(arap_job *job, arap_solver *s) {
    arap_influences wider = {0};
    arap_status status =
        arap_widen_influences(job, &s->mesh, &s->influences, s->skeleton.deform_count,
                              s->locked_vertex ? is_closed : NULL, s, &wider);
    if (!status) status = mirror_maps(job, s, &wider);
    if (status) {
        arap_influences_clear(&wider);
        return status;
    }
    status = change_maps(job, s, &wider);
    if (!status) status = refresh(job, s);
    if (!status) s->report.energy_count--; /* the same weights once more */
    return status;
}

/* Influences of a vertex in the present stage, at most; 0: no limit. The first one has twice the
 * caller's limit: so near to the initial weights their worth is not clear yet. */
static int stage_influences(const arap_solver *s) {
    int most = s->settings.max_influences;
    if (!most || s->stage > 1 || s->last_stage == 1) return most;
    return 2 * most;
}

/* Start the next stage: its influence maps. */
static arap_status enter_stage(arap_job *job, arap_solver *s) {
    s->stage++;
    s->stage_iterations = s->stage_over = 0;
    if (s->stage > 1) {
        arap_status status = widen(job, s);
        return status ? status : limit(job, s, (arap_limit){stage_influences(s), SPARE});
    }
    return stage_influences(s) ? limit(job, s, (arap_limit){stage_influences(s), -1}) : ARAP_OK;
}

/* From the coarse level to this one: its weights, as many influences as there may be, and one
 * stage. */
static arap_status leave_coarse(arap_job *job, arap_solver *s) {
    arap_influences weights = {0};
    arap_status status = arap_coarse_weights(job, s, &s->coarse->influences, &weights);
    if (!status) status = arap_apply_locks(job, s, &weights);
    if (!status) status = mirror_maps(job, s, &weights);
    if (!status) status = arap_coarse_inherit(job, s);
    if (status) {
        arap_influences_clear(&weights);
        return status;
    }
    arap_coarse_free(s);
    s->stage = s->last_stage;
    s->stage_iterations = s->stage_over = 0;
    status = change_maps(job, s, &weights);
    if (!status) status = refresh(job, s);
    if (!status) s->report.energy_count--;
    return status ? status : limit(job, s, (arap_limit){s->settings.max_influences, SPARE});
}

/* One iteration of the coarse level; its history is ours. */
static arap_status coarse_step(arap_job *job, arap_solver *s) {
    const arap_report *coarse = &s->coarse->report;
    arap_status status = arap_solver_iterate(job, s->coarse, 1), recorded = ARAP_OK;
    memcpy(s->report.stage_start, coarse->stage_start, sizeof coarse->stage_start);
    s->report.energy_count = 0;
    for (int k = 0; k < coarse->energy_count && !recorded; k++)
        recorded = record_energy(job, s, s->coarse->energies[k]);
    if (status || recorded) return status ? status : recorded;
    s->report.iterations = coarse->iterations;
    return arap_solver_done(s->coarse) ? leave_coarse(job, s) : ARAP_OK;
}

static arap_status step(arap_job *job, arap_solver *s) {
    arap_status status = ARAP_OK;
    if (s->coarse) return coarse_step(job, s);
    if (s->stage == 0 || (s->stage_over && s->stage < s->last_stage)) status = enter_stage(job, s);
    int was_guarded = s->guarded;
    if (!status) status = iteration(job, s);
    if (status) return status;
    s->report.iterations++;
    s->stage_iterations++;
    const double *last = s->energies + s->report.energy_count - 1;
    int settled = fabs(last[-1] - last[0]) <= s->settings.tolerance * fabs(last[-1]) &&
                  s->guarded == was_guarded;
    int enough = s->stage < s->last_stage ? EARLY_ITERATIONS : s->settings.iterations;
    if (s->stage_iterations >= enough || settled) s->stage_over = 1;
    if (s->stage_over && s->has_best && objective(s) > s->best_objective)
        status = restore(job, s, s->best);
    return status;
}

arap_status arap_solver_iterate(arap_job *job, arap_solver *s, int count) {
    arap_status status = ARAP_OK;
    if (s->broken)
        return arap_fail(&job->error, ARAP_NOT_FACTORED,
                         "the solver failed before and cannot go on: create another");
    for (int i = 0; i < count && !status && !arap_solver_done(s); i++) {
        status = arap_progress(job, "iteration", (double)i / count);
        if (!status) status = step(job, s);
    }
    s->broken = status && status != ARAP_CANCELLED;
    return status;
}

int arap_solver_done(const arap_solver *s) {
    return !s->coarse && s->stage_over && s->stage == s->last_stage;
}

/* The paper's constraint rows belong to the vertices of the mesh itself. */
static int wants_coarse(const arap_solver *s, const arap_problem *problem) {
    const arap_settings *set = &s->settings;
    return set->coarsen && s->mesh.count >= set->coarsen && !problem->start_from_weights &&
           !set->attach && !set->neumann && set->positivity == ARAP_POSITIVITY_CLIP;
}

arap_status arap_solver_create(arap_job *job, const arap_problem *problem,
                               const arap_settings *settings, arap_solver **out) {
    int *links = NULL;
    size_t link_count = 0;
    double since = arap_seconds();
    arap_status status = check_settings(&job->error, settings);
    *out = NULL;
    if (status) return status;
    arap_solver *s = ARAP_NEW_ZERO(arap_solver, 1);
    if (!s) return arap_fail_memory(&job->error, "the solver");
    s->settings = *settings;
    for (int k = 0; k <= ARAP_MOST_STAGES; k++) s->report.stage_start[k] = -1;

    status = arap_progress(job, "mesh", 0);
    if (!status) status = arap_mesh_create(job, &problem->geometry, ARAP_WELD_TOLERANCE, &s->mesh);
    if (!status) status = arap_skeleton_create(job, &problem->bones, &s->mesh, &s->skeleton);
    if (!status && settings->link_parts)
        status = arap_link_parts(job, &s->mesh, &links, &link_count, &s->report.linked_parts);
    if (!status) status = arap_mesh_connect(job, &s->mesh, links, link_count);
    arap_free(links);
    s->report.links = link_count;
    if (!status) {
        s->order = ARAP_NEW(int, s->mesh.count);
        status = s->order ? arap_fill_reducing_order(job, s->mesh.count, s->mesh.ring,
                                                     s->mesh.neighbour, s->order)
                          : arap_fail_memory(&job->error, "the elimination order");
    }
    if (!status && problem->mirror)
        status = arap_mirror_bones(job, problem->mirror, &s->skeleton, &s->mesh, &s->mirror);
    if (!status && problem->mirror) /* one bone can be no mirror image of two */
        status = arap_mirror_vertices(job, &s->mesh, settings->max_influences != 1, &s->mirror);
    arap_lap(s, ARAP_TIME_MESH, &since);
    if (!status)
        status = arap_poses_create(job, &s->skeleton, &s->mesh, &s->mirror, &settings->sampling,
                                   problem->poses, problem->pose_count, &s->poses);
    if (!status)
        status = arap_lanes_create(
            job, &s->poses, settings->single_precision ? ARAP_SINGLE : ARAP_DOUBLE, &s->lanes);
    arap_lap(s, ARAP_TIME_POSES, &since);
    if (!status && wants_coarse(s, problem)) status = arap_coarse_create(job, s, problem);
    s->last_stage = s->coarse ? s->coarse->last_stage + 1 : 1 + settings->widenings;
    s->report.coarse_vertices = !s->coarse ? 0
                                : s->coarse->report.coarse_vertices
                                    ? s->coarse->report.coarse_vertices
                                    : s->coarse->mesh.count;
    if (!status) status = arap_start_weights(job, s, problem);
    if (!status) status = mirror_maps(job, s, &s->influences);
    if (!status) status = arap_influences_copy(job, &s->influences, &s->initial);
    if (!status && s->coarse) status = record_energy(job, s, s->coarse->energies[0]);
    if (!status && !s->coarse) status = begin_maps(job, s);
    if (!status && !s->coarse) status = refresh(job, s);
    if (status) {
        arap_solver_free(s);
        return status;
    }
    *out = s;
    return ARAP_OK;
}

void arap_solver_free(arap_solver *s) {
    if (!s) return;
    release_stage(s);
    arap_coarse_free(s);
    arap_mesh_clear(&s->mesh);
    arap_skeleton_clear(&s->skeleton);
    arap_mirror_clear(&s->mirror);
    arap_poses_clear(&s->poses);
    arap_lanes_clear(&s->lanes);
    arap_sight_clear(&s->sight);
    arap_heat_report_clear(&s->heat_report);
    arap_influences_clear(&s->initial);
    arap_influences_clear(&s->influences);
    arap_free(s->order);
    arap_row_list_clear(&s->rows);
    arap_free(s->locked_start);
    arap_free(s->locked_bone);
    arap_free(s->locked_weight);
    arap_free(s->locked_vertex);
    arap_free(s->vertex_set);
    arap_free(s->locked_column);
    arap_free(s->energies);
    arap_free(s);
}
