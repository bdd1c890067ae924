/* Memory layout of points with which one instruction processes several poses. The points are stored
 * in groups of ARAP_POSE_LANES poses, (groups, points, 3, ARAP_POSE_LANES). If the last group has
 * fewer poses, its last pose is repeated. */
#ifndef ARAP_POSE_LANES_H
#define ARAP_POSE_LANES_H

#include <stddef.h>

#include "base/wide.h"

#define ARAP_POSE_LANES 4

static inline int arap_pose_groups(int poses) {
    return (poses + ARAP_POSE_LANES - 1) / ARAP_POSE_LANES;
}

/* Number of poses in a group that are not repetitions. */
static inline int arap_group_size(int poses, int group) {
    int left = poses - group * ARAP_POSE_LANES;
    return left < ARAP_POSE_LANES ? left : ARAP_POSE_LANES;
}

/* Number of values in a group of poses with this many points. */
static inline size_t arap_group_stride(int points) { return 3 * ARAP_POSE_LANES * (size_t)points; }

#endif
