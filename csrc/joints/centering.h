/* Determines the position of a joint in directions that stretch leaves undetermined (the paper's
 * failure case, Figure 15C). */
#ifndef ARAP_JOINT_CENTERING_H
#define ARAP_JOINT_CENTERING_H

#include "joints/joints.h"
#include "weights/influences.h"

/* For every joint about which a deforming bone turns, compute the middle of the limb there, center
 * (joints, 3), and the block (joints, 9), relative to `unit`, that raises the stiffness of the
 * energy across the bones, given by `matrix` (3 joints, 3 joints), to `strength`. The block is zero
 * if the energy itself is stiffer, for pinned joints, and if no part of the mesh is near. */
void arap_find_centers(const arap_mesh *mesh, const arap_skeleton *skeleton,
                       const arap_influences *influences, const arap_joints *joints,
                       const double *matrix, double unit, double strength, double *center,
                       double *block);

#endif
