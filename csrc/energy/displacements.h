/* Displacements of the components of a disconnected skeleton in its random poses (paper sections
 * 4.4 and 7, Figure 12). */
#ifndef ARAP_DISPLACEMENTS_H
#define ARAP_DISPLACEMENTS_H

#include "rig/poses.h"
#include "weights/influences.h"

typedef struct arap_displacements {
    int poses;      /* the first so many poses are random ones; 0: nothing is displaced */
    int count;      /* components of the skeleton (arap_skeleton_components) */
    int *component; /* (columns of the poses) */
    double *moved;  /* (poses, count, 3) so far, units of arap_mesh.v */
} arap_displacements;

/* For the first `random` poses. Nothing is displaced of a connected skeleton, nor where STBs,
 * spines or stretchable bones make one-rings as rigid as desired, which no quadratic describes. */
arap_status arap_displacements_create(arap_context *context, const arap_skeleton *skeleton,
                                      const arap_poses *poses, int random,
                                      arap_displacements *displacements);
void arap_displacements_clear(arap_displacements *displacements);

/* The best displacements for these weights, each vertex with its best rotations, in rounds that end
 * when one gains less than `tolerance` of the rest energy of the random poses: transforms
 * (all poses, columns, 3, 4) with them. Cancelled, or without memory, nothing has changed but
 * `transforms`. */
arap_status arap_displace(arap_context *context, const arap_mesh *mesh, const arap_poses *poses,
                          const arap_influences *influences, double tolerance,
                          arap_displacements *displacements, double *transforms);

/* Add the displacements found on another mesh, whose unit is `scale` of this one's, to the
 * transforms of the poses. */
void arap_displacements_inherit(const arap_displacements *from, double scale,
                                arap_displacements *displacements, arap_poses *poses);

#endif
