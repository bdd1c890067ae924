/* Skinning with optimized centers of rotation (Le & Hodgins 2016, Algorithm 1). */
#ifndef ARAP_CENTER_SKINNING_H
#define ARAP_CENTER_SKINNING_H

#include "arap.h"
#include "base/context.h"

/* Compute the positions out (poses, count, 3) of vertices (count, 3) with these centers (count, 3).
 * If a center is not finite, linear blending is used. All other arguments are as for
 * arap_dual_quaternion_skinning. */
arap_status arap_center_skinning(arap_context *context, int count, const double *vertices,
                                 const arap_sparse_weights *rows, const double *centers, int bones,
                                 int poses, const double *transforms, const double *axes,
                                 double *out);

#endif
