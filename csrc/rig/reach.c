/* Creates poses in which limbs reach for targets: see reach.h.
 *
 * Every chain is solved separately, in the frame of the bone to which it is attached. Its target is
 * - in a direction to which the root joint can bring the effector: the effector's direction at
 *   rest, after a rotation that samples the range of the root evenly;
 * - at a distance between those of the chain stretched out and folded up. The chain starts folded
 *   to that distance. Each joint folds toward the side to which it is bent at rest, so knees and
 *   elbows stay in their own planes. Then the chain turns toward the target, and rotates slightly
 *   about the line to the target. FABRIK then solves within the ranges of the joints. With such a
 *   start, hinges obstruct FABRIK much less than with the rest pose. The result of FABRIK is used
 *   as the pose even if it misses the target slightly.
 *
 * A joint that is bent at rest and has no limits acts as a hinge in such a pose. It closes as far
 * as its range allows, opens until it is straight, and leaves the plane of the hinge by up to
 * ASIDE. A joint that is straight at rest folds to the side of the chain's most bent joint. In a
 * chain that is straight everywhere, all joints fold to one random side. If the limits of a joint
 * allow less than SHUT times as much on that side as on the other, the joint folds to the other
 * side. The bends of a chain add up to at most MAX_FOLD, so tails do not curl up. Joints without
 * limits and ranges rotate up to REACH_SWING times as far as in other poses, so the elbow of a
 * reaching arm bends by more than 60 degrees.
 *
 * Bones outside chains swing by the share OTHERS of their swing in other poses, and twist as much
 * as in other poses. The bones of a chain, except its root, start with this twist.
 *
 * Each iteration takes O(bones of a chain). Fails on out-of-memory. */
#include "rig/reach.h"

#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"

#define OTHERS 0.3
#define REACH_SWING 1.5
#define HALF_TURN 3.141592653589793
#define MAX_FOLD (1.5 * HALF_TURN)
#define SHUT 0.25
#define BENT 0.03   /* sine of the smallest bend that determines a direction */
#define ASIDE 0.15  /* radians to either side of it */
#define SWIVEL 0.35 /* radians */
#define BISECTIONS 14

/* How a joint folds: its side about X and Z, and how far it closes and opens. */
#define FOLD 4

static const arap_ik_settings solving = {.tolerance = 1e-3, .iterations = 30};

int arap_reach_pairs(const arap_sampling *sampling) {
    return (int)(sampling->reach_poses * ((sampling->pose_count + 1) / 2) + 0.5);
}

arap_status arap_reach_create(arap_context *context, const arap_skeleton *skeleton,
                              const arap_sampling *sampling, arap_reach *reach) {
    *reach = (arap_reach){0};
    if (!arap_reach_pairs(sampling)) return ARAP_OK;
    int max = 1;
    arap_status status = arap_chains_find(context, skeleton, &reach->chains);
    if (status) return status;
    for (int c = 0; c < reach->chains.count; c++) {
        int count = reach->chains.start[c + 1] - reach->chains.start[c];
        if (count > max) max = count;
    }
    status = arap_ik_work_create(context, max, &reach->work);
    reach->points = ARAP_TAKE(&reach->arena, 3 * (max + 1), double);
    reach->axes = ARAP_TAKE(&reach->arena, 9 * max, double);
    reach->ranges = ARAP_TAKE(&reach->arena, max, arap_joint_range);
    reach->fold = ARAP_TAKE(&reach->arena, FOLD * max, double);
    reach->image = ARAP_TAKE(&reach->arena, 9 * skeleton->count, double);
    reach->twist = ARAP_TAKE(&reach->arena, skeleton->count, double);
    if (!status) status = arap_arena_status(&reach->arena, &context->error, "the poses that reach");
    if (status) arap_reach_clear(reach);
    return status;
}

void arap_reach_clear(arap_reach *reach) {
    arap_chains_clear(&reach->chains);
    arap_ik_work_clear(&reach->work);
    arap_arena_clear(&reach->arena);
    *reach = (arap_reach){0};
}

static void take_chain(const arap_skeleton *s, const arap_sampling *sampling, int c,
                       arap_reach *reach, arap_ik_chain *chain) {
    const int *bone = reach->chains.bone + reach->chains.start[c];
    arap_sampling wide = *sampling;
    wide.swing = fmin(REACH_SWING * sampling->swing, HALF_TURN);
    *chain = (arap_ik_chain){.count = reach->chains.start[c + 1] - reach->chains.start[c],
                             .points = reach->points,
                             .axes = reach->axes,
                             .ranges = reach->ranges};
    for (int i = 0; i < chain->count; i++) {
        memcpy(reach->points + 3 * i, s->heads + 3 * bone[i], 3 * sizeof(double));
        memcpy(reach->axes + 9 * i, s->axes + 9 * bone[i], 9 * sizeof(double));
        arap_joint_range_of(s, &wide, bone[i], reach->ranges + i);
    }
    memcpy(reach->points + 3 * chain->count, reach->chains.effector + 3 * c, 3 * sizeof(double));
    for (int i = 0; i < chain->count; i++)
        chain->length += sqrt(arap_distance2(chain->points + 3 * i, chain->points + 3 * (i + 1)));
}

