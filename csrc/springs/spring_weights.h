/* Determines the weight of each bone spring (bone_springs.h). */
#ifndef ARAP_SPRING_WEIGHTS_H
#define ARAP_SPRING_WEIGHTS_H

#include "rig/poses.h"
#include "edits/edits.h"

/* Set the weights of all springs from their strengths, and update the rest energy. */
void arap_springs_weigh(arap_mesh *mesh);

/* Weaken the springs that these weights do not satisfy. along: arap_local_step_springs from a local
 * step at these weights. */
arap_status arap_springs_yield(arap_context *context, arap_mesh *mesh, const arap_poses *poses,
                               const arap_influences *influences, const double *along);

/* Weaken springs like those of the coarser mesh. Each vertex takes the remaining share of its
 * cluster. */
void arap_springs_inherit(arap_mesh *mesh, const arap_mesh *coarse, const int *cluster);

/* Disable the springs of pairs marked as released or excluded, and enable the others again. */
void arap_springs_release(arap_mesh *mesh, const arap_rigid_parts *parts, const arap_marks *marks);

#endif
