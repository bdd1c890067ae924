/* Turns of the joints in random poses, in an order in which those of bones near each other meet
 * evenly. */
#ifndef ARAP_TURN_ORDERS_H
#define ARAP_TURN_ORDERS_H

#include "rig/skeleton.h"
#include "rig/symmetry.h"

/* Three numbers in [0, 1) for every deforming bone in each of `pairs` pairs of poses,
 * (pairs, bones, 3), see arap_joint_sample. */
arap_status arap_order_turns(arap_context *context, const arap_skeleton *skeleton,
                             const arap_symmetry *symmetry, const arap_sampling *sampling,
                             int pairs, double *turns);

#endif
