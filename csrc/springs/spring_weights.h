/* How much each bone spring (bone_springs.h) counts. */
#ifndef ARAP_SPRING_WEIGHTS_H
#define ARAP_SPRING_WEIGHTS_H

#include "rig/poses.h"
#include "edits/edits.h"

/* Set the weights of all springs from their strengths, and update the rest energy. */
void arap_springs_weigh(arap_mesh *mesh);

/* Weaken the springs that these weights do not satisfy. along: arap_local_step_springs of a local
 * step at the weights. */
arap_status arap_springs_yield(arap_context *context, arap_mesh *mesh, const arap_poses *poses,
                               const arap_influences *influences, const double *along);

/* Weaken springs as those of the coarser mesh: a vertex takes the share held at its cluster. */
void arap_springs_inherit(arap_mesh *mesh, const arap_mesh *coarse, const int *cluster);

/* Switch off the springs of pairs marked as released or excluded, and the others on again. */
void arap_springs_release(arap_mesh *mesh, const arap_rigid_parts *parts, const arap_marks *marks);

#endif
