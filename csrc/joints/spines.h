/* STBs and spines whose ends are movable joints (paper section 4.4): their positions, and the ARAP
 * energy of the vertices near them, with its first and second derivatives. */
#ifndef ARAP_JOINT_SPINES_H
#define ARAP_JOINT_SPINES_H

#include "base/memory.h"
#include "joints/joints.h"
#include "rig/poses.h"
#include "weights/influences.h"

typedef struct arap_joint_spines {
    int count; /* 0: no spines, in which case only `columns` is set */
    int poses, deforming;
    int columns;      /* per pose: first the translations of the deforming bones, then those
                         described below */
    int *head, *tail; /* (count) joints */
    char *is_stb;     /* (count) */
    double *angle;    /* (poses, count) of STBs about themselves */
    char *kept;       /* (vertices, count) the caller's parameters, which stay constant */
    arap_poses posed; /* with its own spines; borrows the transforms of the latest call */
    /* Determined by the influence patterns: the vertices with a spine in their ring. */
    int reached;
    int *slot;        /* (vertices) -1: without */
    int *vertex;      /* (reached) in ascending order */
    double *desired;  /* (reached, poses, 9) R_i */
    arap_arena found; /* of these arrays */
    arap_arena arena; /* of the others */
} arap_joint_spines;

/* The columns of a pose are 3-vectors that move posed vertices by a number each: the translation of
 * a bone by its weight w, and for the k-th spine, with A the linear part of its base, K v = bend x
 * v and f = w arap_spine_factors(u), from column deforming + 5 k on A K e0, A K^2 e0, A E, A K E, A
 * K^2 E,   E = e1 - e0. */

arap_status arap_joint_spines_create(arap_context *context, const arap_skeleton *skeleton,
                                     const arap_mesh *mesh, const arap_poses *poses,
                                     const double *parameters, const arap_joints *joints,
                                     arap_joint_spines *spines);
/* Prepare for these influence patterns. `desired` must still be filled in
 * (arap_local_step_pull). */
arap_status arap_joint_spines_find(arap_context *context, const arap_mesh *mesh,
                                   const arap_influences *in, arap_joint_spines *spines);
void arap_joint_spines_clear(arap_joint_spines *spines);

/* The bend of spine k in a pose with the joints at `places` (joints, 3). An STB always turns about
 * its current direction. */
void arap_joint_spine_bend(const arap_joint_spines *spines, const double *places, int pose, int k,
                           double *bend);

/* Update `posed` to these places and the transforms (poses, deforming, 3, 4), which are kept by
 * reference. */
void arap_joint_spines_place(arap_context *context, const arap_mesh *mesh, const double *places,
                             const double *transforms, arap_joint_spines *spines);

/* Compute E of the reached vertices over the poses, with R_i = desired; -1/2 of its derivative by
 * the columns is added to force (poses, columns, 3), for a pose of weight 1. */
arap_status arap_joint_spines_energy(arap_context *context, const arap_joint_spines *spines,
                                     const arap_mesh *mesh, const arap_influences *in,
                                     double *square, double *force);
/* Compute half of its second derivative (poses, columns, columns). */
arap_status arap_joint_spines_curvature(arap_context *context, const arap_joint_spines *spines,
                                        const arap_mesh *mesh, const arap_influences *in,
                                        double *curvature);

#endif
