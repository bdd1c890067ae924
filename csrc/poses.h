/* Poses (the paper's exemplars): one affine transform per deforming bone and pose. */
#ifndef ARAP_POSES_H
#define ARAP_POSES_H

#include <stdint.h>

#include "mirror.h"
#include "skeleton.h"

/* How poses are sampled (paper section 3.3): a roll of at most `swing` about a random axis
 * across the bone, then a twist of at most `twist` about the bone; a bone's own limits replace
 * both. */
typedef struct arap_sampling {
    int count;
    uint64_t seed;
    double swing; /* radians */
    double twist; /* radians */
} arap_sampling;

typedef struct arap_poses {
    int count;
    int bones;         /* deforming bones */
    double *transform; /* (count, bones, 3, 4) row-major [R | t], units of arap_mesh.v */
    double *gram;      /* (bones, bones, 4, 4) G_bc = sum over poses of T_b^T T_c, SPEC section 4 */
} arap_poses;

/* Sampled poses followed by `extra_count` poses of the caller, (extra_count, bones of the
 * caller, 3, 4) in the caller's units, rest to posed. Errors name a pose that is not finite.
 * mirror: see arap_sample_pose. */
arap_status arap_poses_create(arap_job *job, const arap_skeleton *skeleton, const arap_mesh *mesh,
                              const arap_mirror *mirror, const arap_sampling *sampling,
                              const double *extra, int extra_count, arap_poses *poses);
/* Poses of `bones` deforming bones given as transforms (count, bones, 3, 4) in the caller's
 * units. */
arap_status arap_poses_given(arap_job *job, const arap_mesh *mesh, int bones,
                             const double *transforms, int count, arap_poses *poses);
void arap_poses_clear(arap_poses *poses);

/* Forward kinematics: deforming bone b turns by `local` (bones, 3, 3), a rotation in rest
 * orientation, about its head and everything below follows, so that joints stay connected.
 * Virtual bones go with their owners. transforms: (bones, 3, 4) for all bones. */
void arap_forward_kinematics(const arap_skeleton *skeleton, const double *local,
                             double *transforms);

/* Random poses. The numbers in [0, 1) that all of them come from, arap_turn_count of them; then
 * the local rotations (bones, 3, 3) of one pose. Poses 2 k and 2 k + 1 mirror each other, with the
 * bones that have partners changing sides: see poses.c. */
static inline size_t arap_turn_count(const arap_skeleton *skeleton, const arap_sampling *sampling) {
    return 3 * (size_t)skeleton->count * (size_t)((sampling->count + 1) / 2);
}
void arap_sample_turns(const arap_skeleton *skeleton, const arap_mirror *mirror,
                       const arap_sampling *sampling, double *turns);
void arap_sample_pose(const arap_skeleton *skeleton, const arap_mirror *mirror,
                      const arap_sampling *sampling, const double *turns, int pose, double *local);

#endif
