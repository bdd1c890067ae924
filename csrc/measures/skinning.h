/* Linear blend skinning by bones of any kind: the positions to which given weights move points in
 * given poses. */
#ifndef ARAP_SKINNING_H
#define ARAP_SKINNING_H

#include "arap.h"
#include "measures/pose_lanes.h"
#include "mesh/mesh.h"
#include "rig/bendy.h"
#include "rig/skeleton.h"
#include "rig/spines.h"

/* Bones in poses, in the units of the caller. The transforms of a pose are in columns: one for each
 * bone, then those of the further joints of bendy bones. */
typedef struct arap_skinning {
    int count;            /* points */
    const double *points; /* (count, 3) at rest, not owned */
    int bones, columns, poses;
    double *transform; /* (poses, columns, 3, 4) */
    double *lanes;     /* the same, (groups of poses, columns, 3, 4, ARAP_POSE_LANES) */
    arap_skeleton skeleton;
    arap_bendy bendy;
    arap_spines spines;      /* no points of theirs */
    double *spine_parameter; /* (count, spines.count) */
} arap_skinning;

/* The bones as deforming roots, in the units of the mesh; nothing where there are no heads. */
arap_status arap_skinning_skeleton(arap_context *context, const arap_bones *bones,
                                   const arap_mesh *mesh, arap_skeleton *skeleton);

/* bones: heads, tails and kinds, or NULL heads where all are rigid; parents do not matter and all
 * deform. poses: finite or an error that names pose and bone, like all else that cannot be. */
arap_status arap_skinning_create(arap_context *context, int count, const double *points,
                                 const arap_bones *bones, const arap_given_poses *poses,
                                 arap_skinning *skinning);
void arap_skinning_clear(arap_skinning *skinning);

/* The weights of the points as rows of columns with sum 1, of which those without weight have none:
 * they stay at rest, as unweighted vertices do in Blender. Errors name vertex and bone. */
arap_status arap_skinning_weights(arap_context *context, const arap_skinning *skinning,
                                  const arap_sparse_weights *rows, arap_influences *out);

/* Where these take the points in the groups of poses first..first + groups - 1: out, in lanes. */
arap_status arap_skin(arap_context *context, const arap_skinning *skinning,
                      const arap_influences *columns, int first, int groups, double *out);

/* The position to which a bone alone takes a point next to it. */
void arap_skin_beside(const arap_skinning *skinning, int pose, int bone, const double *point,
                      double *out);

#endif
