/* Optimizes joints and weights in turn, under one energy that never rises: see joints/solver.h.
 *
 * The energy is the relative ARAP energy of the poses, in double precision, plus two terms of the
 * joint positions J,
 *     sum a_J |J - J_0|^2 + sum (J - m)^T C (J - m)          (centering, joints/centering.c),
 * where a_J is the anchor setting times the stiffness with which the energy itself held the joint
 * at the start. A joint step is accepted if the energy, with new rotations, has not risen
 * (joints/step.c). A weight step consists of a few iterations of the weight solver on the moved
 * poses. If they raise the energy, the previous weights are restored.
 *
 * With the method "alternate", the system of the weights is assembled and factorized for the moved
 * poses, and joints and weights take several steps each. With "together", joints and weights
 * alternate step by step, and the first factor of the weights is kept (pcg_step.c). The cost is
 * that of the steps. Fails for settings out of range, on out-of-memory, and if a step fails. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "joints/state.h"
#include "solver/iteration.h"

#define JOINT_STEPS 4
#define WEIGHT_STEPS 3

const char *const arap_joint_timing_names[ARAP_JOINT_TIMES] = {"weights", "system", "joint steps",
                                                               "weight steps"};

static const arap_setting rows[] = {
#define ARAP_SETTINGS_OF arap_joint_settings
#define ARAP_SETTINGS_JOINTS
#include "settings.def"
};
const arap_setting_table arap_joint_settings_table = {sizeof rows / sizeof *rows, rows};

/* Create work space that depends on the weights' patterns, and compute the initial energy. */
static arap_status begin(arap_context *context, arap_joint_solver *s) {
    const arap_solver *w = s->weights;
    double since = arap_seconds();
    arap_joint_energy_clear(&s->energy); /* left by a call that failed */
    arap_joint_anchors_clear(&s->anchors);
    arap_free(s->kept);
    s->kept = NULL;
    arap_status status = arap_joint_anchors_create(context, &s->weights->mesh, &w->skeleton,
                                                   &s->joints, &s->anchors);
    if (!status)
        status = arap_joint_energy_create(context, &s->weights->mesh, &w->poses, &w->influences,
                                          &s->joints, &s->spines, &s->anchors, &s->energy);
    if (status) return status;
    s->kept = ARAP_NEW(double, w->influences.start[w->influences.count]);
    if (!s->kept) return arap_fail_memory(&context->error, "the joints");
    arap_joint_lap(s, ARAP_JOINT_TIME_SYSTEM, &since);
    status = arap_joint_make_system(context, s);
    for (int j = 0; !status && arap_joint_unit(s) > 0 && j < s->joints.count; j++)
        s->anchor[j] = s->settings.anchor * arap_joint_own(&s->system, j) / arap_joint_unit(s);
    if (!status && s->settings.centering > 0 && arap_joint_unit(s) > 0) {
        arap_find_centers(&w->mesh, &w->skeleton, &w->influences, &s->joints, s->system.matrix,
                          arap_joint_unit(s), s->settings.centering, s->center, s->centering);
        s->report.centered_joints = 0;
        for (int j = 0; j < s->joints.count; j++)
            for (int k = 0, any = 0; k < 9 && !any; k += 4)
                s->report.centered_joints += any = s->centering[9 * j + k] > 0;
    }
    since = arap_seconds();
    if (!status) status = arap_joint_measure(context, s);
    if (!status) status = arap_joint_record(context, s);
    arap_joint_lap(s, ARAP_JOINT_TIME_STEP, &since);
    s->begun = !status;
    return status;
}

/* The weights before a weight step, with all related data. */
static arap_status restore_weights(arap_context *context, arap_joint_solver *s) {
    arap_influences *in = &s->weights->influences;
    memcpy(in->weight, s->kept, in->start[in->count] * sizeof *s->kept);
    return arap_joint_energy_weights(context, &s->energy);
}

/* Run a few iterations of the weights, and restore the weights if the iterations end early. */
static arap_status try_weights(arap_context *context, arap_joint_solver *s, int iterations) {
    arap_influences *in = &s->weights->influences;
    size_t forces = 3 * (size_t)s->weights->poses.count * (size_t)s->spines.columns;
    double since = arap_seconds(), arap = s->arap, total = s->total;
    memcpy(s->kept, in->weight, in->start[in->count] * sizeof *s->kept);
    memcpy(s->trial_force, s->force, forces * sizeof *s->force);
    arap_status status = arap_joint_place(context, s);
    if (!status)
        status = arap_solver_repose(context, s->weights, s->transforms, &s->spines.posed.spines,
                                    s->settings.method == ARAP_JOINTS_TOGETHER);
    for (int k = 0; k < iterations && !status; k++) {
        status = arap_progress(context, "weights", (double)k / iterations);
        if (!status) status = arap_iteration(context, s->weights);
    }
    if (!status) status = arap_end_iterations(context, s->weights);
    if (!status) status = arap_joint_energy_weights(context, &s->energy);
    if (!status) status = arap_joint_measure(context, s);
    if (status || s->total > total) {
        arap_status back = restore_weights(context, s);
        memcpy(s->force, s->trial_force, forces * sizeof *s->force);
        s->arap = arap;
        s->total = total;
        arap_joint_lap(s, ARAP_JOINT_TIME_WEIGHT_STEP, &since);
        return status ? status : back;
    }
    s->has_system = 0;
    s->report.weight_steps++;
    arap_joint_lap(s, ARAP_JOINT_TIME_WEIGHT_STEP, &since);
    return arap_joint_record(context, s);
}

