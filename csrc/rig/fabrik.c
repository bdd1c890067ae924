/* Forward and backward reaching inverse kinematics: see ik.h. (Aristidou & Lasenby 2011.)
 *
 * Backwards from the target, every joint is drawn along the line to the next one until it is as far
 * from it as the bone is long; then forwards from the root, every bone aims at where its end was
 * drawn to, as far as its range lets it, and carries the next one there. Ranges count forwards only:
 * where they bind, an iteration may lead away from the target. Bones keep their twist. A target
 * farther than the chain is long is pointed at. */
#include <string.h>

#include "base/vec3.h"
#include "rig/ik.h"

static void draw_back(const arap_ik_chain *chain, const double *target, arap_ik_work *work) {
    memcpy(work->goals + 3 * chain->count, target, 3 * sizeof(double));
    for (int i = chain->count - 1; i > 0; i--) {
        double *goal = work->goals + 3 * i, away[3];
        double length =
            sqrt(arap_distance2(chain->points + 3 * i, chain->points + 3 * (i + 1)));
        arap_sub(work->points + 3 * i, goal + 3, away);
        double distance = sqrt(arap_dot(away, away));
        for (int c = 0; c < 3; c++)
            goal[c] = goal[3 + c] + (distance > 0 ? length / distance * away[c] : 0);
    }
}

void arap_fabrik_step(const arap_ik_chain *chain, const double *target, arap_ik_work *work) {
    double way[3];
    arap_sub(target, chain->points, way);
    int is_beyond = arap_dot(way, way) >= chain->length * chain->length;
    if (!is_beyond) draw_back(chain, target, work);
    for (int i = 0; i < chain->count; i++) {
        double offset[3], aim[3], own[3];
        double *rotation = work->rotations + 9 * i, local[9];
        arap_sub(chain->points + 3 * (i + 1), chain->points + 3 * i, offset);
        arap_sub(is_beyond ? target : work->goals + 3 * (i + 1), work->points + 3 * i, aim);
        memcpy(own, aim, sizeof own);
        for (int c = 0; c < 3 && i; c++)
            own[c] = rotation[c - 9] * aim[0] + rotation[c - 6] * aim[1] + rotation[c - 3] * aim[2];
        arap_turn_to_aim(chain->axes + 9 * i, offset, own, work->turns + 3 * i);
        arap_joint_clamp(chain->ranges + i, work->turns + 3 * i);
        arap_turn_to_rotation(chain->axes + 9 * i, work->turns + 3 * i, local);
        if (i)
            arap_multiply33(rotation - 9, local, rotation);
        else
            memcpy(rotation, local, sizeof local);
        for (int r = 0; r < 3; r++)
            work->points[3 * (i + 1) + r] =
                work->points[3 * i + r] + arap_dot(rotation + 3 * r, offset);
    }
}
