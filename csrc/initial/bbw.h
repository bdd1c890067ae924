/* Bounded biharmonic weights (Jacobson et al. 2011) of volumes, surfaces and wires. */
#ifndef ARAP_BBW_H
#define ARAP_BBW_H

#include "initial/visibility.h"
#include "rig/skeleton.h"
#include "weights/influences.h"

/* Weights of all deforming bones, from 0 to 1 and normalized; entries of at most `floor` are left
 * out. */
arap_status arap_bbw(arap_context *context, const arap_mesh *mesh, const arap_skeleton *skeleton,
                     const arap_visibility *visibility, double floor, arap_influences *out);

#endif