/* Take a weight step. A change that the weight solver has started is completed, and weights are
 * never restored partially. */
static arap_status weight_step(arap_context *context, arap_joint_solver *s, int iterations) {
    int uncancellable = context->uncancellable;
    context->uncancellable = 1;
    arap_status status = try_weights(context, s, iterations);
    context->uncancellable = uncancellable;
    return status;
}

/* Run one iteration of joints and weights. */
static arap_status step(arap_context *context, arap_joint_solver *s) {
    int together = s->settings.method == ARAP_JOINTS_TOGETHER;
    int weights = s->settings.optimize_weights;
    arap_status status = s->begun ? ARAP_OK : begin(context, s);
    double before = s->total;
    for (int k = 0; k < (together ? 1 : JOINT_STEPS) && !status; k++) {
        double reached = s->total;
        status = arap_joint_step(context, s);
        if (reached - s->total <= 0.1 * s->settings.tolerance * reached) break;
    }
    if (!status && weights) status = weight_step(context, s, together ? 1 : WEIGHT_STEPS);
    if (status) return status;
    s->report.iterations++;
    s->over = before - s->total <= s->settings.tolerance * fabs(before) ||
              s->report.iterations >= s->settings.iterations;
    return status;
}

/* Whether the weights must still be found. */
static int has_no_weights(const arap_joint_solver *s) {
    return !s->begun && !s->given && !arap_solver_done(s->weights);
}

arap_status arap_joint_solver_iterate(arap_context *context, arap_joint_solver *solver, int count) {
    arap_status status = ARAP_OK;
    if (solver->broken)
        return arap_fail(&context->error, ARAP_NOT_FACTORED,
                         "the joint solver failed before and cannot continue: create a new one");
    for (int k = 0; k < count && !status && !solver->over; k++) {
        status = arap_progress(context, "iteration", (double)k / count);
        if (status) break;
        if (has_no_weights(solver)) {
            double since = arap_seconds();
            status = arap_solver_iterate(context, solver->weights, 1);
            arap_joint_lap(solver, ARAP_JOINT_TIME_WEIGHTS, &since);
        } else {
            status = step(context, solver);
        }
    }
    if (!status)
        status = arap_poll_cancel(context); /* a request to stop during uncancellable work */
    solver->broken = status && status != ARAP_CANCELLED;
    return status;
}

int arap_joint_solver_done(const arap_joint_solver *solver) { return solver->over; }

static arap_status check_bones(arap_error *error, const arap_bones *bones) {
    for (int b = 0; b < bones->count; b++) {
        if (bones->deform && !bones->deform[b]) continue;
        int is_bendy = bones->kinds && bones->kinds[b] == ARAP_BONE_BENDY;
        if (is_bendy || (bones->stretch && bones->stretch[b]))
            return arap_fail(error, ARAP_BAD_VALUE,
                             "bone %d is %s: only joints of rigid bones, STBs and spines can be "
                             "optimized",
                             b, is_bendy ? "bendy" : "stretchable");
    }
    return ARAP_OK;
}

