/* The ARAP energy for fixed weights as a function of the transforms and, with spines, the positions
 * of their ends (docs/energy.md 4). */
#ifndef ARAP_JOINT_ENERGY_H
#define ARAP_JOINT_ENERGY_H

#include "energy/local_step.h"
#include "joints/anchors.h"
#include "joints/spines.h"

typedef struct arap_joint_energy {
    arap_mesh *mesh;         /* constant except for the anchors of its springs */
    const arap_poses *poses; /* number of poses, and their linear parts */
    const arap_influences *influences;
    const arap_joints *joints;
    arap_joint_spines *spines;
    arap_joint_anchors *anchors;
    double unit;          /* unit of relative energies: rest_energy of all poses at the start, each
                             multiplied by its weight */
    double *moments;      /* (bones, bones, 4, 4) N_bc; for vertices without a spine in their
                             ring */
    double *edge_moments; /* (bones, bones, 4, 4) the same without springs; NULL: no springs */
    double rest;          /* of spines: energy of the edges in `moments` at rest, of one pose */
    arap_packed_poses packed;
    arap_local_step *local_step;
    double *pull;      /* in the layout of arap_local_step_pull */
    double *alignment; /* (vertices) */
} arap_joint_energy;

/* Accumulate the sums over the mesh for these weights. All arguments are kept by reference. */
arap_status arap_joint_energy_create(arap_context *context, arap_mesh *mesh,
                                     const arap_poses *poses, const arap_influences *influences,
                                     const arap_joints *joints, arap_joint_spines *spines,
                                     arap_joint_anchors *anchors, arap_joint_energy *energy);
/* Accumulate the sums again for other weights with the same influence patterns. */
arap_status arap_joint_energy_weights(arap_context *context, arap_joint_energy *energy);
void arap_joint_energy_clear(arap_joint_energy *energy);

/* Move the anchors of springs to their positions for the joints at `places` (joints, 3). */
arap_status arap_joint_energy_place(arap_context *context, arap_joint_energy *energy,
                                    const double *places);

/* Compute the relative energy of the transforms (poses, bones, 3, 4), with the best rotation at
 * each vertex and the ends of spines at `places` (joints, 3). Also compute -1/2 of the derivative
 * of E by the columns of joints/spines.h, the translations of bones: force (poses, columns, 3), for
 * a pose of weight 1. */
arap_status arap_joint_energy_run(arap_context *context, arap_joint_energy *energy,
                                  const double *transforms, const double *places, double *relative,
                                  double *force);

/* S_bc = sum_ik a_ik (w_kb - w_ib) (w_kc - w_ic), the second derivative by translations over 2, of
 * the vertices in `moments`. */
static inline double arap_joint_stiffness(const arap_joint_energy *energy, int b, int c) {
    return energy->moments[16 * ((size_t)b * (size_t)energy->poses->columns + (size_t)c) + 15];
}

#endif
