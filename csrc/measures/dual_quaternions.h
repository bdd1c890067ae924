/* Dual quaternion skinning (Kavan et al. 2007), as implemented by Blender's "Preserve Volume". */
#ifndef ARAP_DUAL_QUATERNIONS_H
#define ARAP_DUAL_QUATERNIONS_H

#include "arap.h"
#include "base/context.h"

/* Compute the skinned positions out (poses, count, 3) of vertices (count, 3). rows: weights with
 * any sum, already checked; a vertex whose weights sum to 1e-4 or less does not move. transforms
 * (poses, bones, 3, 4). axes (bones, 3, 3): columns are the local X, Y (head to tail) and Z of each
 * bone at rest; NULL: the coordinate axes. The axes matter only if a transform is not a rotation.
 * Errors name the first vertex, transform or axis that is not finite. */
arap_status arap_dual_quaternion_skinning(arap_context *context, int count, const double *vertices,
                                          const arap_sparse_weights *rows, int bones, int poses,
                                          const double *transforms, const double *axes,
                                          double *out);

/* Check the numbers in its arguments. */
arap_status arap_check_blended(arap_error *error, int count, const double *vertices, int bones,
                               int poses, const double *transforms, const double *axes);

#endif