static arap_status allocate(arap_context *context, arap_joint_solver *s,
                            const arap_problem *problem) {
    size_t n = (size_t)s->joints.count, bones = (size_t)problem->bones.count;
    size_t all = (size_t)s->weights->poses.count * (size_t)s->joints.deforming;
    size_t forces = 3 * (size_t)s->weights->poses.count * (size_t)s->spines.columns;
    s->base = ARAP_TAKE(&s->arena, 3 * n, double);
    s->heads = ARAP_TAKE(&s->arena, 3 * bones, double);
    s->tails = ARAP_TAKE(&s->arena, 3 * bones, double);
    s->center = ARAP_TAKE(&s->arena, 3 * n, double);
    s->anchor = ARAP_TAKE_ZERO(&s->arena, n, double);
    s->centering = ARAP_TAKE_ZERO(&s->arena, 9 * n, double);
    s->transforms = ARAP_TAKE(&s->arena, 12 * all, double);
    s->trial = ARAP_TAKE(&s->arena, 12 * all, double);
    s->force = ARAP_TAKE(&s->arena, forces, double);
    s->trial_force = ARAP_TAKE(&s->arena, forces, double);
    s->moves = ARAP_TAKE_ZERO(&s->arena, 3 * n, double);
    s->tried = ARAP_TAKE(&s->arena, 3 * n, double);
    s->right = ARAP_TAKE(&s->arena, 3 * n, double);
    s->there = ARAP_TAKE(&s->arena, 3 * n, double);
    s->extra = ARAP_TAKE(&s->arena, 9 * n, double);
    s->fixed = ARAP_TAKE(&s->arena, n, char);
    arap_status status = arap_arena_status(&s->arena, &context->error, "the joints");
    if (status) return status;
    memcpy(s->heads, problem->bones.heads, 3 * bones * sizeof(double));
    memcpy(s->tails, problem->bones.tails, 3 * bones * sizeof(double));
    memcpy(s->transforms, s->weights->poses.transform, 12 * all * sizeof(double));
    memcpy(s->center, s->joints.rest, 3 * n * sizeof(double));
    for (size_t b = bones; b-- > 0;) { /* the end of the first bone defines the position of a
                                          joint */
        memcpy(s->base + 3 * s->joints.tail[b], s->tails + 3 * b, 3 * sizeof(double));
        memcpy(s->base + 3 * s->joints.head[b], s->heads + 3 * b, 3 * sizeof(double));
    }
    return ARAP_OK;
}

arap_status arap_joint_solver_create(arap_context *context, const arap_problem *problem,
                                     const arap_settings *settings,
                                     const arap_joint_settings *joint_settings,
                                     arap_joint_solver **out) {
    const int *partners = problem->symmetry ? problem->symmetry->bone_partners : NULL;
    double since = arap_seconds();
    *out = NULL;
    arap_status status =
        arap_settings_check(&context->error, &arap_joint_settings_table, joint_settings);
    if (!status) status = check_bones(&context->error, &problem->bones);
    if (!status && !joint_settings->optimize_weights && !problem->start_from_weights)
        status = arap_fail(&context->error, ARAP_BAD_VALUE,
                           "optimize_weights is False, but there are no weights to keep");
    if (status) return status;
    arap_joint_solver *s = ARAP_NEW_ZERO(arap_joint_solver, 1);
    if (!s) return arap_fail_memory(&context->error, "the joints");
    s->settings = *joint_settings;
    s->given = problem->start_from_weights;
    arap_settings own = *settings;
    own.displace_components = 0; /* the joint steps do it */
    own.section = 0;             /* docs/decisions/030-sections.md */
    own.fine_poses = 1;          /* use the poses of the weights */
    status = arap_solver_create(context, problem, &own, &s->weights);
    if (!status && s->given && joint_settings->optimize_weights)
        status = arap_solver_reduce(context, s->weights);
    if (!status)
        status = arap_joints_create(context, &s->weights->skeleton,
                                    partners ? &s->weights->symmetry : NULL, partners,
                                    joint_settings, &s->joints);
    if (!status)
        status = arap_joint_spines_create(context, &s->weights->skeleton, &s->weights->mesh,
                                          &s->weights->poses, problem->poses.parameters, &s->joints,
                                          &s->spines);
    if (!status) status = allocate(context, s, problem);
    arap_joint_lap(s, ARAP_JOINT_TIME_WEIGHTS, &since);
    if (status) {
        arap_joint_solver_free(s);
        return status;
    }
    s->settings.pinned = NULL; /* the caller's, like the following */
    s->settings.end_joint_stiffness = s->settings.end_tangential = NULL;
    s->report.joints = s->joints.count;
    s->report.components = s->joints.component_count;
    s->report.poses = s->weights->poses.count;
    for (int j = 0; j < s->joints.count; j++) {
        s->report.pinned_joints += s->joints.pinned[j];
        s->report.symmetric_joints += s->joints.partner[j] >= 0;
    }
    *out = s;
    return ARAP_OK;
}

void arap_joint_solver_free(arap_joint_solver *solver) {
    if (!solver) return;
    arap_joint_system_clear(&solver->system);
    arap_joint_energy_clear(&solver->energy);
    arap_joint_spines_clear(&solver->spines);
    arap_joint_anchors_clear(&solver->anchors);
    arap_joints_clear(&solver->joints);
    arap_solver_free(solver->weights);
    arap_arena_clear(&solver->arena);
    arap_free(solver->kept);
    arap_free(solver->energies);
    arap_free(solver);
}

void arap_joint_solver_report(const arap_joint_solver *solver, arap_joint_report *report) {
    *report = solver->report;
    report->energies = solver->energies;
    report->energy = solver->arap;
    if (solver->begun) return;
    arap_report weights;
    arap_solver_report(solver->weights, &weights);
    report->energy = weights.energies[weights.energy_count - 1];
}

