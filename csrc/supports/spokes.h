/* How much the spokes of a truss count. */
#ifndef ARAP_SPOKES_H
#define ARAP_SPOKES_H

#include "rig/poses.h"
#include "supports/edits.h"

/* Weights of all spokes from their strengths, and the rest energy that goes with the weights. */
void arap_spokes_weigh(arap_mesh *mesh);

/* Let the spokes give way that these weights do not satisfy. along: arap_pass_spokes of a local
 * step at the weights. */
arap_status arap_spokes_yield(arap_context *context, arap_mesh *mesh, const arap_poses *poses,
                              const arap_influences *influences, const double *along);

/* The spokes of a coarser mesh have given way: so have those of the vertices in their clusters. */
void arap_spokes_inherit(arap_mesh *mesh, const arap_mesh *coarse, const int *cluster);

/* Spokes of pairs that are marked as released or forbidden count for nothing, the others count
 * again. */
void arap_spokes_release(arap_mesh *mesh, const arap_rigid_parts *parts, const arap_marks *marks);

#endif
