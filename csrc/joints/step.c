/* Steps of the joints: see joints/state.h.
 *
 * A step minimizes the quadratic of joints/system.h with the current rotations, plus the terms of
 * the joint positions. A joint that would move farther than max_shift is moved by max_shift, and
 * the others are solved again. The joints of bones that would become too short are held back. Then
 * the whole step is halved until the energy, with new rotations, does not rise. The step is stored
 * only then, so a cancelled step changes nothing. A step takes one dense solve, plus one local step
 * per halving. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "joints/state.h"

#define HALVINGS 8
#define NO_STIFFNESS 1e-9 /* share of the unit */
#define REACH_ROUNDS 6
#define LENGTH_ROUNDS 10

void arap_joint_lap(arap_joint_solver *solver, enum arap_joint_timing stage, double *since) {
    double now = arap_seconds();
    solver->report.seconds[stage] += now - *since;
    *since = now;
}

arap_status arap_joint_record(arap_context *context, arap_joint_solver *solver) {
    if (solver->report.energy_count == solver->capacity) {
        int capacity = solver->capacity ? 2 * solver->capacity : 64;
        double *grown = arap_realloc(solver->energies, (size_t)capacity, sizeof *grown);
        if (!grown) return arap_fail_memory(&context->error, "the energy history");
        solver->energies = grown;
        solver->capacity = capacity;
    }
    solver->energies[solver->report.energy_count++] =
        solver->total > 0 ? solver->total : 0; /* rounding can make it negative */
    return ARAP_OK;
}

/* The terms for positions if the joints move. */
static double place_terms(const arap_joint_solver *s, const double *moves) {
    double sum = 0;
    for (int j = 0; j < s->joints.count; j++) {
        double d[3], off[3];
        for (int c = 0; c < 3; c++) {
            double x = s->joints.place[3 * j + c] + moves[3 * j + c];
            d[c] = x - s->joints.rest[3 * j + c];
            off[c] = x - s->center[3 * j + c];
        }
        sum += s->anchor[j] * arap_dot(d, d);
        for (int r = 0; r < 3; r++) sum += off[r] * arap_dot(s->centering + 9 * j + 3 * r, off);
    }
    return sum;
}

arap_status arap_joint_measure(arap_context *context, arap_joint_solver *solver) {
    arap_status status = arap_joint_energy_run(context, &solver->energy, solver->transforms,
                                               solver->joints.place, &solver->arap, solver->force);
    memset(solver->moves, 0, 3 * (size_t)solver->joints.count * sizeof(double));
    solver->total = solver->arap + place_terms(solver, solver->moves);
    return status;
}

arap_status arap_joint_place(arap_context *context, arap_joint_solver *solver) {
    if (solver->spines.count)
        arap_joint_spines_place(context, &solver->weights->mesh, solver->joints.place,
                                solver->transforms, &solver->spines);
    int uncancellable = context->uncancellable;
    context->uncancellable = 2; /* moved anchors are also included in the sums */
    arap_status status = arap_joint_energy_place(context, &solver->energy, solver->joints.place);
    context->uncancellable = uncancellable;
    return status;
}

arap_status arap_joint_make_system(arap_context *context, arap_joint_solver *solver) {
    double since = arap_seconds();
    double stiffness = solver->settings.component_stiffness * arap_joint_unit(solver) /
                       solver->weights->poses.total;
    const arap_symmetry *symmetry =
        solver->weights->symmetry.bone ? &solver->weights->symmetry : NULL;
    if (solver->has_system) return ARAP_OK;
    arap_status status = arap_joint_place(context, solver);
    if (status) return status;
    arap_joint_system_clear(&solver->system);
    status =
        arap_joint_system_create(context, &solver->joints, symmetry, &solver->weights->skeleton,
                                 &solver->energy, stiffness, &solver->system);
    solver->has_system = !status;
    arap_joint_lap(solver, ARAP_JOINT_TIME_SYSTEM, &since);
    return status;
}

/* Move joints that went too far back to max_shift and fix them there. Returns their number. */
static int limit_shifts(arap_joint_solver *s) {
    const arap_joints *joints = &s->joints;
    int held = 0;
    for (int j = 0; j < joints->count; j++) {
        double from[3], *move = s->moves + 3 * j;
        if (s->fixed[j]) continue;
        for (int c = 0; c < 3; c++)
            from[c] = joints->place[3 * j + c] + move[c] - joints->rest[3 * j + c];
        double distance = sqrt(arap_dot(from, from));
        if (distance <= joints->max_shift[j]) continue;
        double share = joints->max_shift[j] * (1 - 1e-9) / distance;
        for (int c = 0; c < 3; c++)
            move[c] = joints->rest[3 * j + c] + share * from[c] - joints->place[3 * j + c];
        s->fixed[j] = 1;
        if (joints->partner[j] >= 0) s->fixed[joints->partner[j]] = 1;
        held++;
    }
    if (held && s->system.symmetry) arap_joints_symmetrize(joints, s->system.symmetry, s->moves);
    return held;
}

/* Whether these displacements make bone b shorter than both its minimum and its current length. */
static int is_too_short(const arap_joint_solver *s, int b, const double *moves) {
    const arap_joints *joints = &s->joints;
    int head = joints->head[b], tail = joints->tail[b];
    double now[3], then[3];
    for (int c = 0; c < 3; c++) {
        now[c] = joints->place[3 * tail + c] - joints->place[3 * head + c];
        then[c] = now[c] + moves[3 * tail + c] - moves[3 * head + c];
    }
    double min = s->settings.min_length * s->settings.min_length *
                 arap_distance2(joints->rest + 3 * head, joints->rest + 3 * tail);
    return arap_dot(then, then) < min && arap_dot(then, then) < arap_dot(now, now);
}

