/* How much each spoke of the truss (truss.h) counts. */
#ifndef ARAP_SPOKES_H
#define ARAP_SPOKES_H

#include "rig/poses.h"
#include "edits/edits.h"

/* Set the weights of all spokes from their strengths, and update the rest energy. */
void arap_spokes_weigh(arap_mesh *mesh);

/* Weaken the spokes that these weights do not satisfy. along: arap_pass_spokes of a local step at
 * the weights. */
arap_status arap_spokes_yield(arap_context *context, arap_mesh *mesh, const arap_poses *poses,
                              const arap_influences *influences, const double *along);

/* Weaken spokes as those of the coarser mesh: a vertex takes the share held at its cluster. */
void arap_spokes_inherit(arap_mesh *mesh, const arap_mesh *coarse, const int *cluster);

/* Switch off the spokes of pairs marked as released or forbidden, and the others on again. */
void arap_spokes_release(arap_mesh *mesh, const arap_rigid_parts *parts, const arap_marks *marks);

#endif
