/* The ARAP energy as a function of the transforms alone, for weights that stay (SPEC section 4). */
#ifndef ARAP_JOINT_ENERGY_H
#define ARAP_JOINT_ENERGY_H

#include "local_step.h"

typedef struct arap_joint_energy {
    const arap_mesh *mesh;
    const arap_poses *poses; /* how many there are, and their linear parts */
    const arap_influences *influences;
    double *moments; /* (bones, bones, 4, 4) N_bc */
    arap_lanes lanes;
    arap_pass *pass;
    double *pull;      /* as arap_pass_pull wants it */
    double *alignment; /* (vertices) */
} arap_joint_energy;

/* Sum the mesh up for these weights, of rigid bones; all of it is kept by reference. */
arap_status arap_joint_energy_create(arap_job *job, const arap_mesh *mesh, const arap_poses *poses,
                                     const arap_influences *influences, arap_joint_energy *energy);
/* Sum up again: other weights in the same influence maps. */
arap_status arap_joint_energy_weights(arap_job *job, arap_joint_energy *energy);
void arap_joint_energy_clear(arap_joint_energy *energy);

/* The relative energy of the transforms (poses, bones, 3, 4), each vertex with its best rotation,
 * and -1/2 of the derivative of E by their translations: force (poses, bones, 3). */
arap_status arap_joint_energy_run(arap_job *job, arap_joint_energy *energy,
                                  const double *transforms, double *relative, double *force);

/* S_bc = sum_ik a_ik (w_kb - w_ib) (w_kc - w_ic), the second derivative by translations over 2. */
static inline double arap_joint_stiffness(const arap_joint_energy *energy, int b, int c) {
    return energy->moments[16 * ((size_t)b * (size_t)energy->poses->columns + (size_t)c) + 15];
}

#endif
