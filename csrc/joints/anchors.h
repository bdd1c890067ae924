/* The anchors of springs (bone_springs.h): their ends on the bones, which move with the joints. */
#ifndef ARAP_JOINT_ANCHORS_H
#define ARAP_JOINT_ANCHORS_H

#include "energy/local_step.h"
#include "joints/joints.h"

typedef struct arap_joint_anchors {
    size_t count;    /* springs; 0: no bone springs, and nothing else is set */
    int bones;       /* deforming */
    int *end;        /* (bones, 2) joints of head and tail */
    char *turns;     /* (bones, 2) whether a bone turns about it */
    double *along;   /* (bones, 3) unit vectors of the start, 0 without length */
    double *at;      /* (count) place along the bone, from 0 at the head to 1 */
    double *start;   /* (count, 3) where the anchors were */
    double *moments; /* (bones, 2, bones, 4) Q, see joints/anchors.c */
    double *turned;  /* (count, 3) of arap_local_step_anchors */
    double rest;     /* rest_energy of the mesh without its springs */
} arap_joint_anchors;

/* The anchors of a mesh's springs on bones whose joints have not moved. */
arap_status arap_joint_anchors_create(arap_context *context, const arap_mesh *mesh,
                                      const arap_skeleton *skeleton, const arap_joints *joints,
                                      arap_joint_anchors *anchors);
void arap_joint_anchors_clear(arap_joint_anchors *anchors);

/* Put the anchors where they are with the joints at `places` (joints, 3), and rest_energy with
 * them; returns whether any has moved. Bit for bit the same for the same places. */
int arap_joint_anchors_move(const arap_joint_anchors *anchors, const arap_joints *joints,
                            const double *places, arap_mesh *mesh);

/* Add -1/2 of the derivative of E by the joints that bones turn about, as far as it comes with the
 * anchors, to right (joints, 3), the transforms of the packed poses fixed. */
arap_status arap_joint_anchors_pull(arap_context *context, arap_joint_anchors *anchors,
                                    const arap_mesh *mesh, const arap_packed_poses *packed,
                                    const arap_influences *influences, arap_local_step *local_step,
                                    double *right);

#endif
