/* The common part of all methods of inverse kinematics: see ik.h.
 *
 * The result is the best pose found, even if the method moves away from this pose again. Iterating
 * stops after PATIENCE iterations that together gain less than PROGRESS times the tolerance. The
 * target is then out of reach, or the ranges of the joints prevent the chain from reaching it. If a
 * chain is straight and its target is on the same line, no method has a direction for bending, so
 * the joints are first turned slightly about X.
 *
 * An iteration takes O(bones), or O(bones^2) with CCD. Only arap_ik_work_create can fail, on
 * out-of-memory. */
#include "rig/ik.h"

#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"

#define PATIENCE 8
#define PROGRESS 0.1
#define NUDGE 0.05    /* radians */
#define STRAIGHT 1e-6 /* off the line, of the length */

static const arap_setting rows[] = {
#define ARAP_SETTINGS_OF arap_ik_settings
#define ARAP_SETTINGS_IK
#include "settings.def"
};
const arap_setting_table arap_ik_settings_table = {sizeof rows / sizeof *rows, rows};

arap_status arap_ik_work_create(arap_context *context, int max, arap_ik_work *work) {
    size_t n = (size_t)max;
    double *all = ARAP_NEW(double, 3 * n + 3 * n + 3 * (n + 1) + 9 * n + 3 * (n + 1));
    if (!all) return arap_fail_memory(&context->error, "inverse kinematics");
    *work = (arap_ik_work){.joint_rotations = all,
                           .best = all + 3 * n,
                           .points = all + 6 * n,
                           .rotations = all + 9 * n + 3,
                           .goals = all + 18 * n + 3};
    return ARAP_OK;
}

void arap_ik_work_clear(arap_ik_work *work) {
    arap_free(work->joint_rotations);
    *work = (arap_ik_work){0};
}

void arap_ik_place_bone(const arap_ik_chain *chain, int i, arap_ik_work *work) {
    double own[9], offset[3], *rotation = work->rotations + 9 * i;
    arap_turn_to_rotation(chain->axes + 9 * i, work->joint_rotations + 3 * i, own);
    if (i)
        arap_multiply33(rotation - 9, own, rotation);
    else
        memcpy(rotation, own, sizeof own);
    arap_sub(chain->points + 3 * (i + 1), chain->points + 3 * i, offset);
    for (int r = 0; r < 3; r++)
        work->points[3 * (i + 1) + r] =
            work->points[3 * i + r] + arap_dot(rotation + 3 * r, offset);
}

void arap_ik_place(const arap_ik_chain *chain, int first, arap_ik_work *work) {
    if (!first) memcpy(work->points, chain->points, 3 * sizeof(double));
    for (int i = first; i < chain->count; i++) arap_ik_place_bone(chain, i, work);
}

void arap_ik_rotate(const arap_ik_chain *chain, int i, const double *rotation, arap_ik_work *work) {
    double turned[9], local[9];
    arap_multiply33(rotation, work->rotations + 9 * i, turned);
    if (i) {
        const double *above = work->rotations + 9 * (i - 1);
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++)
                local[3 * r + c] = above[r] * turned[c] + above[3 + r] * turned[3 + c] +
                                   above[6 + r] * turned[6 + c];
    } else {
        memcpy(local, turned, sizeof local);
    }
    arap_turn_from_rotation(chain->axes + 9 * i, local, work->joint_rotations + 3 * i);
    arap_joint_clamp(chain->ranges + i, work->joint_rotations + 3 * i);
}

/* Whether all joints, the effector and the target are on one line. */
static int is_straight(const arap_ik_chain *chain, const double *target, const arap_ik_work *work) {
    double along[3] = {0, 0, 0}, from[3], across[3], line2 = 0;
    const double *root = work->points;
    for (int i = 1; i <= chain->count + 1; i++) { /* the line leads to the farthest point */
        arap_sub(i > chain->count ? target : work->points + 3 * i, root, from);
        if (arap_dot(from, from) <= line2) continue;
        line2 = arap_dot(from, from);
        memcpy(along, from, sizeof along);
    }
    for (int i = 1; i <= chain->count + 1 && line2 > 0; i++) {
        arap_sub(i > chain->count ? target : work->points + 3 * i, root, from);
        arap_cross(along, from, across);
        if (arap_dot(across, across) > STRAIGHT * STRAIGHT * line2 * chain->length * chain->length)
            return 0;
    }
    return 1;
}

double arap_ik_solve(const arap_ik_chain *chain, arap_ik_step step,
                     const arap_ik_settings *settings, const double *target, arap_ik_work *work,
                     int *iterations) {
    size_t bytes = 3 * (size_t)chain->count * sizeof(double);
    const double *effector = work->points + 3 * chain->count;
    double tolerance = settings->tolerance * chain->length;
    for (int i = 0; i < chain->count; i++)
        arap_joint_clamp(chain->ranges + i, work->joint_rotations + 3 * i);
    arap_ik_place(chain, 0, work);
    double min = sqrt(arap_distance2(effector, target)), mark = min;
    memcpy(work->best, work->joint_rotations, bytes);
    *iterations = 0;
    if (min > tolerance && is_straight(chain, target, work)) {
        for (int i = 1; i < chain->count; i++) {
            work->joint_rotations[3 * i] += NUDGE;
            arap_joint_clamp(chain->ranges + i, work->joint_rotations + 3 * i);
        }
        arap_ik_place(chain, 0, work);
    }
    work->damping = 0;
    for (int waited = 0; min > tolerance && *iterations < settings->iterations; ++*iterations) {
        step(chain, target, work);
        double error = sqrt(arap_distance2(effector, target));
        if (error < min) {
            min = error;
            memcpy(work->best, work->joint_rotations, bytes);
        }
        if (++waited < PATIENCE) continue;
        if (min > mark - PROGRESS * tolerance) {
            ++*iterations;
            break;
        }
        waited = 0;
        mark = min;
    }
    memcpy(work->joint_rotations, work->best, bytes);
    arap_ik_place(chain, 0, work);
    return sqrt(arap_distance2(effector, target));
}
