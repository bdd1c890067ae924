/* Bone springs: springs inside the mesh that tie the skin to the bones. Each is an extra edge from
 * a vertex to the nearest point on a bone. */
#ifndef ARAP_BONE_SPRINGS_H
#define ARAP_BONE_SPRINGS_H

#include "rig/poses.h"
#include "rig/symmetry.h"
#include "springs/containment.h"

/* Give a connected mesh its springs to these bones; rest_energy grows by theirs. strength: of a
 * spring relative to the edges around its vertex; 0: no springs. wanted (vertices): the deforming
 * bone that each vertex's spring goes to, -1: no spring, and wanted_whole: whether its part is tied
 * to that bone as a whole. wanted NULL: chosen here, among the bones not excluded from the vertex
 * (excluded NULL: no bone is). kept: the containments of the bones, once they are known. */
arap_status arap_bone_springs_create(arap_context *context, arap_mesh *mesh,
                                     const arap_skeleton *skeleton, const arap_bendy *bendy,
                                     const arap_symmetry *symmetry, double strength,
                                     arap_excluded_fn excluded, const void *data, const int *wanted,
                                     const char *wanted_whole, arap_containments *kept);

#endif
