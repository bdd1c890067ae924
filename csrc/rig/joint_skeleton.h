/* A skeleton from its joints alone, for an armature whose tails are meaningless. */
#ifndef ARAP_JOINT_SKELETON_H
#define ARAP_JOINT_SKELETON_H

#include "arap.h"
#include "base/context.h"
#include "rig/bone_tails.h"

typedef struct arap_joint_skeleton {
    double
        *tails;   /* (bones, 3) caller's units: along which each bone turns, and where leaves end */
    char *ways;   /* (bones) the parent's own way goes to this bone's head */
    char *deform; /* (bones) without the roots outside the skin, which move none */
    int along;    /* bones keep their directions, and reach to their tails alone */
} arap_joint_skeleton;

/* The ways of these bones, whose tails do not count: they stay if nothing else is known, and may be
 * NULL. are: the study of the tails. ARAP_TAILS_AXES: directions count, lengths do not; then bones
 * reach to their tails, as others do, and `ways` is not for them. Errors: those of arap_mesh_create
 * and arap_check_bones. Release with arap_joint_skeleton_clear.
 */
arap_status arap_joint_skeleton_create(arap_context *context, const arap_geometry *geometry,
                                       const arap_bones *bones, arap_tails are,
                                       arap_joint_skeleton *out);
void arap_joint_skeleton_clear(arap_joint_skeleton *skeleton);

/* Give bones without tails those of their joints, which `made` then owns; others stay. */
arap_status arap_complete_bones(arap_context *context, const arap_geometry *geometry,
                                arap_bones *bones, arap_joint_skeleton *made);

#endif
