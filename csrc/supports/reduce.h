/* Reduces the influence patterns to the influences with the largest gain of energy. */
#ifndef ARAP_REDUCE_H
#define ARAP_REDUCE_H

#include "mesh/two_rings.h"
#include "rig/poses.h"
#include "rig/rigid_parts.h"
#include "rig/symmetry.h"
#include "edits/constraints.h"

/* How many influences stay. */
typedef struct arap_limit {
    int max;      /* per vertex, 0: as many as reduce.c has candidates */
    double spare; /* those that lower the energy by less than this share of the rest energy of
                     the one-ring go anyway; negative: none do */
    int max_part; /* per vertex of a rigid part, if that is less; 0: as for the others */
} arap_limit;

/* At most rule->most influences per vertex, locked ones included (but always one free one while
 * the locked sum is below 1), chosen by what their loss costs in energy with the neighbors fixed
 * (see reduce.c). held (vertices): the bone that stays, -1: none; NULL: none anywhere. right_side
 * and product (start[count]): b and F w at the present weights; rows and harmonic: constraints and
 * the term that the energy is charged with. The weights of reduced rows are their local optimum, to
 * be solved again. Rows that are symmetric stay so, and those of a rigid part the same. */
arap_status arap_reduce_influences(arap_context *context, const arap_mesh *mesh,
                                   const arap_poses *poses, const arap_influences *in,
                                   const double *right_side, const double *product,
                                   const arap_two_rings *harmonic, const arap_penalties *rows,
                                   const int *held, const arap_symmetry *symmetry,
                                   const arap_rigid_parts *parts, const arap_limit *rule,
                                   arap_influences *out);

#endif
