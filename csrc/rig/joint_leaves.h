/* Determines the ends of bones without children in a skeleton built from joints
 * (joint_skeleton.h). */
#ifndef ARAP_JOINT_LEAVES_H
#define ARAP_JOINT_LEAVES_H

#include "rig/joint_ways.h"

/* Let leaves lead to joints elsewhere (study.next). Returns the number of such leaves. directions:
 * (count, 3) of the tails, or NULL; scratch: (vertices) */
int arap_lead_leaves_on(const arap_joint_study *t, const double *directions, double *scratch);

/* Compute the tail of the leaf with segment k, which lies in the skin beyond its joint and, unless
 * NULL, in the direction `given`. Returns 0 if the leaf has no skin of its own. */
int arap_end_leaf(const arap_joint_study *t, int k, const double *given, double *scratch,
                  double *tail);

/* How far the skin nearest to the segments of a bone extends in a direction; 0 without skin. */
double arap_reach_of_skin(const arap_joint_study *t, int bone, const double *direction,
                          double *scratch);

#endif
