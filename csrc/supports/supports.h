/* Choosing the influence maps B(i): before the optimisation from the initial weights, later
 * down to K influences from the energy. */
#ifndef ARAP_SUPPORTS_H
#define ARAP_SUPPORTS_H

#include "supports/constraints.h"
#include "energy/harmonic.h"
#include "weights/influences.h"
#include "rig/mirror.h"
#include "rig/poses.h"

/* Parameters (M, t, alpha) of the paper's section 3.2. */
typedef struct arap_pruning {
    int least;       /* M: influences that a vertex keeps at least */
    double kept_sum; /* t: its kept weights sum to more than this */
    double relative; /* alpha: only weights below this share of its largest go */
} arap_pruning;

/* Mark in keep (start[count]) the influences that survive pruning in increasing order of
 * weight: one is dropped if all three parameters allow it and no neighbour that keeps the bone
 * has a smaller weight (no local minimum is introduced). Rows should sum to 1. */
arap_status arap_prune(arap_job *job, const arap_mesh *mesh, const arap_influences *in,
                       const arap_pruning *pruning, char *keep);

/* Influence maps of pruned heat weights: the pruned rows, reconnected along the skeleton
 * (property P2; joined bones keep their weight in `in`, 0 if it was never there), normalised. */
arap_status arap_choose_supports(arap_job *job, const arap_mesh *mesh,
                                 const arap_skeleton *skeleton, const arap_influences *in,
                                 const arap_pruning *pruning, arap_influences *out);

/* The bone nearest to a vertex that is not closed to it (NULL: none is), or -1. */
int arap_nearest_bone(const arap_mesh *mesh, const arap_skeleton *skeleton, int vertex,
                      arap_closed_fn closed, const void *data);

/* Rows joined with the bones of their neighbours, new ones with weight 0, unless closed (NULL:
 * none is). Rows without free weights get no new entries. */
arap_status arap_widen_influences(arap_job *job, const arap_mesh *mesh, const arap_influences *in,
                                  int bones, arap_closed_fn closed, const void *data,
                                  arap_influences *out);

/* How many influences stay. */
typedef struct arap_limit {
    int most;     /* per vertex, 0: as many as limit.c has candidates */
    double spare; /* those that lower the energy by less than this share of the rest energy of
                     the one-ring go anyway; negative: none do */
} arap_limit;

/* At most rule->most influences per vertex, given ones included (but always one free one while
 * the given sum is below 1), chosen by what their loss costs in energy with the neighbours fixed
 * (see limit.c). right_side and product (start[count]): b and F w at the present weights; rows
 * and harmonic: constraints and the term that the energy is charged with. The weights of reduced
 * rows are their local optimum, to be solved again. Rows that are symmetric stay so. */
arap_status arap_limit_influences(arap_job *job, const arap_mesh *mesh, const arap_poses *poses,
                                  const arap_influences *in, const double *right_side,
                                  const double *product, const arap_harmonic *harmonic,
                                  const arap_penalties *rows, const arap_mirror *mirror,
                                  const arap_limit *rule, arap_influences *out);

#endif
