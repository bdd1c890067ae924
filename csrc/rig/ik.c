/* The common part of all methods of inverse kinematics: see ik.h.
 *
 * The result is the best pose found, even if the method moves away from this pose again. Iterating
 * stops after PATIENCE iterations that together gain less than PROGRESS times the tolerance. The
 * target is then out of reach, or the ranges of the joints prevent the chain from reaching it. If a
 * chain is straight and its target is on the same line, no method has a direction for bending, so
 * the joints are first turned slightly about X.
 *
 * An iteration takes O(bones), or O(bones^2) with CCD. The functions cannot fail. */
#include "rig/ik.h"

#include <string.h>

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
