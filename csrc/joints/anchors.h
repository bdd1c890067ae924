/* The anchors of springs (bone_springs.h). An anchor is the end of a spring on a bone and moves
 * with the joints. */
#ifndef ARAP_JOINT_ANCHORS_H
#define ARAP_JOINT_ANCHORS_H

#include "energy/local_step.h"
#include "joints/joints.h"

typedef struct arap_joint_anchors {
    size_t count;    /* number of springs; 0: no bone springs, and no other member is set */
    int bones;       /* deforming */
    int *end;        /* (bones, 2) joints of head and tail */
    char *turns;     /* (bones, 2) whether a bone turns about it */
    double *along;   /* (bones, 3) unit vectors at the start; 0 for bones of length zero */
    double *at;      /* (count) position along the bone, from 0 at the head to 1 */
    double *start;   /* (count, 3) original positions of the anchors */
    double *moments; /* (bones, 2, bones, 4) Q, see joints/anchors.c */
    double *turned;  /* (count, 3) of arap_local_step_anchors */
    double rest;     /* rest_energy of the mesh without its springs */
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

#endif
