/* A chain for inverse kinematics: see ik.h. Takes O(bones). Fails on out-of-memory. */
#include "rig/ik.h"

#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"

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
