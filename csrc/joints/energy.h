/* The ARAP energy for fixed weights as a function of the transforms and, with spines, the positions
 * of their ends (docs/energy.md 4). */
#ifndef ARAP_JOINT_ENERGY_H
#define ARAP_JOINT_ENERGY_H

#include "base/memory.h"
#include "energy/local_step.h"
#include "joints/joints.h"
#include "joints/spines.h"

/* The anchors of springs (bone_springs.h). An anchor is the end of a spring on a bone and moves
 * with the joints. */
typedef struct arap_joint_anchors {
    size_t count;     /* number of springs; 0: no bone springs, and no other member is set */
    int bones;        /* deforming */
    int *end;         /* (bones, 2) joints of head and tail */
    char *turns;      /* (bones, 2) whether a bone turns about it */
    double *along;    /* (bones, 3) unit vectors at the start; 0 for bones of length zero */
    double *at;       /* (count) position along the bone, from 0 at the head to 1 */
    double *start;    /* (count, 3) original positions of the anchors */
    double *moments;  /* (bones, 2, bones, 4) Q, see joints/anchors.c */
    double *turned;   /* (count, 3) of arap_local_step_anchors */
    double rest;      /* rest_energy of the mesh without its springs */
    arap_arena arena; /* of the arrays */
} arap_joint_anchors;

/* Create the anchors of a mesh's springs on bones whose joints have not moved. */
arap_status arap_joint_anchors_create(arap_context *context, const arap_mesh *mesh,
                                      const arap_skeleton *skeleton, const arap_joints *joints,
                                      arap_joint_anchors *anchors);
void arap_joint_anchors_clear(arap_joint_anchors *anchors);

/* Move the anchors to their positions for the joints at `places` (joints, 3), and update
 * rest_energy. Returns whether any anchor has moved. The same places give bitwise identical
 * results. */
int arap_joint_anchors_move(const arap_joint_anchors *anchors, const arap_joints *joints,
                            const double *places, arap_mesh *mesh);

/* Add to right (joints, 3) the anchors' part of -1/2 of the derivative of E by the joints about
 * which bones turn, with the transforms of the packed poses fixed. */
arap_status arap_joint_anchors_pull(arap_context *context, arap_joint_anchors *anchors,
                                    const arap_mesh *mesh, const arap_packed_poses *packed,
                                    const arap_influences *influences, arap_local_step *local_step,
                                    double *right);

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
    arap_arena arena;  /* of the arrays */
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
