/* Finds displacements of the components of a disconnected skeleton in its random poses (paper
 * sections 4.4 and 7, Figure 12). */
#ifndef ARAP_DISPLACEMENTS_H
#define ARAP_DISPLACEMENTS_H

#include "rig/poses.h"
#include "weights/influences.h"

typedef struct arap_displacements {
    int poses;      /* number of random poses, which come first; 0: nothing is displaced */
    int count;      /* components of the skeleton (arap_skeleton_components) */
    int *component; /* (columns of the poses) */
    double *moved;  /* (poses, count, 3) so far, in units of arap_mesh.v */
} arap_displacements;

/* Prepare the displacements for the first `random` poses. Nothing is displaced if the skeleton is
 * connected, or if STBs, spines or stretchable bones make one-rings as rigid as desired, which no
 * quadratic describes. */
arap_status arap_displacements_create(arap_context *context, const arap_skeleton *skeleton,
                                      const arap_poses *poses, int random,
                                      arap_displacements *displacements);
void arap_displacements_clear(arap_displacements *displacements);

/* Find the best displacements for these weights, with the best rotations at each vertex, and store
 * the transforms (all poses, columns, 3, 4) that include them. The rounds end when one gains less
 * than `tolerance` of the rest energy of the random poses. After cancellation or an allocation
 * failure, only `transforms` has changed. */
arap_status arap_displace(arap_context *context, const arap_mesh *mesh, const arap_poses *poses,
                          const arap_influences *influences, double tolerance,
                          arap_displacements *displacements, double *transforms);

/* Add the displacements found on another mesh, whose unit is `scale` times that of this one, to the
 * transforms of the poses. */
void arap_displacements_inherit(const arap_displacements *from, double scale,
                                arap_displacements *displacements, arap_poses *poses);

#endif