/* The position of a bone's end: its own if the joint has not moved, otherwise that of the joint. */
static void hand_end(const arap_joint_solver *s, int joint, const double *own, double *out) {
    double move[3], none[3] = {0, 0, 0};
    arap_sub(s->joints.place + 3 * joint, s->joints.rest + 3 * joint, move);
    int moved = arap_distance2(move, none) > 0;
    for (int c = 0; c < 3; c++)
        out[c] = moved ? s->base[3 * joint + c] + s->weights->mesh.diagonal * move[c] : own[c];
}

void arap_joint_solver_bones(const arap_joint_solver *solver, double *heads, double *tails) {
    for (int b = 0; b < solver->joints.bones; b++) {
        hand_end(solver, solver->joints.head[b], solver->heads + 3 * b, heads + 3 * b);
        hand_end(solver, solver->joints.tail[b], solver->tails + 3 * b, tails + 3 * b);
    }
}

/* Whether this is a bone that does not deform and follows a spine. */
static int hangs_on_spine(const arap_joint_solver *s, int b) {
    int owner = s->weights->skeleton.owner[b];
    return owner >= 0 && s->weights->skeleton.deform_bone[owner] != b && s->spines.count &&
           s->spines.posed.spines.place[owner] >= 0;
}

/* Its transform, derived from that of the spine. */
static void carry(const arap_joint_solver *s, int pose, int b, const double *base, double *out) {
    const double *place = s->joints.place;
    int k = s->spines.posed.spines.place[s->weights->skeleton.owner[b]];
    const double *head = place + 3 * s->spines.head[k], *tail = place + 3 * s->spines.tail[k];
    double bend[ARAP_BEND], own[12];
    arap_joint_spine_bend(&s->spines, place, pose, k, bend);
    double u = arap_spine_parameter(head, tail, place + 3 * s->joints.head[b]);
    arap_spine_transform(head, tail, bend, u, own, NULL);
    arap_compose(base, own, out);
}

void arap_joint_solver_bends(const arap_joint_solver *solver, double *bends) {
    size_t poses = (size_t)solver->weights->poses.count, bones = (size_t)solver->joints.bones;
    for (size_t at = 0; at < ARAP_BEND * poses * bones; at++) bends[at] = at % ARAP_BEND == 3;
    for (size_t p = 0; p < poses; p++)
        for (int k = 0; k < solver->spines.count; k++) {
            size_t b =
                (size_t)solver->weights->skeleton.deform_bone[solver->spines.posed.spines.bone[k]];
            arap_joint_spine_bend(&solver->spines, solver->joints.place, (int)p, k,
                                  bends + ARAP_BEND * (p * bones + b));
        }
}

void arap_joint_solver_poses(const arap_joint_solver *solver, double *transforms) {
    const arap_mesh *mesh = &solver->weights->mesh;
    const arap_skeleton *skeleton = &solver->weights->skeleton;
    static const double identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    size_t poses = (size_t)solver->weights->poses.count, bones = (size_t)skeleton->count;
    for (size_t p = 0; p < poses; p++)
        for (size_t b = 0; b < bones; b++) {
            int owner = skeleton->owner[b];
            size_t at = p * (size_t)skeleton->deform_count + (size_t)(owner < 0 ? 0 : owner);
            const double *from = owner < 0 ? identity : solver->transforms + 12 * at;
            double *to = transforms + 12 * (p * bones + b), carried[12];
            if (hangs_on_spine(solver, (int)b)) {
                carry(solver, (int)p, (int)b, from, carried);
                from = carried;
            }
            memcpy(to, from, 12 * sizeof(double));
            for (int r = 0; r < 3; r++)
                to[4 * r + 3] = mesh->diagonal * from[4 * r + 3] + mesh->center[r] -
                                arap_dot(from + 4 * r, mesh->center);
        }
}

const arap_joints *arap_joint_solver_joints(const arap_joint_solver *solver) {
    return &solver->joints;
}
arap_solver *arap_joint_solver_inner(const arap_joint_solver *solver) { return solver->weights; }

arap_status arap_joint_solver_inside(arap_context *context, arap_joint_solver *solver,
                                     double *matrix, double *right, double *unit) {
    if (has_no_weights(solver))
        return arap_fail(&context->error, ARAP_BAD_VALUE,
                         "there are no weights yet: iterate first");
    arap_status status = solver->begun ? ARAP_OK : begin(context, solver);
    if (!status) status = arap_joint_make_system(context, solver);
    if (status) return status;
    status = arap_joint_slope(context, solver, right);
    if (status) return status;
    memcpy(matrix, solver->system.matrix,
           (size_t)solver->system.size * (size_t)solver->system.size * sizeof(double));
    *unit = arap_joint_unit(solver);
    return ARAP_OK;
}
