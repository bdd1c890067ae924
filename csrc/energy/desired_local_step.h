/* The local step of one vertex whose one-ring is moved by STBs or spines. */
#ifndef ARAP_DESIRED_LOCAL_STEP_H
#define ARAP_DESIRED_LOCAL_STEP_H

#include "rig/poses.h"

/* The influence of a spine on a vertex of the one-ring. */
typedef struct arap_spine_pair {
    const double *points; /* (poses, 3) phi, the position to which the spine moves that vertex */
    double moment[3];     /* m: a_ik w_kb e_ik; for the vertex itself - w_ib sum_k a_ik e_ik */
    double product[3];    /* out: sum over poses of phi^T R_i */
} arap_spine_pair;

/* The influence of a spine on the vertex itself. */
typedef struct arap_own_spine {
    int spine;
    double weight;
    double jacobian[9]; /* work space: in the current pose */
} arap_own_spine;

typedef struct arap_desired_input {
    const arap_poses *poses;
    const arap_mesh *mesh;
    int vertex;
    int bones;            /* columns of the one-ring other than spines: bones, and joints of bendy
                             bones, stretchable or not */
    const int *bone;      /* (bones) */
    const double *moment; /* (bones, 4, 4) M_b of local_step.c, with rows of three numbers and a
                             0 */
    const double *weight; /* (bones) weights of the vertex itself */
    int pairs, own_count;
    arap_spine_pair *pair; /* (pairs) those among them that belong to the vertex itself */
    arap_own_spine *own;   /* (own_count) */
    double prior_share;    /* as in arap_kernel_input */
    double *best;          /* out: (poses, 9) R_i, or NULL */
} arap_desired_input;

/* product (bones, 3, 4): sum over poses of T_b^T R_i, transposed. excess: sum over poses and
 * neighbors of a_ik (|R_i e_ik|^2 - |e_ik|^2), 0 where R_i are rotations. */
void arap_desired_local_step(const arap_desired_input *in, double *product, double *excess);

#endif
