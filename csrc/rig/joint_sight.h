/* Detects skin near the joint of a leaf that belongs to another limb (joint_skeleton.h). */
#ifndef ARAP_JOINT_SIGHT_H
#define ARAP_JOINT_SIGHT_H

#include "rig/joint_ways.h"

/* Set study.strange and study.side. The segments must already be ranked. */
arap_status arap_look_from_leaves(arap_context *context, arap_joint_study *t);

#endif
