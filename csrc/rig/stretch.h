/* Computes how the transforms of stretchable bones stretch space. */
#ifndef ARAP_STRETCH_H
#define ARAP_STRETCH_H

#include "rig/bendy.h"

/* Symmetric matrices are stored as xx, xy, xz, yy, yz, zz. */
#define ARAP_SYMMETRIC 6

/* U - I of the polar decomposition T = Q U of the linear part of a transform (3, 4). */
void arap_stretch_tensor(const double *transform, double *out);

/* Stretches of the columns of stretchable bones in all poses (arap_poses). */
typedef struct arap_stretches {
    int count;      /* number of columns that stretch; 0: none, and no other member is set */
    int *place;     /* (columns) index of a column among them, or -1 */
    double *tensor; /* (count, poses, ARAP_SYMMETRIC) */
} arap_stretches;

/* Compute from all transforms (poses, columns, 3, 4) of the poses. */
arap_status arap_stretches_create(arap_context *context, const arap_skeleton *skeleton,
                                  const arap_bendy *bendy, int columns, int poses,
                                  const double *transform, arap_stretches *stretches);
void arap_stretches_clear(arap_stretches *stretches);

static inline int arap_stretches_of(const arap_stretches *stretches, int column) {
    return stretches->count ? stretches->place[column] : -1;
}

#endif
