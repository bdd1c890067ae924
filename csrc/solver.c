/* The iterations: see arap.h.
 *
 * One iteration (SPEC section 3):
 *   1. global step: solve A x = Z'(b - Fw + penalties), w += Z x
 *   2. clip and normalise (or add positivity rows, which count from the next solve on); where
 *      clipping makes the objective rise, zeros are held by stiff rows instead (an active set,
 *      changed all at once, Bertsekas 1982) and the matrix is factorised again
 *   3. local step at the new weights: b, F w and with them the energy
 *
 * Stages. The initial weights decide too little and their influence maps too much, so the energy
 * chooses these: first the initial maps are iterated a few times; then, `widenings` times, they
 * take in the influences of the neighbours, lose those of little worth, and are iterated. Where
 * the limit is K, the initial maps are first reduced to about 3K/2 influences and the later ones
 * to K. Each stage costs one factorisation of a system that is small because its
 * rows are. Without widenings there is one stage, on the initial maps or what the limit leaves. */
#include "solver.h"

#include <math.h>
#include <string.h>
#include <time.h>

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
        .iterations = 10,
        .tolerance = 2e-3,
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
    s->pass = NULL;
    s->right_side = s->product = s->residual = s->best = NULL;
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

/* Local step at the present weights, made symmetric; their energy goes to the history. */
static arap_status refresh(arap_job *job, arap_solver *s) {
    double since = arap_seconds(), rest = s->poses.count * s->mesh.rest_energy, energy = rest;
    arap_mirror_weights(&s->mirror, &s->influences);
    arap_pass_run(job, s->pass, s->right_side, NULL);
    arap_status status =
        arap_stiffness_product(job, &s->mesh, &s->poses, &s->influences, s->product, NULL);
    if (status) return status;
    for (size_t e = 0; e < s->influences.start[s->influences.count]; e++)
        energy += s->influences.weight[e] * (s->product[e] - 2 * s->right_side[e]);
    arap_lap(s, ARAP_TIME_LOCAL, &since);
    s->energy = energy;
    return record_energy(job, s, rest > 0 ? energy / rest : 0);
}

