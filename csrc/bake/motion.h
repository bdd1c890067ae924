/* Finds the bone transforms with which given weights best approximate the frames. */
#ifndef ARAP_MOTION_H
#define ARAP_MOTION_H

#include "bake/state.h"

/* Sums over the weights, the same for every frame. */
typedef struct arap_motion {
    double *pair;   /* (bones, bones, 4, 4) sums of w_b w_c v v^T, with homogeneous v */
    int *start;     /* (bones + 1) the bones that share vertices with each bone: */
    int *neighbor;  /* excluding the bone itself */
    double *target; /* (ARAP_FRAME_BLOCK, bones, 3, 4) work space */
} arap_motion;

arap_status arap_motion_create(arap_bake_state *state, arap_motion *out);
void arap_motion_clear(arap_motion *motion);

/* Improve the transforms of the moving bones in the frames of the block. No transform gets
 * worse. */
arap_status arap_improve_motion(arap_bake_state *state, arap_motion *motion);

#endif
