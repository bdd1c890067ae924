/* The local step and the right-hand side of the global step, in one pass over the vertices
 * (SPEC section 4). */
#ifndef ARAP_LOCAL_STEP_H
#define ARAP_LOCAL_STEP_H

#include "weights/influences.h"
#include "rig/poses.h"
#include "energy/rotation_clusters.h"

/* Arithmetic of the pass over poses; sums over edges and vertices are always double. */
typedef enum arap_precision { ARAP_SINGLE, ARAP_DOUBLE } arap_precision;

/* Poses laid out for the pass: (columns, 12, lanes), lanes = poses padded with zeros. Each pose
 * is shifted to a mean translation of 0, which changes no edge and keeps single precision
 * accurate for animations that travel. */
typedef struct arap_lanes {
    arap_precision precision;
    int poses;
    int lanes;
    int columns;              /* transforms of a pose: see arap_poses */
    void *transform;          /* float or double */
    void *stretch;            /* the same of poses.stretches, (count, 6, lanes), or NULL */
    const arap_poses *source; /* they go on to be used where spines move vertices */
} arap_lanes;

arap_status arap_lanes_create(arap_job *job, const arap_poses *poses, arap_precision precision,
                              arap_lanes *lanes);
/* Other transforms of the same poses and bones. */
void arap_lanes_fill(const arap_poses *poses, arap_lanes *lanes);
void arap_lanes_clear(arap_lanes *lanes);

/* Work space of the pass for given influence maps: made once, used by every iteration. It
 * keeps references to the mesh, the lanes, the influences and the clusters (NULL: every vertex has
 * rotations of its own). */
typedef struct arap_pass arap_pass;

arap_status arap_pass_create(arap_job *job, const arap_mesh *mesh, const arap_lanes *lanes,
                             const arap_influences *influences,
                             const arap_rotation_clusters *clusters, arap_pass **out);
void arap_pass_free(arap_pass *pass);

/* One best rotation per vertex (or cluster) and pose for the present weights (local step), folded
 * into the right-hand side of the global step; nothing is stored per pose and nothing is allocated.
 * Either output may be NULL:
 * right_side (start[count]) per influence: b of E = w'Fw - 2 b'w + const;
 * alignment (count), not with clusters: sum over poses of tr(R_i^T cov_i), the rotations' share
 * of the energy.
 * Where spines move the ring, R_i is as rigid as desired (desired_step.h), without clusters. */
void arap_pass_run(arap_job *job, arap_pass *pass, double *right_side, double *alignment);

/* What R_i of the last run that are no rotations (of spines and stretchable bones) add to the
 * constant of the energy: sum over poses and neighbours of a_ik (|R_i e_ik|^2 - |e_ik|^2), per
 * vertex (count); NULL: all are. */
const double *arap_pass_excess(const arap_pass *pass);

/* Of the last run over a mesh with a truss, else NULL: sum over poses and spokes of the weight times
 * x^T T_b^T R_i e, the part of the alignment that does not depend on weights (count); and for each
 * spoke sum over poses of e'^T R_i e. */
const double *arap_pass_anchored(const arap_pass *pass);
const double *arap_pass_spokes(const arap_pass *pass);

/* The local step for joints (joints/energy.h), in double precision and without clusters: pull
 * (ARAP_PULL_BLOCKS, bones, 3, lanes), of which the first block receives, for every bone and pose,
 * sum_i R_i sum_k a_ik (w_kb - w_ib) e_ik; alignment (count) as above. The vertices are cut into
 * blocks, each summed in its order, whatever the number of threads. Vertices with a spine in their
 * ring take no part: they leave their R_i in desired[slot[i]] (poses, 9); slot NULL: there is none.
 */
#define ARAP_PULL_BLOCKS 16
void arap_pass_pull(arap_job *job, arap_pass *pass, double *pull, double *alignment,
                    const int *slot, double *desired);

/* Relative ARAP energy of any weights (rows should sum to 1) over the poses:
 * E / (#poses sum a_ik |e_ik|^2), SPEC section 3. vertex_energy (count) or NULL: E_i over
 * #poses sum_k a_ik |e_ik|^2. */
arap_status arap_energy(arap_job *job, const arap_mesh *mesh, const arap_poses *poses,
                        const arap_lanes *lanes, const arap_influences *influences, double *energy,
                        double *vertex_energy);

#endif
