/* Orders the joint rotations of random poses so that the rotations of nearby bones are combined
 * evenly. */
#ifndef ARAP_POSE_STRATIFICATION_H
#define ARAP_POSE_STRATIFICATION_H

#include "rig/skeleton.h"
#include "rig/symmetry.h"

/* The steps of the lattice: 1 / g, 1 / g^2, 1 / g^3 with g^4 = g + 1. */
extern const double arap_stratification_lattice[3];

/* Compute three numbers in [0, 1) for every deforming bone in each of `pairs` pairs of poses,
 * (pairs, bones, 3), see arap_joint_sample. */
arap_status arap_stratify_poses(arap_context *context, const arap_skeleton *skeleton,
                                const arap_symmetry *symmetry, const arap_sampling *sampling,
                                int pairs, double *joint_rotations);

#endif
