/* The local step and the right-hand side of the global step, in one pass over the vertices
 * (docs/energy.md 4). */
#ifndef ARAP_LOCAL_STEP_H
#define ARAP_LOCAL_STEP_H

#include "energy/mirror_reuse.h"
#include "energy/packed_poses.h"
#include "energy/rotation_clusters.h"
#include "weights/influences.h"

/* Work space of the local step for given influence patterns, created once and used by every
 * iteration. It keeps references to the mesh, the packed poses, the influences, the clusters (NULL:
 * every vertex has its own rotations) and the mirror reuse (NULL: nothing is copied). With mirror
 * reuse, only right-hand sides are computed. */
typedef struct arap_local_step arap_local_step;

arap_status arap_local_step_create(arap_context *context, const arap_mesh *mesh,
                                   const arap_packed_poses *packed,
                                   const arap_influences *influences,
                                   const arap_rotation_clusters *clusters,
                                   const arap_mirror_reuse *mirror_reuse, arap_local_step **out);
void arap_local_step_free(arap_local_step *local_step);

/* Compute the best rotation per vertex (or cluster) and pose for the current weights (local step),
 * and accumulate it into the right-hand side of the global step. Nothing is stored per pose and
 * nothing is allocated. Either output may be NULL: right_side (start[count]) per influence: b of E
 * = w'Fw - 2 b'w + const; alignment (count), not available with clusters: sum over poses of
 * tr(R_i^T cov_i), the rotations' share of the energy. Where spines move the ring, R_i is as rigid
 * as desired (desired_local_step.h), without clusters. */
arap_status arap_local_step_run(arap_context *context, arap_local_step *local_step,
                                double *right_side, double *alignment);

/* Number of visits to vertices or clusters in all runs: one per run, except for visits whose result
 * cannot change. */
long arap_local_step_visits(const arap_local_step *local_step);

/* The contribution to the constant of the energy from those R_i of the last run that are not
 * rotations (spines and stretchable bones): sum over poses and neighbors of a_ik (|R_i e_ik|^2 -
 * |e_ik|^2), per vertex (count); NULL: all are rotations. */
const double *arap_local_step_excess(const arap_local_step *local_step);

/* Sums of the last run over a mesh with bone springs, otherwise NULL: sum over poses and springs of
 * the weight times x^T T_b^T R_i e, the part of the alignment that does not depend on weights
 * (count); and, for each spring, the sum over poses of e'^T R_i e. */
const double *arap_local_step_anchored(const arap_local_step *local_step);
const double *arap_local_step_springs(const arap_local_step *local_step);

/* Repeat the local step for a mesh with bone springs, without clusters, spines, bendy and
 * stretchable bones. Computes, for each spring, the sum over poses of R_i^T (T_b x - f_i) + A_b^T
 * R_i (x - v_i), A_b the linear part of T_b (springs, 3). */
arap_status arap_local_step_anchors(arap_context *context, arap_local_step *local_step,
                                    double *anchors);

/* The local step for joints (joints/energy.h), in double precision and without clusters: pull
 * (ARAP_PULL_BLOCKS, bones, 3, lanes), of which the first block receives, for every bone and pose,
 * sum_i R_i sum_k a_ik (w_kb - w_ib) e_ik; alignment (count) as above. The vertices are divided
 * into blocks, each summed in a fixed order that does not depend on the number of threads. Vertices
 * with a spine in their ring are excluded from the sums. Their R_i are stored in desired[slot[i]]
 * (poses, 9). slot NULL: no spines. */
#define ARAP_PULL_BLOCKS 16
arap_status arap_local_step_pull(arap_context *context, arap_local_step *local_step, double *pull,
                                 double *alignment, const int *slot, double *desired);

#endif
