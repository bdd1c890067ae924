/* Skin that is near to the joint of a leaf but belongs to another limb (joint_skeleton.h). */
#ifndef ARAP_JOINT_SIGHT_H
#define ARAP_JOINT_SIGHT_H

#include "rig/joint_ways.h"

/* Fill study.strange and side. After ways are ranked. */
arap_status arap_look_from_leaves(arap_context *context, arap_joint_study *t);

#endif