/* How far a joint turns about the axis (x, 0, z) of length 1. */
static double extent(const arap_joint_range *range, double x, double z) {
    if (range->is_cone) return fmin(fmax(fabs(range->x[0]), fabs(range->x[1])), HALF_TURN);
    double far = HALF_TURN;
    if (x != 0) far = fmin(far, fmax((x > 0 ? range->x[1] : range->x[0]) / x, 0));
    if (z != 0) far = fmin(far, fmax((z > 0 ? range->z[1] : range->z[0]) / z, 0));
    return far;
}

/* The axis about which joint i of the chain is bent at rest, and the sine of the bend. */
static double rest_bend(const arap_ik_chain *chain, int i, double *axis) {
    double before[3], after[3];
    arap_sub(chain->points + 3 * i, chain->points + 3 * (i - 1), before);
    arap_sub(chain->points + 3 * (i + 1), chain->points + 3 * i, after);
    arap_cross(before, after, axis);
    double size = sqrt(arap_dot(axis, axis));
    double both = sqrt(arap_dot(before, before) * arap_dot(after, after));
    for (int c = 0; c < 3; c++) axis[c] = size > 0 ? axis[c] / size : 0;
    return both > 0 ? size / both : 0;
}

/* Make joint i a hinge about `axis`, which is perpendicular to the bone. */
static void make_hinge(const arap_ik_chain *chain, int i, const double *axis, double open,
                       arap_reach *reach) {
    double *axes = reach->axes + 9 * i, x[3], y[3], z[3];
    arap_joint_range *range = reach->ranges + i;
    double close = extent(chain->ranges + i, 1, 0);
    for (int c = 0; c < 3; c++) y[c] = axes[3 * c + 1];
    double along = arap_dot(axis, y), norm;
    for (int c = 0; c < 3; c++) x[c] = axis[c] - along * y[c];
    norm = sqrt(arap_dot(x, x));
    if (norm < 0.5 || close < 2 * ASIDE) return;
    for (int c = 0; c < 3; c++) x[c] /= norm;
    arap_cross(x, y, z);
    for (int c = 0; c < 3; c++) axes[3 * c] = x[c], axes[3 * c + 2] = z[c];
    close = sqrt(close * close - ASIDE * ASIDE);
    range->is_cone = 0;
    range->x[0] = -fmin(open, close);
    range->x[1] = close;
    range->z[0] = -ASIDE;
    range->z[1] = ASIDE;
}

/* side: angle in radians that determines where a chain that is straight at rest bends. */
static void find_folds(const arap_ik_chain *chain, double side, arap_reach *reach) {
    double *fold = reach->fold, max = BENT, total = 0, common[3], axis[3];
    for (int c = 0; c < 3; c++)
        common[c] = cos(side) * chain->axes[3 * c] + sin(side) * chain->axes[3 * c + 2];
    for (int i = 1; i < chain->count; i++) {
        double sine = rest_bend(chain, i, axis);
        if (sine <= max) continue;
        max = sine;
        memcpy(common, axis, sizeof axis);
    }
    for (int i = 1; i < chain->count; i++) {
        const double *axes = chain->axes + 9 * i;
        const arap_joint_range *range = chain->ranges + i;
        double sine = rest_bend(chain, i, axis), x = 0, z = 0, *out = fold + FOLD * i;
        if (sine > BENT && range->is_cone) make_hinge(chain, i, axis, asin(fmin(sine, 1)), reach);
        const double *about = sine > BENT ? axis : common;
        for (int c = 0; c < 3; c++) {
            x += about[c] * axes[3 * c];
            z += about[c] * axes[3 * c + 2];
        }
        double norm = sqrt(x * x + z * z);
        x = norm > 1e-6 ? x / norm : 1;
        z = norm > 1e-6 ? z / norm : 0;
        double there = extent(range, x, z), back = extent(range, -x, -z);
        int is_shut = there < SHUT * back;
        out[0] = is_shut ? -x : x;
        out[1] = is_shut ? -z : z;
        out[2] = is_shut ? back : there;
        out[3] = is_shut ? 0 : fmin(back, asin(fmin(sine, 1)));
        total += out[2];
    }
    for (int i = 1; i < chain->count && total > MAX_FOLD; i++)
        fold[FOLD * i + 2] *= MAX_FOLD / total;
}

/* Fold the chain by a share, 1: closed, -1: open. Returns the resulting distance of its effector
 * from its root. */
