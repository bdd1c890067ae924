/* Where bones without children end, in a skeleton from joints (joint_skeleton.h). */
#ifndef ARAP_JOINT_LEAVES_H
#define ARAP_JOINT_LEAVES_H

#include "rig/joint_ways.h"

/* Let leaves lead to joints elsewhere (study.next); returns how many do. directions: (count, 3) of
 * the tails, or NULL; scratch: (vertices) */
int arap_lead_leaves_on(const arap_joint_study *t, const double *directions, double *scratch);

/* The tail of the leaf that is way k, in the skin beyond its joint, and in the direction `given`
 * unless it is NULL; 0 where no skin is its own. */
int arap_end_leaf(const arap_joint_study *t, int k, const double *given, double *scratch,
                  double *tail);

/* How far the skin that is nearest to the ways of a bone reaches in a direction, 0 without any. */
double arap_reach_of_skin(const arap_joint_study *t, int bone, const double *direction,
                          double *scratch);

#endif
