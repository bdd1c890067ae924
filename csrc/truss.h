/* The truss: what ties the skin to the bones inside it. */
#ifndef ARAP_TRUSS_H
#define ARAP_TRUSS_H

#include "mirror.h"
#include "poses.h"

/* Give the mesh its spokes, for these bones and their poses; rest_energy grows by theirs. strength: of
 * a spoke beside the edges of its vertex; 0 gives none. The mesh must be connected.
 * given (vertices): the deforming bone of each spoke, -1: none; NULL: chosen here. */
arap_status arap_truss_create(arap_job *job, arap_mesh *mesh, const arap_skeleton *skeleton,
                              const arap_bendy *bendy, const arap_mirror *mirror, double strength,
                              const int *given);

/* Spokes that the weights cannot satisfy yield: strain (spokes), the mean squared relative error of
 * each. */
void arap_truss_yield(arap_mesh *mesh, const double *strain);

#endif