static void hold_joint(arap_joint_solver *s, int joint, double share) {
    int partner = s->joints.partner[joint];
    for (int c = 0; c < 3; c++) s->tried[3 * joint + c] *= share;
    for (int c = 0; c < 3 && partner >= 0 && partner != joint; c++)
        s->tried[3 * partner + c] *= share;
}

/* Shorten displacements in `tried` until no bone is too short. Current positions are always
 * valid. */
static void hold_lengths(arap_joint_solver *s) {
    for (int round = 0, any = 1; any && round < LENGTH_ROUNDS + s->joints.count; round++) {
        any = 0;
        for (int b = 0; b < s->joints.bones; b++) {
            if (!is_too_short(s, b, s->tried)) continue;
            any = 1;
            hold_joint(s, s->joints.head[b], round < LENGTH_ROUNDS ? 0.5 : 0);
            hold_joint(s, s->joints.tail[b], round < LENGTH_ROUNDS ? 0.5 : 0);
        }
    }
}

arap_status arap_joint_slope(arap_context *context, arap_joint_solver *solver, double *right) {
    arap_poses poses = solver->weights->poses;
    arap_joint_right_side(&solver->system, solver->force, right);
    if (!solver->anchors.count) return ARAP_OK;
    poses.transform = solver->transforms;
    arap_status status = arap_packed_poses_fill(context, &poses, &solver->energy.packed);
    if (!status)
        status = arap_joint_anchors_pull(context, &solver->anchors, &solver->weights->mesh,
                                         &solver->energy.packed, &solver->weights->influences,
                                         solver->energy.local_step, right);
    for (int j = 0; j < solver->joints.count;
         j++) /* if nothing holds a joint, only rounding pulls it */
        if (arap_joint_own(&solver->system, j) <= NO_STIFFNESS * arap_joint_unit(solver))
            memset(right + 3 * j, 0, 3 * sizeof *right);
    return status;
}

/* Store B_J of the current state, including the terms for positions, in `right`, and their blocks
 * in `extra`. */
static arap_status find_slope(arap_context *context, arap_joint_solver *s) {
    const arap_joints *joints = &s->joints;
    double unit = arap_joint_unit(s);
    arap_status status = arap_joint_slope(context, s, s->right);
    for (int j = 0; j < joints->count; j++) {
        double from[3], off[3], *block = s->extra + 9 * j;
        for (int k = 0; k < 9; k++)
            block[k] = s->centering[9 * j + k] + (k % 4 == 0 ? s->anchor[j] : 0);
        arap_sub(joints->place + 3 * j, joints->rest + 3 * j, from);
        arap_sub(joints->place + 3 * j, s->center + 3 * j, off);
        for (int r = 0; r < 3; r++)
            s->right[3 * j + r] -=
                unit * (s->anchor[j] * from[r] + arap_dot(s->centering + 9 * j + 3 * r, off));
    }
    return status;
}

/* Find the displacements that minimize the quadratic. A mesh without edges has no displacements. */
static arap_status find_moves(arap_context *context, arap_joint_solver *s) {
    const arap_joints *joints = &s->joints;
    arap_status status = find_slope(context, s);
    if (status) return status;
    memcpy(s->fixed, joints->pinned, (size_t)joints->count);
    memset(s->moves, 0, 3 * (size_t)joints->count * sizeof(double));
    for (int round = 0; round < REACH_ROUNDS && arap_joint_unit(s) > 0 && !status; round++) {
        status = arap_joint_solve(context, &s->system, arap_joint_unit(s), s->extra, s->right,
                                  s->fixed, s->moves);
        if (status || !limit_shifts(s)) break;
    }
    return status;
}

arap_status arap_joint_step(arap_context *context, arap_joint_solver *solver) {
    size_t count = 3 * (size_t)solver->joints.count;
    arap_status status = arap_joint_make_system(context, solver);
    double since = arap_seconds(), share = 1, arap = 0, total = 0;
    if (!status) status = find_moves(context, solver);
    if (status) return status;
    int taken = 0;
    for (int k = 0; k <= HALVINGS && !taken && !status; k++, share *= 0.5) {
        status = arap_progress(context, "joints", (double)k / (HALVINGS + 1));
        if (status) break;
        for (size_t c = 0; c < count; c++) solver->tried[c] = share * solver->moves[c];
        hold_lengths(solver);
        for (size_t c = 0; c < count; c++)
            solver->there[c] = solver->joints.place[c] + solver->tried[c];
        arap_joint_transforms(&solver->system, solver->tried, solver->force, solver->transforms,
                              solver->trial);
        status = arap_joint_energy_run(context, &solver->energy, solver->trial, solver->there,
                                       &arap, solver->trial_force);
        total = arap + place_terms(solver, solver->tried);
        taken = !status && total <= solver->total;
    }
    arap_joint_lap(solver, ARAP_JOINT_TIME_STEP, &since);
    if (!taken) {
        arap_status back = arap_joint_place(context, solver);
        return status ? status : back;
    }
    double *swap = solver->transforms;
    solver->transforms = solver->trial;
    solver->trial = swap;
    swap = solver->force;
    solver->force = solver->trial_force;
    solver->trial_force = swap;
    memcpy(solver->joints.place, solver->there, count * sizeof(double));
    if (solver->spines.count) solver->has_system = 0; /* it belongs to the previous positions */
    solver->arap = arap;
    solver->total = total;
    solver->report.joint_steps++;
    return arap_joint_record(context, solver);
}
