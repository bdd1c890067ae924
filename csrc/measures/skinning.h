/* Linear blend skinning with bones of any kind. Computes the positions to which given weights move
 * points in given poses. */
#ifndef ARAP_SKINNING_H
#define ARAP_SKINNING_H

#include "arap.h"
#include "base/memory.h"
#include "measures/pose_lanes.h"
#include "mesh/mesh.h"
#include "rig/bendy.h"
#include "rig/skeleton.h"
#include "rig/spines.h"

/* Posed bones, in the caller's units. The transforms of a pose are stored in columns: one for each
 * bone, followed by those of the additional joints of bendy bones. */
typedef struct arap_skinning {
    int count;            /* points */
    const double *points; /* (count, 3) at rest, not owned */
    int bones, columns, poses;
    double *transform; /* (poses, columns, 3, 4) */
    double *lanes;     /* the same in lanes, (groups of poses, columns, 3, 4, ARAP_POSE_LANES) */
    arap_skeleton skeleton;
    arap_bendy bendy;
    arap_spines spines;      /* without points of their own */
    double *spine_parameter; /* (count, spines.count) */
    arap_arena arena;        /* of the arrays */
} arap_skinning;

/* The bones as deforming roots in the units of the mesh; empty if there are no heads. */
arap_status arap_skinning_skeleton(arap_context *context, const arap_bones *bones,
                                   const arap_mesh *mesh, arap_skeleton *skeleton);

/* bones: heads, tails and kinds, or NULL heads if all are rigid; parents are ignored and all bones
 * deform. poses: must be finite. Errors name the pose and the bone of any invalid value. */
arap_status arap_skinning_create(arap_context *context, int count, const double *points,
                                 const arap_bones *bones, const arap_given_poses *poses,
                                 arap_skinning *skinning);
void arap_skinning_clear(arap_skinning *skinning);

/* Convert the weights of the points to rows of columns with sum 1. Points without weights have
 * empty rows and stay at rest, like unweighted vertices in Blender. Errors name the vertex and the
 * bone. */
arap_status arap_skinning_weights(arap_context *context, const arap_skinning *skinning,
                                  const arap_sparse_weights *rows, arap_influences *out);

/* Compute the positions of the points under these weights in the groups of poses first..first +
 * groups - 1: out, in lanes. */
arap_status arap_skin(arap_context *context, const arap_skinning *skinning,
                      const arap_influences *columns, int first, int groups, double *out);

/* The position to which a bone moves a point next to it if no other bone influences the point. */
void arap_skin_beside(const arap_skinning *skinning, int pose, int bone, const double *point,
                      double *out);

#endif
