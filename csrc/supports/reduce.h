/* Reduces the influence patterns to the influences that lower the energy most. */
#ifndef ARAP_REDUCE_H
#define ARAP_REDUCE_H

#include "mesh/two_rings.h"
#include "rig/poses.h"
#include "rig/rigid_parts.h"
#include "rig/symmetry.h"
#include "edits/constraints.h"

/* The rule for how many influences remain. */
typedef struct arap_limit {
    int max;      /* per vertex, 0: as many as reduce.c has candidates */
    double spare; /* influences that lower the energy by less than this share of the one-ring's rest
                     energy are removed anyway; negative: none are */
    int max_part; /* per vertex of a rigid part, if that is lower; 0: as for other vertices */
} arap_limit;

/* Keep at most rule->most influences per vertex, including locked ones (but always one free
 * influence while the locked sum is below 1). Influences are chosen by the energy increase that
 * their removal would cause with the neighbors fixed (see reduce.c). held (vertices): the bone that
 * must stay; -1: none; NULL: none anywhere. right_side and product (start[count]): b and F w at the
 * current weights; rows and harmonic: constraints and the harmonic term, which are included in the
 * energy. The weights of reduced rows are their local optimum and must be solved again. Symmetric
 * rows stay symmetric, and those of a rigid part stay equal. */
arap_status arap_reduce_influences(arap_context *context, const arap_mesh *mesh,
                                   const arap_poses *poses, const arap_influences *in,
                                   const double *right_side, const double *product,
                                   const arap_two_rings *harmonic, const arap_penalties *rows,
                                   const int *held, const arap_symmetry *symmetry,
                                   const arap_rigid_parts *parts, const arap_limit *rule,
                                   arap_influences *out);

#endif