/* Work space for new influence maps, and the local step for their weights. */
static arap_status begin_stage(arap_job *job, arap_solver *s) {
    size_t entries = s->influences.start[s->influences.count];
    double since = arap_seconds();
    s->right_side = ARAP_NEW(double, entries);
    s->product = ARAP_NEW(double, entries);
    s->residual = ARAP_NEW(double, entries);
    s->best = ARAP_NEW(double, entries);
    if (!s->right_side || !s->product || !s->residual || !s->best)
        return arap_fail_memory(&job->error, "the weights");
    arap_status status = arap_pass_create(job, &s->mesh, &s->lanes, &s->influences, &s->pass);
    arap_lap(s, ARAP_TIME_LOCAL, &since);
    return status ? status : refresh(job, s);
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

/* Global step, clipping, local step. Guarded, weights that the step made negative are held from
 * the next one on, until they would be positive. */
static arap_status clipped_step(arap_job *job, arap_solver *s) {
    arap_status status = ARAP_OK;
    if (s->guarded) {
        find_descent(s);
        s->held_changes += arap_release_positive(&s->mesh, &s->influences, s->residual, hard(s),
                                                 s->held, &s->penalties);
        if (s->held_changes) status = refactor(job, s);
    }
    if (!status) status = global_step(job, s);
    if (status) return status;
    if (s->guarded)
        s->held_changes +=
            arap_hold_negative(&s->mesh, &s->influences, hard(s), 0, s->held, &s->penalties);
    arap_influences_normalise(&s->influences);
    return refresh(job, s);
}

/* Back to the best weights of the stage; their energy replaces the last one of the history. */
static arap_status restore_best(arap_job *job, arap_solver *s) {
    memcpy(s->influences.weight, s->best,
           s->influences.start[s->influences.count] * sizeof *s->best);
    s->report.energy_count--;
    return refresh(job, s);
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
    arap_status status = clipped_step(job, s);
    if (status) return status;
    double present = keep_if_best(s);
    if (present - s->best_objective <= MOST_RISE * fabs(s->energy)) return status;
    s->stage_over = s->guarded;
    s->guarded = 1;
    return restore_best(job, s);
}

static arap_status iteration(arap_job *job, arap_solver *s) {
    arap_status status = s->has_system ? ARAP_OK : make_system(job, s);
    if (!s->has_system) release_system(s); /* cancelled: the next call makes it again */
    if (status || !s->system.unknowns) return status ? status : refresh(job, s);
    if (s->settings.positivity == ARAP_POSITIVITY_CLIP) return clipped_iteration(job, s);
    status = global_step(job, s);
    if (!status && s->settings.positivity == ARAP_POSITIVITY_PENALTY)
        status = add_positivity(job, s);
    return status ? status : refresh(job, s);
}

/* Replace the influence maps; the energy of the new weights goes to the history. */
static arap_status change_maps(arap_job *job, arap_solver *s, arap_influences *maps) {
    release_stage(s);
    arap_influences_clear(&s->influences);
    s->influences = *maps;
    s->report.stage_start[s->stage] = s->report.energy_count;
    return begin_stage(job, s);
}

static arap_status limit(arap_job *job, arap_solver *s, arap_limit rule) {
    arap_influences limited = {0};
    arap_penalties rows = {0};
    double since = arap_seconds();
    arap_status status = arap_penalties_create(job, &s->influences, &rows);
    if (status) return status;
    arap_add_rows(&s->mesh, &s->influences, &s->rows, s->poses.count, &rows);
    status = arap_limit_influences(job, &s->mesh, &s->poses, &s->influences, s->right_side,
                                   s->product, &rows, &s->mirror, &rule, &limited);
    arap_penalties_clear(&rows);
    arap_lap(s, ARAP_TIME_SYSTEM, &since);
    return status ? status : change_maps(job, s, &limited);
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
    if (!status) s->report.energy_count--; /* the same weights once more */
    return status;
}

static int last_stage(const arap_solver *s) { return 1 + s->settings.widenings; }

/* Influences of a vertex in the present stage, at most; 0: no limit. The first one has some more
 * than the caller's limit: so near to the initial weights their worth is not clear yet. */
static int stage_influences(const arap_solver *s) {
    int most = s->settings.max_influences;
    if (!most || s->stage > 1 || last_stage(s) == 1) return most;
    return most + (most > 4 ? most / 2 : 2);
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

static arap_status step(arap_job *job, arap_solver *s) {
    arap_status status = ARAP_OK;
    if (s->stage == 0 || (s->stage_over && s->stage < last_stage(s))) status = enter_stage(job, s);
    int was_guarded = s->guarded;
    if (!status) status = iteration(job, s);
    if (status) return status;
    s->report.iterations++;
    s->stage_iterations++;
    const double *last = s->energies + s->report.energy_count - 1;
    int settled = fabs(last[-1] - last[0]) <= s->settings.tolerance * fabs(last[-1]) &&
                  s->guarded == was_guarded;
    int enough = s->stage < last_stage(s) ? EARLY_ITERATIONS : s->settings.iterations;
    if (s->stage_iterations >= enough || settled) s->stage_over = 1;
    if (s->stage_over && s->has_best && objective(s) > s->best_objective)
        status = restore_best(job, s);
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

int arap_solver_done(const arap_solver *s) { return s->stage_over && s->stage == last_stage(s); }

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
    if (!status) status = arap_start_weights(job, s, problem);
    if (!status) status = mirror_maps(job, s, &s->influences);
    if (!status) status = arap_influences_copy(job, &s->influences, &s->initial);
    if (!status) status = begin_stage(job, s);
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
