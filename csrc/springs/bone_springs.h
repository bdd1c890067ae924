/* Bone springs tie the skin to the bones from inside the mesh. Each spring is an additional edge
 * from a vertex to the nearest point on a bone. */
#ifndef ARAP_BONE_SPRINGS_H
#define ARAP_BONE_SPRINGS_H

#include "edits/edits.h"
#include "rig/poses.h"
#include "rig/symmetry.h"
#include "springs/containment.h"

/* Create the springs between a connected mesh and these bones, and add their rest energy to
 * rest_energy. strength: of a spring relative to the edges around its vertex; 0: no springs. wanted
 * (vertices): the deforming bone to which each vertex's spring is attached; -1: no spring.
 * wanted_whole: whether the whole part is tied to that bone. wanted NULL: bones are chosen here,
 * among those not excluded from the vertex (excluded NULL: no bone is). kept: the containments of
 * the bones, once they are known. */
arap_status arap_bone_springs_create(arap_context *context, arap_mesh *mesh,
                                     const arap_skeleton *skeleton, const arap_bendy *bendy,
                                     const arap_symmetry *symmetry, double strength,
                                     arap_excluded_fn excluded, const void *data, const int *wanted,
                                     const char *wanted_whole, arap_containments *kept);

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