static double fold_chain(const arap_ik_chain *chain, const double *fold, double share,
                         arap_ik_work *work) {
    for (int i = 1; i < chain->count; i++) {
        const double *own = fold + FOLD * i;
        double angle = share * (share > 0 ? own[2] : own[3]);
        work->joint_rotations[3 * i] = angle * own[0];
        work->joint_rotations[3 * i + 2] = angle * own[1];
    }
    arap_ik_place(chain, 0, work);
    return sqrt(arap_distance2(work->points, work->points + 3 * chain->count));
}

/* A turn that fills a range evenly. */
static void turn_root(const arap_joint_range *range, const double *u, double *turn) {
    double even[3] = {range->is_cone ? sqrt(u[0]) : u[0], 0.5, u[1]};
    arap_joint_sample(range, even, turn);
    turn[1] = 0;
}

/* Solve for one chain; work->turns contains the twists of its bones on entry and their turns on
 * return. */
static void reach_out(const arap_ik_chain *chain, const double *u, arap_reach *reach) {
    arap_ik_work *work = &reach->work;
    double aim[3], root[9], rest[3], from[3], to[3], target[3], twist = work->joint_rotations[1];
    double side = 2 * u[3] - 1; /* reversed in the second pose of a pair */
    find_folds(chain, HALF_TURN * side, reach);
    turn_root(chain->ranges, u, aim);
    arap_turn_to_rotation(chain->axes, aim, root);
    work->joint_rotations[0] = work->joint_rotations[1] = work->joint_rotations[2] = 0;
    double far = fold_chain(chain, reach->fold, -1, work);
    double near = fold_chain(chain, reach->fold, 1, work);
    double distance = near + (far - near) * u[2], lo = -1, hi = 1;
    for (int k = 0; k < BISECTIONS; k++) {
        double middle = 0.5 * (lo + hi);
        if (fold_chain(chain, reach->fold, middle, work) > distance)
            lo = middle;
        else
            hi = middle;
    }
    arap_sub(chain->points + 3 * chain->count, chain->points, rest);
    for (int r = 0; r < 3; r++) to[r] = arap_dot(root + 3 * r, rest);
    double size = sqrt(arap_dot(to, to));
    if (!(size > 0)) return;
    for (int r = 0; r < 3; r++) {
        to[r] /= size;
        target[r] = chain->points[r] + distance * to[r];
    }
    arap_sub(work->points + 3 * chain->count, work->points, from);
    if (arap_dot(from, from) > 0) {
        double fold[9], way[9], swivel[9], both[9], about[3];
        arap_shortest_rotation(from, rest, fold);
        arap_multiply33(root, fold, way);
        for (int r = 0; r < 3; r++) about[r] = SWIVEL * side * to[r];
        arap_rotation_from_vector(about, swivel);
        arap_multiply33(swivel, way, both);
        arap_turn_from_rotation(chain->axes, both, work->joint_rotations);
    } else {
        work->joint_rotations[1] = twist;
    }
    int iterations;
    arap_ik_solve(chain, arap_fabrik_step, &solving, target, work, &iterations);
}

void arap_reach_pose(const arap_skeleton *skeleton, const arap_sampling *sampling,
                     arap_reach *reach, const double *swings, const double *targets, int is_second,
                     double *local) {
    for (int b = 0; b < skeleton->count; b++) {
        const double *u = swings + 3 * b;
        double flipped[3] = {u[0], is_second ? 1 - u[1] : u[1], is_second ? 1 - u[2] : u[2]};
        double turn[3] = {0, 0, 0};
        arap_joint_range range;
        if (arap_deforming(skeleton, b) >= 0) {
            arap_joint_range_of(skeleton, sampling, b, &range);
            arap_joint_sample(&range, flipped, turn);
            turn[0] *= OTHERS;
            turn[2] *= OTHERS;
            arap_joint_clamp(&range, turn);
        }
        arap_turn_to_rotation(skeleton->axes + 9 * b, turn, local + 9 * b);
        reach->twist[b] = turn[1];
    }
    for (int c = 0; c < reach->chains.count; c++) {
        const int *bone = reach->chains.bone + reach->chains.start[c];
        const double *u = targets + ARAP_REACH_NUMBERS * bone[0];
        double own[ARAP_REACH_NUMBERS] = {u[0], is_second ? 1 - u[1] : u[1], u[2],
                                          is_second ? 1 - u[3] : u[3]};
        arap_ik_chain chain;
        take_chain(skeleton, sampling, c, reach, &chain);
        for (int i = 0; i < chain.count; i++)
            reach->work.joint_rotations[3 * i + 1] = reach->twist[bone[i]];
        reach_out(&chain, own, reach);
        for (int i = 0; i < chain.count; i++)
            arap_turn_to_rotation(chain.axes + 9 * i, reach->work.joint_rotations + 3 * i,
                                  local + 9 * bone[i]);
    }
}
