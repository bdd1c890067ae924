/* Poses (the paper's exemplars). A pose has one affine transform per deforming bone, and additional
 * ones for the joints of bendy bones. */
#ifndef ARAP_POSES_H
#define ARAP_POSES_H

#include "arap.h"
#include "base/memory.h"
#include "rig/bendy.h"
#include "rig/reach.h"
#include "rig/skeleton.h"
#include "rig/spines.h"
#include "rig/stretch.h"
#include "rig/symmetry.h"

#include <stdint.h>

/* The available parts of a Gram matrix, see pose_gram.c. */
typedef struct arap_gram_tiles {
    int count;
    int *tile;        /* (bones) the tile that contains each bone */
    int *start;       /* (count + 1) start of each tile's columns in `column` */
    int *column;      /* (columns) */
    char *state;      /* (count, count) of the upper triangle */
    arap_arena arena; /* of the arrays */
} arap_gram_tiles;

typedef struct arap_poses {
    int count;
    int columns;       /* transforms per pose: deforming bones, then additional joints (bendy.h) */
    double *transform; /* (count, columns, 3, 4) row-major [R | t], units of arap_mesh.v */
    double *gram;      /* (columns, columns, 4, 4) G_bc = sum_p w_p T_b^T T_c, docs/energy.md */
    arap_gram_tiles tiles;
    double *weight;     /* (count) w, weight of each pose; NULL: 1 */
    double total;       /* sum of w, or `count` without weights */
    arap_spines spines; /* `transform` and `gram` are those of their bases, T(u) at u = 0 */
    arap_bendy bendy;
    arap_stretches stretches;
} arap_poses;

static inline double arap_pose_weight(const arap_poses *poses, int pose) {
    return poses->weight ? poses->weight[pose] : 1;
}

/* Create sampled poses of the weight `each`, followed by the caller's poses, for all bones of the
 * skeleton. Errors name a pose that is not finite. symmetry: see arap_sample_pose. */
arap_status arap_poses_create(arap_context *context, const arap_skeleton *skeleton,
                              const arap_mesh *mesh, const arap_symmetry *symmetry,
                              const arap_sampling *sampling, double each,
                              const arap_given_poses *given, arap_poses *poses);
/* Create the caller's poses alone, for `bones` bones. The first of these bones are those of the
 * skeleton, which all deform. Bends and parameters apply to the bones of the skeleton. */
arap_status arap_poses_given(arap_context *context, const arap_skeleton *skeleton,
                             const arap_mesh *mesh, int bones, const arap_given_poses *given,
                             arap_poses *poses);
/* Return ARAP_BAD_VALUE for transforms (poses, bones, 3, 4), in the units of a mesh, whose products
 * are so inaccurate that the mesh would show rounding errors. */
arap_status arap_check_reach(arap_error *error, size_t poses, size_t bones, const double *x);
/* Compute `gram` for the current transforms. With few columns, all of it is computed. With many,
 * nothing is computed until the second function requests the pairs that the weights combine in
 * one-rings and springs. Must be called before `gram` is read. */
arap_status arap_poses_gram(arap_context *context, arap_poses *poses);
arap_status arap_poses_gram_of(arap_context *context, const arap_mesh *mesh,
                               const arap_poses *poses, const arap_influences *weights);
void arap_gram_tiles_clear(arap_gram_tiles *tiles);
void arap_poses_clear(arap_poses *poses);

/* Forward kinematics: Deforming bone b turns about its head by `local` (bones, 3, 3), a rotation in
 * rest orientation, and everything below it follows, so joints stay connected. Children of a bone
 * bent by `bends` (bones, ARAP_BEND), or NULL, follow the bone at the positions of their own heads
 * along it. Virtual bones move with their owners. transforms: (bones, 3, 4) for all bones. */
void arap_forward_kinematics(const arap_skeleton *skeleton, const double *local,
                             const double *bends, double *transforms);

/* Random poses. The first function creates the arap_sample_size numbers in [0, 1) from which all
 * poses are derived. The second one computes the local rotations (bones, 3, 3) and bends (bones,
 * ARAP_BEND) of one pose. Poses 2 k and 2 k + 1 mirror each other, and bones with partners swap
 * sides: see poses.c. reach: created for the same skeleton and sampling. */
size_t arap_sample_size(const arap_skeleton *skeleton, const arap_sampling *sampling);
arap_status arap_sample_rotations(arap_context *context, const arap_skeleton *skeleton,
                                  const arap_symmetry *symmetry, const arap_sampling *sampling,
                                  double *joint_rotations);
void arap_sample_pose(const arap_skeleton *skeleton, const arap_symmetry *symmetry,
                      const arap_sampling *sampling, arap_reach *reach,
                      const double *joint_rotations, int pose, double *local, double *bends);

/* The steps of the lattice: 1 / g, 1 / g^2, 1 / g^3 with g^4 = g + 1. */
extern const double arap_stratification_lattice[3];

/* Order the joint rotations of random poses so that the rotations of nearby bones are combined
 * evenly. Computes three numbers in [0, 1) for every deforming bone in each of `pairs` pairs of
 * poses, (pairs, bones, 3), see arap_joint_sample. */
arap_status arap_stratify_poses(arap_context *context, const arap_skeleton *skeleton,
                                const arap_symmetry *symmetry, const arap_sampling *sampling,
                                int pairs, double *joint_rotations);

#define ARAP_MAX_POSE_WEIGHT 1e6

/* The weight of each pose in the energy. Combine the caller's weights (count), NULL: 1 each, with
 * `sampled` preceding poses of the weight `each`, which is 1 if there are no others. A weight must
 * be 0 or between 1 / ARAP_MAX_POSE_WEIGHT and ARAP_MAX_POSE_WEIGHT. The error names one that is
 * not. It is also an error if all weights are 0. out (sampled + count), or NULL if all are 1;
 * total: their sum. Release with arap_free. */
arap_status arap_pose_weights_create(arap_context *context, int sampled, double each, int count,
                                     const double *weights, double **out, double *total);

#endif
