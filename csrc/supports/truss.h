/* The truss: spokes that tie the skin to the bones inside it. */
#ifndef ARAP_TRUSS_H
#define ARAP_TRUSS_H

#include "rig/poses.h"
#include "rig/symmetry.h"
#include "supports/edits.h"

/* Give a connected mesh its spokes, for these bones; rest_energy grows by theirs. strength: of a
 * spoke beside the edges around its vertex; 0 gives none. wanted (vertices): the deforming bone
 * that the spoke of each goes to, -1: none, and wanted_whole whether its part hangs on it as a
 * whole; NULL: chosen here. */
arap_status arap_truss_create(arap_context *context, arap_mesh *mesh, const arap_skeleton *skeleton,
                              const arap_bendy *bendy, const arap_symmetry *symmetry,
                              double strength, const int *wanted, const char *wanted_whole);

/* Let the spokes give way that these weights do not satisfy. along: arap_pass_spokes of a local
 * step at the weights. */
arap_status arap_truss_yield(arap_context *context, arap_mesh *mesh, const arap_poses *poses,
                             const arap_influences *influences, const double *along);

/* The spokes of a coarser mesh have given way: so have those of the vertices in their clusters. */
void arap_truss_inherit(arap_mesh *mesh, const arap_mesh *coarse, const int *cluster);

/* Spokes of pairs that are marked as released or forbidden count for nothing, the others count
 * again. */
void arap_truss_release(arap_mesh *mesh, const arap_rigid_parts *parts, const arap_marks *marks);

#endif
