/* Finds chains of bones, such as the limbs, tails, necks and fingers of a skeleton. */
#ifndef ARAP_CHAINS_H
#define ARAP_CHAINS_H

#include "base/memory.h"
#include "rig/skeleton.h"

/* Disjoint paths of the caller's deforming bones, each from its root down to its effector, the
 * point that reaches for targets. */
typedef struct arap_chains {
    int count;
    int *start;       /* (count + 1) */
    int *bone;        /* (start[count]) */
    double *effector; /* (count, 3) its rest position, in units of arap_mesh.v */
    arap_arena arena; /* of the arrays */
} arap_chains;

arap_status arap_chains_find(arap_context *context, const arap_skeleton *skeleton,
                             arap_chains *chains);
void arap_chains_clear(arap_chains *chains);

#endif
