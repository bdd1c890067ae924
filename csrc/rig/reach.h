/* Creates poses in which limbs reach for targets. */
#ifndef ARAP_REACH_H
#define ARAP_REACH_H

#include "base/memory.h"
#include "rig/chains.h"
#include "rig/ik.h"

#define ARAP_REACH_NUMBERS 4

/* The chains of a skeleton, and work space to solve for them. All members are zero if no pose
 * reaches for targets. */
typedef struct arap_reach {
    arap_chains chains;
    arap_ik_work work;
    double *points; /* of the longest chain, see arap_ik_chain */
    double *axes;
    arap_joint_range *ranges;
    double *fold;     /* (bones of it, FOLD) reach.c */
    double *image;    /* (bones, 3, 3) the first pose of a pair */
    double *twist;    /* (bones) */
    arap_arena arena; /* of the arrays */
} arap_reach;

/* The number of pairs of reaching poses, which are the last ones. */
int arap_reach_pairs(const arap_sampling *sampling);

arap_status arap_reach_create(arap_context *context, const arap_skeleton *skeleton,
                              const arap_sampling *sampling, arap_reach *reach);
void arap_reach_clear(arap_reach *reach);

/* Compute the local rotations (bones, 3, 3) of a pose. swings (bones, 3): numbers in [0, 1) like
 * those that turn bones in other poses; targets (bones, ARAP_REACH_NUMBERS): for each chain, stored
 * at its first bone. is_second: a mirrored skeleton gets the mirror image of the first pose of the
 * pair. */
void arap_reach_pose(const arap_skeleton *skeleton, const arap_sampling *sampling,
                     arap_reach *reach, const double *swings, const double *targets, int is_second,
                     double *local);

#endif
