/* Computes parameters along bones that follow the surface and are diffused like heat weights. */
#ifndef ARAP_DIFFUSED_PARAMETERS_H
#define ARAP_DIFFUSED_PARAMETERS_H

#include "arap.h"

/* Compute u of each of the caller's vertices for each of the caller's bones, out (vertices, bones),
 * from 0 to 1; NaN for bones that are rigid or do not deform. bones.kinds NULL: for all deforming
 * bones. */
arap_status arap_diffuse_parameters(arap_context *context, const arap_geometry *geometry,
                                    const arap_bones *bones, int link_parts, double *out);

#endif
