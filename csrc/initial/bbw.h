/* Bounded biharmonic weights (Jacobson et al. 2011) of volumes, surfaces and wires. */
#ifndef ARAP_BBW_H
#define ARAP_BBW_H

#include "initial/visibility.h"
#include "rig/skeleton.h"
#include "weights/influences.h"

/* Compute the weights of all deforming bones, between 0 and 1 and normalized. Entries of at most
 * `floor` are omitted. */
arap_status arap_bbw(arap_context *context, const arap_mesh *mesh, const arap_skeleton *skeleton,
                     const arap_visibility *visibility, double floor, arap_influences *out);

#endif
