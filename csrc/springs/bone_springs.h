/* Bone springs tie the skin to the bones from inside the mesh. Each spring is an additional edge
 * from a vertex to the nearest point on a bone. */
#ifndef ARAP_BONE_SPRINGS_H
#define ARAP_BONE_SPRINGS_H

#include "edits/edits.h"
#include "rig/poses.h"
#include "rig/symmetry.h"
#include "springs/owners.h"

/* Create the springs between a connected mesh and these bones, and add their rest energy to
 * rest_energy. strength: of a spring relative to the edges around its vertex; 0: no springs.
 * Springs are attached to the owners of their vertices, and other arguments are those of
 * arap_owners_create. */
arap_status arap_bone_springs_create(arap_context *context, arap_mesh *mesh,
                                     const arap_skeleton *skeleton, const arap_bendy *bendy,
                                     const arap_symmetry *symmetry, double strength,
                                     const arap_owner_choice *choice, arap_containments *kept);

/* Set the weights of all springs from
 * their strengths, and update the rest energy. */
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
