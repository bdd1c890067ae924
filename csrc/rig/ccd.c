/* Cyclic coordinate descent: see ik.h. (Wang & Chen 1991.)
 *
 * From the last bone to the root, each bone turns by the shortest rotation that points the effector
 * at the target, within its range, and twists if this helps. No step moves the effector away from
 * the target unless a range limits the rotation. */
#include "base/vec3.h"
#include "rig/ik.h"

void arap_ccd_step(const arap_ik_chain *chain, const double *target, arap_ik_work *work) {
    const double *effector = work->points + 3 * chain->count;
    for (int i = chain->count - 1; i >= 0; i--) {
        double from[3], to[3], rotation[9];
        arap_sub(effector, work->points + 3 * i, from);
        arap_sub(target, work->points + 3 * i, to);
        if (!(arap_dot(from, from) > 0) || !(arap_dot(to, to) > 0)) continue;
        arap_shortest_rotation(from, to, rotation);
        arap_ik_rotate(chain, i, rotation, work);
        arap_ik_place(chain, i, work);
    }
}
