/* The truss: spokes that tie the skin to the bones inside it. */
#ifndef ARAP_TRUSS_H
#define ARAP_TRUSS_H

#include "rig/poses.h"
#include "rig/symmetry.h"

/* Give a connected mesh its spokes, for these bones; rest_energy grows by theirs. strength: of a
 * spoke beside the edges around its vertex; 0 gives none. wanted (vertices): the deforming bone
 * that the spoke of each goes to, -1: none, and wanted_whole whether its part hangs on it as a
 * whole; NULL: chosen here. */
arap_status arap_truss_create(arap_context *context, arap_mesh *mesh, const arap_skeleton *skeleton,
                              const arap_bendy *bendy, const arap_symmetry *symmetry,
                              double strength, const int *wanted, const char *wanted_whole);

#endif
