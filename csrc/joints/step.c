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

void arap_joint_lap(arap_joint_solver *s, enum arap_joint_timing stage, double *since) {
    double now = arap_seconds();
    s->report.seconds[stage] += now - *since;
    *since = now;
}

arap_status arap_joint_record(arap_context *context, arap_joint_solver *s) {
    if (s->report.energy_count == s->capacity) {
        int capacity = s->capacity ? 2 * s->capacity : 64;
        double *grown = arap_realloc(s->energies, (size_t)capacity, sizeof *grown);
        if (!grown) return arap_fail_memory(&context->error, "the energy history");
        s->energies = grown;
        s->capacity = capacity;
    }
    s->energies[s->report.energy_count++] =
        s->total > 0 ? s->total : 0; /* rounding can make it negative */
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

arap_status arap_joint_measure(arap_context *context, arap_joint_solver *s) {
    arap_status status = arap_joint_energy_run(context, &s->energy, s->transforms, s->joints.place,
                                               &s->arap, s->force);
    memset(s->moves, 0, 3 * (size_t)s->joints.count * sizeof(double));
    s->total = s->arap + place_terms(s, s->moves);
    return status;
}

arap_status arap_joint_place(arap_context *context, arap_joint_solver *s) {
    if (s->spines.count)
        arap_joint_spines_place(context, &s->weights->mesh, s->joints.place, s->transforms,
                                &s->spines);
    int uncancellable = context->uncancellable;
    context->uncancellable = 2; /* moved anchors are also included in the sums */
    arap_status status = arap_joint_energy_place(context, &s->energy, s->joints.place);
    context->uncancellable = uncancellable;
    return status;
}

arap_status arap_joint_make_system(arap_context *context, arap_joint_solver *s) {
    double since = arap_seconds();
    double stiffness =
        s->settings.component_stiffness * arap_joint_unit(s) / s->weights->poses.total;
    const arap_symmetry *symmetry = s->weights->symmetry.bone ? &s->weights->symmetry : NULL;
    if (s->has_system) return ARAP_OK;
    arap_status status = arap_joint_place(context, s);
    if (status) return status;
    arap_joint_system_clear(&s->system);
    status = arap_joint_system_create(context, &s->joints, symmetry, &s->weights->skeleton,
                                      &s->energy, stiffness, &s->system);
    s->has_system = !status;
    arap_joint_lap(s, ARAP_JOINT_TIME_SYSTEM, &since);
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

arap_status arap_joint_slope(arap_context *context, arap_joint_solver *s, double *right) {
    arap_poses poses = s->weights->poses;
    arap_joint_right_side(&s->system, s->force, right);
    if (!s->anchors.count) return ARAP_OK;
    poses.transform = s->transforms;
    arap_status status = arap_packed_poses_fill(context, &poses, &s->energy.packed);
    if (!status)
        status = arap_joint_anchors_pull(context, &s->anchors, &s->weights->mesh, &s->energy.packed,
                                         &s->weights->influences, s->energy.local_step, right);
    for (int j = 0; j < s->joints.count; j++) /* if nothing holds a joint, only rounding pulls it */
        if (arap_joint_own(&s->system, j) <= NO_STIFFNESS * arap_joint_unit(s))
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

/* One step of the joints. */
arap_status arap_joint_step(arap_context *context, arap_joint_solver *s) {
    size_t count = 3 * (size_t)s->joints.count;
    arap_status status = arap_joint_make_system(context, s);
    double since = arap_seconds(), share = 1, arap = 0, total = 0;
    if (!status) status = find_moves(context, s);
    if (status) return status;
    int taken = 0;
    for (int k = 0; k <= HALVINGS && !taken && !status; k++, share *= 0.5) {
        status = arap_progress(context, "joints", (double)k / (HALVINGS + 1));
        if (status) break;
        for (size_t c = 0; c < count; c++) s->tried[c] = share * s->moves[c];
        hold_lengths(s);
        for (size_t c = 0; c < count; c++) s->there[c] = s->joints.place[c] + s->tried[c];
        arap_joint_transforms(&s->system, s->tried, s->force, s->transforms, s->trial);
        status =
            arap_joint_energy_run(context, &s->energy, s->trial, s->there, &arap, s->trial_force);
        total = arap + place_terms(s, s->tried);
        taken = !status && total <= s->total;
    }
    arap_joint_lap(s, ARAP_JOINT_TIME_STEP, &since);
    if (!taken) {
        arap_status back = arap_joint_place(context, s);
        return status ? status : back;
    }
    double *swap = s->transforms;
    s->transforms = s->trial;
    s->trial = swap;
    swap = s->force;
    s->force = s->trial_force;
    s->trial_force = swap;
    memcpy(s->joints.place, s->there, count * sizeof(double));
    if (s->spines.count) s->has_system = 0; /* it belongs to the previous positions */
    s->arap = arap;
    s->total = total;
    s->report.joint_steps++;
    return arap_joint_record(context, s);
}
