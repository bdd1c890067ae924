/* Poses (the paper's exemplars): one affine transform per deforming bone and pose, and further ones
 * for the joints of bendy bones. */
#ifndef ARAP_POSES_H
#define ARAP_POSES_H

#include <stdint.h>

#include "arap.h"
#include "rig/bendy.h"
#include "rig/pose_weights.h"
#include "rig/reach.h"
#include "rig/skeleton.h"
#include "rig/spines.h"
#include "rig/stretch.h"
#include "rig/symmetry.h"

/* Which parts of a Gram matrix there are, see pose_gram.c. */
typedef struct arap_gram_tiles {
    int count;
    int *tile;   /* (bones) that each is in */
    int *start;  /* (count + 1) of the columns of each in `column` */
    int *column; /* (columns) */
    char *state; /* (count, count) of the upper half */
} arap_gram_tiles;

typedef struct arap_poses {
    int count;
    int columns;       /* transforms of a pose: deforming bones, then further joints (bendy.h) */
    double *transform; /* (count, columns, 3, 4) row-major [R | t], units of arap_mesh.v */
    double *gram;      /* (columns, columns, 4, 4) G_bc = sum_p w_p T_b^T T_c, docs/energy.md */
    arap_gram_tiles tiles;
    double *weight;     /* (count) w, how often each counts; NULL: once */
    double total;       /* sum of w, count without weights */
    arap_spines spines; /* `transform` and `gram` are those of their bases, T(u) at u = 0 */
    arap_bendy bendy;
    arap_stretches stretches;
} arap_poses;

static inline double arap_pose_weight(const arap_poses *poses, int pose) {
    return poses->weight ? poses->weight[pose] : 1;
}

/* Sampled poses, each of which counts `each` times, followed by those of the caller, for all bones
 * of the skeleton. Errors name a pose that is not finite. symmetry: see arap_sample_pose. */
arap_status arap_poses_create(arap_context *context, const arap_skeleton *skeleton,
                              const arap_mesh *mesh, const arap_symmetry *symmetry,
                              const arap_sampling *sampling, double each,
                              const arap_given_poses *given, arap_poses *poses);
/* Poses of the caller alone, for `bones` bones of which the first are those of the skeleton, which
 * all deform. Bends and parameters are for these. */
arap_status arap_poses_given(arap_context *context, const arap_skeleton *skeleton,
                             const arap_mesh *mesh, int bones, const arap_given_poses *given,
                             arap_poses *poses);
/* ARAP_BAD_VALUE for transforms (poses, bones, 3, 4) in the units of a mesh that leave something of
 * it to the rounding of their products. */
arap_status arap_check_reach(arap_error *error, size_t poses, size_t bones, const double *x);
/* `gram` of the present transforms: of few columns all of it, of many none until the second asks
 * for what weights bring together, each with its one-ring and springs. Called before `gram` is
 * read.
 */
arap_status arap_poses_gram(arap_context *context, arap_poses *poses);
arap_status arap_poses_gram_of(arap_context *context, const arap_mesh *mesh,
                               const arap_poses *poses, const arap_influences *weights);
void arap_gram_tiles_clear(arap_gram_tiles *tiles);
void arap_poses_clear(arap_poses *poses);

/* Forward kinematics: deforming bone b turns by `local` (bones, 3, 3), a rotation in rest
 * orientation, about its head and everything below follows, so that joints stay connected; what
 * hangs on a bone bent by `bends` (bones, ARAP_BEND) or NULL, follows it at the place of its own
 * head along it. Virtual bones go with their owners. transforms: (bones, 3, 4) for all
 * bones. */
void arap_forward_kinematics(const arap_skeleton *skeleton, const double *local,
                             const double *bends, double *transforms);

/* Random poses. The numbers in [0, 1) that all of them come from, arap_sample_size of them; then
 * the local rotations (bones, 3, 3) and bends (bones, ARAP_BEND) of one pose. Poses 2 k and 2 k + 1
 * mirror each other, with the bones that have partners changing sides: see poses.c. reach: made for
 * the same skeleton and sampling. */
size_t arap_sample_size(const arap_skeleton *skeleton, const arap_sampling *sampling);
arap_status arap_sample_rotations(arap_context *context, const arap_skeleton *skeleton,
                                  const arap_symmetry *symmetry, const arap_sampling *sampling,
                                  double *joint_rotations);
void arap_sample_pose(const arap_skeleton *skeleton, const arap_symmetry *symmetry,
                      const arap_sampling *sampling, arap_reach *reach,
                      const double *joint_rotations, int pose, double *local, double *bends);

#endif
