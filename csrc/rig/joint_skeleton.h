/* Builds a skeleton from joints alone, for an armature whose tails are meaningless. */
#ifndef ARAP_JOINT_SKELETON_H
#define ARAP_JOINT_SKELETON_H

#include "arap.h"
#include "base/context.h"
#include "base/memory.h"
#include "rig/bone_tails.h"

typedef struct arap_joint_skeleton {
    double *tails;    /* (bones, 3) caller's units: tails that define the direction of each bone and
                         the ends of leaves */
    char *ways;       /* (bones) the parent's main segment leads to this bone's head */
    char *deform;     /* (bones) excludes roots outside the skin, which move no skin */
    int along;        /* bones keep their directions and extend only to their tails */
    arap_arena arena; /* of the arrays */
} arap_joint_skeleton;

/* Find the segments of these bones, ignoring their tails. A tail is kept if nothing else is known,
 * and tails may be NULL. are: result of the tail tests. ARAP_TAILS_AXES: directions are used, but
 * lengths are not; bones then extend to their tails as usual, and `ways` does not apply to these
 * bones. Errors: those of arap_mesh_create and arap_check_bones. Release with
 * arap_joint_skeleton_clear. */
arap_status arap_joint_skeleton_create(arap_context *context, const arap_geometry *geometry,
                                       const arap_bones *bones, arap_tails are,
                                       arap_joint_skeleton *out);
void arap_joint_skeleton_clear(arap_joint_skeleton *skeleton);

/* Give bones without tails the tails derived from their joints, which `made` then owns. Other bones
 * are unchanged. */
arap_status arap_complete_bones(arap_context *context, const arap_geometry *geometry,
                                arap_bones *bones, arap_joint_skeleton *made);

#endif
